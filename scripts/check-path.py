#!/usr/bin/env python3
"""Checks the path from ds_step to a factorization that docs/layout.md prints, and that it is short.

Every function of the table is defined in the file that the table names, and calls the next one: by its name, or through a
table in which that stands (ORDER of coupled.c, the solvers). The last one, which factors, is a file of its own: what counts
are the files that lead to it.
Usage: check-path.py [SOURCE_DIR]
"""
import pathlib
import re
import sys

CALLS, FILES = 8, 4
root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)


def body(text, name):
    """The lines of a function, or None."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if re.match(rf"^[A-Za-z_].*\b{name}\(", line) and not line.endswith(";"):
            end = i if line.endswith(" }") else next((k for k in range(i, len(lines)) if lines[k].startswith("}")), None)
            return None if end is None else "\n".join(lines[i : end + 1])
    return None


section = (root / "docs" / "layout.md").read_text().split("### From a step to a factorization")[1].split("\n## ")[0]
rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")][2:]
faults, path, file = [], [], None
for row in rows:
    name = re.findall(r"`(\w+)`", row[1])[0]
    file = (re.findall(r"`([\w/.]+)`", row[2]) or [file])[0]
    path.append((name, file))
texts = {file: (root / "src" / file).read_text() for _, file in path}
tables = (root / "src" / "project" / "solvers.c").read_text()
for (name, file), (called, _) in zip(path, path[1:]):
    code = body(texts[file], name)
    if code is None:
        faults.append(f"{file}: there is no function {name}")
    elif not re.search(rf"\b{called}\b", code):
        by_table = re.search(rf"\b{called}\b", tables) or re.search(rf"^ +\{{[^{{}}]*\b{called}\b", texts[file], re.M)
        if not by_table:
            faults.append(f"{file}: {name} does not call {called}")
name, file = path[-1]
if body(texts[file], name) is None:
    faults.append(f"{file}: there is no function {name}")
if len(path) - 1 > CALLS:
    faults.append(f"{len(path) - 1} calls, more than {CALLS}")
files = {file for _, file in path[:-1]}
if len(files) > FILES:
    faults.append(f"{len(files)} files, more than {FILES}")
print("\n".join(faults + [f"{len(path) - 1} calls through {len(files)} files to {file}, {len(faults)} faults"]))
sys.exit(1 if faults else 0)
