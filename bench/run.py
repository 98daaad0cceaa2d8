#!/usr/bin/env python3
"""The benchmark of things that should stand: Drystone beside ODE, Bullet, MuJoCo, Jolt and Rapier on the same scenes.

Scenes are written once by the generators of Drystone; every engine reads the same file, runs alone and on one thread,
and says how far its bodies moved, crept and sank, whether something fell, and what processor time per simulated second
took.
For each scene all engines run one after the other, in an order that moves on from scene to scene, so that noise of the
machine hits all alike. A rival that crashes, hangs or cannot take a scene is reported as such. docs/benchmarks.md has
the method and the settings; results go to results/stand.json, as each run ends, and results/stand.md.

Exit code: 0, or 1 where Drystone fell, did not converge, or could not be run.
"""
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from common import BENCH, ROOT, open_results, origin, parser_of, start, tell, text_of  # noqa: E402

GRAVITY, SLOPE, MU_HOLD, MU_SLIDE = 9.81, 0.5, 0.5005, 0.49
# What Drystone must show: m slipped on the incline, relative error of acceleration, m moved after the first second.
LIMIT_HOLD, LIMIT_SLIDE, LIMIT_SETTLED = 1e-9, 1e-6, 1e-5

# id: (title, generator, kind, degrees by which the whole scene is turned about the vertical)
SCENES = {
    "incline-hold": ("incline, tan θ = 0.5, μ = 0.5005", f"incline:slope={SLOPE},mu={MU_HOLD}", "hold", 0),
    "incline-hold-yaw": ("the same, box turned by 30°", f"incline:slope={SLOPE},mu={MU_HOLD},yaw=30", "hold", 0),
    "incline-hold-turned": ("the same, slope and all turned", f"incline:slope={SLOPE},mu={MU_HOLD}", "hold", 30),
    "incline-slide": ("incline, tan θ = 0.5, μ = 0.49", f"incline:slope={SLOPE},mu={MU_SLIDE}", "slide", 0),
    "incline-slide-yaw": ("the same, box turned by 30°", f"incline:slope={SLOPE},mu={MU_SLIDE},yaw=30", "slide", 0),
    "incline-slide-turned": ("the same, slope and all turned", f"incline:slope={SLOPE},mu={MU_SLIDE}", "slide", 30),
    "stack-10": ("stack of 10 cubes", "stack:count=10", "stand", 0),
    "stack-50": ("stack of 50 cubes", "stack:count=50", "stand", 0),
    "stack-10-heavy": ("stack of 10, 100:1 mass on top", "stack:count=10,top_mass=100", "stand", 0),
    "card-house-2": ("card house, 2 levels, μ = 0.8", "card-house:levels=2", "stand", 0),
    "card-house-3": ("card house, 3 levels", "card-house:levels=3", "stand", 0),
    "card-house-5": ("card house, 5 levels", "card-house:levels=5", "stand", 0),
    "arch-25": ("arch, 25 stones, μ = 0.6", "arch:stones=25", "stand", 0),
    "arch-101": ("arch, 101 stones", "arch:stones=101", "stand", 0),
    "arch-501": ("arch, 501 stones", "arch:stones=501", "stand", 0),
    "wall": ("brick wall, 10 rows", "wall:rows=10", "stand", 0),
}
ENGINES = {
    "Drystone": ["untuned"],
    "ODE": ["shipped", "tuned"],
    "Bullet": ["shipped", "tuned"],
    "MuJoCo": ["shipped", "tuned", "noslip"],
    "Jolt": ["shipped", "tuned"],
    "Rapier": ["shipped", "tuned"],
}


def rival_command(engine, setting, build):
    """The driver of a rival. Bullet is single precision as shipped, double as tuned."""
    if engine == "ODE":
        return [str(build / "bench" / "rival-ode")]
    if engine == "Bullet":
        return [str(build / "bench" / ("rival-bullet-single" if setting == "shipped" else "rival-bullet-double"))]
    return ["node", str(BENCH / "rivals" / (engine.lower() + ".mjs"))]


# ---- scenes ----------------------------------------------------------------------------------------------------------


def quaternion(rotation):
    if isinstance(rotation, list):
        return rotation
    angle = rotation.get("radians", math.radians(rotation.get("degrees", 0)))
    length = math.hypot(*rotation["axis"])
    return [math.cos(angle / 2)] + [math.sin(angle / 2) * c / length for c in rotation["axis"]]


