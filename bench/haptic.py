#!/usr/bin/env python3
"""The benchmark of touch: SP08's haptic demonstration (Fig. 1a, last row of Table 1), 60 s at 1,000 Hz.

A simulated hand pushes the tool of the scene `haptic` among its blocks, through the virtual coupling.

1. live: the loop as a device meets it: a thread, 1,000 ticks per second, a deadline of 0.85 ms for a step's contacts. Five
   times, because a shared machine differs from one minute to the next; the target is judged on all of them together.
2. deadline: the same ticks one after the other, without waiting: what the clock of a busy machine adds is gone.
3. free: no deadline: every step is solved to its end.

All runs ask for a high priority, and the live one for a real-time thread, where they may. docs/benchmarks.md has the method; results go to results/haptic.json,
haptic.md and haptic.png.

Exit code: 0, or 1 where a run failed or fewer than 99.9 % of the live steps took 1 ms of processor time or less. The target
is meant by the clock; on a shared machine the clock also measures the others, so that it is told and not judged.
"""
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from common import conclude, keep_results, open_results, origin, parser_of, start  # noqa: E402
from run import run_command  # noqa: E402

LIVE = ["live"] + [f"live {k}" for k in range(2, 6)]
RUNS = {**{name: ("--realtime",) for name in LIVE}, "deadline": ("--free-run", "--deadline", "0.00085"),
        "free": ("--free-run",)}
MEANING = {**{name: f"{name}, deadline 0.85 ms" for name in LIVE}, "deadline": "without waiting, deadline 0.85 ms",
           "free": "without waiting, no deadline"}
PRIORITY = -15
TARGET = 0.999
PAPER = {"mean": 3.2, "converged": 0.80, "dof": 72, "contacts": 117}  # SP08 table 1, last row, and section 8.1


# ---- running ---------------------------------------------------------------------------------------------------------


def hurried(command):
    """The command at a high priority, where that may be had."""
    may = subprocess.run(["nice", "-n", str(PRIORITY), "true"], capture_output=True)
    return (["nice", "-n", str(PRIORITY), *command], True) if may.returncode == 0 and not may.stderr else (command, False)


def run_loop(options, settings):
    report = options.output.with_name("haptic_report.json")
    report.unlink(missing_ok=True)
    command = [options.drystone, "touch", "haptic", "--time", str(options.time), "--quiet", "--report", str(report),
               *settings]
    command, high = hurried(command)
    _, _, failure = run_command(command, 20 * options.time + 120)
    if not report.exists():
        return {"failure": failure or "no report"}
    result = json.loads(report.read_text())
    report.unlink()
    result["high_priority"] = high
    return result


# ---- tables ----------------------------------------------------------------------------------------------------------


def row(name, r, clock):
    d = r[clock]
    return (f"| {MEANING[name]} | {'wall' if clock == 'ms' else 'processor'} | {r['ticks']} | {d['mean']:.3f} "
            f"| {d['median']:.3f} | {d['p99']:.3f} | {d['p99_9']:.3f} | {d['max']:.2f} | {100 * d['within_1ms']:.3f} % "
            f"| {100 * r['converged_share']:.2f} % | {r['late']} / {r['skipped']} |")


def table(data):
    lines = ["| run | clock | steps | mean, ms | median | 99 % | 99.9 % | longest | within 1 ms | converged at 1e-2 "
             "| late / skipped |", "|---" * 11 + "|"]
    for name in RUNS:
        r = data["runs"].get(name)
        if r is None or "failure" in r:
            lines.append(f"| {MEANING[name]} | {(r or {}).get('failure', 'not run')} |" + " |" * 9)
            continue
        lines += [row(name, r, "ms"), row(name, r, "cpu_ms")]
    lines.append(f"| SP08, 2008 | wall | | {PAPER['mean']} | | | | | | {100 * PAPER['converged']:.0f} % | |")
    return lines + [""]


def together(runs, value):
    """The mean over the steps of several runs."""
    return sum(r["ticks"] * value(r) for r in runs) / sum(r["ticks"] for r in runs)


