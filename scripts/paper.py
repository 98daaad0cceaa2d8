#!/usr/bin/env python3
"""`make paper`: the tables of the papers that Drystone builds on, run again; writes docs/paper.md.

Every cell is one `drystone run`, whose report is kept in build/paper/, so that an interrupted run goes on where it
stopped; --fresh runs all again. --quick simulates shorter and takes minutes. A cell is never empty: it has a figure, or
the reason why there is none. --only runs one section again, and leaves the others of the file as they are.
Usage: scripts/paper.py [--quick] [--fresh] [--only ffd05] [--jobs N] [--output FILE]
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import math
import pathlib
import re
import subprocess
import sys
import textwrap
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "drystone"
KEPT = ROOT / "build" / "paper"

METHODS = ["coupled", "staggered", "two-pass", "pgs", "pgs:cold", "nncg", "nncg:cold", "shock", "lcp", "convex",
           "anitescu-hart", "mass-split", "ffd"]
FFD_STEP = "options.step=0.004761904761904762"  # 1/210 s, as in FFD05
STACKS = [5, 10, 15, 20]
HOUSES = [2, 3, 5, 7]
EPSILONS = ["1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8"]
FALLEN = 0.02  # m: a tenth of a cube of the stacks, a fifth of a card; a structure that moved farther has fallen


class Run:
    """One `drystone run`: its arguments, and after `take` its report, or why there is none."""

    def __init__(self, scene, method, seconds, limit, *settings, record=False):
        name, *options = method.split(":")
        self.scene, self.method, self.seconds, self.limit = scene, method, seconds, limit
        self.arguments = [scene, "--method", name, "--time", str(seconds), "--threads", "1", "--quiet"]
        for option in options:
            self.arguments += ["--set", "options." + ("warm_start=false" if option == "cold" else option)]
        for setting in settings:
            self.arguments += ["--set", setting]
        self.path = KEPT / (hashlib.sha256(" ".join(self.arguments + [str(limit)]).encode()).hexdigest()[:24] + ".json")
        self.report, self.why = {}, ""
        self.rows = self.path.with_suffix(".csv") if record else None  # one line per step

    def take(self, fresh):
        if not self.path.exists() or fresh:
            part = self.path.with_suffix(".part")
            command = ["timeout", "--signal=TERM", "--kill-after=10", str(self.limit), PROGRAM, "run", *self.arguments]
            film = self.path.with_suffix(".h5")
            record = ["--record", film] if self.rows else []
            done = subprocess.run([*command, "--report", part, *record], capture_output=True, text=True, cwd=ROOT)
            if self.rows and film.exists():
                subprocess.run([PROGRAM, "export", film, "-o", self.rows, "--quiet"], check=True)
                film.unlink()
            report = json.loads(part.read_text()) if part.exists() else {}
            ended = report.get("steps", 0) > 0 and report.get("cpu_seconds") is not None
            report["paper_why"] = "" if ended else f"no step within {self.limit} s" if done.returncode in (124, 137, 143, -9) \
                else f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
            part.unlink(missing_ok=True)
            self.path.write_text(json.dumps(report))
        self.report = json.loads(self.path.read_text())
        self.why = self.report.get("paper_why", "")

    @property
    def reached(self):
        return self.report.get("time", 0)

    @property
    def fell(self):
        return self.report["displacement_max"] > FALLEN

    def outcome(self):
        """Stands, falls, or how far it came."""
        if self.why:
            return self.why
        moved = f"{1e3 * self.report['displacement_max']:.2g} mm"
        if self.fell:
            return "**falls**"
        if self.report["ended"] != "finished":
            return f"{moved} in {self.reached:.2g} s (limit {self.limit} s)"
        return moved

    def certified(self):
        return self.why or f"{100 * self.report['converged_share']:.0f} %"

    def cost(self):
        return self.why or f"{self.report['cpu_seconds'] / max(self.reached, 1e-9):.2g}"

    def mean(self, key):
        value = self.report.get(key)
        return self.why or ("none" if value is None else f"{value:.3g}")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def plan_ffd05(quick):
    """Fast Frictional Dynamics: what is known of the motion, its scenes, and the heap of its Figs. 8 and 9."""
    limit = 60 if quick else 900
    runs = {}
    for method in ("coupled", "ffd", "ffd-qp", "ffd-half", "ffd-relative", "ffd-other", "ffd-least"):
        for scene in ("slide", "roll", "stack:count=5", "card-house:levels=2", "chess-drop:count=30", "mechanism"):
            runs[scene, method] = Run(scene, method, 2 if scene == "mechanism" else 1, limit, FFD_STEP)
    for scene, count, seconds in (("hopper", 100 if quick else 2016, 2), ("helmets", 30 if quick else 1000, 1)):
        runs[scene, "ffd"] = Run(f"{scene}:count={count}", "ffd", seconds, limit, FFD_STEP)
    runs["heap", "ffd"] = Run(f"chess-drop:count={125 if quick else 1000}", "ffd", 1, limit, FFD_STEP, record=True)
    return runs


def plan(quick):
    """All runs, by section."""
    stand, limit = (2, 20) if quick else (60, 600)
    runs = {"ffd05": plan_ffd05(quick), "stacks": {}, "houses": {}, "epsilon": {}, "iterations": {}, "nfs10": {}, "ladder": {}}
    for method in METHODS:
        for count in STACKS:
            runs["stacks"][method, count] = Run(f"stack:count={count}", method, stand, limit)
        for levels in HOUSES:
            runs["houses"][method, levels] = Run(f"card-house:levels={levels}", method, stand, limit)
    for epsilon in EPSILONS:
        for scene in ("card-house:levels=3", "arch:stones=25"):
            runs["epsilon"][scene, epsilon] = Run(scene, f"staggered:rel_err={epsilon}", stand, limit)
    for scene, seconds in (("arch-sp08", 3 if quick else 10), ("card-house-sp08", 0.3 if quick else 14)):
        for start in ("staggered", "staggered:cold", "coupled"):
            runs["iterations"][scene, start] = Run(scene, start, seconds, limit)
    for name, method in (("NNCG 75, Baumgarte 0.5", "nncg:stabilization=baumgarte"),
                         ("NNCG 75, envelope", "nncg:stabilization=envelope"),
                         ("PGS 12, Baumgarte 0.5", "pgs:max_iterations=12:stabilization=baumgarte"),
                         ("PGS 12, Baumgarte 0.5, friction 0.8",
                          "pgs:max_iterations=12:stabilization=baumgarte:friction_stabilization=0.8"),
                         ("`coupled`", "coupled:integrator=euler")):
        for scene in ("stack:count=5,size=1", "stack:count=10,size=1", "scenes/press-and-tip.json"):
            runs["nfs10"][name, scene] = Run(scene, method, 10, limit, "options.step=0.1")
    for name, scene in (("collision", "bounce"), ("normal impulse", "stack:count=1"),
                        ("friction, sticks", "incline:mu=0.5005"), ("friction, slides", "incline:mu=0.49"),
                        ("stack", "stack:count=10"), ("card house, no friction", "card-house:levels=2,mu=0"),
                        ("card house, friction", "card-house:levels=2")):
        for method in ("coupled", "staggered", "mass-split"):
            runs["ladder"][name, method] = Run(scene, method, 2, limit)
    return runs


def held(runs, quick):
    """Of the claim that these stand: a short run can refute it, but not confirm it."""
    if any(run.why for run in runs):
        return "not decided"
    if any(run.fell for run in runs):
        return "**refuted**"
    return "not decided in short runs" if quick or any(r.report["ended"] != "finished" for r in runs) else "confirmed"


def fallen(runs, quick):
    """Of the claim that these fall: all of them have to; what stands for a short time may fall later."""
    if all(not run.why and run.fell for run in runs):
        return "confirmed"
    return "not decided in short runs" if quick or any(run.why for run in runs) else "**refuted**"


def claims(runs, quick):
    """Each claim, and what the runs say of it."""
    stacks, houses, iterations, nfs10 = runs["stacks"], runs["houses"], runs["iterations"], runs["nfs10"]

    def listed(part, method, keys, what="levels"):
        return ", ".join(f"{key} {what}: {part[method, key].outcome()}" for key in keys)

    cold, shock = ([houses[m, n] for n in HOUSES] for m in ("pgs:cold", "shock"))
    lcp = [stacks["lcp", n] for n in STACKS if n > 15] + [houses["lcp", n] for n in HOUSES if n > 2]
    loose = runs["epsilon"]["card-house:levels=3", "1e-1"]
    warm, zero = (iterations["arch-sp08", m].mean("staggered_iterations_mean") for m in ("staggered", "staggered:cold"))
    task = [nfs10[m, "scenes/press-and-tip.json"]
            for m in ("PGS 12, Baumgarte 0.5", "PGS 12, Baumgarte 0.5, friction 0.8", "`coupled`")]
    ways = [run.why or f"{1e3 * run.report['displacement_max']:.3g} mm" for run in task]
    rows = [
        ["SP08 8.2", "iterative LCP solvers fail on card houses of all sizes",
         f"{fallen(cold, quick)}. Cold, {listed(houses, 'pgs:cold', HOUSES)}. Warm, {listed(houses, 'pgs', HOUSES)}"],
        ["SP08 8.2", "shock propagation holds stacks",
         f"{held([stacks['shock', n] for n in STACKS], quick)}. {listed(stacks, 'shock', STACKS, 'cubes')}"],
        ["SP08 8.2", "but fails on card houses of all sizes", f"{fallen(shock, quick)}. {listed(houses, 'shock', HOUSES)}"],
        ["SP08 8.2", "the direct LCP does not scale beyond 15 cubes and two levels",
         "confirmed for its cost. " + ", ".join(f"{r.scene}: " + (r.why or f"{r.certified()} certified, {r.cost()} s/s")
                                               for r in lcp) + ". It takes 300 contacts at most: 7 levels have more"],
        ["SP08 8.2", "staggered projections stand for long",
         f"{held([houses['staggered', n] for n in HOUSES] + [stacks['staggered', n] for n in STACKS], quick)}. "
         + listed(houses, "staggered", HOUSES)],
        ["SP08 8.2", "ε = 1e-1 is generally sufficient", f"{held([loose], quick)}. Card house of 3 levels: {loose.outcome()}"],
        ["SP08 Table 2", "warm starts save iterations: 5.6 for 133.7 on the arch",
         ("confirmed" if float(warm) < float(zero) else "**refuted**") + f". {warm} for {zero} on the arch"],
        ["NFS10", "friction stabilization keeps what falls without it",
         f"the task, farthest body: {ways[0]} without, {ways[1]} with, {ways[2]} with `coupled`"],
        ["FFD05", "cost, dissipation, momentum, rolling, stacking", "[below](#ffd05-figures-8-and-9)"],
    ]
    return table(["paper", "claim", "here"], rows)


CHART = """<svg xmlns="http://www.w3.org/2000/svg" width="760" height="280" font-family="sans-serif" font-size="12">
<rect width="760" height="280" fill="white"/>
"""


def chart(x, curves, title, left):
    """One panel of an SVG chart from `left` on: curves of (name, colour, values), or points where a value is a list."""
    low, width, top, height = left + 60, 290, 30, 200
    most, far = max(max(values) for _, _, values in curves) or 1, max(x) or 1
    lines = [f'<text x="{low}" y="18">{title}</text>',
             f'<path d="M{low},{top}v{height}h{width}" fill="none" stroke="black"/>',
             f'<text x="{low - 6}" y="{top + 4}" text-anchor="end">{most:,.0f}</text>',
             f'<text x="{low + width}" y="{top + height + 18}" text-anchor="end">{far:,.0f}</text>']
    for number, (name, colour, values) in enumerate(curves):
        dots = [(low + width * a / far, top + height * (1 - b / most)) for a, b in zip(x, values)]
        if len(curves) == 1:
            lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="{colour}"/>' for a, b in dots]
        else:
            lines.append('<polyline fill="none" stroke="%s" points="%s"/>' % (colour, " ".join("%.1f,%.1f" % d for d in dots)))
            lines.append(f'<text x="{low + 8}" y="{top + 16 + 16 * number}" fill="{colour}">{name}</text>')
    return "\n".join(lines)


def exponent(x, y):
    """Of y in x: the slope of a line through the logarithms."""
    pairs = [(math.log(a), math.log(b)) for a, b in zip(x, y) if a > 0 and b > 0]
    a, b = (sum(p[i] for p in pairs) / len(pairs) for i in (0, 1))
    return sum((p[0] - a) * (p[1] - b) for p in pairs) / sum((p[0] - a) ** 2 for p in pairs)


def draw_heap(run, folder):
    """Figs. 8 and 9 from one run: the picture, and what is said of it."""
    if run.why or not run.rows.exists():
        return run.why or "no recording"
    rows = list(csv.DictReader(run.rows.open()))[1:]
    steps = list(range(1, len(rows) + 1))
    contacts, active, work, energy = ([float(r[key]) for r in rows]
                                      for key in ("contacts", "active_contacts", "projection_iterations", "energy"))
    (folder / "ffd-figures.svg").write_text(
        CHART + chart(steps, [("contacts", "#1f77b4", contacts), ("active contacts", "#d62728", active)],
                      "Fig. 8: contacts over steps", 0)
        + chart(contacts, [("", "#333333", work)], "Fig. 9: iterations of projections over contacts", 380) + "</svg>\n")
    part = [(c, w) for c, w in zip(contacts, work) if c > 0.02 * max(contacts)]
    rise = max(b - a for a, b in zip(energy, energy[1:]))
    return "![Contacts over steps, and the work of projections over contacts](images/ffd-figures.svg)\n\n" + textwrap.fill(
            f"`{run.scene}`, {len(rows)} steps of 1/210 s, up to {max(contacts):.0f} contacts, "
            f"{'all of it' if run.report['ended'] == 'finished' else 'up to its limit of wall time'}. Iterations of both "
            f"projections, over all bodies, grow as contacts to the power of {exponent(*zip(*part)):.2f}; an iteration "
            f"costs as much as the contacts of its body. Counts stand for times, which depend on what else the machine "
            f"does. Energy {energy[0]:.3g} J at first, {energy[-1]:.3g} J in the end; "
            f"{'it never rises' if rise <= 0 else f'the largest rise in a step is {rise:.2g} J'}.", 100)


def write_ffd05(runs, folder):
    scenes = ("slide", "roll", "stack:count=5", "card-house:levels=2", "chess-drop:count=30", "mechanism")
    methods = [m for s, m in runs if s == "slide"]

    def cell(run, key, factor=1.0):
        return run.why or f"{factor * (run.report[key] or 0):.2g}"

    text = """## FFD05: Figures 8 and 9

