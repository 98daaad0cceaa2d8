#!/usr/bin/env python3
"""Runs the code cells of notebooks, each notebook in an interpreter of its own; shows what a cell's last line gives.

    run_notebook.py NOTEBOOK.ipynb...
"""
import ast
import json
import subprocess
import sys


def run(path):
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"{path} cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path} cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"{path} cell {number}", "eval"), names)
            if value is not None:
                print(getattr(value, "_repr_html_", value.__repr__)())


if len(sys.argv) == 2:
    run(sys.argv[1])
else:
    sys.exit(max([subprocess.run([sys.executable, __file__, path]).returncode for path in sys.argv[1:]], default=2))
