#!/usr/bin/env python3
"""Pulls every block out of a Jenga tower, one run each, and says what the steps and the motion passed.

A tower of 18 layers, three blocks of 75 x 25 x 15 mm each. After half a second one block is drawn out along its length
at 5 cm/s, by a script or through a joint to a scripted handle. Blocks are uneven by up to --jitter mm.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = (0.075, 0.025, 0.015)


def tower(options, layer, place):
    rng = random.Random(1)
    bodies = [{"name": "floor", "kind": "static", "mu": options.mu, "shapes": [{"kind": "half-space"}]}]
    joints = []
    for i in range(18):
        for k in range(3):
            along_x = i % 2 == 1
            offset = (k - 1) * SIZE[1]
            thin = rng.uniform(0, options.jitter) * 1e-3
            size = [SIZE[0], SIZE[1] - thin, SIZE[2] - thin] if along_x else [SIZE[1] - thin, SIZE[0], SIZE[2] - thin]
            position = [0 if along_x else offset, offset if along_x else 0, (i + 0.5) * SIZE[2]]
            block = {"name": f"b{i}_{k}", "density": 600, "mu": options.mu, "position": position,
                     "shapes": [{"kind": "box", "size": size}]}
            bodies.append(block)
            if (i, k) != (layer, place):
                continue
            direction = [0.05 if along_x else 0, 0 if along_x else 0.05, 0]
            motion = {"kind": "velocity", "velocity": direction, "start_time": 0.5, "end_time": 2.3}
            if not options.joint:
                block.update(kind="kinematic", motion=motion)
                continue
            at = [position[0] + direction[0] * 2, position[1] + direction[1] * 2, position[2]]
            bodies.append({"name": "handle", "kind": "kinematic", "position": at, "motion": motion,
                           "shapes": [{"kind": "sphere", "radius": 0.002}]})
            joints.append({"kind": "ball", "bodies": [block["name"], "handle"], "point": at})
    return {"drystone": 1, "name": f"jenga-{layer}-{place}", "time": options.time, "bodies": bodies, "joints": joints}


def pull(options, layer, place, folder):
    path = Path(folder) / f"{layer}-{place}.json"
    path.write_text(json.dumps(tower(options, layer, place)))
    report = path.with_suffix(".report")
    command = [options.program, "run", str(path), "--quiet", "--threads", "1", "--report", str(report)]
    command += ["--integrator", options.integrator] if options.integrator else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        return {"name": path.stem, "error": done.stderr.strip()}
    r = json.loads(report.read_text())
    r["name"] = path.stem
    return r


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--program", default=str(ROOT / "build" / "drystone"), help="drystone")
    add("--mu", type=float, default=0.4, help="friction coefficient of the blocks and the floor")
    add("--joint", action="store_true", help="pull through a joint")
    add("--jitter", type=float, default=0, help="mm: blocks are thinner by up to this (0.2 is a worn set)")
    add("--time", type=float, default=3, help="s, of each run")
    add("--integrator", help="as in drystone run")
    add("--every", type=int, default=1, help="of the 54 blocks, every so many")
    add("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    wanted = [(i // 3, i % 3) for i in range(0, 54, options.every)]
    bad = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        print("| block | certified | unexplained gain, J | share | moved, m | factorizations per step, worst percent |")
        print("|---|---|---|---|---|---|")
        for r in pool.map(lambda w: pull(options, *w, folder), wanted):
            if "error" in r:
                print(f"| {r['name']} | {r['error']} |", flush=True)
                bad += 1
                continue
            missed = r["unconverged_steps"] + r["motion_missed_steps"] + r["limited_steps"]
            bad += missed > 0
            print(f"| {r['name']} | {r['steps'] - r['unconverged_steps']} of {r['steps']} "
                  f"| {r['unexplained_gain_max']:.1e} | {r['unexplained_gain_share_max']:.1e} "
                  f"| {r['displacement_max']:.2g} | {r['factorizations_mean']:.3g}, "
                  f"{r['factorizations_worst_mean']:.4g} |", flush=True)
    print(f"\n{len(wanted)} runs, {len(wanted) - bad} with every step and motion certified")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