def summary(data):
    lines = ["## What these runs say", ""]
    live = [r for r in (data["runs"].get(name) for name in LIVE) if r and "failure" not in r]
    if not live:
        return lines + ["- The loop was not run.", ""], False
    wall, cpu = (together(live, lambda r: r[clock]["within_1ms"]) for clock in ("ms", "cpu_ms"))
    met = ["missed" if share < TARGET else "met" for share in (wall, cpu)]
    each = ", ".join(f"{100 * r['ms']['within_1ms']:.3f}" for r in live)
    lines.append(f"- Target {100 * TARGET:.1f} % of the live steps within 1 ms: {met[0]} by the clock, {100 * wall:.3f} % of "
                 f"{sum(r['ticks'] for r in live):,} (each run: {each} %); {met[1]} by processor time, {100 * cpu:.3f} %. "
                 f"{sum(r['late'] for r in live)} ticks were not done when the next was due, and "
                 f"{sum(r['skipped'] for r in live)} were skipped for that.")
    lines.append(f"- {100 * together(live, lambda r: r['converged_share']):.2f} % of the live steps converged (SP08: "
                 f"{100 * PAPER['converged']:.0f} %), {together(live, lambda r: r['ms']['mean']):.2f} ms on average (SP08: "
                 f"{PAPER['mean']} ms, of {PAPER['contacts']} contacts and {PAPER['dof']} degrees of freedom; here "
                 f"{together(live, lambda r: r['contacts_mean']):.0f} contacts on average, "
                 f"{max(r['contacts_max'] for r in live)} at most, and 72).")
    stages = ", ".join(f"{name} {together(live, lambda r: r['ms_stage_mean'][name]):.3f}" for name in live[0]["ms_stage_mean"])
    lines.append(f"- Where the time goes, ms: {stages}. Largest force {max(r['force_max'] for r in live):.1f} N, deepest "
                 f"overlap {1000 * max(r['penetration_max'] for r in live):.2f} mm.")
    return lines + [""], cpu >= TARGET


def write_tables(data, path):
    m, live = data["machine"], data["runs"].get("live", {})
    lines = ["# Touch", "",
             f"Commit {data['commit']}, {data['date']}. {m['processor']}, {m['cores']} cores, {m['system']}, load "
             f"{m['load']:.1f} at the start; one thread{', at a high priority, live as a real-time thread' if live.get('high_priority') else ''}. "
             "Written by bench/haptic.py; method: docs/benchmarks.md.", ""]
    lines += summary(data)[0] + table(data) + ["![Step times](haptic.png)", ""]
    path.write_text("\n".join(lines))


def draw_elsewhere(path, output):
    """Debian's Python has matplotlib where another one comes first in the path."""
    python = Path("/usr/bin/python3")
    if python.exists() and python.resolve() != Path(sys.executable).resolve():
        done = subprocess.run([python, __file__, "--tables", "--output", output], capture_output=True)
        if done.returncode in (0, 1) and path.exists():
            return
    print("bench: no matplotlib, no picture", file=sys.stderr)


def draw(data, path, output):
    try:
        import matplotlib
    except ImportError:
        return draw_elsewhere(path, output)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(8, 4))
    for name, colour in [("free", "#7f7f7f"), ("deadline", "#1f77b4")] + [(name, "#c2185b") for name in LIVE]:
        r = data["runs"].get(name)
        if r is None or "failure" in r:
            continue
        bins = r["ms"]["histogram_10us"]
        share = [100 * sum(bins[k:]) / sum(bins) for k in range(len(bins))]  # of the steps that take longer
        axes.semilogy([0.01 * k for k in range(len(bins))], [s or None for s in share], color=colour, linewidth=1.6 if name not in LIVE else 0.9,
                      drawstyle="steps-post", label=MEANING[name] if name not in LIVE[1:] else None)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.axhline(100 * (1 - TARGET), color="black", linewidth=0.8, linestyle=":")
    axes.set(xlabel="wall time of a step, ms", ylabel="steps that take longer, %", xlim=(0, 3), ylim=(1e-3, 100))
    axes.grid(True, which="major", color="#dddddd")
    axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


# ---- the whole run ---------------------------------------------------------------------------------------------------


def main():
    parser = parser_of("Touch: step times of the haptic loop.", "haptic", "table and picture")
    add = parser.add_argument
    add("--quick", action="store_true", help="3 s: a test of the bench")
    add("--time", type=float, default=60, help="seconds of each run (60)")
    options = parser.parse_args()
    if options.quick:
        options.time, options.output = 3, options.output.with_name("haptic_quick")
    store, path, data = open_results(options)
    if not data:
        data = {**origin(options), "runs": {}}
    if not options.tables:
        run_command([options.drystone, "check", "haptic"], 600)  # bodies are built here, in nobody's time
        for name, settings in RUNS.items():
            if name in data["runs"]:
                continue
            print(f"bench: haptic, {MEANING[name]}", file=sys.stderr)
            data["runs"][name] = run_loop(options, settings)
            keep_results(data, store)
    draw(data, options.output.with_suffix(".png"), options.output)
    return conclude(data, path, write_tables, summary)


if __name__ == "__main__":
    start(main)
