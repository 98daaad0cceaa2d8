#!/usr/bin/env python3
"""`make paper`: the tables of the papers that Drystone builds on, run again; writes docs/paper.md.

Every cell is one `drystone run`, whose report is kept in build/paper/, so that an interrupted run goes on where it
stopped; --fresh runs all again. --quick simulates shorter and takes minutes. A cell is never empty: it has a figure, or
the reason why there is none. --only runs one section again, and leaves the others of the file as they are, claims too.
Limits of runs are processor time, so that other work on the machine changes no outcome.
Usage: scripts/paper.py [--quick [--full SECTION,...]] [--fresh] [--only SECTION] [--jobs N] [--output FILE]
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import math
import os
import pathlib
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
NFS10 = [("NNCG 75, Baumgarte 0.5", "nncg:stabilization=baumgarte"), ("NNCG 75, envelope", "nncg:stabilization=envelope"),
         ("NNCG 75, none", "nncg:stabilization=none"),
         ("PGS 12, Baumgarte 0.5", "pgs:max_iterations=12:stabilization=baumgarte"),
         ("PGS 12, Baumgarte 0.5, friction 0.8", "pgs:max_iterations=12:stabilization=baumgarte:friction_stabilization=0.8"),
         ("PGS 12, none", "pgs:max_iterations=12:stabilization=none"), ("`coupled`", "coupled:integrator=euler")]
NFS10_SCENES = ["stack:count=5,size=1", "stack:count=10,size=1", "scenes/build-wall.json", "scenes/press-and-tip.json"]
LADDER = [("collision", "bounce"), ("normal impulse", "stack:count=1"), ("friction, sticks", "incline:mu=0.5005"),
          ("friction, slides", "incline:mu=0.49"), ("stack", "stack:count=10"),
          ("card house, no friction", "card-house:levels=2,mu=0"), ("card house, friction", "card-house:levels=2")]
STAND = 60     # s: what stands for so long has stood
NOISE = 1.3     # times beside other work differ by as much
FALLEN = 0.02  # m: a tenth of a cube of the stacks, a fifth of a card; a structure that moved farther has fallen


def within(limit, command):
    """Runs a command for at most this processor time, s: exit status and what it said."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        asked = 0
        while process.poll() is None:
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                if spent > limit and not asked:
                    process.terminate()
                    asked = spent
                elif asked and spent > asked + 10:
                    process.kill()
        return process.returncode, process.stderr.read()


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
        self.contacts = self.path.with_suffix(".contacts.csv")         # one per contact and step

    def take(self, fresh):
        if not self.path.exists() or fresh:
            part = self.path.with_suffix(".part")
            film = self.path.with_suffix(".h5")
            record = ["--record", film] if self.rows else []
            code, said = within(self.limit, [PROGRAM, "run", *self.arguments, "--report", part, *record])
            if self.rows and film.exists():
                for what, to in (("report", self.rows), ("contacts", self.contacts)):
                    subprocess.run([PROGRAM, "export", film, "-o", to, "--what", what, "--quiet"], check=True)
                film.unlink()
            report = json.loads(part.read_text()) if part.exists() else {}
            ended = report.get("steps", 0) > 0 and report.get("cpu_seconds") is not None
            report["paper_why"] = "" if ended else f"no step within {self.limit} s" if code in (137, 143, -9, -15) \
                else f"exit {code}: {said.strip()[-200:]}"
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
    for scene, count, seconds in (("hopper", 2016, 2), ("helmets", 1000, 1)):
        runs[scene, "ffd"] = Run(f"{scene}:count={count}", "ffd", seconds, 900, FFD_STEP)
    runs["heap", "ffd"] = Run(f"chess-drop:count={343 if quick else 1000}", "ffd", 1, limit, FFD_STEP, record=True)
    return runs


def plan_stacks(quick):
    stand, limit = (2, 20) if quick else (STAND, 600)
    return {(m, n): Run(f"stack:count={n}", m, stand, limit) for m in METHODS for n in STACKS}


