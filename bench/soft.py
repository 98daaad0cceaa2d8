#!/usr/bin/env python3
"""The benchmark of deformable bodies: the scenes of SP08 and what its tables say of them.

1. The runs: every scene as its generator writes it, at the tolerance 1e-4, one thread: contacts, converged steps, time
   of the solve beside that of SP08 table 1, penetration, gain of energy.
2. The counts: Algorithm 1 as published (--method staggered, 8 tangent samples, rel_err 1e-4), with and without warm start,
   beside SP08 table 2; in the metric of the mass, as published, and in ours. All run over the same first seconds.

A run that uses up its time is interrupted and its report holds up to there. docs/benchmarks.md has the method; results
go to results/soft.json, as each run ends, and soft.md.

Exit code: 0, or 1 where a step did not converge or a scene could not be run.
"""
import json
import sys

sys.dont_write_bytecode = True
from common import conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402
from run import run_command, short  # noqa: E402

# id: generator, simulated seconds, settings. Chairs stand on five points a leg; fine ones on as many as in the paper
SCENES = {"composites": ("composites", 3), "chairs": ("chairs", 6),
          "chairs, fine feet": ("chairs:tets=450000", 6, "--set", "options.contacts_per_face=100"),
          "dinosaurs": ("dinosaurs", 5), "hybrid": ("hybrid", 6), "soft-jam": ("soft-jam", 3),
          "soft-stack": ("soft-stack", 10)}
# id: what is counted, simulated seconds. Every chair is a problem by itself: one of them is enough. Of nine dinosaurs that
# meet at once a step takes Algorithm 1 many minutes: three of them
COUNTED = {"composites": ("composites", 0.15), "chairs": ("chairs:count=1", 6), "dinosaurs": ("dinosaurs:count=3", 0.4)}
# SP08 tables 1 and 2: seconds of the solve per step, contacts, degrees of freedom; iterations per step, warm and cold
PAPER = {"composites": (0.56, 921, 192, 6.4, 25.8), "chairs": (0.72, 9025, 1766, 2.9, 30.9),
         "dinosaurs": (0.61, 4690, 315, 2.7, 18.3)}
TOLERANCE = "1e-4"
PUBLISHED = ("--method", "staggered", "--set", "options.friction_samples=8", "--set", "options.rel_err=1e-4")
STARTS = {"warm": (), "cold": ("--set", "options.warm_start=false")}
METRICS = ("mass", "effective")
KEEP = ("steps", "time", "step", "ended", "dof", "deformable_bodies", "dynamic_bodies", "contacts_mean", "contacts_max",
        "islands_mean", "islands_max", "staggered_iterations_mean", "staggered_iterations_max", "factorizations",
        "converged_share", "natural_error_max", "tolerance", "penetration_max", "penetration_last", "energy_start",
        "energy_gain_max", "energy_gain_causes", "elastic_energy_end", "creep_max", "peak_memory", "state_hash")


# ---- running ---------------------------------------------------------------------------------------------------------


def run_scene(options, generator, seconds, settings=()):
    """The report of a run. Stages are timed by the wall clock: scaled so that they add up to the processor time."""
    report = options.work / "report.json"
    report.unlink(missing_ok=True)
    # interrupted, the program writes its report up to there
    command = ["timeout", "--signal=INT", str(options.limit), options.drystone, "run", generator, "--threads", "1",
               "--time", str(seconds), "--tol", TOLERANCE, "--quiet", "--report", str(report), *settings]
    _, _, failure = run_command(command, options.limit + 120)
    if not report.exists():
        return {"failure": failure or "no report"}
    full = json.loads(report.read_text())
    if not full["steps"]:
        return {"failure": f"no step within {options.limit:g} s"}
    result = {key: full.get(key) for key in KEEP}
    scale = full["cpu_seconds"] / full["wall_seconds"] if full["wall_seconds"] else 1
    result["ms_mean"] = {stage: scale * value for stage, value in full["ms_mean"].items()}
    result["ms_p99"] = {stage: scale * value for stage, value in full["ms_p99"].items()}
    return result


