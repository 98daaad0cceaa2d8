#!/usr/bin/env python3
"""Verdicts on assemblies: `drystone stand --quick` beside cvxopt and HiGHS on the same problem.

Each assembly is written once as a certificate, which has all its numbers; rivals build their matrices from that, and only
their solve is timed. cvxopt solves the exact cone program in the motions of the blocks (min -w'v, G'v in K*, |v| <= 1);
in the forces it is slower. HiGHS, by way of scipy, solves a linear program with friction pyramids of eight edges inside
the cones, so that its verdict may differ near the edge. Processor time on one thread. A verdict that differs from
Drystone's, whose certificate was verified, is marked.

The armadillo vault is run where DRYSTONE_CASES names its folder. Rivals: Debian's python3-cvxopt and python3-scipy.
Results go to results/assemblies.json and .md. Exit code: 0, or 1 where the vault takes more than 15 factorizations or a
certificate is not valid.
"""
import json
import math
import os
import random
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

sys.dont_write_bytecode = True
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
from common import conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402

CASES = {
    "arch of 25 stones": "arch:stones=25",
    "card house, 5 levels": "card-house:levels=5",
    "wall of 105 bricks": "wall",
    "wall, falls": "wall:mu=0.3 --set gravity=[5,0,-9.81]",
    "barrel vault": "vault:courses=21,stones=16",
    "barrel vault, thin": "vault:courses=21,stones=16,thickness=0.08",
    "dome": "vault:shape=dome,courses=12,stones=24",
    "vault of 1,000 stones": "vault:courses=41,stones=24,length=4",
    "vault of 10,000 stones": "vault:courses=101,stones=96,length=4",
    "Armadillo Vault": "armadillo_cra.json",
    "Armadillo Vault, slippery": "armadillo_cra.json --mu 0.17",
}
ALONE = {"vault of 10,000 stones"}  # rivals would take hours
LOADS = {"Armadillo Vault": "push:x"}
LAYOUTS = {20: 4, 40: 4, 80: 4, 160: 4}  # toy bricks: how many layouts of how many bricks
EDGES = 8
MOST_WORK = 15  # factorizations of the Armadillo Vault's verdict


def number(text):
    whole, power = text, 0
    if "/2^" in text:
        whole, power = text.split("/2^")
        power = -int(power)
    elif "*2^" in text:
        whole, power = text.split("*2^")
        power = int(power)
    return float(Fraction(int(whole)) * Fraction(2) ** power)


def problem(path):
    """G as (rows, columns, values) with contacts along normal and tangents, w, mu, in units of mean weight and size."""
    import numpy as np
    data = json.loads(path.read_text())
    gravity = np.array([number(t) for t in data["gravity"]])
    free, mass, center, radius = {}, [], [], []
    for i, block in enumerate(data["blocks"]):
        if not block["support"]:
            free[i] = len(mass)
            mass.append(number(block["mass"]))
            center.append([number(t) for t in block["center"]])
            radius.append((sum(number(t) for t in block["inertia"]) / (3 * mass[-1])) ** 0.5)
    mean = sum(mass) / len(mass)
    load = np.zeros(6 * len(mass))
    for i, m in enumerate(mass):
        load[6 * i:6 * i + 3] = (m / mean) ** 0.5 * gravity / np.linalg.norm(gravity)
    rows, columns, values, mu, k = [], [], [], [], 0
    for face in data["interfaces"]:
        n = np.array([number(t) for t in face["normal"]])
        t1 = np.cross(n, np.eye(3)[np.argmin(abs(n))])
        axes = [n, t1 / np.linalg.norm(t1)]
        axes.append(np.cross(n, axes[1]))
        for point in face["points"]:
            p = np.array([number(t) for t in point])
            mu.append(number(face["mu"]))
            for block, sign in ((face["a"], -1), (face["b"], 1)):
                if block not in free:
                    continue
                i = free[block]
                f = sign / (mass[i] / mean) ** 0.5
                for j, axis in enumerate(axes):
                    wrench = np.concatenate([f * axis, f / radius[i] * np.cross(p - center[i], axis)])
                    rows += range(6 * i, 6 * i + 6)
                    columns += [3 * k + j] * 6
                    values += list(wrench)
            k += 1
    return rows, columns, values, load, mu