[methods/ffd.md](methods/ffd.md) has the method, what the paper leaves open, and its claims. Steps of
1/210 s.

""" + draw_heap(runs["heap", "ffd"], folder) + """

Largest displacement of a body, m; a cube that slides should come to rest after 0.68 m, a ball should roll on,
the stack and the card house should stand.

"""
    text += table(["method"] + list(scenes), [[f"`{m}`"] + [cell(runs[s, m], "displacement_max") for s in scenes]
                                             for m in methods])
    text += "\n\nThe largest gain of energy in a step that no force accounts for, J.\n\n"
    text += table(["method"] + list(scenes), [[f"`{m}`"] + [cell(runs[s, m], "unexplained_gain_max") for s in scenes]
                                             for m in methods])
    text += "\n\nThe largest error of momentum in a step, over that of one step of weight and motion.\n\n"
    text += table(["method"] + list(scenes), [[f"`{m}`"] + [cell(runs[s, m], "momentum_error_max") for s in scenes]
                                             for m in methods])
    text += "\n\nThe paper's other scenes, with `ffd`:\n\n"
    return text + table(["scene", "simulated s", "contacts, at most", "energy J, start and end", "gain J", "overlap mm", "cpu s/s"],
                        [[runs[s, "ffd"].scene, cell(runs[s, "ffd"], "time"), cell(runs[s, "ffd"], "contacts_max"),
                          cell(runs[s, "ffd"], "energy_start") + ", " + cell(runs[s, "ffd"], "energy_end"),
                          cell(runs[s, "ffd"], "unexplained_gain_max"), cell(runs[s, "ffd"], "penetration_max", 1e3),
                          runs[s, "ffd"].cost()] for s in ("hopper", "helmets", "heap")])


def write(runs, quick, folder):
    def outcomes(part, keys, form):
        return table(["method", "start"] + [form(k) for k in keys] + [f"cpu s/s, {form(keys[-1])}", "certified"],
                     [[f"`{m.split(':')[0]}`", "cold" if m.endswith(":cold") else "warm"]
                      + [part[m, k].outcome() for k in keys] + [part[m, keys[-1]].cost(), part[m, keys[-1]].certified()]
                      for m in METHODS])
    scenes = ("card-house:levels=3", "arch:stones=25")
    kind = "`make paper QUICK=1`: short runs, 2 s for what should stand" if quick else "`make paper`"
    parts = [f"""# The papers, run again

