#!/usr/bin/env python3
"""Writes docs/stand-gallery.md and its pictures: ten structures with verdicts and intervals of `drystone stand`.

usage: scripts/stand-gallery.py PROGRAM [--only NAME] [--scenes FOLDER]

Structures without a generator are built here, as scene files of convex blocks. --scenes keeps them in a folder.
"""
import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def block(points, fixed=False, mu=0.7, name=None):
    middle = [sum(p[i] for p in points) / len(points) for i in range(3)]
    body = {"position": middle, "mu": mu,
            "shapes": [{"kind": "hull", "points": [[p[i] - middle[i] for i in range(3)] for p in points]}]}
    if name:
        body["name"] = name
    if fixed:
        body["kind"] = "static"
    else:
        body["density"] = 2300
    return body


def box(x0, x1, y0, y1, z0, z1, **more):
    return block([(x, y, z) for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)], **more)


def prism(outline, y0, y1, **more):
    """A polygon in x and z, from y0 to y1."""
    return block([(x, y, z) for y in (y0, y1) for x, z in outline], **more)


def floor(mu=0.7):
    return {"name": "floor", "kind": "static", "mu": mu, "shapes": [{"kind": "half-space"}]}


def scene(name, bodies):
    for i, body in enumerate(bodies):
        body.setdefault("name", f"stone{i}")
    return {"drystone": 1, "name": name, "allow_overlap": True, "bodies": bodies}


def flying_buttress(stones=9, inner=3.7, outer=4.3, wide=0.6):
    """A flyer of 60 degrees between a wall, which is fixed, and a pier of two blocks with a pinnacle."""
    at = lambda r, k: (r * math.cos(math.radians(90 - 60 * k / stones)), r * math.sin(math.radians(90 - 60 * k / stones)))
    bodies = [floor(), box(-1, 0, -1, 1, 0, 6, fixed=True, name="wall")]
    for k in range(stones):
        bodies.append(prism([at(inner, k), at(outer, k), at(outer, k + 1), at(inner, k + 1)], -wide / 2, wide / 2, name=f"flyer{k + 1}"))
    (ax, az), (bx, bz) = at(inner, stones), at(outer, stones)
    bodies.append(prism([(ax, 1), (5.2, 1), (5.2, bz), (bx, bz), (ax, az)], -wide, wide, name="pier"))
    bodies.append(box(ax, 5.2, -wide, wide, 0, 1, name="base"))
    bodies.append(box(bx, 5.2, -wide, wide, bz, bz + 1.5, name="pinnacle"))
    return scene("flying-buttress", bodies)


def cross_vault(courses=6, radius=2.0, thick=0.4):
    """Two barrels that cross: stones of the webs meet at mitres along the groins."""
    length, bodies = radius + thick + 0.3, [floor()]
    half = math.pi / (2 * (2 * courses + 1))  # half the angle of a keystone
    edges = [k * (math.pi / 2 - half) / courses for k in range(courses + 1)]

    def web(points, turn):
        c, s = round(math.cos(turn)), round(math.sin(turn))
        return [(c * x - s * y, s * x + c * y, z) for x, y, z in points]

    for quarter in range(4):
        turn = quarter * math.pi / 2
        for k in range(courses):
            for side in (1, -1):
                points = []
                for angle in edges[k:k + 2]:
                    for r in (radius, radius + thick):
                        y, z = r * math.cos(angle), r * math.sin(angle)
                        points += [(y, side * y, z), (length, side * y, z)]
                bodies.append(block(web(points, turn), name=f"web{quarter + 1}-{k + 1}{'ab'[side < 0]}"))
        points = []
        for r in (radius, radius + thick):
            y, z = r * math.cos(edges[-1]), r * math.sin(edges[-1])
            points += [(0, 0, z), (y, y, z), (y, -y, z), (length, y, z), (length, -y, z)]
        bodies.append(block(web(points, turn), name=f"key{quarter + 1}"))
    return scene("cross-vault", bodies)