def with_cvxopt(path):
    """(seconds, verdict)"""
    from cvxopt import matrix, solvers, spmatrix
    rows, columns, values, load, mu = problem(path)
    n, m = len(load), 3 * len(mu)
    scale = [(1.0 / mu[i // 3] if i % 3 == 0 else 1.0) if mu[i // 3] > 0 else (1.0 if i % 3 == 0 else 0.0) for i in range(m)]
    # -G'v + s = 0 with s in the cones, and |v| <= 1 in front
    left = list(range(2 * n)) + [2 * n + c for c in columns]
    right = list(range(n)) * 2 + rows
    entries = [1.0] * n + [-1.0] * n + [-v * scale[c] for v, c in zip(values, columns)]
    g = spmatrix(entries, left, right, (2 * n + m, n))
    h = matrix([1.0] * (2 * n) + [0.0] * m)
    solvers.options["show_progress"] = False
    begin = time.process_time()
    answer = solvers.conelp(matrix(-load), g, h, {"l": 2 * n, "q": [3] * len(mu), "s": []})
    seconds = time.process_time() - begin
    if answer["status"] != "optimal":
        return seconds, answer["status"]
    return seconds, "FALLS" if answer["primal objective"] < -1e-6 else "CAN STAND"


def with_highs(path):
    import numpy as np
    import scipy.optimize
    import scipy.sparse
    rows, columns, values, load, mu = problem(path)
    wrench = scipy.sparse.csc_matrix((values, (rows, columns)), (len(load), 3 * len(mu)))
    edges = []  # of the pyramids: contacts x edges
    for k, friction in enumerate(mu):
        for j in range(EDGES):
            angle = 2 * np.pi * j / EDGES
            edges.append((3 * k, len(edges) // 3, 1.0))
            edges.append((3 * k + 1, len(edges) // 3, friction * np.cos(angle)))
            edges.append((3 * k + 2, len(edges) // 3, friction * np.sin(angle)))
    r, c, v = zip(*edges)
    cone = scipy.sparse.csc_matrix((v, (r, c)), (3 * len(mu), EDGES * len(mu)))
    begin = time.process_time()
    answer = scipy.optimize.linprog(np.ones(cone.shape[1]), A_eq=wrench @ cone, b_eq=-load, method="highs")
    seconds = time.process_time() - begin
    return seconds, {0: "CAN STAND", 2: "FALLS"}.get(answer.status, f"status {answer.status}")


RIVALS = {"cvxopt": with_cvxopt, "HiGHS": with_highs}


def run_rival(name, path, limit):
    """In a process of its own, which ends after `limit` processor seconds."""
    command = [sys.executable, __file__, "--rival", name, str(path)]
    done = subprocess.run(command, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
    if done.returncode < 0:
        return {"error": f"more than {limit} s"}
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip().splitlines()[-1]}


def run_case(name, options):
    words = CASES[name].split()
    if words[0].endswith(".json"):
        words[0] = str(Path(os.environ["DRYSTONE_CASES"]) / words[0])
    proof = options.work / "proof.json"
    loads = ["--load", LOADS[name]] if name in LOADS else []
    done = subprocess.run([options.drystone, "stand", *words, "--quick", "--json", "--certificate", str(proof), *loads],
                          capture_output=True, text=True)
    if done.returncode not in (0, 3, 4):
        return {"error": done.stderr.strip() or "undecided"}
    answer = json.loads(done.stdout)
    valid = subprocess.run([options.drystone, "verify", str(proof)], capture_output=True).returncode == 0
    row = {"blocks": sum(not b["support"] for b in answer["blocks"].values()),
           "points": sum(f["points"] for f in answer["interfaces"].values()), "verdict": answer["verdict"],
           "valid": valid, "factorizations": answer["factorizations"], "seconds": answer["time_ms"] / 1e3}
    for load, result in answer["loads"].items():
        row["load"] = {"case": load, "seconds": result["time_ms"] / 1e3, "falls": result["falls"],
                       "factorizations": result["factorizations"]}
    for rival in RIVALS:
        row[rival] = {"error": ""} if name in ALONE else run_rival(rival, proof, options.limit)
    return row


def random_bricks(count, rng):
    """A layout in StableLego's format: bricks that are put down at random, each on another one or on the plate."""
    kinds = {2: (2, 4), 3: (2, 6), 4: (1, 8), 5: (1, 4), 6: (1, 6), 9: (1, 2), 10: (1, 1), 12: (2, 2)}
    bricks, taken = {}, set()
    while len(bricks) < count:
        kind, ori, z = rng.choice(list(kinds)), rng.randint(0, 1), rng.randint(0, 14)
        a, b = kinds[kind] if ori == 0 else reversed(kinds[kind])
        x, y = rng.randint(0, 20 - a), rng.randint(0, 20 - b)
        cells = [(x + i, y + j, z) for i in range(a) for j in range(b)]
        below = z == 0 or any((i, j, z - 1) in taken for i, j, _ in cells)
        if below and not taken.intersection(cells):
            taken.update(cells)
            bricks[str(len(bricks) + 1)] = {"x": x, "y": y, "z": z, "brick_id": kind, "ori": ori}
    return bricks


def run_bricks(options):
    """Layouts per second of processor time, by their size."""
    rng, path, rates = random.Random(1), options.work / "bricks.json", {}
    for size, count in LAYOUTS.items():
        seconds = 0.0
        for _ in range(count):
            path.write_text(json.dumps(random_bricks(size, rng)))
            done = subprocess.run([options.drystone, "stand", str(path), "--quick", "--json"], capture_output=True, text=True)
            seconds += json.loads(done.stdout)["time_ms"] / 1e3
        rates[str(size)] = count / seconds
    return rates


def cell(row, rival):
    it = row[rival]
    if "error" in it:
        return it["error"]
    agrees = (it["verdict"] == "FALLS") == (row["verdict"] == "FALLS")
    return f"{it['seconds']:.2f} s, {it['seconds'] / row['seconds']:.0f} x" + ("" if agrees else f", says {it['verdict']}")


def summary(data):
    lines = ["# Verdicts on assemblies", "", f"Commit {data['origin']['commit']}, {data['origin']['date']}, "
             f"{data['origin']['machine']['processor']}. Processor time of the verdict, one thread; x: over Drystone's.", "",
             "| assembly | free blocks | points | verdict | factorizations | Drystone | " + " | ".join(RIVALS) + " |",
             "|---|---|---|---|---|---|" + "---|" * len(RIVALS)]
    sound = True
    for name, row in data["cases"].items():
        if "error" in row:
            lines.append(f"| {name} | {row['error']} |" + " |" * (5 + len(RIVALS)))
            sound = False
            continue
        sound = sound and row["valid"] and (row["factorizations"] <= MOST_WORK or not name.startswith("Armadillo"))
        lines.append(f"| {name} | {row['blocks']} | {row['points']} | {row['verdict']}{'' if row['valid'] else ', NOT VALID'} "
                     f"| {row['factorizations']} | {1e3 * row['seconds']:.1f} ms | "
                     + " | ".join(cell(row, rival) for rival in RIVALS) + " |")
    small, large = (data["cases"].get(f"vault of {n} stones", {}) for n in ("1,000", "10,000"))
    if "seconds" in small and "seconds" in large:
        growth = math.log(large["seconds"] / small["seconds"]) / math.log(large["blocks"] / small["blocks"])
        lines += ["", f"From {small['blocks']} to {large['blocks']} stones the time grows with the power {growth:.2f}."]
    for name, row in data["cases"].items():
        if "load" in row:
            it = row["load"]
            lines += ["", f"{name}, {it['case']}: falls above {it['falls']:.5f}, in {it['factorizations']} factorizations and "
                      f"{it['seconds']:.2f} s."]
    if "bricks" in data:
        lines += ["", "Toy bricks, layouts per second: " +
                  ", ".join(f"{rate:.0f} of {size} bricks" for size, rate in data["bricks"].items()) + "."]
    return lines + [""], sound


def write_tables(data, path):
    path.write_text("\n".join(summary(data)[0]))


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--rival":
        seconds, verdict = RIVALS[sys.argv[2]](Path(sys.argv[3]))
        print(json.dumps({"seconds": seconds, "verdict": verdict}))
        return 0
    parser = parser_of(__doc__.split("\n")[0], "assemblies", "the table")
    parser.add_argument("--only", default="", help="cases whose names have this in them")
    parser.add_argument("--limit", type=int, default=300, help="processor seconds for a rival (default 300)")
    options = parser.parse_args()
    options.work = work_folder(options, "assemblies")
    store, tables, data = open_results(options)
    data.setdefault("origin", origin(options))
    cases = data.setdefault("cases", {})
    for name in CASES if not options.tables else ():
        outside = CASES[name].split()[0].endswith(".json")
        if options.only not in name or name in cases or (outside and not os.environ.get("DRYSTONE_CASES")):
            continue
        cases[name] = run_case(name, options)
        keep_results(data, store)
        print(name, cases[name], flush=True)
    if not options.tables and not options.only and "bricks" not in data:
        data["bricks"] = run_bricks(options)
        keep_results(data, store)
    return conclude(data, tables, write_tables, summary)


start(main)