Written by {kind}.
[methods/](methods/README.md) describes the methods, [benchmarks.md](benchmarks.md) has the deformable
scenes of SP08, its haptic loop and the log house. "Falls" means that a body moved by more than
{1e3 * FALLEN:.0f} mm; else the largest displacement of a body is given. A run that reaches its limit of wall time
says so. cpu s/s are processor seconds per simulated second on one thread.

## Claims

{claims(runs, quick)}

## SP08 section 8.2: stacks of cubes

{outcomes(runs["stacks"], STACKS, lambda n: f"{n} cubes")}

## SP08 section 8.2: card houses

{outcomes(runs["houses"], HOUSES, lambda n: f"{n} levels")}

## SP08: tolerance against outcome and cost

Algorithm 1 as published, `staggered`, with the threshold ε of its eq. 28.

""" + table(["ε"] + [f"{s}{what}" for s in scenes for what in ("", ", iterations", ", cpu s/s")],
            [[e] + [cell for s in scenes for cell in (runs["epsilon"][s, e].outcome(),
                                                      runs["epsilon"][s, e].mean("staggered_iterations_mean"),
                                                      runs["epsilon"][s, e].cost())] for e in EPSILONS]),
             """## SP08 Tables 1 and 2: the rigid rows

Mean iterations of Algorithm 1 per step, and the paper's. Contacts are found by another detection than
the paper's, so that the counts differ, and ratios of times would say little.