def turn_scene(scene, degrees):
    """Turns all bodies about the vertical: physics does not change, a friction pyramid does."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    half_c, half_s = math.cos(math.radians(degrees) / 2), math.sin(math.radians(degrees) / 2)
    for body in scene["bodies"]:
        for key in ("position", "velocity", "angular_velocity"):
            if key in body:
                x, y, z = body[key]
                body[key] = [c * x - s * y, s * x + c * y, z]
        w, x, y, z = quaternion(body.get("rotation", [1, 0, 0, 0]))
        body["rotation"] = [half_c * w - half_s * z, half_c * x - half_s * y, half_c * y + half_s * x,
                            half_c * z + half_s * w]
    return scene


def write_scenes(names, drystone, folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name in names:
        _, generator, _, degrees = SCENES[name]
        done = subprocess.run([drystone, "scene", generator], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {generator}: {done.stderr.strip()}")
        text = done.stdout
        if degrees:
            text = json.dumps(turn_scene(json.loads(text), degrees), indent=1)
        paths[name] = folder / f"{name}.json"
        paths[name].write_text(text)
    return paths


# ---- one run ---------------------------------------------------------------------------------------------------------


def last_words(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[0][:200] if lines else ""


def run_command(command, limit):
    """Returns (output or None, processor time, what went wrong or None)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return None, None, f"no answer within {limit:.0f} s"
    except OSError as error:
        return None, None, str(error)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode < 0:
        return done.stdout, cpu, f"crashed (signal {-done.returncode}) {last_words(done.stderr)}".strip()
    if done.returncode != 0:
        return done.stdout, cpu, f"exit code {done.returncode}: {last_words(done.stderr)}"
    return done.stdout, cpu, None


def run_rival(engine, setting, scene, kind, seconds, options):
    command = rival_command(engine, setting, options.build) + [str(scene), "--setting", setting, "--time", str(seconds),
                                                               "--cpu-limit", str(options.cpu_limit)]
    if kind != "stand":
        command.append("--keep-going")
    output, _, failure = run_command(command, options.timeout)
    if failure is None:
        try:
            return json.loads(output.strip().splitlines()[-1])
        except (ValueError, IndexError):
            failure = "no result"
    return {"failure": failure}


def run_drystone(scene, seconds, options):
    """Its processor time is that of the whole process: reading the scene, measuring and reporting are in it."""
    report_path = options.work / "report.json"
    report_path.unlink(missing_ok=True)
    command = [options.drystone, "run", str(scene), "--time", str(seconds), "--step", "0.01", "--report",
               str(report_path), "--threads", "1", "--quiet"]
    _, cpu, failure = run_command(command, options.timeout_own)
    if failure is not None or not report_path.exists():
        return {"failure": failure or "no report"}
    report = json.loads(report_path.read_text())
    keep = ("steps", "time", "bodies", "displacement_max", "displacement_settled_max", "creep_max", "penetration_max",
            "contacts_mean", "contacts_max", "staggered_iterations_mean", "staggered_iterations_max", "factorizations",
            "converged_share", "rel_err_max", "residual_max", "natural_error_max", "approach_velocity_max",
            "cone_violation_max", "ms_mean", "ms_p99", "state_hash")
    result = {key: report.get(key) for key in keep}
    result.update(step=0.01, substeps=1, second_order=True, stopped=None, cpu_per_second=cpu / seconds,
                  settings="10 ms, untuned")
    result["fell_at"] = None
    if result["displacement_max"] is None or result["displacement_max"] > half_longest_side(scene):
        result["fell_at"] = seconds
    return result


def half_longest_side(path):
    """The smallest half of a dynamic body's longest side: the drivers' rule of what has fallen, without times."""
    sides = []
    for body in json.loads(path.read_text())["bodies"]:
        if body.get("kind", "dynamic") != "dynamic":
            continue
        low, high = [math.inf] * 3, [-math.inf] * 3
        for shape in body["shapes"]:
            if shape["kind"] == "hull":
                extent = [[min(p[i] for p in shape["points"]), max(p[i] for p in shape["points"])] for i in range(3)]
            elif shape["kind"] == "box":
                extent = [[-c / 2, c / 2] for c in shape["size"]]
            else:
                radius = shape["radius"]
                end = shape.get("length", 0) / 2 + (0 if shape["kind"] == "cylinder" else radius)
                extent = [[-radius, radius], [-radius, radius], [-end, end]]
            offset = shape.get("position", [0, 0, 0])
            for i in range(3):
                low[i], high[i] = min(low[i], extent[i][0] + offset[i]), max(high[i], extent[i][1] + offset[i])
        sides.append(max(h - l for l, h in zip(low, high)))
    return min(sides) / 2