def plan_houses(quick):
    stand, limit = (2, 20) if quick else (STAND, 600)
    return {(m, n): Run(f"card-house:levels={n}", m, stand, limit) for m in METHODS for n in HOUSES}


def plan_epsilon(quick):
    stand, limit = (2, 20) if quick else (STAND, 600)
    return {(scene, e): Run(scene, f"staggered:rel_err={e}", stand, limit)
            for e in EPSILONS for scene in ("card-house:levels=3", "arch:stones=25")}


def plan_iterations(quick):
    """SP08 Tables 1 and 2, rigid rows: the published loop, its polygon of 8 corners, and the default solver."""
    runs = {}
    for scene, seconds in (("arch-sp08", 3 if quick else 10), ("card-house-sp08", 0.3 if quick else 14)):
        for start in ("staggered", "staggered:cold", "coupled"):
            runs[scene, start] = Run(scene, start, seconds, 20 if quick else 600, "options.friction_samples=8")
    return runs


def plan_decomposition(quick):
    """SP08 Table 2, right: the log house through its break, with sub-islands and without, at the paper's tolerance."""
    return {on: Run("log-house", "coupled", 0.5 if quick else 4, 60 if quick else 1800, f"options.sub_islands={on}",
                    "options.tolerance=1e-4") for on in ("true", "false")}


def plan_nfs10(quick):
    """NFS10 Table 1: steps of 0.1 s, cubes of 1 m; each also without its stabilization."""
    runs = {}
    for name, method in NFS10:
        for scene in NFS10_SCENES:
            runs[name, scene] = Run(scene, method, 10, 20 if quick else 600, "options.step=0.1", record=True)
    return runs


def plan_ladder(quick):
    runs = {}
    for name, scene in LADDER:
        for method in ("coupled", "staggered", "mass-split"):
            runs[name, method] = Run(scene, method, 2, 20 if quick else 600)
    return runs


def short(runs):
    """Whether some end before what they should show."""
    return any(r.why or r.seconds < STAND or r.report["ended"] != "finished" for r in runs)


def held(runs):
    """Of the claim that these stand: a short run can refute it, but not confirm it."""
    if any(not run.why and run.fell for run in runs):
        return "**refuted**"
    return "not decided in short runs" if short(runs) else "confirmed"


def fallen(runs):
    """Of the claim that these fall: all of them have to; what stands for a short time may fall later."""
    if all(not run.why and run.fell for run in runs):
        return "confirmed"
    return "not decided in short runs" if short([r for r in runs if r.why or not r.fell]) else "**refuted**"


