"""What the benchmarks share: where things are, the options of their results, and how they end."""
import argparse
import datetime
import json
import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent


def text_of(command):
    """What a command prints, nothing where it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    except OSError:
        return ""


def machine():
    processor = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                processor = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"processor": processor, "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}",
            "load": os.getloadavg()[0]}


def commit():
    head = text_of(["git", "rev-parse", "--short=12", "HEAD"])
    changed = text_of(["git", "status", "--porcelain", "--untracked-files=no"])
    return (head or "unknown") + (" with changes" if changed else "")


def origin(options):
    """Where results come from."""
    return {"commit": options.commit or commit(), "date": datetime.date.today().isoformat(), "machine": machine()}


def work_folder(options, name):
    folder = (options.build / name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def parser_of(description, name, tables, program=True):
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    if program:
        add("--drystone", default=str(ROOT / "build" / "drystone"), help="the program")
    add("--build", type=Path, default=ROOT / "build" / "bench", help="build folder of the bench preset")
    add("--output", type=Path, default=BENCH / "results" / name, help="results without extension")
    add("--resume", action="store_true", help="keep the results that are there, run what is missing")
    add("--tables", action="store_true", help=f"run nothing, write {tables} of the results that are there")
    add("--commit", default="", help="name of the commit, instead of asking git")
    return parser


def open_results(options):
    """Where JSON and tables go, and the results that are there, where they are wanted."""
    store, tables = options.output.with_suffix(".json"), options.output.with_suffix(".md")
    store.parent.mkdir(parents=True, exist_ok=True)
    wanted = (options.resume or options.tables) and store.exists()
    return store, tables, json.loads(store.read_text()) if wanted else {}


def keep_results(data, store):
    store.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def processor_seconds(pid):
    """Of a running process, all its threads; None where it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def run_limited(command, limit, grace=60):
    """Runs a command; after `limit` processor seconds it is interrupted, after `grace` more seconds ended.

    Returns (what it printed on stderr, processor seconds, how it ended): "" = by itself, "interrupted", "killed",
    or the reason why it could not be started or failed. Drystone ends after the step it is in, and reports up to there.
    """
    try:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    except OSError as error:
        return "", 0, str(error)
    ended, used, told = "", 0, None
    while True:
        try:
            _, errors = child.communicate(timeout=0.1)
            break
        except subprocess.TimeoutExpired:
            used = processor_seconds(child.pid) or used
            if told is None and used > limit:
                child.send_signal(signal.SIGINT)
                ended, told = "interrupted", time.monotonic()
            elif told is not None and time.monotonic() > told + grace:
                child.kill()
                ended = "killed"
    if ended == "" and child.returncode not in (0, 1):
        ended = f"exit code {child.returncode}"
    return errors or "", used, ended


def conclude(data, tables, write_tables, summary):
    """Tables and summary; the exit code."""
    write_tables(data, tables)
    lines, sound = summary(data)
    tell(lines[2:], tables)
    return 0 if sound else 1


def tell(lines, tables):
    """The summary, and where the tables are."""
    print("\n".join(lines) + f"Tables: {tables.relative_to(ROOT) if tables.is_relative_to(ROOT) else tables}")


def start(main):
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
