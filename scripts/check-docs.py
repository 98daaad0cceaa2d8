#!/usr/bin/env python3
"""Checks README.md, CONTRIBUTING.md, CHANGELOG.md, docs/ and problems/README.md; exits 1 and lists what is wrong.

- README.md has at most 130 lines: it is a landing page, the manual is in docs/.
- Every relative link leads to a file that exists, and to a heading of it where it names one (#heading).
- No line of prose is longer than 120 columns. Tables, code, headings and lines without a blank are exempt.
"""
import re
import sys
import unicodedata
from pathlib import Path

README_LINES = 130
COLUMNS = 120
ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def prose(text):
    """Yields (line number, line) outside fenced and indented code."""
    fenced, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            is_code = line.startswith("    ") and (before == "" or before.startswith("    "))
            if not is_code:
                yield number, line
            before = line


def anchors(path):
    """Anchors of a page's headings, as GitHub makes them."""
    found = {}
    for _, line in prose(path.read_text()):
        match = re.match(r"#+ +(.*)", line)
        if not match:
            continue
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).lower()
        kept = "".join(c for c in title if c in " -_" or unicodedata.category(c)[0] in "LN")
        name = kept.strip().replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return found


def check_links(page, number, line, wrong):
    for target in LINK.findall(line):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            wrong.append(f"{page.relative_to(ROOT)}:{number}: {target}: no such file")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            wrong.append(f"{page.relative_to(ROOT)}:{number}: {target}: no such heading")


def check_page(page, wrong):
    for number, line in prose(page.read_text()):
        check_links(page, number, line, wrong)
        exempt = line.lstrip().startswith(("|", "#", "!", "<!--")) or " " not in line.strip()
        if len(line) > COLUMNS and not exempt:
            wrong.append(f"{page.relative_to(ROOT)}:{number}: {len(line)} columns; wrap it at {COLUMNS}")


def main():
    wrong = []
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "problems/README.md"]
    for page in pages + sorted((ROOT / "docs").glob("*.md")):
        if page.exists():
            check_page(page, wrong)
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines > README_LINES:
        wrong.append(f"README.md: {lines} lines; at most {README_LINES}")
    print("\n".join(wrong) if wrong else f"README.md has {lines} lines; links and line lengths are right")
    return 1 if wrong else 0


sys.exit(main())