def claims(runs):
    """Each claim, and what the runs say of it."""
    stacks, houses, iterations, nfs10 = runs["stacks"], runs["houses"], runs["iterations"], runs["nfs10"]
    ladder, logs = runs["ladder"], runs["decomposition"]

    def listed(part, method, keys, what="levels"):
        return ", ".join(f"{key} {what}: {part[method, key].outcome()}" for key in keys)

    cold, shock = ([houses[m, n] for n in HOUSES] for m in ("pgs:cold", "shock"))
    lcp = [stacks["lcp", n] for n in STACKS if n > 15] + [houses["lcp", n] for n in HOUSES if n > 2]
    tight = [runs["epsilon"][s, "1e-8"] for s in ("card-house:levels=3", "arch:stones=25")]
    loose = runs["epsilon"]["card-house:levels=3", "1e-1"]
    warm, zero = (iterations["arch-sp08", m].mean("staggered_iterations_mean") for m in ("staggered", "staggered:cold"))
    touch = json.loads((ROOT / "bench/results/haptic.json").read_text())["runs"]["deadline"]

    def seen(name, scene, key, factor=1.0):
        run = nfs10[name, scene]
        return run.why or f"{factor * (run.report[key] or 0):.3g}"

    def side(key, unit, factor, first, second):
        """Of two settings, scene by scene."""
        return "; ".join(f"{s}: {seen(first, s, key, factor)} and {seen(second, s, key, factor)} {unit}" for s in NFS10_SCENES)

    def better(first, second, key):
        """Whether the second setting has less of it in all scenes, in none, or in some."""
        wins = [nfs10[second, s].report[key] < nfs10[first, s].report[key] for s in NFS10_SCENES
                if not (nfs10[first, s].why or nfs10[second, s].why)]
        return "confirmed" if wins and all(wins) else "**refuted**" if not any(wins) else "not decided"

    plain, rough, none = "PGS 12, Baumgarte 0.5", "PGS 12, Baumgarte 0.5, friction 0.8", "NNCG 75, none"
    split = [stacks["mass-split", n] for n in STACKS]
    times = [solve_ms(logs[on]) for on in ("false", "true")]
    rows = [
        ["SP08 8.2", "iterative LCP solvers fail on card houses of all sizes",
         f"{fallen(cold)}. Cold, {listed(houses, 'pgs:cold', HOUSES)}. Warm, {listed(houses, 'pgs', HOUSES)}"],
        ["SP08 8.2", "shock propagation holds stacks",
         f"{held([stacks['shock', n] for n in STACKS])}. {listed(stacks, 'shock', STACKS, 'cubes')}"],
        ["SP08 8.2", "but fails on card houses of all sizes", f"{fallen(shock)}. {listed(houses, 'shock', HOUSES)}"],
        ["SP08 8.2", "the direct LCP does not scale beyond 15 cubes and two levels",
         "confirmed for its cost. " + ", ".join(f"{r.scene}: " + (r.why or f"{r.certified()} certified, {r.cost()} s/s")
                                               for r in lcp) + ". It takes 300 contacts at most: 7 levels have more"],
        ["SP08 8.2", "staggered projections stand for long",
         f"{held([houses['staggered', n] for n in HOUSES] + [stacks['staggered', n] for n in STACKS])}. "
         + "Steps of 10 ms, as everywhere here; SP08's house has 1 ms. " + listed(houses, "staggered", HOUSES)],
        ["SP08 8.2", "ε = 1e-1 is generally sufficient", f"{held([loose])}. Card house of 3 levels: {loose.outcome()}"],
        ["SP08 Table 2", "warm starts save iterations: 5.6 for 133.7 on the arch",
         ("confirmed" if float(warm) < float(zero) else "**refuted**") + f". {warm} for {zero} on the arch"],
        ["SP08 8.2", "convergence was tested down to ε = 1e-8",
         f"{held(tight)}. At 1e-8 {', '.join(f'{r.scene}: {r.outcome()}' for r in tight)}; the loop often ends at its 200 "
         f"iterations: [below](#sp08-tolerance-against-outcome-and-cost)"],
        ["SP08 Table 2", "decomposition: 4.9 s and 0.061 s per solve of the log house",
         "not decided: " + " ".join(r.why for r in logs.values()) if None in times else
         f"{'not decided before it breaks' if logs['true'].reached < 2.2 else 'confirmed in part' if NOISE * times[1] < times[0] else '**refuted**'}: {times[0]:.3g} ms and {times[1]:.3g} ms, "
         f"{times[0] / times[1]:.2g} times instead of 80. Sparse factorizations gain without it what the paper's dense ones "
         f"gain by it"],
        ["SP08 8.2", "haptic: 3.2 ms per step, about 80 % of the steps converge",
         f"confirmed, and better: {touch['ms']['mean']:.2g} ms, {100 * touch['converged_share']:.2f} %, "
         f"{touch['contacts_mean']:.0f} contacts (117), by [bench/haptic.py](benchmarks.md#touch)"],
        ["NFS10", "Baumgarte penetrates, the envelope does not",
         f"{better('NNCG 75, Baumgarte 0.5', 'NNCG 75, envelope', 'penetration_max')}. Overlap with Baumgarte and envelope: "
         + side("penetration_max", "mm", 1e3, "NNCG 75, Baumgarte 0.5", "NNCG 75, envelope")],
        ["NFS10", "Baumgarte blows up, the envelope does not",
         f"{better('NNCG 75, Baumgarte 0.5', 'NNCG 75, envelope', 'unexplained_gain_max')}. Gain in a step: "
         + side("unexplained_gain_max", "J", 1, "NNCG 75, Baumgarte 0.5", "NNCG 75, envelope")],
        ["NFS10", "stabilization is unavoidable with few iterations",
         f"{better(none, 'NNCG 75, Baumgarte 0.5', 'penetration_max')}. Overlap without and with Baumgarte: "
         + side("penetration_max", "mm", 1e3, none, "NNCG 75, Baumgarte 0.5")],
        ["NFS10", "friction stabilization removes unwanted sliding",
         f"{better(plain, rough, 'creep_max')}. Creep at the end without and with: "
         + side("creep_max", "mm/s", 1e3, plain, rough)],
        ["slides", "mass splitting is free of jitter",
         f"{held(split)}. {listed(stacks, 'mass-split', STACKS, 'cubes')}"],
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


def outcomes(part, keys, form):
    return table(["method", "start"] + [form(k) for k in keys] + [f"cpu s/s, {form(keys[-1])}", "certified"],
                 [[f"`{m.split(':')[0]}`", "cold" if m.endswith(":cold") else "warm"]
                  + [part[m, k].outcome() for k in keys] + [part[m, keys[-1]].cost(), part[m, keys[-1]].certified()]
                  for m in METHODS])


def write_stacks(runs, folder):
    return "## SP08 section 8.2: stacks of cubes\n\n" + outcomes(runs, STACKS, lambda n: f"{n} cubes")


def write_houses(runs, folder):
    return "## SP08 section 8.2: card houses\n\n" + outcomes(runs, HOUSES, lambda n: f"{n} levels")


def write_epsilon(runs, folder):
    scenes = ("card-house:levels=3", "arch:stones=25")
    return """## SP08: tolerance against outcome and cost

Algorithm 1 as published, `staggered`, with the threshold ε of its eq. 28.

""" + table(["ε"] + [f"{s}{what}" for s in scenes for what in ("", ", iterations", ", cpu s/s")],
            [[e] + [cell for s in scenes for cell in (runs[s, e].outcome(), runs[s, e].mean("staggered_iterations_mean"),
                                                      runs[s, e].cost())] for e in EPSILONS])


def solve_ms(run):
    """Mean time of the contact solve of a step, ms of processor time; None where there is none."""
    if run.why:
        return None
    share = run.report["cpu_seconds"] / run.report["wall_seconds"] if run.report.get("wall_seconds") else 1
    return run.report["ms_mean"]["project"] * share


def write_iterations(runs, folder):
    soft = json.loads((ROOT / "bench/results/soft.json").read_text())
    rows, paper = [], (("arch-sp08", 2042, 162, 5.6, 133.7, 1200), ("card-house-sp08", 528, 348, 3.2, 57.1, 4700))
    for s, contacts, dof, warm, cold, ms in paper:
        loop, ours = runs[s, "staggered"], solve_ms(runs[s, "coupled"])
        count = loop.report.get("contacts_mean") if not loop.why else None
        rows.append([f"`{s}`", f"{loop.mean('contacts_mean')} ({contacts})", f"{loop.mean('dof')} ({dof})",
                     f"{loop.mean('staggered_iterations_mean')} ({warm})",
                     f"{runs[s, 'staggered:cold'].mean('staggered_iterations_mean')} ({cold})",
                     f"{loop.mean('time')}, {runs[s, 'staggered:cold'].mean('time')}",
                     f"{solve_ms(loop):.3g}" if not loop.why else loop.why,
                     f"{ours:.3g} ({ms})" if ours is not None else runs[s, "coupled"].why,
                     f"{1e3 * ours / count:.2g} ({1e3 * ms / contacts:.2g})" if ours is not None and count else "none"])
    deformable = []
    for s, contacts, dof, warm, cold, ms in (("composites", 921, 192, 6.4, 25.8, 560), ("chairs", 9025, 1766, 2.9, 30.9, 720),
                                             ("chairs, fine feet", 9025, 1766, 2.9, 30.9, 720),
                                             ("dinosaurs", 4690, 315, 2.7, 18.3, 610)):
        run = soft["run"][s]
        counted = [soft["count"].get(f"{s}/{start}/mass", {}).get("staggered_iterations_mean") for start in ("warm", "cold")]
        deformable.append([s, f"{run['contacts_mean']:.0f} ({contacts})", f"{run['dof']} ({dof})"]
                          + [f"{c:.3g} ({p})" if c is not None else "as `chairs`" for c, p in zip(counted, (warm, cold))]
                          + [f"{run['ms_mean']['project']:.3g} ({ms})",
                             f"{1e3 * run['ms_mean']['project'] / run['contacts_mean']:.2g} ({1e3 * ms / contacts:.2g})"])
    return """## SP08 Tables 1 and 2

Mean iterations of Algorithm 1 per step with 8 tangent samples, and the paper's in brackets; times are
those of the solve, on a 3 GHz Pentium D there. Contacts are found by another detection than the paper's:
of a card that stands on its edge we keep the two ends of the edge, of a dinosaur's patch at most eight
points, so that contacts differ for the same motion. Only the last column, per contact, compares times.

""" + table(["scene", "contacts", "degrees of freedom", "warm", "cold", "simulated s, warm and cold", "`staggered`, ms",
             "`coupled`, ms", "µs per contact"], rows) + """

The deformable rows, from the last run of [bench/soft.py](benchmarks.md#deformable-bodies), `coupled`;
iterations in the metric of the mass. With fine feet the chairs have the paper's number of contacts.

""" + table(["scene", "contacts", "degrees of freedom", "warm", "cold", "solve, ms", "µs per contact"], deformable)


def write_decomposition(runs, folder):
    rows = []
    for name, on, paper in (("log house", "false", "4,900"), ("log house, decomposed", "true", "61")):
        run, ms = runs[on], solve_ms(runs[on])
        rows.append([name, run.mean("dof") + " (414)", run.mean("contacts_max"), run.mean("time"), run.certified(),
                     run.why if ms is None else f"{ms:.3g} ({paper})",
                     run.why if ms is None else f"{run.report['ms_p99']['project']:.3g}"])
    return """## SP08 Table 2: decomposition

The log house slides down its ramp, jumps, and breaks at the first impact, after 2.2 s. Solve per step
with islands split into sub-islands and without, at the tolerance 1e-4.

""" + table(["scene", "degrees of freedom", "contacts, at most", "simulated s", "certified", "solve, ms", "99 %, ms"], rows)


COLORS = ["#0072b2", "#009e73", "#999999", "#d55e00", "#cc79a7", "#555555", "#000000"]


def drifts(run):
    """Of every contact, how far its two bodies have slid along it: curves of (time, m). Contacts of two bodies keep their
    order while they last."""
    step, curves, place, before = 0.1, {}, {}, None
    with run.contacts.open() as lines:
        for row in csv.DictReader(lines):
            if row["time"] != before:
                before, place = row["time"], {}
            pair = (row["a"], row["b"])
            place[pair] = place.get(pair, -1) + 1
            u, n = ([float(row[p + c]) for c in ("x", "y", "z")] for p in ("u", "n"))
            along = sum(a * b for a, b in zip(u, n))
            slip = [a - along * b for a, b in zip(u, n)]
            curve = curves.setdefault((pair, place[pair]), [[0.0, 0.0, 0.0]])
            curve[0] = [a + step * b for a, b in zip(curve[0], slip)]
            curve.append((float(row["time"]), math.sqrt(sum(a * a for a in curve[0]))))
    return [curve[1:] for curve in curves.values()]


def panel(left, top, title, curves, low, unit):
    """Curves of (colour, width, points) on a logarithmic axis from 10^low up, in 230 x 120."""
    width, height = 200, 110
    high = max([0] + [math.ceil(math.log10(y)) for _, _, points in curves for _, y in points if y > 0])
    lines = [f'<text x="{left}" y="{top - 6}">{title}</text>',
             f'<path d="M{left},{top}v{height}h{width}" fill="none" stroke="black"/>',
             f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">1e{high} {unit}</text>',
             f'<text x="{left - 4}" y="{top + height}" text-anchor="end">1e{low}</text>']
    for color, stroke, points in curves:
        dots = [(left + round(width * min(1, x / 10)),
                 top + round(height * (high - max(low, min(high, math.log10(y) if y > 0 else low))) / (high - low))) for x, y in points]
        kept = [d for i, d in enumerate(dots) if i in (0, len(dots) - 1) or not dots[i - 1][1] == d[1] == dots[i + 1][1]]
        path = f"M{kept[0][0]},{kept[0][1]}l" + " ".join(f"{c[0] - a[0]},{c[1] - a[1]}" for a, c in zip(kept, kept[1:]))
        lines.append(f'<path fill="none" stroke="{color}" stroke-width="{stroke}" d="{path}"/>')
    return "\n".join(lines)


def draw_nfs10(runs, folder):
    """A row for each scene: the drift of every contact, the energy above that of the start, the overlap."""
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{60 + 160 * len(NFS10_SCENES)}" '
             'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>']
    for number, (name, _) in enumerate(NFS10):
        parts.append(f'<text x="{20 + 210 * (number % 4)}" y="{16 + 16 * (number // 4)}" fill="{COLORS[number]}">'
                     f'{name.replace("`", "")}</text>')
    for row, scene in enumerate(NFS10_SCENES):
        drift, energy, overlap = [], [], []
        for color, (name, _) in zip(COLORS, NFS10):
            run = runs[name, scene]
            if run.why or not run.contacts.exists():
                continue
            drift += [(color, 0.5, curve[::3]) for curve in drifts(run) if len(curve) > 9]
            steps = list(csv.DictReader(run.rows.open()))
            at = [float(s["time"]) for s in steps]
            begin = float(steps[0]["energy"])
            energy.append((color, 1.5, [(x, max(0, float(s["energy"]) - begin)) for x, s in zip(at, steps)]))
            overlap.append((color, 1.5, [(x, float(s["penetration"])) for x, s in zip(at, steps)]))
        top = 70 + 160 * row
        parts += [panel(70, top, f"{scene}: drift of every contact", drift, -6, "m"),
                  panel(350, top, "energy above the start", energy, -6, "J"),
                  panel(630, top, "overlap", overlap, -6, "m")]
    (folder / "nfs10.svg").write_text("\n".join(parts) + "\n</svg>\n")
    return "![Drift of every contact, energy and overlap over 10 s](images/nfs10.svg)"


