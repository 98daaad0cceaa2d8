#!/usr/bin/env python3
"""The benchmark of heaps: solids of any shape dropped on a floor, Drystone beside ODE and Bullet; and growth with size.

1. The drop: chess pieces from a grid (`drystone scene chess-drop:count=N`). ODE collides them as dTriMesh, Bullet as
   btGImpactMeshShape, from the same triangles, which bench-drop writes. Where all bodies are goes to a file every
   0.1 s, and bench-drop evaluates the files of all engines alike: lost, sunk, overlapping, still moving.
2. Growth: small stacks of chess pieces, half of them hit by a falling one, 100 to 50,000 bodies at the same density,
   and heaps of 30 to 1,000. Exponents are slopes of a straight line through the logarithms.
3. The paper's scenes: runs of the log house.
4. The large drops to rest, as a user runs them: all threads, wall time. Half an hour and more, and only with
   `--parts large`, beside other parts with `--resume`.

Else one process at a time, one thread, processor time. docs/benchmarks.md has the method; results go to results/drop.json,
as each run ends, drop.md and drop_growth.png.

Exit code: 0, or 1 where Drystone lost a body, did not converge, or could not be run.
"""
import json
import math
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from common import conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402
from run import run_command, short  # noqa: E402

DROPS = (30, 100, 300)
ENGINES = (("Drystone", "untuned"), ("ODE", "shipped"), ("ODE", "tuned"), ("Bullet", "shipped"), ("Bullet", "tuned"))
GROWTH = (100, 300, 1000, 3000, 10000, 30000, 50000)
HEAPS = (30, 100, 300, 1000)
GROWTH_STEPS, HEAP_TIME = 20, 0.6
HOUSE_TIME = 2.2  # s: the slide, the jump and the first impact, the same for both runs of the log house
LARGE = ("bunny-drop", "chess-drop", "helmets", "hopper")
SETTLE = {"hopper": ("12", "1e-4")}  # poured at 1e-3, it goes on at this tolerance to this time, s, to come to rest
STAGES = ("detect", "assemble", "predict", "project", "integrate")
# Chess pieces as they stand: height of the figure above its origin, m.
ROOK, PAWN, CELL = 0.058, 0.0501, 0.12
# SP08 table 1: seconds of the solve, a step.
PAPER = {"log-house": 4.9, "log-house, decomposed": 0.061, "bunny-drop": 37.5}


# ---- running ---------------------------------------------------------------------------------------------------------


def last_json(output):
    try:
        return json.loads(output.strip().splitlines()[-1])
    except (AttributeError, ValueError, IndexError):
        return None


def program(options, name):
    return str(options.build / "bench" / name)


def bench_drop(options, scene, *words, limit=600):
    command = [program(options, "bench-drop"), str(scene), "--cache", str(options.work / "cache"), *map(str, words)]
    output, _, failure = run_command(command, limit)
    return last_json(output), failure


