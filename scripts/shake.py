#!/usr/bin/env python3
"""`make shake`: the scenes of the generators, disturbed for 30 simulated seconds, every step to be certified.

What stands still in a scene becomes a shaking base (0.35 g along x and 0.15 g along z, 3 Hz, all the time),
and three blocks fall on it. Most structures collapse and the rubble is shaken on: the contact problems are as bad as they
get. Tolerance 1e-6, for piles of 500 bodies and more 1e-4. A step that misses is listed with its error, and its contact
problem is written to build/shake/SCENE/ for `drystone solve`. Writes bench/results/shaken.md; exit 1 where a step missed.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("scenes", nargs="*", help="generators; default: all")
    parser.add_argument("--time", type=float, default=30, help="simulated seconds, default 30")
    parser.add_argument("--program", default="build/drystone")
    parser.add_argument("-o", "--output", help="default bench/results/shaken.md where all scenes run")
    arguments = parser.parse_args()
    scenes = arguments.scenes or SCENES
    results = []
    for i, source in enumerate(scenes):
        results.append(run(arguments.program, source, arguments.time, "build/shake"))
        print("[%d/%d] %s" % (i + 1, len(scenes), row(results[-1]).strip("| ")), flush=True)
    output = arguments.output or (None if arguments.scenes else "bench/results/shaken.md")
    if output:
        with open(output, "w") as file:
            file.write("# Shaken\n\nEvery scene for %g s on a base that shakes all the time, with three blocks falling on "
                       "it. Written by scripts/shake.py; what is shaken and how stands there.\n\n" % arguments.time)
            file.write("| scene | bodies | contacts mean / most | tolerance | steps certified | worst error | "
                       "ms a step, mean / 99 % | not certified |\n|---|---|---|---|---|---|---|---|\n")
            file.write("\n".join(row(r) for r in results) + "\n")
    missed = [r for r in results if "failed" in r or r["report"]["converged_share"] < 1]
    print("%d of %d scenes: every step certified" % (len(results) - len(missed), len(results)))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