def write_nfs10(runs, folder):
    return """## NFS10 Table 1

Steps of 0.1 s, cubes of 1 m, 10 s, with stabilization and without. Largest displacement of a body, deepest
overlap, largest energy gain of a step without a cause. `scenes/build-wall.json` is a wall of 14 cubes,
course by course; `scenes/press-and-tip.json` is the task: build a stack, press it, tip it.
[methods/stabilization.md](methods/stabilization.md) discusses it.

""" + draw_nfs10(runs, folder) + "\n\n" + table(
        ["", "scene", "moved mm", "overlap mm", "gain J", "creep mm/s"],
        [[name, scene, f"{1e3 * r.report['displacement_max']:.3g}", f"{1e3 * r.report['penetration_max']:.2g}",
          f"{r.report['unexplained_gain_max']:.2g}", f"{1e3 * (r.report['creep_max'] or 0):.2g}"]
         if not r.why else [name, scene] + [r.why] * 4 for (name, scene), r in runs.items()])


def write_ladder(runs, folder):
    return """## The ladder of the slides of 2016

Collision, normal impulse, friction, stacking, card house without and with friction; 2 s each.
[guide-ladder.md](guide-ladder.md) climbs it by hand; `make paper ONLY=ladder` runs this table alone.

""" + table(["test", "method", "moved mm", "certified", "overlap mm"],
            [[name, f"`{m}`", f"{1e3 * r.report['displacement_max']:.3g}", r.certified(),
              f"{1e3 * r.report['penetration_max']:.2g}"] if not r.why else [name, f"`{m}`"] + [r.why] * 3
             for (name, m), r in runs.items()])