def generate(options, generator, name):
    path = options.work / f"{name}.json"
    done = subprocess.run([options.drystone, "scene", generator], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench: {generator}: {done.stderr.strip()}")
    path.write_text(done.stdout)
    return path


def run_drop(options, scene, engine, setting):
    """One engine on one drop, evaluated. An engine that crashes is evaluated by the poses it wrote before."""
    poses = options.work / "poses.txt"
    poses.unlink(missing_ok=True)
    # the engines stop themselves; the second limit is for those that hang
    wall = 4 * options.limit + 60
    if engine == "Drystone":
        result, failure = bench_drop(options, scene, "--run", poses, "--time", options.time, "--cpu-limit",
                                     options.limit, limit=wall)
    else:
        name = "rival-ode" if engine == "ODE" else f"rival-bullet-{'single' if setting == 'shipped' else 'double'}"
        output, _, failure = run_command(
            [program(options, name), str(scene), "--setting", setting, "--time", str(options.time), "--keep-going",
             "--cpu-limit", str(options.limit), "--meshes", str(options.work / "meshes"), "--poses", str(poses)], wall)
        result = last_json(output)
    result = result or {}
    if failure:
        result["failure"] = failure
    if poses.exists():
        result.update(bench_drop(options, scene, "--evaluate", poses)[0] or {})
    return result


def stacks(count):
    """Rooks with a pawn on them; beside every second one a queen that stands, over the others a bishop that falls."""
    bodies = [{"name": "floor", "kind": "static", "material": "wood", "shapes": [{"kind": "half-space"}]}]
    side = math.ceil(math.sqrt(math.ceil(count / 3)))
    for k in range(math.ceil(count / 3)):
        x, y = CELL * (k % side), CELL * (k // side)
        third = ("queen", [x + 0.06, y, 0]) if k % 2 else ("bishop", [x, y, ROOK + PAWN + 0.02])
        for figure, position in (("rook", [x, y, 0]), ("pawn", [x, y, ROOK]), third):
            bodies.append({"position": position, "material": "wood",
                           "shapes": [{"kind": "solid", "solid": figure, "density": 700}]})
    return {"drystone": 1, "name": f"stacks-{count}", "materials": {"wood": {"mu": 0.4, "e": 0}},
            "solids": {name: {"figure": name} for name in ("rook", "pawn", "queen", "bishop")},
            "bodies": bodies[:count + 1]}


def run_growth(options, scene, seconds):
    result, failure = bench_drop(options, scene, "--run", options.work / "growth.txt", "--time", seconds)
    if not result:
        return {"failure": failure or "no result"}
    # stages are measured by the wall clock: scaled so that they add up to the processor time
    total = sum(result[f"ms_{stage}"] for stage in STAGES)
    for stage in STAGES:
        result[f"ms_{stage}"] *= result["ms_cpu"] / total
    return result


def run_paper(options, generator, settings):
    report = options.work / "report.json"
    report.unlink(missing_ok=True)
    # interrupted, the program writes its report up to there
    run_command(["timeout", "--signal=INT", str(options.limit), options.drystone, "run", generator, "--threads", "1",
                 "--time", str(HOUSE_TIME), "--quiet", "--report", str(report), *settings], 4 * options.limit)
    if not report.exists():
        return {"failure": "no report"}
    full = json.loads(report.read_text())
    keep = ("steps", "time", "ended", "dof", "contacts_mean", "contacts_max", "converged_share", "tolerance", "ms_mean",
            "penetration_last", "cpu_seconds", "peak_memory", "factorizations")
    result = {key: full.get(key) for key in keep}
    # the wall clock of a shared machine, brought to processor time
    scale = full["cpu_seconds"] / full["wall_seconds"] if full["wall_seconds"] > 0 else 1
    result["ms_mean"] = {stage: scale * value for stage, value in full["ms_mean"].items()}
    return result


def run_whole(options, generator, goes_on=False):
    report, record = options.work / "report.json", options.work / f"{generator}.h5"
    report.unlink(missing_ok=True)
    words = []
    if goes_on:
        words = ["--from", str(record), "--time", SETTLE[generator][0], "--tol", SETTLE[generator][1]]
    elif generator in SETTLE:
        words = ["--record", str(record), "--record-every", "10"]
    run_command([options.drystone, "run", generator, "--quiet", "--report", str(report), *words], 7200)
    if not report.exists():
        return {"failure": "no report"}
    full = json.loads(report.read_text())
    keep = ("steps", "time", "ended", "threads", "dynamic_bodies", "contacts_mean", "contacts_max", "converged_share",
            "tolerance", "ms_mean", "ms_p99", "penetration_max", "penetration_last", "energy_start", "energy_gain_max",
            "creep_max", "wall_seconds", "cpu_seconds", "peak_memory", "factorizations")
    return {key: full.get(key) for key in keep}


# ---- tables ----------------------------------------------------------------------------------------------------------


def slope(points):
    """Of the straight line through the logarithms, least squares."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(points) < 2:
        return math.nan
    mx, my = sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def exponent(results, field, least=0, most=math.inf, offset=0):
    return slope([(r["bodies"], r[field] - offset) for r in results if least <= r["bodies"] <= most])


def good(data, kind):
    rows = [r for r in data.get(kind, {}).values() if "failure" not in r]
    return sorted(rows, key=lambda r: r["bodies"])


def mm(value):
    return "–" if value is None or not math.isfinite(value) else f"{1000 * value:.2g}"


def drop_row(count, engine, setting, r):
    end = f"{r['judged_time']:.2g} s" if r.get("judged_time") is not None else "–"
    note = f" ({r['failure']})" if "failure" in r else ""
    cpu = r.get("cpu_per_second")
    memory = r.get("peak_memory")
    cells = [str(count), f"{engine}, {r.get('settings', setting)}{note}", short(cpu) if cpu else "–",
             f"{memory / 1e6:.0f}" if memory else "–", end + (" †" if r.get("stopped") else ""),
             str(r.get("lost", "–")), mm(r.get("sink_max")), mm(r.get("overlap_max")), mm(r.get("sink_end")),
             mm(r.get("overlap_end")), str(r.get("awake", "–")), short(r.get("speed_end")), short(r.get("kinetic_end"))]
    return "| " + " | ".join(cells) + " |"


def drop_table(data):
    lines = ["## The same drop", "",
             f"Chess pieces of 1,960 to 5,600 triangles fall from a grid, {data['time']:g} simulated seconds. "
             "Sinking: deepest vertex below the floor; overlap: deepest of any pair, floor included, by Drystone's "
             "detection, for every engine alike; both looked at every 0.1 s. "
             f"Awake: bodies faster than 1 cm/s at the end. † = stopped at {data['limit']:g} s of processor time, the "
             "figures hold up to the time shown.", "",
             "| bodies | engine | processor s a simulated s | memory, MB | reached | lost | sinking, mm | overlap, mm "
             "| at the end: sinking | overlap | awake | fastest, m/s | kinetic energy, J |", "|---" * 13 + "|"]
    for count in DROPS:
        for engine, setting in ENGINES:
            r = data.get("drop", {}).get(f"{count}/{engine}/{setting}")
            if r:
                lines.append(drop_row(count, engine, setting, r))
    return lines + [""]


def growth_rows(results):
    return [f"| {r['bodies']} | {r['contacts_max']} | " + " | ".join(short(r[f'ms_{s}']) for s in STAGES)
            + f" | {short(r['ms_cpu'])} | {1000 * r['ms_cpu'] / r['bodies']:.1f} | {r['peak_memory'] / 1e6:.0f} | "
            f"{100 * r['converged_share']:.4g} % |" for r in results]


def exponent_row(title, results, least, most=math.inf):
    """The memory of the smallest scene is that of the program and the solids, and is taken off."""
    base = results[0]["peak_memory"]
    fields = ("contacts_max", *(f"ms_{stage}" for stage in STAGES), "ms_cpu")
    cells = [exponent(results, field, least, most) for field in fields]
    memory = exponent(results, "peak_memory", max(least, 1 + results[0]["bodies"]), most, base)
    show = [f"{c:.2f}" if math.isfinite(c) else "–" for c in cells]
    return f"| **{title}** | " + " | ".join(show) + f" | | {memory:.2f} | |".replace("nan", "–")


def growth_tables(data):
    head = ["| bodies | contacts | detect, ms | assemble | predict | project | integrate | step, ms | µs a body | peak "
            "memory, MB | converged |", "|---" * 11 + "|"]
    stacked, heaped = good(data, "growth"), good(data, "heaps")
    lines = ["## Growth with the number of bodies", "", "![Growth](drop_growth.png)", "",
             "Stacks: chess pieces on each other in a grid of constant density, a sixth of them falling; the first "
             f"{GROWTH_STEPS} steps of 10 ms. Processor time per step, one thread. The exponent is the slope in the "
             "plot; that of memory is for what the bodies add to the smallest scene (program, solids).", ""]
    lines += head + growth_rows(stacked)
    if len(stacked) > 1:
        lines += [exponent_row("exponent, all", stacked, 0), exponent_row("exponent, from 1,000", stacked, 1000)]
    lines += ["", f"Heaps: chess pieces into one heap, the first {HEAP_TIME:g} s. A heap is one island and grows in "
              "contacts per body, too. The tolerance is the generator's: 1e-8, for hundreds of bodies 1e-4.", ""]
    lines += head + growth_rows(heaped)
    if len(heaped) > 1:
        lines += [exponent_row("exponent", heaped, 0)]
    return lines + [""]


def paper_table(data):
    lines = ["## The paper's scenes", "",
             "SP08 table 1 gives the mean time of the solve, a step; its machine is of 2008, its criterion rel_err "
             "1e-4. The scenes are ours after its description. † = stopped when its time was spent: early steps "
             "only.", "",
             "| scene | dof | contacts, most | steps | simulated, s | solve, s a step | whole step, s | SP08, s "
             "| converged | tolerance |", "|---" * 10 + "|"]
    for name, r in data.get("paper", {}).items():
        if "failure" in r:
            lines.append(f"| {name} | {r['failure']} |" + " |" * 8)
            continue
        mean, mark = r["ms_mean"], "" if r["ended"] == "finished" else " †"
        lines.append(f"| {name}{mark} | {r['dof']} | {r['contacts_max']} | {r['steps']} | {r['time']:.3g} | "
                     f"{short(mean['project'] / 1000)} | {short(mean['total'] / 1000)} | "
                     f"{PAPER.get(name, '–')} | {100 * r['converged_share']:.4g} % | {r['tolerance']:g} |")
    return lines + [""]


def large_table(data):
    if not data.get("large"):
        return []
    lines = ["## The large drops to rest", "",
             "`drystone run SCENE` as the generator writes it, all threads, wall time. Overlap: deepest of any pair, at its "
             "worst and at the end. SP08 gives 37.5 s for the solve of a step of 2,046 bunnies.", "",
             "| scene | bodies | contacts, most | steps | simulated, s | minutes in all | s a step, mean / 99 % | "
             "converged | tolerance | overlap, worst / end, mm | energy gain in a step, J of J at the start | threads |",
             "|---" * 12 + "|"]
    for name, r in data["large"].items():
        if "failure" in r:
            lines.append(f"| {name} | {r['failure']} |" + " |" * 10)
            continue
        total = r["ms_mean"]["total"]
        lines.append(f"| {name} | {r['dynamic_bodies']} | {r['contacts_max']} | {r['steps']} | {r['time']:.3g} | "
                     f"{r['steps'] * total / 60000:.2g} | {short(total / 1000)} / {short(r['ms_p99']['total'] / 1000)} | "
                     f"{100 * r['converged_share']:.4g} % | {r['tolerance']:g} | {mm(r['penetration_max'])} / "
                     f"{mm(r['penetration_last'])} | {short(r['energy_gain_max'])} of {short(r['energy_start'])} | "
                     f"{r['threads']} |")
    return lines + [""]


def ratio(own, rival):
    """Processor time over ours, of the same simulated seconds where the rival was stopped."""
    time, cpu = rival["time"], rival["time"] * rival["cpu_per_second"]
    if not rival.get("stopped"):
        return f"{cpu / (own['time'] * own['cpu_per_second']):.2g}"
    at = own.get("cpu_at") or [math.nan]
    return f"{cpu / at[min(len(at), max(1, round(10 * time))) - 1]:.2g} (first {time:.2g} s)"


def summary(data):
    """What this run says, and whether Drystone did what it must."""
    lines, faults = ["## What this run says", ""], []
    for key, r in data.get("drop", {}).items():
        if "Drystone" in key and ("failure" in r or r.get("lost", 1) or r.get("converged_share", 0) < 1):
            faults.append(f"drop of {key.split('/')[0]}: lost {r.get('lost', '–')}, converged "
                          f"{r.get('converged_share', '–')}, {r.get('failure', '')}")
    lines.append("- Drystone falls short: " + "; ".join(faults) + "." if faults
                 else "- Drystone loses no body and every step of the drops is converged.")
    for count in DROPS:
        own = data.get("drop", {}).get(f"{count}/Drystone/untuned")
        others = [(f"{e} {s}", data["drop"].get(f"{count}/{e}/{s}", {})) for e, s in ENGINES[1:]] if own else []
        ratios = [f"{name} {ratio(own, r)}" for name, r in others if r.get("cpu_per_second")]
        if ratios:
            lines.append(f"- {count} pieces: processor time over Drystone's: " + ", ".join(ratios) + ".")
    stacked, heaped = good(data, "growth"), good(data, "heaps")
    if len(stacked) > 1:
        lines.append(f"- Stacks, {stacked[0]['bodies']} to {stacked[-1]['bodies']} bodies: exponent of a step "
                     f"{exponent(stacked, 'ms_cpu'):.2f}, of detection {exponent(stacked, 'ms_detect'):.2f}.")
    if len(heaped) > 1:
        step, detect, project = (slope([(r["contacts_max"], r[f"ms_{s}"]) for r in heaped[-3:]])
                                 for s in ("cpu", "detect", "project"))
        lines.append(f"- Heaps, {heaped[0]['bodies']} to {heaped[-1]['bodies']} bodies: exponent of a step "
                     f"{exponent(heaped, 'ms_cpu'):.2f} in bodies. In contacts, over the largest {len(heaped[-3:])}: "
                     f"{step:.2f}; detection {detect:.2f}, projection {project:.2f}.")
    return lines + [""], not faults


def write_tables(data, path):
    m = data["machine"]
    lines = ["# Heaps of any shape", "",
             f"Commit {data['commit']}, {data['date']}. {m['processor']}, {m['cores']} cores, {m['system']}; one "
             "thread each, processor time. Written by bench/drop.py; method and settings: docs/benchmarks.md.", ""]
    lines += summary(data)[0] + drop_table(data) + growth_tables(data) + paper_table(data) + large_table(data)
    path.write_text("\n".join(lines))


def draw_elsewhere(path):
    """Debian's Python has matplotlib where another one comes first in the path."""
    python = Path("/usr/bin/python3")
    output = path.with_name(path.name.replace("_growth.png", ""))
    if python.exists() and python.resolve() != Path(sys.executable).resolve():
        done = subprocess.run([python, __file__, "--tables", "--output", output], capture_output=True)
        if done.returncode in (0, 1) and path.exists():
            return
    print("bench: no matplotlib, no picture", file=sys.stderr)


def draw(data, path):
    try:
        import matplotlib
    except ImportError:
        return draw_elsewhere(path)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4))
    stacked, heaped = good(data, "growth"), good(data, "heaps")
    colours = {"detect": "#1f77b4", "assemble": "#2ca02c", "project": "#ff7f0e", "integrate": "#7f7f7f"}
    for axes, rows, title in ((left, stacked, "stacks of constant density"), (right, heaped, "one heap")):
        if not rows:
            continue
        x = [r["bodies"] for r in rows]
        for stage, colour in colours.items():
            axes.loglog(x, [r[f"ms_{stage}"] for r in rows], "o-", color=colour, markersize=3, linewidth=1.2,
                        label=f"{stage}, exponent {exponent(rows, f'ms_{stage}'):.2f}")
        axes.loglog(x, [r["ms_cpu"] for r in rows], "o-", color="#c2185b", linewidth=2.4,
                    label=f"step, exponent {exponent(rows, 'ms_cpu'):.2f}")
        y = rows[0]["ms_cpu"]
        axes.loglog([x[0], x[-1]], [y, y * x[-1] / x[0]], ":", color="black", linewidth=1, label="exponent 1")
        axes.set(xlabel="bodies", ylabel="processor time per step, ms", title=title)
        axes.grid(True, which="major", color="#dddddd")
        axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


