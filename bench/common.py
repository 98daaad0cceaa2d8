"""What the benchmarks share: where things are, the options of their results, and how they end."""
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent


def text_of(command):
    """What a command prints, nothing where it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except OSError:
        return ""


def add_result_options(add, name, tables):
    add("--build", type=Path, default=ROOT / "build" / "bench", help="build folder of the bench preset")
    add("--output", type=Path, default=BENCH / "results" / name, help="results without extension")
    add("--resume", action="store_true", help="keep the results that are there, run what is missing")
    add("--tables", action="store_true", help=f"run nothing, write {tables} of the results that are there")
    add("--commit", default="", help="name of the commit, instead of asking git")


def add_program_option(add):
    add("--drystone", default=str(ROOT / "build" / "drystone"), help="the program")


def tell(lines, tables):
    """The summary, and where the tables are."""
    print("\n".join(lines) + f"Tables: {tables.relative_to(ROOT) if tables.is_relative_to(ROOT) else tables}")


def start(main):
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
