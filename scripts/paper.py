#!/usr/bin/env python3
"""`make paper`: the tables of the papers that Drystone builds on, run again; writes docs/paper.md.

Every cell is one `drystone run` with a limit of processor time, so that other work on the machine changes no outcome; a
section has a limit too. A report is kept in build/paper/ for the program that made it, so that an interrupted run goes on
where it stopped; --fresh runs all again. --quick simulates shorter and takes minutes. A cell is never empty: it has a
figure, or the reason why there is none. --only runs one section, and leaves the others as they are: bench/results/paper.json
has what was run, and docs/paper.md is written from it, claims included; --tables runs nothing.
--check tells whether docs/paper.md is what is stored, without an empty cell.
Usage: scripts/paper.py [--quick] [--fresh] [--only SECTION] [--tables] [--check] [--jobs N]
"""
import argparse
import concurrent.futures
import datetime
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import paper_plans as plans  # noqa: E402
import paper_tables as tables  # noqa: E402
from paper_claims import claims  # noqa: E402
from paper_runs import FALLEN, KEPT, PROGRAM, ROOT, Budget, program_digest  # noqa: E402

STORE = ROOT / "bench" / "results" / "paper.json"
OUTPUT = ROOT / "docs" / "paper.md"
IMAGES = ROOT / "docs" / "images"


def text_of(key):
    return key if isinstance(key, str) else "|".join(map(str, key))


def commit():
    """The last one that changed what the program is made from."""
    def git(*words):
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "cli", "include", "scenes")
    made = git("log", "-1", "--format=%h", "--abbrev=12", "--", "src", "cli", "include", "scenes")
    return (made or "unknown") + (" with changes" if changed else "")


def run_section(name, options):
    """All runs of a section: what is stored of it."""
    part = plans.SECTIONS[name](options.quick)
    budget, digest, begin = Budget(60 * plans.MINUTES[name]), program_digest(), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, _ in enumerate(pool.map(lambda run: run.take(digest, budget, options.fresh), part.values()), 1):
            print(f"\r{name}: {number} of {len(part)} runs, {time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    extra = tables.EXTRAS[name](part, IMAGES) if name in tables.EXTRAS else {}
    return {"commit": commit(), "date": datetime.date.today().isoformat(), "quick": options.quick,
            "seconds": round(budget.spent), "runs": {text_of(key): run.report for key, run in part.items()},
            "extra": extra}


def restored(name, stored):
    """The runs of a section with the reports that are stored."""
    part = plans.SECTIONS[name](stored["quick"])
    for key, run in part.items():
        run.report = stored["runs"].get(text_of(key), {"why": "not run"})
    return part


def document(store):
    stored = [name for name in plans.SECTIONS if name in store]
    runs = {name: restored(name, store[name]) for name in stored}
    extras = {name: store[name]["extra"] for name in stored}
    parts = [f"""# The papers, run again

Written by `make paper`, which takes at most {sum(plans.MINUTES.values())} minutes of processor time, and took
{sum(store[name]["seconds"] for name in stored) / 60:.0f} (`QUICK=1`: some minutes; `ONLY=` one section).
[methods/](methods/README.md) describes the methods.

"Falls" means that a body moved by more than {1e3 * FALLEN:.0f} mm, with the time at which it did; there the run ends.
Else the largest displacement of a body is given. † = the run reached its limit of processor time,
{plans.LIMIT} s where nothing else is said. cpu s/s are processor seconds per simulated second on one thread.

## Claims

{claims(runs, extras, plans)}"""]
    for name in plans.SECTIONS:
        if name not in store:
            parts.append(f"{tables.HEADINGS[name]}\n\nNot run: `make paper ONLY={name}`.")
            continue
        about = store[name]
        parts.append(tables.WRITERS[name](runs[name], extras[name]))
        parts.append(f"Commit {about['commit']}, {about['date']}, {about['seconds']:,} s of processor time"
                     + ("; short runs, `make paper QUICK=1`." if about["quick"] else "."))
    return "\n\n".join(parts + [tables.FIGURES, tables.MISSING])


def check(store):
    """Exit 1 where the document is not what is stored, or has an empty cell."""
    text = document(store)
    empty = [line for line in text.splitlines() if line.startswith("|") and "" in [c.strip() for c in line.split("|")[1:-1]]]
    for line in empty:
        print(f"paper: an empty cell: {line}")
    if OUTPUT.read_text() != text:
        print(f"paper: {OUTPUT.relative_to(ROOT)} is not what {STORE.relative_to(ROOT)} says; scripts/paper.py --tables writes it")
    sys.exit(1 if empty or OUTPUT.read_text() != text else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--tables", action="store_true", help="run nothing, write the document from what is stored")
    parser.add_argument("--check", action="store_true", help="whether the document is what is stored")
    parser.add_argument("--only", choices=list(plans.SECTIONS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    store = json.loads(STORE.read_text()) if STORE.exists() else {}
    if options.check:
        check(store)
    if not options.tables:
        if not PROGRAM.exists():
            sys.exit(f"paper: no {PROGRAM.relative_to(ROOT)}; 'make' builds it")
        KEPT.mkdir(parents=True, exist_ok=True)
        for name in plans.SECTIONS:
            if options.only in (None, name):
                store[name] = run_section(name, options)
                STORE.write_text(json.dumps(store, indent=1, ensure_ascii=False) + "\n")
                OUTPUT.write_text(document(store))
    OUTPUT.write_text(document(store))
    print(OUTPUT.relative_to(ROOT))


if __name__ == "__main__":
    main()