def wall_with_opening(rows=10, columns=8, long=0.5, high=0.25, deep=0.25):
    """A wall in running bond with a door, over which a lintel rests on one brick at either side."""
    bodies, left, right, top = [floor()], 2.75 * long, 5.25 * long, 6
    for row in range(rows):
        x, end = 0.0, columns * long
        first = long / 2 if row % 2 else long
        while x < end - 1e-9:
            to = min(end, x + (first if x == 0 else long))
            pieces = [(x, to)]
            if row < top:
                pieces = [(x, min(to, left)), (max(x, right), to)]
            if row == top:
                pieces = [(x, min(to, left - 0.25)), (max(x, right + 0.25), to)]
            for a, b in pieces:
                if b - a > 0.05:
                    bodies.append(box(a, b, -deep / 2, deep / 2, row * high, (row + 1) * high))
            x = to
        if row == top:
            bodies.append(box(left - 0.25, right + 0.25, -deep / 2, deep / 2, row * high, (row + 1) * high, name="lintel"))
    return scene("wall-with-opening", bodies)


def dry_stone_wall(courses=9, long=3.2, seed=4):
    """Two leaves of random stones that lean on each other, tied by a through stone in every third course, and a coping."""
    rng, bodies, z = random.Random(seed), [floor()], 0.0
    for course in range(courses):
        high = rng.uniform(0.13, 0.2)
        half, above = 0.36 - 0.16 * z / 1.6, 0.36 - 0.16 * (z + high) / 1.6
        through = course % 3 == 2
        for side in ((0,) if through else (-1, 1)):
            x, lean = 0.0, 0.0
            while x < long - 1e-9:
                to = x + rng.uniform(0.25, 0.55)
                to = long if long - to < 0.25 else to
                next_lean = 0 if to == long else rng.uniform(-0.04, 0.04)
                y = {0: ((-half, half), (-above, above)), 1: ((0.0, half), (0.0, above)), -1: ((-half, 0.0), (-above, 0.0))}[side]
                bodies.append(block([(a, b, z) for a in (x, to) for b in y[0]] +
                                    [(a, b, z + high) for a in (x + lean, to + next_lean) for b in y[1]]))
                x, lean = to, next_lean
        z += high
    half = 0.36 - 0.16 * z / 1.6
    for k in range(8):
        bodies.append(box(k * long / 8, (k + 1) * long / 8, -half, half, z, z + 0.15, name=f"coping{k + 1}"))
    return scene("dry-stone-wall", bodies)


def corbel(courses=7, long=1.2, high=0.25, step=0.17):
    """A corbelled arch: two stacks whose courses project until they meet under a cap."""
    bodies, gap = [floor()], 2 * step * (courses - 1) + 0.1
    for k in range(courses):
        for side in (-1, 1):
            a = gap / 2 - step * k
            x = sorted((side * a, side * (a + long + step * k)))
            bodies.append(box(*x, -0.25, 0.25, k * high, (k + 1) * high))
    bodies.append(box(-0.5, 0.5, -0.25, 0.25, courses * high, (courses + 1) * high, name="cap"))
    return scene("corbel", bodies)


def brick_stair(levels=19):
    """The stair of StableLego's paper: toy bricks held by their clutch."""
    return {str(k + 1): {"x": 2 * k, "y": 2, "z": k, "brick_id": 2, "ori": 1} for k in range(levels)}


STRUCTURES = [  # name, title, source, options, what to notice
    ("arch", "Arch", "arch:stones=11", [], "A catenary arch: thrust is near the middle of the joints."),
    ("flying-buttress", "Flying buttress", flying_buttress, ["--view", "-70,12"],
     "A flyer leans between a wall and a pier; the pinnacle holds the pier down."),
    ("dome", "Dome", "vault:shape=dome,courses=8,stones=16", ["--view", "-60,25"],
     "Rings carry each other. Without tension the lower rings need the thickness of the shell."),
    ("cross-vault", "Cross vault", cross_vault, ["--view", "-60,30"],
     "Two barrels cross. Webs bring their thrust to the groins, and the groins to the corners."),
    ("wall-with-opening", "Wall with an opening", wall_with_opening, ["--view", "-75,12"],
     "Level courses stand without friction, the lintel as well."),
    ("dry-stone-wall", "Dry-stone wall", dry_stone_wall, ["--view", "-60,18"],
     "Two leaves with a batter, tied by through stones."),
    ("jenga", "Jenga", "tower:levels=12", ["--view", "-50,12"], "A tower of three blocks per level."),
    ("card-house", "Card house", "card-house:levels=3", ["--view", "-70,12"], "Friction alone holds the cards."),
    ("brick-stair", "Brick stair", brick_stair, ["--view", "-75,12"],
     "Nineteen toy bricks, each held by two knobs' width of the one below; the twentieth would pull them off."),
    ("corbel", "Corbel", corbel, ["--view", "-80,12"], "Every course projects over the one below, held down by those above."),
]


