#!/usr/bin/env python3
"""Structures hit by a ball at 1 to 20 m/s: Drystone at its default options beside Jolt tuned, on the same scenes.

Each scene is written once by a generator; both engines read that file, run alone and on one thread, one after the
other. Processor time per simulated second, and for Drystone what the steps took: how many are certified, factorizations
of the mean, of the worst percent and of the worst step. A run of Drystone that exceeds its processor time is interrupted
and counted up to the step it had come to: "ended after N steps". Jolt runs twice, once for time, once to look at overlaps
and energy every 10 ms. docs/benchmarks.md has the method; results go to results/impact.json, as each run ends, and
results/impact.md.

Exit code: 0, or 1 where a step is not certified or a run did not come to its end.
"""
import json
import math
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from common import (BENCH, conclude, keep_results, open_results, origin, parser_of, run_limited, start,  # noqa: E402
                    text_of, work_folder)

SPEEDS = (1, 3, 6, 10, 20)
STEP = 0.01  # s, Drystone's default
STRUCTURES = {
    "wall": ("wall of 84 bricks", "wall:rows=8"),
    "card-house": ("card house, 5 levels", "card-house:levels=5"),
    "arch": ("arch of 25 stones", "arch:stones=25"),
    "tower": ("tower of 54 blocks", "tower"),
}
KEEP = ("steps", "time", "ended", "dynamic_bodies", "contacts_mean", "contacts_max", "unconverged_steps", "natural_error_max",
        "factorizations", "factorizations_mean", "factorizations_worst_mean", "factorizations_max",
        "factorizations_max_time", "ms_mean", "ms_p99", "ms_max", "penetration_max", "energy_start", "energy_end",
        "energy_gain_max", "energy_gained", "cpu_seconds", "state_hash")


def scenes_of(options):
    words = [w for w in options.scenes.split(",") if w]
    speeds = [float(w) for w in options.speeds.split(",")] if options.speeds else SPEEDS
    names = [f"{s}-{v:g}" for s in STRUCTURES for v in speeds]
    return [n for n in names if not words or any(w in n for w in words)]


def generator(name):
    structure, speed = name.rsplit("-", 1)
    text = STRUCTURES[structure][1]
    return text + ("," if ":" in text else ":") + f"ball_speed={speed}"


def write_scene(name, options):
    path = options.work / f"{name}.json"
    done = subprocess.run([options.drystone, "scene", generator(name)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"impact: {generator(name)}: {done.stderr.strip()}")
    path.write_text(done.stdout)
    return path


def recorded_steps(record, options):
    """Of a run that was killed within a step: what its recording holds."""
    found = re.search(r"^frames +(\d+)", text_of([options.drystone, "info", str(record)]), re.M)
    return int(found[1]) - 1 if found else 0


def run_drystone(name, path, options):
    report, problems = options.work / "report.json", options.work / "problems" / name
    record = options.work / "record.h5"
    record.unlink(missing_ok=True)
    report.unlink(missing_ok=True)
    problems.mkdir(parents=True, exist_ok=True)
    for old in problems.glob("*.hdf5"):
        old.unlink()
    command = [options.drystone, "run", str(path), "--time", str(options.time), "--threads", "1", "--quiet",
               "--report", str(report), "--dump-problems", str(problems), "--record", str(record)]
    errors, used, ended = run_limited(command, options.cpu_limit)
    if not report.exists():
        if ended == "killed":
            steps = recorded_steps(record, options)
            least = {"cpu_per_second": used / (steps * STEP)} if steps else {}
            return {"failure": f"ended after {steps} steps and {used:.0f} s", "steps": steps, **least}
        return {"failure": errors.strip()[-200:] or ended or "no report"}
    data = json.loads(report.read_text())
    result = {key: data.get(key) for key in KEEP}
    result["planned"] = round(options.time / data["step"])
    if data["time"]:
        result["cpu_per_second"] = data["cpu_seconds"] / data["time"]
    return result


def run_jolt(path, options):
    command = ["node", str(BENCH / "rivals" / "jolt.mjs"), str(path), "--setting", "tuned", "--time",
               str(options.time), "--keep-going", "--cpu-limit", str(options.cpu_limit)]
    results = []
    for more in ([], ["--probe", "0.01"]):
        try:
            done = subprocess.run(command + more, capture_output=True, text=True, timeout=4 * options.cpu_limit + 60)
            results.append(json.loads(done.stdout.strip().splitlines()[-1]))
        except (OSError, ValueError, IndexError, subprocess.TimeoutExpired) as error:
            return {"failure": (str(error) or "no result")[:200]}
    timed, looked = results
    for key in ("penetration_max", "energy_start", "energy_gained", "energy_gain_max"):
        timed[key] = looked[key]
    return timed


# ---- tables ----------------------------------------------------------------------------------------------------------


def short(value, digits=2):
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.{digits}g}"