# ---- figures ---------------------------------------------------------------------------------------------------------


def slide_error(result):
    """Relative error of the acceleration. None: sticks.

    The way slid is a t (t + h) / 2 for semi-implicit steps h, and a t²/2 for Drystone's."""
    if result.get("stopped") or result.get("displacement_max") is None:
        return math.nan
    theta = math.atan(SLOPE)
    right = GRAVITY * (math.sin(theta) - MU_SLIDE * math.cos(theta))
    t, h = result["time"], result["step"] / result.get("substeps", 1)
    h = 0 if result.get("second_order") else h
    measured = 2 * result["displacement_max"] / (t * (t + h))
    return None if measured < 0.05 * right else measured / right - 1


def short(value):
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 0.001:
        return f"{value:.2g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def cell(result, kind, field):
    """One entry of a table; the scale makes mm of m."""
    if result is None:
        return "–"
    if "failure" in result:
        return "X"
    fell = kind == "stand" and result["fell_at"] is not None
    if field == "cpu_per_second":
        return "–" if fell else f"{result[field]:.2g}"
    if field == "main" and kind == "slide":
        error = slide_error(result)
        return "sticks" if error is None else short(100 * abs(error)) + " %"
    if fell:
        return "F"
    value = result.get("displacement_max" if field == "main" else field)
    mark = "†" if result.get("stopped") else ""
    return short(None if value is None else 1000 * value) + mark


def table(results, scenes, field, title):
    lines = [f"## {title}", "", "| scene | " + " | ".join(ENGINES) + " |", "|---" * (len(ENGINES) + 1) + "|"]
    for scene in scenes:
        row = [SCENES[scene][0]]
        for engine, settings in ENGINES.items():
            cells = [cell(results.get(f"{scene}/{engine}/{s}"), SCENES[scene][2], field) for s in settings]
            row.append(" / ".join(cells[:2]) + (f" ({cells[2]})" if len(cells) > 2 else ""))
        lines.append("| " + " | ".join(row) + " |")
    return lines + [""]


def ratio_table(results, scenes):
    """Processor time of every rival that stands, over ours."""
    lines = ["## Processor time over Drystone's", "", "Above 1 the rival takes longer. Only runs that stand.", ""]
    lines += ["| scene | " + " | ".join(list(ENGINES)[1:]) + " |", "|---" * len(ENGINES) + "|"]
    for scene in scenes:
        own = results.get(f"{scene}/Drystone/untuned", {})
        row = [SCENES[scene][0]]
        for engine, settings in list(ENGINES.items())[1:]:
            cells = []
            for setting in settings:
                result = results.get(f"{scene}/{engine}/{setting}")
                stands = result and "failure" not in result and not (SCENES[scene][2] == "stand" and result["fell_at"])
                known = stands and own.get("cpu_per_second")
                cells.append(short(result["cpu_per_second"] / own["cpu_per_second"]) if known else "–")
            row.append(" / ".join(cells[:2]) + (f" ({cells[2]})" if len(cells) > 2 else ""))
        lines.append("| " + " | ".join(row) + " |")
    return lines + [""]


def own_table(results, scenes):
    lines = ["## Drystone's own figures", "",
             "| scene | contacts | steps | converged | factorizations | staggered iterations, mean / max "
             "| natural-map error | displacement after 1 s, m | penetration, m |", "|---" * 9 + "|"]
    for scene in scenes:
        r = results.get(f"{scene}/Drystone/untuned")
        if not r or "failure" in r:
            lines.append(f"| {SCENES[scene][0]} | {r['failure'] if r else 'not run'} |" + " |" * 7)
            continue
        show = lambda key, form="{:.3g}": "–" if r.get(key) is None else form.format(r[key])
        share = r.get("converged_share")
        lines.append(f"| {SCENES[scene][0]} | {show('contacts_mean')} | {show('steps', '{}')} | "
                     f"{'–' if share is None else f'{100 * share:.4g} %'} | {show('factorizations', '{}')} | "
                     f"{show('staggered_iterations_mean')} / {show('staggered_iterations_max', '{}')} | "
                     f"{show('natural_error_max', '{:.1e}')} | {show('displacement_settled_max', '{:.1e}')} | "
                     f"{show('penetration_max', '{:.1e}')} |")
    return lines + [""]