""" + table(["scene", "contacts (paper)", "degrees of freedom (paper)", "simulated s, warm and cold",
             "warm (paper)", "cold (paper)", "ms per step, warm", "`coupled`, ms"],
            [[s, f"{runs['iterations'][s, 'staggered'].mean('contacts_mean')} ({c})",
              f"{runs['iterations'][s, 'staggered'].mean('dof')} ({d})",
              f"{runs['iterations'][s, 'staggered'].mean('time')}, {runs['iterations'][s, 'staggered:cold'].mean('time')}",
              f"{runs['iterations'][s, 'staggered'].mean('staggered_iterations_mean')} ({w})",
              f"{runs['iterations'][s, 'staggered:cold'].mean('staggered_iterations_mean')} ({k})",
              *[f"{runs['iterations'][s, m].report['ms_mean']['total']:.3g}" if not runs["iterations"][s, m].why
                else runs["iterations"][s, m].why for m in ("staggered", "coupled")]]
             for s, c, d, w, k in (("arch-sp08", "2,042", "162", "5.6", "133.7"),
                                   ("card-house-sp08", "528", "348", "3.2", "57.1"))]),
             """## NFS10 Table 1

Steps of 0.1 s, cubes of 1 m, 10 s. Largest displacement of a body, deepest overlap, largest energy gain of a
step without a cause. [methods/stabilization.md](methods/stabilization.md) discusses it.

