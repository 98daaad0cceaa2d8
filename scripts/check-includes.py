#!/usr/bin/env python3
"""Checks who includes whom: the folders of src/ and the program against the table in docs/layout.md.

Fails where a file includes a header of another folder that the table does not allow, where a folder is not in the table,
and where the table itself has a cycle. Usage: check-includes.py [SOURCE_DIR]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
TABLE = ROOT / "docs" / "layout.md"
HEADING = "## Who may include whom"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def read_table():
    """folder -> folders that it may include."""
    lines = TABLE.read_text().split(HEADING, 1)[1].split("\n## ", 1)[0].splitlines()
    allowed = {}
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", cells[0]) if line.startswith("|") and len(cells) > 1 else []
        for name in names:
            allowed[name.rstrip("/")] = {other.rstrip("/") for other in re.findall(r"`([^`]+)`", cells[1])}
    return allowed


def folder_of(path):
    """The name in the table: a folder of src/, `src/*.c` for what lies above them, `cli`."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else "src/*.c"
    return parts[0]


def target_of(path, name):
    """The file that an include means, None where it is a public header or none of ours."""
    for base in (path.parent, ROOT / "src", ROOT / "cli"):
        target = (base / name).resolve()
        if target.is_file() and ROOT in target.parents:
            return target
    return None


def find_cycle(graph):
    """A list of folders that include each other in turn, or []."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        path.append(folder)
        for other in sorted(graph.get(folder, ())):
            cycle = visit(other)
            if cycle:
                return cycle
        done.add(path.pop())
        return []

    for folder in sorted(graph):
        cycle = visit(folder)
        if cycle:
            return cycle
    return []


def main():
    allowed = read_table()
    faults, count = [], 0
    sources = [p for top in ("src", "cli", "python") for p in sorted((ROOT / top).rglob("*.[ch]")) if "test" not in p.parts]
    for path in sources:
        folder = folder_of(path)
        for name in INCLUDE.findall(path.read_text()):
            target = target_of(path, name)
            other = folder_of(target) if target else folder
            count += 1
            if other != folder and other not in allowed.get(folder, ()):
                faults.append(f"{path.relative_to(ROOT)}: includes {name}, but {folder} may not include {other}")
    faults += [f"{TABLE.name}: no row for {folder}" for folder in sorted({folder_of(p) for p in sources} - set(allowed))]
    cycle = find_cycle(allowed)
    if cycle:
        faults.append(f"{TABLE.name}: a cycle, {' -> '.join(cycle)}")
    print("\n".join(faults + [f"{count} includes of {len(sources)} files, {len(faults)} faults"]))
    return 1 if faults else 0


sys.exit(main())
