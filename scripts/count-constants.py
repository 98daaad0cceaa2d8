#!/usr/bin/env python3
"""Counts the named numbers of the solver: constants of src/project, and the rows of its tables.

scripts/count-constants.py [--list] [FOLDER]

A constant is a `static const` number, a number in an enum without a name, or a number that is #defined. Enums with a
name list things, and are not counted.
"""
import glob
import re
import sys

folder = next((a for a in sys.argv[1:] if not a.startswith("--")), "src/project")
total = 0
for path in sorted(glob.glob(f"{folder}/*.[ch]")):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    names = re.findall(r"^#define (DS_\w+) [-\d.(]", text, re.M)
    for body in re.findall(r"\benum \{(.*?)\}(?! \w)", text, re.S):
        names += re.findall(r"(\w+) = -?\d", body)
    for line in re.findall(r"^static const (?:double|int32_t|float) ([^;]*);", text, re.M | re.S):
        names += re.findall(r"(\w+)(?:\[\])? = ", line)
    total += len(names)
    if names and "--list" in sys.argv:
        print(f"{path}: {', '.join(names)}")
print(total)