def warm_cache(options, generator):
    """Bodies are built here, in nobody's time."""
    return run_command([options.drystone, "check", generator], 600)[2]


# ---- tables ----------------------------------------------------------------------------------------------------------


def paper_of(name):
    return PAPER.get(name.split(",")[0])


def mark(r):
    return "" if r["ended"] == "finished" else " †"


def share(r):
    return "–" if r["converged_share"] is None else f"{100 * r['converged_share']:.4g} %"


def run_row(name, r):
    if "failure" in r:
        return f"| {name} | {r['failure']} |" + " |" * 11
    paper = paper_of(name)
    solve = r["ms_mean"]["project"]
    cells = [name + mark(r), f"{r['dof']}" + (f" ({paper[2]})" if paper else ""),
             f"{r['contacts_mean']:.0f} / {r['contacts_max']}" + (f" ({paper[1]})" if paper else ""), f"{r['steps']}",
             f"{1000 * r['step']:g}", share(r), f"{r['factorizations'] / max(1, r['steps']):.1f}", short(solve),
             short(r["ms_mean"]["detect"]), short(r["ms_mean"]["total"]),
             f"{1000 * paper[0]:.0f} / {1000 * paper[0] / solve:.0f}" if paper else "–",
             f"{short(1000 * r['penetration_max'])} / {short(1000 * r['penetration_last'])}",
             f"{short(r['energy_gain_max'])} of {short(r['energy_start'])}"
             + (f" ({', '.join(r['energy_gain_causes'])})" if r.get("energy_gain_causes") else "")]
    return "| " + " | ".join(cells) + " |"


def run_table(data):
    lines = ["## The scenes", "",
             "In brackets: SP08 table 1. Its seconds are of another machine, a 3 GHz Pentium D, and of Java with a "
             "dense active-set solver: the quotient says how far apart the two are as a whole, not how good the "
             "algorithms are. Solve: contact and friction impulses alone, the stage `project`; of the other stages only "
             "detection is shown. Penetration: deepest vertex, at its worst and at the end. Gain of energy: largest "
             f"rise in one step, of the energy at the start. † = ended when its {data['limit']:g} s were spent.", "",
             "| scene | dof | contacts, mean / most | steps | h, ms | converged at 1e-4 | factorizations per step "
             "| solve, ms | detection, ms | step, ms | SP08 solve, ms / over ours | penetration, mm | energy gain, J |",
             "|---" * 13 + "|"]
    for name in SCENES:
        r = data.get("run", {}).get(name)
        lines.append(run_row(name, r) if r else f"| {name} | not run |" + " |" * 11)
    return lines + [""]


def count_cells(r):
    if not r or "failure" in r:
        return [(r or {}).get("failure", "not run")] + ["–"] * 4
    return [f"{r['staggered_iterations_mean']:.3g}" + mark(r), f"{r['staggered_iterations_max']}",
            f"{r['steps']}", f"{r['contacts_mean']:.0f}", share(r)]


def count_table(data):
    lines = ["## Algorithm 1 as published", "",
             "Mean staggered iterations per step: in each step those of the island with the most. SP08 solved all "
             "bodies as one problem. 200 is the limit per step. Certified: steps whose natural-map error is at most "
             "1e-4, which a rel_err of 1e-4 does not imply.", "",
             "| scene | start | SP08 | metric | iterations, mean | most | steps | contacts, mean | certified |",
             "|---" * 9 + "|"]
    for name in PAPER:
        for k, begin in enumerate(STARTS):
            for metric in METRICS:
                cells = count_cells(data.get("count", {}).get(f"{name}/{begin}/{metric}"))
                lines.append(f"| {COUNTED[name][0]} | {begin} | {PAPER[name][3 + k]} | {metric} | "
                             + " | ".join(cells) + " |")
    return lines + [""]