def own_faults(result, kind):
    """What Drystone promises and this run does not show, in words."""
    if "failure" in result:
        return ["no result"]
    faults = []
    moved = result["displacement_max"]
    if kind == "stand" and result["fell_at"] is not None:
        faults.append("fell")
    elif kind == "stand" and (result.get("displacement_settled_max") or 0) > LIMIT_SETTLED:
        faults.append(f"moved {result['displacement_settled_max']:.1e} m after the first second")
    if kind == "hold" and moved > LIMIT_HOLD:
        faults.append(f"slipped {moved:.1e} m")
    if kind == "slide" and not abs(slide_error(result) or 1) <= LIMIT_SLIDE:
        faults.append("acceleration is not right")
    if (result.get("converged_share") or 0) < 1:
        faults.append("not every step converged")
    return faults


def verdicts(results, scenes):
    """The claims, checked against this run: lines of text, and whether Drystone itself did what it must."""
    faults, dearer, lines = [], [], ["## What this run says", ""]
    if not any(f"{scene}/Drystone/untuned" in results for scene in scenes):
        return lines + ["- Drystone was not run.", ""], True
    for scene in scenes:
        own, kind = results.get(f"{scene}/Drystone/untuned"), SCENES[scene][2]
        if own is None:
            continue
        faults += [f"{scene}: {fault}" for fault in own_faults(own, kind)]
        if "failure" in own or kind == "slide":
            continue
        for engine, settings in list(ENGINES.items())[1:]:
            for setting in settings[1:]:
                r = results.get(f"{scene}/{engine}/{setting}")
                stands = r and "failure" not in r and not (kind == "stand" and r["fell_at"] is not None)
                if stands and r["cpu_per_second"] < own["cpu_per_second"]:
                    dearer.append(f"{scene} ({engine} {setting})")
    if faults:
        lines.append("- Drystone falls short: " + "; ".join(faults) + ".")
    else:
        lines.append("- Drystone stands in all scenes, every step converged, displacement after the first second below "
                     f"{LIMIT_SETTLED:g} m; on the incline it slips less than {LIMIT_HOLD:g} m and slides right to "
                     f"{LIMIT_SLIDE:g}.")
    lines.append("- It takes less processor time per simulated second than any tuned rival that stands." if not dearer
                 else f"- A tuned rival that stands takes less processor time in: {', '.join(dearer)}.")
    return lines + [""], not faults


def failures(results):
    lines = [f"- {key}: {r['failure']}" for key, r in sorted(results.items()) if "failure" in r]
    lines += [f"- {key}: stopped after {r['time']:.3g} of the simulated seconds, when its processor time was spent"
              for key, r in sorted(results.items()) if r.get("stopped")]
    return (["## Runs that ended early", ""] + lines + [""]) if lines else []


def write_tables(data, path):
    results, scenes = data["results"], [s for s in SCENES if any(k.startswith(s + "/") for k in data["results"])]
    machine = data["machine"]
    lines = ["# Things that should stand", "",
             f"Commit {data['commit']}, {data['date']}. {machine['processor']}, {machine['cores']} cores, "
             f"{machine['system']}; one thread each. Standing scenes {data['time']:g} s, inclines "
             f"{data['time_incline']:g} s. Written by bench/run.py; method and settings: docs/benchmarks.md.", "",
             "A cell is *as shipped / tuned*, for MuJoCo with noslip in brackets; Drystone runs untuned at 1/100 s. "
             "F = fell, X = crashed or gave no result, † = stopped when its processor time was spent, – = nothing to "
             "tell. MuJoCo, Jolt and Rapier run as WebAssembly under node: their times carry that handicap.", ""]
    lines += ["Versions: " + ", ".join(f"{k} {v}" for k, v in data["versions"].items()) + ".", ""]
    lines += verdicts(results, scenes)[0]
    lines += table(results, scenes, "main", "Worst displacement, mm; for sliding the error of the acceleration")
    lines += table(results, scenes, "displacement_settled_max", "Displacement after the first second, mm")
    lines += table(results, scenes, "creep_max", "Creep over the last tenth, mm/s")
    lines += table(results, scenes, "penetration_max", "Deepest penetration, mm, as each engine measures it")
    lines += table(results, scenes, "cpu_per_second", "Processor time per simulated second, s")
    lines += ratio_table(results, scenes) + own_table(results, scenes) + failures(results)
    path.write_text("\n".join(lines))