# ---- the whole run ---------------------------------------------------------------------------------------------------


def read_options():
    parser = parser_of("Heaps of any shape: Drystone beside ODE and Bullet, and growth.", "drop", "tables and picture")
    add = parser.add_argument
    add("--quick", action="store_true", help="30 pieces, 1 s, up to 1,000 bodies: a test of the bench")
    add("--parts", default="drop,growth,heaps,paper", help="which parts to run, comma-separated")
    add("--time", type=float, default=3, help="simulated seconds of a drop (3)")
    add("--limit", type=float, default=60, help="processor seconds at which a run of a drop stops itself (60)")
    options = parser.parse_args()
    options.drops, options.growth, options.heaps = DROPS, GROWTH, HEAPS
    if options.quick:
        options.drops, options.growth, options.heaps = (30,), (100, 1000), (30, 100)
        options.time, options.limit, options.output = 1, 10, options.output.with_name("drop_quick")
    return options


def plan(options):
    """All runs: part, key, what to call. The order of the engines moves on from drop to drop."""
    runs = []
    for k, count in enumerate(options.drops):
        for engine, setting in ENGINES[k:] + ENGINES[:k]:
            scene = options.work / f"chess-{count}.json"
            runs.append(("drop", f"{count}/{engine}/{setting}",
                         lambda s=scene, e=engine, t=setting: run_drop(options, s, e, t)))
    for count in options.growth:
        scene = options.work / f"stacks-{count}.json"
        runs.append(("growth", str(count), lambda s=scene: run_growth(options, s, GROWTH_STEPS * 0.01)))
    for count in options.heaps:
        scene = options.work / f"chess-{count}.json"
        runs.append(("heaps", str(count), lambda s=scene: run_growth(options, s, HEAP_TIME)))
    for name, value in (("log-house", "false"), ("log-house, decomposed", "true")):
        settings = ["--tol", "1e-4", "--set", f"options.sub_islands={value}"]
        runs.append(("paper", name, lambda s=settings: run_paper(options, "log-house", s)))
    for name in LARGE:
        runs.append(("large", name, lambda n=name: run_whole(options, n)))
        if name in SETTLE:
            runs.append(("large", f"{name}, settling", lambda n=name: run_whole(options, n, goes_on=True)))
    wanted = options.parts.split(",")
    return [run for run in runs if run[0] in wanted]


