#!/usr/bin/env python3
"""What the rules of motion cost: scenes at rest and scenes that collide, by `euler`, `midpoint` and `auto`.

Factorizations per step, what was tried and not used included, and the processor time relative to `euler` in the same
run, one thread, default options. Results go to results/motion.json, as each run ends, and motion.md.

Exit code: 0, or 1 where a step missed its certificate, that of the motion included, or a scene could not be run.
"""
import json
import sys

sys.dont_write_bytecode = True
from common import conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402
from run import run_command  # noqa: E402

# what happens: generator, simulated seconds
SCENES = {"card house, stands": ("card-house", 3), "arch, stands": ("arch", 3),
          "wall hit at 6 m/s": ("wall:ball_speed=6", 0.3), "pile of 60": ("pile:count=60", 0.8),
          "dominoes": ("dominoes", 0.8), "10 chess pieces dropped": ("chess-drop:count=10", 1),
          "rigid and deformable bodies, `hybrid`": ("hybrid", 1)}
RULES = ("euler", "midpoint", "auto")
KEEP = ("steps", "unconverged_steps", "motion_missed_steps", "limited_steps", "factorizations", "cpu_seconds",
        "unexplained_gain_max", "energy_start", "energy_end", "state_hash")


def run_scene(options, generator, seconds, rule):
    report = options.work / "report.json"
    report.unlink(missing_ok=True)
    command = [options.drystone, "run", generator, "--threads", "1", "--time", str(seconds), "--integrator", rule,
               "--quiet", "--report", str(report)]
    _, _, failure = run_command(command, 600)
    if not report.exists():
        return {"failure": failure or "no report"}
    full = json.loads(report.read_text())
    return {key: full.get(key) for key in KEEP}


def missed(r):
    return r["unconverged_steps"] + r["motion_missed_steps"] + r["limited_steps"]


def cell(data, name, rule):
    r, euler = data["run"].get(f"{name}/{rule}"), data["run"].get(f"{name}/euler", {})
    if not r or "failure" in r:
        return (r or {}).get("failure", "not run")
    text = f"{r['factorizations'] / r['steps']:.3g}"
    if rule != "euler" and euler.get("cpu_seconds"):
        text += f" ({r['cpu_seconds'] / euler['cpu_seconds']:.1f})"
    return text + (f", {missed(r)} missed" if missed(r) else "")


def summary(data):
    runs = data.get("run", {}).values()
    faults = sum("failure" in r or missed(r) > 0 for r in runs)
    steps = sum(r.get("steps", 0) for r in runs)
    return ["## What this run says", "", f"- {len(runs)} runs, {steps} steps; {faults} runs with a step that missed.",
            ""], faults == 0


def write_tables(data, path):
    m = data["machine"]
    lines = ["# What the rules of motion cost", "",
             f"Commit {data['commit']}, {data['date']}. {m['processor']}, {m['cores']} cores, {m['system']}, load "
             f"{m['load']:.1f} at the start; one thread, processor time. Written by bench/motion.py.", ""]
    lines += summary(data)[0]
    lines += ["Factorizations per step, what was tried and not used included; in brackets the processor time relative "
              "to `euler`.", "", "| scene | s | " + " | ".join(f"`{rule}`" for rule in RULES) + " |",
              "|---" * (2 + len(RULES)) + "|"]
    for name, (_, seconds) in SCENES.items():
        lines.append(f"| {name} | {seconds} | " + " | ".join(cell(data, name, rule) for rule in RULES) + " |")
    path.write_text("\n".join(lines) + "\n")


def main():
    options = parser_of("What the rules of motion cost.", "motion", "the table").parse_args()
    json_path, md_path, data = open_results(options)
    if not options.tables:
        data.update(**origin(options))
        options.work = work_folder(options, "motion")
        for name, (generator, seconds) in SCENES.items():
            for rule in RULES:
                key = f"{name}/{rule}"
                if options.resume and key in data.get("run", {}):
                    continue
                result = data.setdefault("run", {})[key] = run_scene(options, generator, seconds, rule)
                print(key, result.get("failure") or f"{result['factorizations'] / result['steps']:.3g}", flush=True)
                keep_results(data, json_path)
    return conclude(data, md_path, write_tables, summary)


if __name__ == "__main__":
    start(main)
