#!/usr/bin/env python3
"""Writes the solvers of the program into the schema of scene files; with --check only says whether they are there.

scripts/schema-methods.py PROGRAM SCHEMA [--check]
"""
import json
import re
import subprocess
import sys

program, path = sys.argv[1:3]
text = subprocess.run([program, "help", "solve"], capture_output=True, text=True, check=True).stdout
solvers = re.findall(r"^  (\S+) +(.*)$", text.split("\nSolvers:\n")[1], re.M)
entry = json.dumps({"enum": [name for name, _ in solvers], "default": solvers[0][0],
                    "description": "The solver. " + " ".join(f"{name}: {what}." for name, what in solvers)})
entry = re.sub(r"^{(.*)}$", r"{ \1 }", entry)
with open(path) as file:
    old = file.read()
new = re.sub(r'"method": \{ "enum".*? \}(?=,?\n)', lambda _: f'"method": {entry}', old, count=1)
if "--check" in sys.argv:
    if new != old:
        sys.exit(f"{path} does not have the program's solvers; 'make schema' writes them")
elif new != old:
    with open(path, "w") as file:
        file.write(new)