FIGURES = """## Figures

Like the papers' figures, each by the command in [gallery.md](gallery.md).

| figure | here |
|---|---|
| SP08 1 a, a soft tool among blocks | ![](images/haptic.png) |
| SP08 1 b, dinosaurs | ![](images/dinosaurs.png) |
| SP08 1 c, bunnies | ![](images/bunny-drop.png) |
| SP08 1 d, an arch under blocks | ![](images/arch-sp08.png) |
| SP08 5, composites | ![](images/composites.png) |
| SP08 5, chairs | ![](images/chairs.png) |
| SP08 6, hybrid | ![](images/hybrid.png) |
| SP08 7, card house | ![](images/card-house-sp08.png) |
| FFD05, chess pieces, hopper and helmets | ![](images/chess-drop.png) ![](images/hopper.png) ![](images/helmets.png) |
| NFS10 1, 3 and 4 | the curves [above](#nfs10-table-1) |

SP08 2, 3 and 4 are drawings of the method; [solver.md](solver.md) has the equations."""

MISSING = """## What is not here

| | why |
|---|---|
| FFD05, wall time of Figs. 8 and 9 | counts of work are given: times are those of other machines |
| SP08, iterations of `chairs, fine feet` and of all nine dinosaurs with Algorithm 1 | a step takes it minutes: [benchmarks.md](benchmarks.md#deformable-bodies) has what was counted instead |
| `sqp` | one step of a stack of 5 cubes takes 0.25 s: [methods/sqp.md](methods/sqp.md) |
"""