""" + table(["", "scene", "moved mm", "overlap mm", "gain J", "creep mm/s"],
            [[name, scene, f"{1e3 * r.report['displacement_max']:.3g}", f"{1e3 * r.report['penetration_max']:.2g}",
              f"{r.report['unexplained_gain_max']:.2g}", f"{1e3 * (r.report['creep_max'] or 0):.2g}"]
             if not r.why else [name, scene] + [r.why] * 4 for (name, scene), r in runs["nfs10"].items()]),
             """## The ladder of the slides of 2016

Collision, normal impulse, friction, stacking, card house without and with friction; 2 s each.

""" + table(["test", "method", "moved mm", "certified", "overlap mm"],
            [[name, f"`{m}`", f"{1e3 * r.report['displacement_max']:.3g}", r.certified(),
              f"{1e3 * r.report['penetration_max']:.2g}"] if not r.why else [name, f"`{m}`"] + [r.why] * 3
             for (name, m), r in runs["ladder"].items()]),
             write_ffd05(runs["ffd05"], folder),
             """## What is not here

| | why |
|---|---|
| FFD05, wall time of Figs. 8 and 9 | counts of work are given: times are those of other machines |
| SP08 Tables 1 and 2, deformable rows, haptic loop, log house with and without decomposition | in [benchmarks.md](benchmarks.md), by `make bench` |
| pictures laid out like the papers' figures | not drawn; [gallery.md](gallery.md) has pictures of the scenes |
| `sqp` | one step of a stack of 5 cubes takes 0.25 s: [methods/sqp.md](methods/sqp.md) |
"""]
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--only", choices=["ffd05"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", default=str(ROOT / "docs" / "paper.md"))
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"paper: no {PROGRAM.relative_to(ROOT)}; 'make' builds it")
    KEPT.mkdir(parents=True, exist_ok=True)
    runs = {"ffd05": plan_ffd05(options.quick)} if options.only else plan(options.quick)
    every = [run for part in runs.values() for run in part.values()]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, _ in enumerate(pool.map(lambda run: run.take(options.fresh), every), 1):
            print(f"\r{number} of {len(every)} runs, {time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    output, folder = pathlib.Path(options.output), ROOT / "docs" / "images"
    if options.only:
        section = write_ffd05(runs["ffd05"], folder).replace("\\", "\\\\")
        text, found = re.subn(r"## FFD05: .*?(?=\n\n## )", section, output.read_text(), flags=re.DOTALL)
        if not found:
            sys.exit(f"paper: {output} has no section of FFD05")
        output.write_text(text)
    else:
        output.write_text(write(runs, options.quick, folder))
    print(options.output)


main()