def interval(load, tilt):
    """[equilibrium, falls] of a load case as text."""
    if not load or load["equilibrium"] is None and load["falls"] is None:
        return "no limit"
    to = lambda x: "no limit" if x is None else f"{math.degrees(math.atan(x)):.3f}°" if tilt else f"{x:.4f} g"
    stands, low, high = load["stands"], load["equilibrium"], load["falls"]
    if low is not None and low < 0:
        return "none"
    text = to(high) if to(low) == to(high) else f"{to(low)} to {to(high)}"
    return text + (f" (proven to stand to {to(stands)})" if stands and stands > 1e-6 else "")


def shrink(path):
    """A palette in place of full colours, where ffmpeg is there: a third of the size."""
    if not shutil.which("ffmpeg"):
        return
    small = path.with_suffix(".small.png")
    run = subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(path), "-vf",
                          "split[a][b];[a]palettegen=128[p];[b][p]paletteuse=dither=bayer:bayer_scale=4", str(small)])
    if run.returncode == 0 and small.stat().st_size < path.stat().st_size:
        small.replace(path)
    small.unlink(missing_ok=True)


def judge(program, source, name, options, pictures):
    command = [program, "stand", source, "--json", "--load", "tilt:x", "--load", "tilt:y", "--load", "push:x", "--least-mu",
               "-o", str(pictures / f"stand-{name}.png"), "--size", "560x350", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 3, 4, 5):
        sys.exit(f"{name}: {run.stderr}")
    shrink(pictures / f"stand-{name}.png")
    return json.loads(run.stdout)


def entry(name, title, note, shown, d):
    loads, least = d["loads"], d["least_mu"]["equilibrium"]
    free = sum(not b["support"] for b in d["blocks"].values())
    margin = "" if d["margin"] is None else f", margin {d['margin']:.3g}"
    return f"""## {title}

![{title}: lines of thrust](images/stand-{name}.png)

    drystone stand {shown}

{note}

| | |
|---|---|
| verdict | **{d["verdict"]}**: {d["reason"]}{margin} |
| blocks, interfaces | {free} free, {len(d["interfaces"])} |
| falls at a tilt toward x, toward y | {interval(loads["tilt:x"], True)}; {interval(loads["tilt:y"], True)} |
| falls at a push toward x | {interval(loads["push:x"], False)} |
| least friction with an equilibrium | {"none" if least is None else f"{least:.4g}"} |
"""


def main():
    parser = argparse.ArgumentParser(description="Writes docs/stand-gallery.md.")
    parser.add_argument("program")
    parser.add_argument("--only")
    parser.add_argument("--scenes")
    given = parser.parse_args()
    folder = Path(given.scenes or tempfile.mkdtemp(prefix="stand-gallery-"))
    folder.mkdir(exist_ok=True)
    pictures = ROOT / "docs" / "images"
    text = """# Ten structures, with verdicts

Colours show how much of friction or section is used, blue lines are lines of thrust, red arrows are what supports
carry: [stand.md](stand.md) explains them. `scripts/stand-gallery.py build/drystone` writes this page; with
`--scenes FOLDER` it keeps the scene files of structures that have no generator.
"""
    for name, title, source, options, note in STRUCTURES:
        if given.only and given.only != name:
            continue
        shown = source if isinstance(source, str) else f"{name}.json"
        if not isinstance(source, str):
            path = folder / f"{name}.json"
            path.write_text(json.dumps(source(), indent=1) + "\n")
            source = str(path)
        d = judge(given.program, source, name, options, pictures)
        print(name, d["verdict"], flush=True)
        text += "\n" + entry(name, title, note, shown, d)
    if not given.only:
        (ROOT / "docs" / "stand-gallery.md").write_text(text)


main()