def ratio(own, rival):
    a, b = own.get("cpu_per_second"), rival.get("cpu_per_second")
    return None if not a or not b else a / b


def row(name, own, rival):
    structure, speed = name.rsplit("-", 1)
    jolt = [rival["failure"], "", ""] if "failure" in rival else [
        short(rival["cpu_per_second"]), short(rival["energy_gained"]), short(1000 * rival["penetration_max"])]
    if "failure" in own:
        least = [f"> {short(x)}" if x else "" for x in (own.get("cpu_per_second"), ratio(own, rival))]
        return [STRUCTURES[structure][0], speed, own["failure"], "", least[0]] + [""] * 6 + jolt + [least[1]]
    certified = own["steps"] - own["unconverged_steps"]
    steps = f"{certified} of {own['steps']}"
    if own["steps"] < own["planned"]:
        steps += f"; ended after {own['steps']} of {own['planned']}"
    return [STRUCTURES[structure][0], speed, steps, f"{own['natural_error_max']:.0e}", short(own.get("cpu_per_second")),
            short(own["factorizations_mean"], 3), short(own["factorizations_worst_mean"], 3),
            str(own["factorizations_max"]), short(own["ms_max"]["total"]), short(own["energy_gained"]),
            short(1000 * own["penetration_max"])] + jolt + [short(ratio(own, rival))]


def summary(data):
    own = {name: r["Drystone"] for name, r in data["results"].items() if "Drystone" in r}
    ran = [r for r in own.values() if "failure" not in r]  # those that were killed within a step have no report
    whole = [r for r in ran if r["steps"] == r["planned"]]
    steps, missed = sum(r["steps"] for r in ran), sum(r["unconverged_steps"] for r in ran)
    quotients = sorted(q for name, r in data["results"].items() if "Jolt" in r
                       if (q := ratio(own[name], r["Jolt"])) is not None)
    lines = ["## What this run says", "",
             f"- {len(whole)} of {len(own)} scenes came to their end within {data['cpu_limit']:g} s of processor time.",
             f"- {steps - missed} of {steps} steps are certified at Drystone's default tolerance, in the runs that were not killed."]
    if ran:
        worst = max(ran, key=lambda r: r["factorizations_max"])
        lines.append(f"- The worst step took {worst['factorizations_max']} factorizations, "
                     f"{worst['ms_max']['total'] / 1000:.3g} s of wall time.")
    if quotients:
        lines.append(f"- Drystone takes {quotients[0]:.2g} to {quotients[-1]:.2g} times the processor time of Jolt tuned, "
                     f"in the median {quotients[len(quotients) // 2]:.2g} times; runs that were ended count up to there.")
    return lines + [""], len(whole) == len(own) and missed == 0