def summary(data):
    """What this run says, and whether Drystone did what it must."""
    lines, faults, quick = ["## What this run says", ""], [], []
    for name, r in data.get("run", {}).items():
        if "failure" in r:
            faults.append(f"{name}: {r['failure']}")
            continue
        if (r["converged_share"] or 0) < 1:
            faults.append(f"{name}: {share(r)} of the steps converged")
        if paper_of(name):
            quick.append(f"{name} {1000 * paper_of(name)[0] / r['ms_mean']['project']:.0f}{mark(r)}")
    if not data.get("run"):
        lines.append("- No scene was run.")
    elif faults:
        lines.append("- Drystone falls short: " + "; ".join(faults) + ".")
    else:
        lines.append(f"- Every step of every scene is converged at {TOLERANCE}.")
    if quick:
        lines.append("- The solve of SP08 (2008, Pentium D, Java) takes longer than ours by factors of: "
                     + "; ".join(quick) + ".")
    return lines + [""], not faults


def write_tables(data, path):
    m = data["machine"]
    lines = ["# Deformable bodies", "",
             f"Commit {data['commit']}, {data['date']}. {m['processor']}, {m['cores']} cores, {m['system']}, load "
             f"{m['load']:.1f} at the start; one thread, processor time. Written by bench/soft.py; method: "
             "docs/benchmarks.md.", ""]
    lines += summary(data)[0] + run_table(data) + count_table(data)
    path.write_text("\n".join(lines))


# ---- the whole run ---------------------------------------------------------------------------------------------------


def read_options():
    parser = parser_of("Deformable bodies: the scenes of SP08, and its tables.", "soft", "the tables")
    add = parser.add_argument
    add("--quick", action="store_true", help="a tenth of the time of every run: a test of the bench")
    add("--scenes", default="", help="only scenes whose name contains one of these words, comma-separated")
    add("--parts", default="run,count", help="which parts to run, comma-separated")
    add("--limit", type=float, default=300, help="seconds at which a run is interrupted (300)")
    options = parser.parse_args()
    options.share = 1
    if options.quick:
        options.share, options.limit, options.output = 0.1, 30, options.output.with_name("soft_quick")
    return options


def plan(options):
    """All runs: part, key, generator, what to call."""
    words, parts = [w for w in options.scenes.split(",") if w], options.parts.split(",")
    runs = []
    for name, (generator, seconds, *settings) in SCENES.items():
        runs.append(("run", name, generator, lambda g=generator, s=seconds, w=settings:
                     run_scene(options, g, options.share * s, w)))
    for name, (generator, seconds) in COUNTED.items():
        for begin, settings in STARTS.items():
            for metric in METRICS:
                extra = (*PUBLISHED, *settings, "--metric", metric)
                runs.append(("count", f"{name}/{begin}/{metric}", generator, lambda g=generator, s=seconds, w=extra:
                             run_scene(options, g, options.share * s, w)))
    return [run for run in runs if run[0] in parts and (not words or any(w in run[1] for w in words))]


def run_all(options, data, json_path):
    runs, built = plan(options), {}
    for number, (part, key, generator, call) in enumerate(runs, 1):
        if options.resume and key in data.get(part, {}):
            continue
        if generator not in built:
            built[generator] = warm_cache(options, generator)
        result = data.setdefault(part, {})[key] = {"failure": built[generator]} if built[generator] else call()
        text = result.get("failure") or f"{result['steps']} steps, solve {result['ms_mean']['project']:.3g} ms"
        print(f"[{number}/{len(runs)}] {part} {key}: {text}", flush=True)
        keep_results(data, json_path)


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    if not options.tables:
        data.update(**origin(options), limit=options.limit)
        options.work = work_folder(options, "soft")
        run_all(options, data, json_path)
    return conclude(data, md_path, write_tables, summary)


if __name__ == "__main__":
    start(main)
