#!/usr/bin/env python3
"""Checks how long functions are: none of src/, cli/ and python/ has more than LONGEST lines, from its name to its closing brace.

Sources are formatted (make format): a function's name and its braces stand in the first column, nothing inside does.
Usage: check-functions.py [--list N] [SOURCE_DIR]; --list shows the N longest.
"""
import argparse
import pathlib
import re
import sys

LONGEST = 80  # lines: what a screen shows
STEP = 130  # lines of src/step.c, which is to be read as a whole
START = re.compile(r"^[A-Za-z_].*?\b(\w+)\(")


def functions(path):
    """(lines, first line, name) of every function of a file."""
    first = name = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        start = START.match(line)
        if start and not line.startswith("typedef"):
            first, name = number, start.group(1)
        if line.endswith(";") and line[:1] not in (" ", "}") or line.startswith(("}", "#")) and line != "}":
            first = None
        if line == "}" and first:
            yield number - first + 1, first, name
            first = None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", type=int, default=0, metavar="N")
    parser.add_argument("source", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent, type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.source
    paths = [p for top in ("src", "cli", "python") for p in sorted((root / top).rglob("*.[ch]"))]
    found = sorted(((*f, p) for p in paths for f in functions(p)), key=lambda f: (-f[0], str(f[3]), f[1]))
    for lines, first, name, path in found[: arguments.list]:
        print(f"{lines:4} {path.relative_to(root)}:{first} {name}")
    faults = [
        f"{path.relative_to(root)}:{first}: {name} has {lines} lines, more than {LONGEST}"
        for lines, first, name, path in found
        if lines > LONGEST
    ]
    step = len((root / "src" / "step.c").read_text().splitlines())
    if step > STEP:
        faults.append(f"src/step.c has {step} lines, more than {STEP}")
    print("\n".join(faults + [f"{len(found)} functions, the longest has {found[0][0]} lines, {len(faults)} faults"]))
    return 1 if faults else 0


sys.exit(main())