def write_tables(data, path):
    machine = data["machine"]
    head = ["scene", "ball, m/s", "steps certified", "worst error", "processor s per s", "factorizations per step",
            "worst percent", "worst step", "worst step, ms of wall time", "energy gained, J", "overlap, mm", "Jolt: processor s per s",
            "energy gained, J", "overlap, mm", "Drystone over Jolt"]
    lines = ["# Structures hit by a ball", "",
             f"Commit {data['commit']}, {data['date']}. {machine['processor']}, {machine['cores']} cores, "
             f"{machine['system']}, load {machine['load']:.2g} at the start; one thread each, processor time, "
             f"{data['time']:g} simulated seconds, at most {data['cpu_limit']:g} s of processor time a run. "
             "Written by bench/impact.py; method: docs/benchmarks.md.", ""]
    lines += summary(data)[0]
    lines += ["## The scenes", "",
              f"Drystone at its default options (10 ms, automatic tolerance). Jolt {data['versions'].get('Jolt', '')} "
              f"(WebAssembly), tuned: {data['versions'].get('Jolt settings', '1/240 s, 100/10 iterations')}. Worst percent: "
              "mean factorizations of the worst percent of the steps. Energy gained: all rises, summed over steps of "
              "Drystone, over looks every 10 ms at Jolt. Overlap: the deepest at the start of any step of Drystone; at "
              "Jolt as it reports it every 10 ms, with its slop of 1 mm.", "",
              "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, result in data["results"].items():
        lines.append("| " + " | ".join(row(name, result.get("Drystone", {"failure": "–"}),
                                           result.get("Jolt", {"failure": "–"}))) + " |")
    path.write_text("\n".join(lines) + "\n")


# ---- the whole run ---------------------------------------------------------------------------------------------------


def read_options():
    parser = parser_of("Structures hit by a ball: Drystone beside Jolt.", "impact", "the tables")
    add = parser.add_argument
    add("--quick", action="store_true", help="1 s and 10 s of processor time a scene, two speeds: a test of the bench")
    add("--scenes", default="", help="only scenes whose name (wall-6) contains one of these words, comma-separated")
    add("--speeds", default="", help="of the ball, m/s, comma-separated (1,3,6,10,20)")
    add("--time", type=float, default=3, help="simulated seconds (3)")
    add("--cpu-limit", type=float, default=60, help="processor seconds at which a run is ended (60)")
    add("--no-rival", action="store_true", help="Drystone alone")
    options = parser.parse_args()
    if options.quick:
        options.time, options.cpu_limit, options.speeds = 1, 10, "1,6"
        options.output = options.output.with_name("quick-impact")
    return options


def progress(number, count, name, result):
    own, rival = result["Drystone"], result.get("Jolt", {})
    text = own.get("failure") or (
        f"{own['steps']} steps, {own['unconverged_steps']} not certified, {short(own.get('cpu_per_second'))} s a simulated "
        f"second, worst step {own['factorizations_max']} factorizations")
    text += f"; Jolt {rival.get('failure') or short(rival.get('cpu_per_second'))}" if rival else ""
    print(f"[{number}/{count}] {name}: {text}", flush=True)


def main():
    options = read_options()
    store, tables, data = open_results(options)
    if options.tables:
        write_tables(data, tables)
        return 0
    options.work = work_folder(options, "impact")
    data.setdefault("results", {})
    data.setdefault("versions", {})["node"] = text_of(["node", "--version"])
    data.update(**origin(options), time=options.time, cpu_limit=options.cpu_limit)
    if not options.no_rival:
        from run import install_node_rivals
        install_node_rivals()
    names = scenes_of(options)
    for number, name in enumerate(names, 1):
        if options.resume and name in data["results"]:
            continue
        path, begin = write_scene(name, options), time.monotonic()
        result = {"Drystone": run_drystone(name, path, options)}
        if not options.no_rival:
            result["Jolt"] = run_jolt(path, options)
            for key, source in (("Jolt", "version"), ("Jolt settings", "settings")):
                if source in result["Jolt"]:
                    data["versions"][key] = result["Jolt"][source]
        result["seconds"] = time.monotonic() - begin
        data["results"][name] = result
        progress(number, len(names), name, result)
        keep_results(data, store)
    return conclude(data, tables, write_tables, summary)


if __name__ == "__main__":
    start(main)