# what is run, and what is written of it
SECTIONS = {"stacks": (plan_stacks, write_stacks), "houses": (plan_houses, write_houses), "epsilon": (plan_epsilon, write_epsilon),
            "iterations": (plan_iterations, write_iterations), "decomposition": (plan_decomposition, write_decomposition),
            "nfs10": (plan_nfs10, write_nfs10), "ladder": (plan_ladder, write_ladder), "ffd05": (plan_ffd05, write_ffd05)}


def write(runs, quick, folder):
    kind = "`make paper`" if not quick else "`make paper QUICK=1`, short runs, 2 s for what should stand" + (
        "; at full length: " + ", ".join(name for name in SECTIONS if name not in quick) if len(quick) < len(SECTIONS) else "")
    head = f"""# The papers, run again

Written by {kind}.
[methods/](methods/README.md) describes the methods. "Falls" means that a body moved by more than
{1e3 * FALLEN:.0f} mm; else the largest displacement of a body is given. A run that reaches its limit of
processor time says so. cpu s/s are processor seconds per simulated second on one thread.

## Claims

{claims(runs)}"""
    parts = [head] + [writer(runs[name], folder) for name, (_, writer) in SECTIONS.items()] + [FIGURES, MISSING]
    return "\n\n".join(parts)


def replaced(text, section):
    """The text with one of its sections written anew."""
    heading = section.splitlines()[0]
    begin = text.find(heading + "\n")
    if begin < 0:
        sys.exit(f"paper: the output has no section '{heading[3:]}'; run all of it first")
    end = text.find("\n## ", begin + 1)
    return text[:begin] + section.rstrip("\n") + "\n" + (text[end:] if end >= 0 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", default="", help="with --quick: sections at full length, separated by commas")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--only", choices=list(SECTIONS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output", default=str(ROOT / "docs" / "paper.md"))
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"paper: no {PROGRAM.relative_to(ROOT)}; 'make' builds it")
    KEPT.mkdir(parents=True, exist_ok=True)
    quick = [name for name in SECTIONS if options.quick and name not in options.full.split(",")]
    runs = {name: plan(name in quick) for name, (plan, _) in SECTIONS.items() if options.only in (None, name)}
    every = [run for part in runs.values() for run in part.values()]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, _ in enumerate(pool.map(lambda run: run.take(options.fresh), every), 1):
            print(f"\r{number} of {len(every)} runs, {time.monotonic() - begin:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    output, folder = pathlib.Path(options.output), ROOT / "docs" / "images"
    if options.only:
        output.write_text(replaced(output.read_text(), SECTIONS[options.only][1](runs[options.only], folder)))
    else:
        output.write_text(write(runs, quick, folder))
    print(options.output)


if __name__ == "__main__":
    main()
