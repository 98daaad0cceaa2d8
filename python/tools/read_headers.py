#!/usr/bin/env python3
"""Writes the structs and enums of the C headers as ctypes classes, and a C table that checks them.

    read_headers.py SOURCE_DIR STRUCTS.py STRUCTS.inc

Whatever is added to a public struct is in Python with the next build. The table has the size of every struct and the
offset of every member as the compiler sees them; the tests compare both.
"""
import pathlib
import re
import sys

HEADERS = ["types.h", "drystone.h", "touch.h", "problem.h", "stand.h", "scene_file.h"]
OTHERS = ["src/record/record.h", "src/io/problem_file.h"]
SCALARS = {
    "double": "ctypes.c_double", "int32_t": "ctypes.c_int32", "int64_t": "ctypes.c_int64", "bool": "ctypes.c_bool",
    "uint64_t": "ctypes.c_uint64", "uint8_t": "ctypes.c_uint8", "char": "ctypes.c_char", "size_t": "ctypes.c_size_t",
    "int": "ctypes.c_int",
}
HINTS = {"ctypes.c_double": "float", "ctypes.c_bool": "bool", "ctypes.c_void_p": "Optional[int]"}


def fail(message):
    sys.exit(f"read_headers.py: {message}")


class Reader:
    def __init__(self):
        self.types = dict(SCALARS)
        self.constants = {}
        self.python, self.table = [], []
        self.structs = []

    def enum(self, name, body):
        value, members = -1, []
        for item in re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(","):
            item = item.strip()
            if not item:
                continue
            key, _, given = item.partition("=")
            value = int(given, 0) if given else value + 1
            self.constants[key.strip()] = value
            members.append((key.strip(), value))
        if name:
            self.types[name] = "ctypes.c_int32"
            self.python.append(f"class {name}(enum.IntEnum):\n" + "".join(f"    {k} = {v}\n" for k, v in members))

    def length(self, text):
        return int(text) if text.isdigit() else self.constants[text]

    def declaration(self, struct, text, comment):
        """(name, ctypes expression, comment) of the members that one declaration names."""
        if "(" in text:  # a pointer to a function
            return [(re.search(r"\(\*(\w+)\)", text).group(1), "ctypes.c_void_p", comment)]
        base, names = re.match(r"(?:const )?(?:struct )?(\w+)\s+(.*)$", text, re.S).groups()
        found = []
        for item in names.split(","):
            star, name, size = re.match(r"\s*(\*?)\s*(\w+)(?:\[(\w+)\])?\s*$", item).groups()
            if star:
                kind = "ctypes.c_void_p"
            elif base not in self.types:
                fail(f"{struct}.{name}: unknown type {base}")
            else:
                kind = self.types[base]
            if size:
                kind = f"{kind} * {self.length(size)}"
            found.append((name, kind, comment))
        return found

    def struct(self, name, body):
        members = []
        body = re.sub(r"^\s*/\*.*?\*/\s*$", "", body, flags=re.S | re.M)  # comments that stand alone
        # declarations with the comment that follows them in the same line
        for text, comment in re.findall(r"([^;]+);[ \t]*(?:/\*(.*?)\*/)?", body, re.S):
            text = re.sub(r"/\*.*?\*/", "", text, flags=re.S).strip()
            members += self.declaration(name, text, " ".join((comment or "").replace("\\", "/").split()))
        self.types[name] = name
        self.structs.append(name)
        doc = [f"    {n}: {c}" for n, _, c in members if c]
        hints = [f"    {n}: {HINTS.get(k, 'int' if k.startswith('ctypes') and '*' not in k else 'Any' if '*' in k else k)}"
                 for n, k, _ in members]
        doc = '    """' + (("Members:\n\n" + "\n".join(doc) + "\n    ") if doc else "A C struct.") + '"""'
        fields = "".join(f'        ("{n}", {k}),\n' for n, k, _ in members)
        self.python.append(f"class {name}(Struct):\n{doc}\n\n" + "\n".join(hints) + f"\n    _fields_ = [\n{fields}    ]\n")
        self.table += [f'{{"{name}", "{n}", offsetof({name}, {n})}},' for n, _, _ in members]
        self.table.append(f'{{"{name}", "", sizeof({name})}},')

    def read(self, text):
        pattern = (r"typedef enum (?P<enum>\w+) \{(?P<values>.*?)\} (?P=enum);|enum \{(?P<constants>[^}]*)\};|"
                   r"typedef struct (?P<struct>\w+) \{(?P<members>.*?)\n\} (?P=struct);|typedef int32_t (?P<alias>\w+);")
        for match in re.finditer(pattern, text, re.S):
            if match["enum"]:
                self.enum(match["enum"], match["values"])
            elif match["constants"]:
                self.enum(None, match["constants"])
            elif match["struct"]:
                self.struct(match["struct"], match["members"])
            else:
                self.types[match["alias"]] = "ctypes.c_int32"


def main():
    root, python, table = map(pathlib.Path, sys.argv[1:])
    reader = Reader()
    for path in [root / "include" / "drystone" / name for name in HEADERS] + [root / name for name in OTHERS]:
        reader.read(path.read_text())
    head = ('"""Structs and enums of the C headers. Written by read_headers.py."""\nimport ctypes\nimport enum\n'
            "from typing import Any, Optional\n\nfrom ._base import Struct\n\n\n")
    names = "STRUCTS = [\n" + "".join(f"    {name},\n" for name in reader.structs) + "]\n"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(head + "\n\n".join(reader.python + [names]))
    table.write_text("/* Written by read_headers.py. */\n" + "\n".join(reader.table) + "\n")


main()