def write_scenes(options):
    (options.work / "meshes").mkdir(parents=True, exist_ok=True)
    (options.work / "cache").mkdir(exist_ok=True)
    for count in sorted({*options.drops, *options.heaps}):
        generate(options, f"chess-drop:count={count}", f"chess-{count}")
    for count in options.growth:
        (options.work / f"stacks-{count}.json").write_text(json.dumps(stacks(count)))
    # all six kinds are among the first thirty; their solids are built here, untimed
    _, failure = bench_drop(options, options.work / f"chess-{options.drops[0]}.json", "--meshes",
                            options.work / "meshes")
    if failure:
        sys.exit(f"bench: bench-drop: {failure}")


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    picture = options.output.with_name(options.output.name + "_growth.png")
    if not options.tables:
        data.update(**origin(options))
        if "drop" in options.parts or "time" not in data:
            data.update(time=options.time, limit=options.limit)
        options.work = work_folder(options, "drop")
        write_scenes(options)
        runs = plan(options)
        for number, (part, key, call) in enumerate(runs, 1):
            if options.resume and key in data.get(part, {}):
                continue
            result = data.setdefault(part, {})[key] = call()
            cpu = result.get("cpu_per_second")
            text = result.get("failure") or (f"{cpu:.3g} s a simulated second" if cpu else "done")
            print(f"[{number}/{len(runs)}] {part} {key}: {text}", flush=True)
            keep_results(data, json_path)
    draw(data, picture)
    return conclude(data, md_path, write_tables, summary)


if __name__ == "__main__":
    start(main)
