#!/usr/bin/env python3
"""`make shake`: scenes of the generators, disturbed, every step to be certified. Three parts.

Shaken, for 30 simulated seconds. What stands still in a scene becomes a shaking base (0.35 g along x and 0.15 g along z, 3 Hz, all the time),
and three blocks fall on it. Most structures collapse and the rubble is shaken on: the contact problems are as bad as they
get. Tolerance 1e-6, for piles of 500 bodies and more 1e-4. A step that misses is listed with its error, and its contact
problem is written to build/shake/SCENE/ for `drystone solve`. Writes bench/results/shaken.md.

Imperfect (--imperfect), 100 random scenes for 60 s at the default tolerance: card houses, walls, arches, vaults and towers
with jitter, tilt, sizes, gaps, overlaps and missing bodies (docs/generators.md) small enough that most stand or just
settle. Every step is to be certified; from a second after it has come to rest a scene is to take at most 2
factorizations per step; energy is not to be gained, beyond what it takes to lift bodies out of overlaps. Those that do not
come to rest are named. Contact problems that missed are in build/shake/imperfect/NUMBER/. Writes
bench/results/imperfect.md where all scenes run for 60 s.

At rest (--rest), every generator's scene (heaps with fewer bodies, HEAPS) and, where DRYSTONE_CASES names a folder, the scenes and COMPAS assemblies there,
for 60 s: the same checks, but for energy, which motors and rebounds may add. Writes bench/results/rest.md.

Exit code 1 where a step missed or a scene failed its check.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
from common import commit, run_limited  # noqa: E402

SCENES = [
    "incline", "slide", "stack:count=10", "stack:count=50", "stack:count=10,top_mass=100", "wall", "pyramid",
    "dominoes", "card-pair", "card-house:levels=5", "card-house:levels=7", "card-house:levels=10", "arch:stones=25",
    "arch:stones=101", "arch:stones=501", "arch:shape=semicircle", "overhang", "billiard", "roll", "disc", "arch-sp08",
    "card-house-sp08", "pile:count=100", "pile:count=500",
]
GRAVITY, FREQUENCY = 9.81, 3.0


def shaken(text, seconds):
    scene = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    bodies = scene["bodies"]
    dynamic = [b for b in bodies if b.get("kind", "dynamic") == "dynamic"]
    places = [b.get("position", [0, 0, 0]) for b in dynamic]
    low = [min(p[i] for p in places) for i in range(3)]
    high = [max(p[i] for p in places) for i in range(3)]
    extent = max(0.5, max(high[i] - low[i] for i in range(3)))
    length = GRAVITY / (2 * math.pi * FREQUENCY) ** 2  # of a motion that accelerates by g
    motion = {"kind": "harmonic", "amplitude": [0.35 * length, 0, 0.15 * length], "frequency": FREQUENCY,
              "start_time": 0.5}
    for body in bodies:
        if body.get("kind") == "static":
            body["kind"] = "kinematic"
            body["motion"] = motion
    for i, (time, offset) in enumerate([(3, 0.0), (8, 0.23), (16, -0.31)]):
        edge = 0.04 * extent * (1 + 0.5 * i)
        bodies.append({
            "name": "impact%d" % (i + 1), "release_time": time, "density": 2000,
            "position": [0.5 * (low[0] + high[0]) + offset * extent, 0.5 * (low[1] + high[1]) + 0.02 * extent,
                         high[2] + (0.3 + 0.2 * i) * extent],
            "rotation": {"axis": [1, 2, 3], "degrees": 35 + 40 * i},
            "shapes": [{"kind": "box", "size": [edge, 1.3 * edge, 0.8 * edge]}],
        })
    scene["time"] = seconds
    return scene, len(dynamic)


def run(program, source, seconds, work):
    name = re.sub("[:,=]", "_", source)
    folder = os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        os.remove(os.path.join(folder, old))
    text = subprocess.run([program, "scene", source], check=True, capture_output=True, text=True).stdout
    scene, count = shaken(text, seconds)
    tolerance = 1e-4 if source.startswith("pile") and count >= 500 else 1e-6
    path, report = os.path.join(folder, "scene.json"), os.path.join(folder, "report.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    done = subprocess.run(
        [program, "run", path, "--tol", str(tolerance), "--report", report, "--quiet", "--threads", "0",
         "--dump-problems", folder], capture_output=True, text=True)
    if not os.path.exists(report):
        return {"scene": source, "failed": (done.stderr.strip().split("\n") or ["no report"])[-1]}
    with open(report) as file:
        result = json.load(file)
    missed = sorted(f for f in os.listdir(folder) if f.endswith(".hdf5"))
    return {"scene": source, "tolerance": tolerance, "report": result, "missed": missed}


def row(r):
    if "failed" in r:
        return "| %s | | | | | | | %s |" % (r["scene"], r["failed"])
    p = r["report"]
    steps = p["steps"]
    missing = round(steps * (1 - p["converged_share"]))
    return "| %s | %d | %.0f / %d | %.0e | %d of %d | %.0e | %.2g / %.2g | %s |" % (
        r["scene"], p["bodies"], p["contacts_mean"], p["contacts_max"], r["tolerance"], steps - missing, steps,
        p["natural_error_max"], p["ms_mean"]["total"], p["ms_p99"]["total"],
        "" if missing == 0 else ", ".join(r["missed"][:6]) + (" …" if len(r["missed"]) > 6 else ""))


def write_shaken(results, seconds, output):
    with open(output, "w") as file:
        file.write("# Shaken\n\nEvery scene for %g s on a base that shakes all the time, with three blocks falling on "
                   "it. Written by scripts/shake.py; what is shaken and how stands there.\n\n" % seconds)
        file.write("| scene | bodies | contacts mean / most | tolerance | steps certified | worst error | "
                   "ms per step, mean / 99 % | not certified |\n|---|---|---|---|---|---|---|---|\n")
        file.write("\n".join(row(r) for r in results) + "\n")


def shake(arguments):
    scenes = arguments.names or SCENES
    seconds = 30 if arguments.time is None else arguments.time
    results = []
    for i, source in enumerate(scenes):
        results.append(run(arguments.program, source, seconds, "build/shake"))
        print("[%d/%d] %s" % (i + 1, len(scenes), row(results[-1]).strip("| ")), flush=True)
    output = arguments.output or (None if arguments.names else "bench/results/shaken.md")
    if output:
        write_shaken(results, seconds, output)
    missed = [r for r in results if "failed" in r or r["report"]["converged_share"] < 1]
    print("%d of %d scenes: every step certified" % (len(results) - len(missed), len(results)))
    return 1 if missed else 0


# ---- imperfect scenes ------------------------------------------------------------------------------------------------

# What is drawn: the generator with its own parameters, and the largest jitter and gap (m), tilt (degrees), share of size,
# and number of missing bodies. Cards are 3 mm thick, blocks of a tower 15 mm, the other stones 60 mm and more.
FAMILIES = [
    ("card-house:levels={2..5},mu=0.8", 3e-4, 1e-4, 0.3, 0.002, 0),
    ("wall:rows={3..10},bricks={3..10},mu=0.6", 1e-3, 5e-4, 0.3, 0.01, 3),
    ("arch:stones={9..41},thickness=0.15,mu=0.7", 1e-3, 3e-4, 0.2, 0.003, 0),
    ("vault:courses={7..13},stones={3..5},thickness=0.25", 1e-3, 3e-4, 0.2, 0.003, 0),
    ("tower:levels={6..18},mu=0.5", 3e-4, 1e-4, 0.3, 0.005, 4),
    ("arch:shape=semicircle,stones={9..31},thickness=0.2,mu=0.8", 1e-3, 3e-4, 0.2, 0.003, 0),
    ("vault:shape=dome,courses={4..6},stones={8..12},thickness=0.2", 1e-3, 3e-4, 0.2, 0.003, 0),
]
REST_WORK = 2          # factorizations per step at rest, at most
ENERGY_SLACK = 1e-6    # of the energy at the start: what rounding and the tolerance may add
FIELDS = ("steps", "time", "step", "dynamic_bodies", "contacts_mean", "unconverged_steps", "natural_error_max",
          "factorizations_mean", "factorizations_worst_mean", "factorizations_max", "factorizations_rest_mean", "rest_time",
          "displacement_max", "penetration_first_second", "penetration_last", "separation_max", "energy_start",
          "energy_end", "energy_gained", "cpu_seconds", "state_hash")


def imperfect_scene(number, seed):
    """The number-th scene, a specification. Only Random.random() is used: it is the same in every version."""
    random = Random(seed * 1000003 + number)
    text, jitter, gap, tilt, size, missing = FAMILIES[number % len(FAMILIES)]

    def whole(match):
        low, high = int(match[1]), int(match[2])
        return str(low + int(random.random() * (high + 1 - low)))

    text = re.sub(r"\{(\d+)\.\.(\d+)\}", whole, text)
    for name, most in (("jitter", jitter), ("tilt", tilt), ("size_jitter", size), ("gap", gap), ("overlap", gap)):
        wanted, value = random.random() < 0.6, most * 10 ** (-1.5 * random.random())
        if wanted:
            text += ",%s=%.2g" % (name, value)
    if missing:
        text += ",missing=%d" % int(random.random() * (missing + 1))
    return text + ",seed=%d" % number


def complaints(r, seconds):
    """What is wrong with a run; nothing where all is well. Energy is looked at where nothing is driven or bounces."""
    if "failed" in r:
        return [r["failed"]]
    out = []
    planned = round(seconds / r["step"])
    if r["unconverged_steps"]:
        out.append("%d steps not certified" % r["unconverged_steps"])
    if r["steps"] < planned:
        out.append("ended after %d of %d steps" % (r["steps"], planned))
    work = r["factorizations_rest_mean"]
    if work is not None and work > REST_WORK:
        out.append("%.3g factorizations per step at rest" % work)
    slack = ENERGY_SLACK * abs(r["energy_start"])
    if not r["passive"]:
        return out
    if r["energy_end"] > r["energy_start"] + slack or (r["separation_max"] == 0 and r["energy_gained"] > slack):
        out.append("%.2g J gained of %.2g J" % (r["energy_gained"], r["energy_start"]))
    return out


def run_long(source, folder, arguments, seconds, passive):
    """One scene at the default tolerance; what its report says, or how it failed."""
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    if arguments.resume and report.exists():
        data = json.loads(report.read_text())
        if data["source"] == source and data["steps"] == round(seconds / data["step"]):
            return dict({key: data[key] for key in FIELDS}, scene=source, passive=passive)
    for old in folder.iterdir():
        old.unlink()
    errors, _, ended = run_limited(
        [arguments.program, "run", source, "--time", str(seconds), "--report", str(report), "--quiet",
         "--threads", "1", "--dump-problems", str(folder)] + arguments.options, arguments.cpu_limit)
    if not report.exists():
        return {"scene": source, "failed": (errors.strip().split("\n") or [""])[-1] or ended or "no report"}
    data = json.loads(report.read_text())
    return dict({key: data[key] for key in FIELDS}, scene=source, passive=passive)


def long_row(number, r, seconds):
    wrong = "; ".join(complaints(r, seconds))
    if "failed" in r:
        return "| %d | %s | | | | | | | | | %s |" % (number, r["scene"], wrong)
    rest = "moves" if r["rest_time"] is None else "%.2g" % r["rest_time"]
    work = "–" if r["factorizations_rest_mean"] is None else "%.3g" % r["factorizations_rest_mean"]
    return "| %d | %s | %d | %d of %d | %.0e | %s | %s | %.4g / %d | %.2g | %.2g | %s |" % (
        number, r["scene"], r["dynamic_bodies"], r["steps"] - r["unconverged_steps"], r["steps"],
        r["natural_error_max"], rest, work, r["factorizations_worst_mean"], r["factorizations_max"],
        1000 * r["displacement_max"], r["cpu_seconds"] / max(r["time"], 1e-9), wrong)


def long_summary(results, seconds):
    good = sum(1 for r in results if not complaints(r, seconds))
    ran = [r for r in results if "failed" not in r]
    steps, missed = sum(r["steps"] for r in ran), sum(r["unconverged_steps"] for r in ran)
    moving = [str(i) for i, r in enumerate(results) if "failed" not in r and r["rest_time"] is None]
    return ["%d of %d scenes: every step certified, little work at rest, no energy gained." % (good, len(results)),
            "%d of %d steps certified at the default tolerance." % (steps - missed, steps),
            "%d came to rest; still moving at the end: %s." % (len(ran) - len(moving), ", ".join(moving) or "none")]


def write_long(title, what, results, seconds, output):
    lines = ["# " + title, "", "Commit %s. %d %s for %g s at the default tolerance. Written by scripts/shake.py; what is run "
             "and checked stands there." % (commit(), len(results), what, seconds), ""]
    lines += ["- " + line for line in long_summary(results, seconds)]
    lines += ["", "| | scene | bodies | steps certified | worst error | at rest from, s | factorizations per step at rest | worst "
              "percent / worst step | moved, mm | processor s per s | wrong |", "|---" * 11 + "|"]
    lines += [long_row(i, r, seconds) for i, r in enumerate(results)]
    Path(output).write_text("\n".join(lines) + "\n")


def run_all(sources, arguments, seconds, passive):
    done, lock = [0], threading.Lock()

    def one(number):
        result = run_long(sources[number], Path(arguments.work) / ("%03d" % number), arguments, seconds, passive)
        with lock:
            done[0] += 1
            print("[%d/%d] %s" % (done[0], len(sources), long_row(number, result, seconds).strip("| ")), flush=True)
        return result

    with ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(one, range(len(sources))))


def imperfect(arguments):
    seconds = 60 if arguments.time is None else arguments.time
    results = run_all([imperfect_scene(i, arguments.seed) for i in range(arguments.scenes)], arguments, seconds, True)
    output = arguments.output or ("bench/results/imperfect.md" if arguments.scenes >= 100 and seconds >= 60 else None)
    if output:
        write_long("Imperfect scenes", "random scenes", results, seconds, output)
    print("\n".join(long_summary(results, seconds)))
    return 1 if any(complaints(r, seconds) for r in results) else 0


# ---- everything at rest ----------------------------------------------------------------------------------------------


# Heaps of so many bodies come to rest within minutes of processor time.
HEAPS = {"bunny-drop": 30, "chess-drop": 60, "chairs": 2, "composites-thrown": 1, "dinosaurs": 3, "helmets": 30,
         "hopper": 60, "jam": 40, "pile": 100}


def gallery(program):
    listed = subprocess.run([program, "scenes"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^([a-z][\w-]*)  ", listed, flags=re.M)
    return [name + (":count=%d" % HEAPS[name] if name in HEAPS else "") for name in names] + sorted(
        str(p) for p in (ROOT / "scenes").glob("*.json"))


# Blocks of the COMPAS assemblies that stand on the ground, and their friction. The vault's are marked in its file.
ASSEMBLIES = {"type-a": ("0,1", 0.84), "type-b": ("0,1", 0.84), "bridge": ("0,1", 0.9), "shelf-stable": ("0", 0.9),
              "cubes": ("0", 0.84), "concave-long": ("0", 0.84)}


def given(folder, work):
    """Scenes of a folder, and its COMPAS assemblies made into scenes of hulls and of solids."""
    out = []
    for path in sorted(Path(folder).glob("*.json")) + sorted(Path(folder).glob("motion/*.json")):
        text = path.read_text()
        if '"bodies"' in text:
            out.append(str(path))
            continue
        supports, mu = ASSEMBLIES.get(path.stem, ("", 0.6))
        for kind in ("hulls", "solids"):
            scene = Path(work) / ("%s-%s.json" % (path.stem, kind))
            if subprocess.run([sys.executable, str(ROOT / "scripts/compas-scene.py"), str(path), "--as", kind,
                               "--supports", supports, "--mu", str(mu), "-o", str(scene)]).returncode == 0:
                out.append(str(scene))
    return out


def rest(arguments):
    seconds = 60 if arguments.time is None else arguments.time
    Path(arguments.work).mkdir(parents=True, exist_ok=True)
    cases = os.environ.get("DRYSTONE_CASES")
    sources = arguments.names or gallery(arguments.program) + (given(cases, arguments.work) if cases else [])
    results = run_all(sources, arguments, seconds, False)
    for result in results:
        if result["scene"].endswith(".json"):
            result["scene"] = Path(result["scene"]).name
    output = arguments.output or ("bench/results/rest.md" if not arguments.names and seconds >= 60 else None)
    if output:
        write_long("Scenes at rest", "scenes of the gallery and of DRYSTONE_CASES", results, seconds, output)
    print("\n".join(long_summary(results, seconds)))
    return 1 if any(complaints(r, seconds) for r in results) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("names", nargs="*", metavar="GENERATOR", help="scenes to shake; default: all")
    add("--imperfect", action="store_true", help="the second part: random imperfect scenes")
    add("--rest", action="store_true", help="the third part: every generator's scene, and those of DRYSTONE_CASES")
    add("--scenes", type=int, default=100, help="how many of these, default 100")
    add("--seed", type=int, default=1, help="of these, default 1")
    add("--time", type=float, help="simulated seconds, default 30; 60 for the other parts")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="scenes at once, default all cores (not where they are shaken)")
    add("--cpu-limit", type=float, default=600, help="processor seconds at which a scene is ended (600)")
    add("--resume", action="store_true", help="keep the scenes that were run to their end before")
    add("--work", help="folder for reports and problems, default build/shake/imperfect or build/shake/rest")
    add("--options", default="", help="further options of `drystone run`, e.g. '--integrator midpoint'")
    add("--program", default="build/drystone")
    add("-o", "--output", help="default in bench/results/ where all scenes run")
    arguments = parser.parse_args()
    if arguments.scenes < 1 or arguments.jobs < 1 or (arguments.time is not None and not arguments.time > 0):
        parser.error("--scenes, --jobs and --time must be positive")
    if arguments.imperfect and arguments.names:
        parser.error("--imperfect draws its own scenes")
    if arguments.imperfect and arguments.rest:
        parser.error("--imperfect or --rest, one at a time")
    arguments.options = arguments.options.split()
    arguments.program = os.path.abspath(arguments.program)
    arguments.work = os.path.abspath(arguments.work or "build/shake/" + ("rest" if arguments.rest else "imperfect"))
    sys.exit(imperfect(arguments) if arguments.imperfect else rest(arguments) if arguments.rest else shake(arguments))


if __name__ == "__main__":
    main()
