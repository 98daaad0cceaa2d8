#!/usr/bin/env python3
"""Finds functions of src/ and cli/ that only tests use, or that only their own file uses although they are not static.

Functions of the public headers are open to users; one that neither the program, nor the Python package, nor a test uses is
reported all the same. Usage: check-dead.py [SOURCE_DIR]
"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
DEFINITION = re.compile(r"^(?!static|typedef)[a-z][\w ]*[ *](\w+)\((?:[^;{}])*?\) \{", re.M)
words, definitions, public, inline = {}, {}, set(), collections.Counter()
for folder in ("include", "src", "cli", "python", "test", "bench", "examples", "fuzz"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".py") or "node_modules" in path.parts:
            continue
        text = re.sub(r"/\*.*?\*/", "", path.read_text(errors="replace"), flags=re.S)
        name = path.relative_to(root)
        is_test = name.parts[0] == "test" or "test" in name.parts[1:-1]
        words[name] = (is_test, collections.Counter(re.findall(r"\b\w+\b", text)))
        if name.parts[0] == "include":
            public.update(re.findall(r"\b(ds_\w+)\(", text))
        elif path.suffix == ".h":  # what a macro or an inline function of a header calls, besides its declaration
            for match in re.finditer(r"^#define (?:.*\\\n)*.*|^static inline .*? \{(?:.*?\n\}|.*\}$)", text, re.M | re.S):
                inline.update(set(re.findall(r"\b\w+\b", match.group())))
        elif path.suffix == ".c" and name.parts[0] in ("src", "cli") and not is_test:
            definitions.update({n: name for n in DEFINITION.findall(text) if n != "main"})

faults = []
for name, home in sorted(definitions.items()):
    inside = words[home][1][name] - 1 + inline[name]
    outside = tests = 0
    for path, (is_test, counts) in words.items():
        if path != home and (path.suffix != ".h" or is_test):
            outside += 0 if is_test else counts[name]
            tests += counts[name] if is_test else 0
    if name in public:
        if inside + outside + tests == 0:
            faults.append(f"{home}: {name} is public, and nothing uses or tests it")
    elif inside + outside == 0:
        faults.append(f"{home}: {name} is called by {'tests only' if tests else 'nothing'}; delete it")
    elif outside + inline[name] + tests == 0:
        faults.append(f"{home}: {name} is used in its own file only; make it static")
for fault in faults:
    print(fault)
print(f"{len(definitions)} functions with external linkage, {len(faults)} faults")
sys.exit(bool(faults))