# ---- the whole run ---------------------------------------------------------------------------------------------------


def install_node_rivals():
    """npm ci where the modules are not there; without them the rivals under node are reported as failing."""
    if (BENCH / "rivals" / "node_modules").is_dir():
        return
    command = ["npm", "ci", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=BENCH / "rivals", capture_output=True, text=True)
    except OSError as error:
        print(f"bench: npm: {error}; MuJoCo, Jolt and Rapier will be missing", file=sys.stderr)
        return
    if done.returncode != 0:
        print(f"bench: npm ci failed: {last_words(done.stderr)}", file=sys.stderr)


def read_options():
    parser = parser_of("Drystone beside its rivals on things that should stand.", "stand", "the tables")
    add = parser.add_argument
    add("--quick", action="store_true", help="5 s a scene, 10 s of processor time a run: a test of the bench")
    add("--scenes", default="", help="only scenes whose name contains one of these words, comma-separated")
    add("--engines", default="", help="only these engines, comma-separated")
    add("--time", type=float, default=60, help="simulated seconds of standing scenes (60)")
    add("--cpu-limit", type=float, default=50, help="processor seconds at which a rival stops itself (50)")
    add("--timeout", type=float, default=120, help="seconds after which a rival is ended (120)")
    add("--timeout-own", type=float, default=600, help="the same for Drystone (600)")
    options = parser.parse_args()
    options.time_incline = min(10, options.time)
    if options.quick:
        options.time, options.time_incline, options.cpu_limit = 5, 5, 10
        options.output = options.output.with_name("quick")
    return options


def plan(options):
    """All runs, scene by scene, the order of the engines moved on by one each time."""
    words = [w for w in options.scenes.split(",") if w]
    only = [w.lower() for w in options.engines.split(",") if w]
    scenes = [s for s in SCENES if not words or any(w in s for w in words)]
    configurations = [(e, s) for e, settings in ENGINES.items() for s in settings if not only or e.lower() in only]
    runs = []
    for k, scene in enumerate(scenes):
        start = k % len(configurations) if configurations else 0
        runs += [(scene, e, s) for e, s in configurations[start:] + configurations[:start]]
    return scenes, runs


def progress(number, count, scene, engine, setting, result, seconds):
    if "failure" in result:
        text = result["failure"]
    else:
        text = f"{cell(result, SCENES[scene][2], 'main')}, {result['cpu_per_second']:.3g} s a simulated second"
        text += f", fell at {result['fell_at']:.3g} s" if SCENES[scene][2] == "stand" and result["fell_at"] else ""
    print(f"[{number}/{count}] {scene}, {engine} {setting}: {text} ({seconds:.1f} s)", flush=True)


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    if options.tables:
        write_tables(data, md_path)
        return 0
    data.setdefault("results", {})
    data.setdefault("versions", {})
    data.update(**origin(options), time=options.time, time_incline=options.time_incline, cpu_limit=options.cpu_limit,
                flags="rivals -O2; Drystone Release; one thread each")
    data["versions"].update(node=text_of(["node", "--version"]), compiler=text_of(["cc", "-dumpfullversion"]))
    options.work = options.build / "stand"
    install_node_rivals()
    scenes, runs = plan(options)
    paths = write_scenes(scenes, options.drystone, options.work)
    for number, (scene, engine, setting) in enumerate(runs, 1):
        key, kind = f"{scene}/{engine}/{setting}", SCENES[scene][2]
        if options.resume and key in data["results"]:
            continue
        seconds = options.time if kind == "stand" else options.time_incline
        begin = time.monotonic()
        if engine == "Drystone":
            result = run_drystone(paths[scene], seconds, options)
        else:
            result = run_rival(engine, setting, paths[scene], kind, seconds, options)
            if "version" in result:
                data["versions"][engine] = result["version"]
        data["results"][key] = result
        progress(number, len(runs), scene, engine, setting, result, time.monotonic() - begin)
        json_path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    write_tables(data, md_path)
    lines, sound = verdicts(data["results"], scenes)
    tell(lines[2:], md_path)
    return 0 if sound else 1


if __name__ == "__main__":
    start(main)
