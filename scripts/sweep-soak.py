#!/usr/bin/env python3
"""A sweep of many short runs that is killed again and again, with SIGKILL: no run may be lost or repeated.

scripts/sweep-soak.py PROGRAM [--runs 10000] [--kills 20] [--workers 2] [--folder DIR]

What is killed changes from kill to kill: one worker, the process of one run, or the whole sweep, which is then started
again. At the end every run has one line in the journals, and exactly one; the table has every run; and runs drawn at
random, done again one by one with the command that --show prints, give the same state hash. Exit code 1 where not.
"""
import argparse
import csv
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def children(pid):
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def lines(folder):
    return [line for path in sorted(folder.glob("runs-*.jsonl")) for line in path.read_bytes().split(b"\n") if line]


def finished(folder):
    return sum(1 for line in lines(folder) if line.endswith(b"}"))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def strike(sweep, what):
    """Kills a part of the sweep; returns whether all of it is gone."""
    workers = children(sweep.pid)
    runs = [c for w in workers for c in children(w)]
    if what == "worker" and workers:
        kill(random.choice(workers))
    elif what == "run" and runs:
        kill(random.choice(runs))
    else:
        for pid in [sweep.pid, *workers, *runs]:
            kill(pid)
        sweep.wait()
        return True
    return False


def soak(program, runs, kills, workers, folder):
    side = round(runs ** 0.5)
    file, results = folder / "soak.json", folder / "soak.sweep"
    file.write_text(json.dumps({
        "drystone_sweep": 1, "name": "soak", "scene": "incline", "arguments": ["--time", "0.02"],
        "parameters": [{"generator": "mu", "from": 0.1, "to": 1, "count": side},
                       {"generator": "slope", "from": 0.1, "to": 1, "count": side}],
        "metrics": ["displacement_max", "state_hash"]}))
    command = [program, "sweep", str(file), "-j", str(workers), "-q"]
    sweep, done, struck = subprocess.Popen(command), 0, []
    while done < kills:
        target = (done + 1) * runs // (kills + 1)  # spread over the whole sweep
        while finished(results) < target and sweep.poll() is None:
            time.sleep(0.02)
        if sweep.poll() is not None:
            sys.exit(f"the sweep ended with status {sweep.returncode} after {finished(results)} runs")
        time.sleep(random.uniform(0, 0.05))
        what = ["worker", "everything", "run"][done % 3]
        if strike(sweep, what):
            sweep = subprocess.Popen(command)
        struck.append(what)
        done += 1
    if sweep.wait() != 0:
        sys.exit(f"the sweep ended with status {sweep.returncode}")
    return file, results, struck


def check(program, file, results, runs):
    keys, torn = [], 0
    for line in lines(results):
        try:
            keys.append(json.loads(line)["key"])
        except ValueError:
            torn += 1
    rows = list(csv.DictReader((results / "results.csv").open()))
    wrong = []
    if len(keys) != runs or len(set(keys)) != runs:
        wrong.append(f"{len(keys)} lines with {len(set(keys))} runs, of {runs}")
    if len(rows) != runs or any(row["end"] != "done" for row in rows):
        wrong.append(f"{sum(row['end'] == 'done' for row in rows)} of {len(rows)} rows are done")
    for row in random.sample(rows, min(20, runs)):
        shown = subprocess.run([program, "sweep", str(file), "--show", row["run"]], capture_output=True, text=True)
        words = [program, *shlex.split(shown.stdout)[1:], "--report", "-"]
        report = json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
        if report["state_hash"] != row["state_hash"]:
            wrong.append(f"run {row['run']}: {row['state_hash']} in the table, {report['state_hash']} alone")
    return torn, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    if round(arguments.runs ** 0.5) ** 2 != arguments.runs:
        parser.error("--runs: expected a square, for a grid of as many values of two parameters")
    if arguments.folder:
        Path(arguments.folder).mkdir(parents=True, exist_ok=True)
    random.seed(1)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.folder or temporary)
        begin = time.monotonic()
        file, results, struck = soak(arguments.program, arguments.runs, arguments.kills, arguments.workers, folder)
        seconds = time.monotonic() - begin
        torn, wrong = check(arguments.program, file, results, arguments.runs)
    print(f"{arguments.runs} runs, {len(struck)} kills ({', '.join(f'{struck.count(w)} of {w}' for w in sorted(set(struck)))}), "
          f"{torn} torn lines, {seconds:.0f} s")
    print("\n".join(wrong) if wrong else "no run is lost, none is repeated")
    return 1 if wrong else 0


sys.exit(main())
