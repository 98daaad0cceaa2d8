"""The sections of docs/paper.md: tables of runs beside those of the papers."""
import json
import textwrap

from paper_drawings import common_iterations, draw_heap, draw_nfs10
from paper_plans import (EPSILON_SCENES, EPSILONS, FFD_METHODS, FFD_SCENES, HOUSES, ITERATIONS, METHODS, NFS10, NFS10_SCENES,
                         STACKS)
from paper_runs import ROOT, table

ALIKE = 0.15  # contacts that differ by less are compared: between our rows and the paper's of the same motion
HEADINGS = {"stacks": "## SP08 section 8.2: stacks of cubes", "houses": "## SP08 section 8.2: card houses",
            "epsilon": "## SP08: tolerance against outcome and cost", "iterations": "## SP08 Tables 1 and 2",
            "decomposition": "## SP08 Table 2: decomposition", "nfs10": "## NFS10 Table 1",
            "ladder": "## The ladder of the slides of 2016", "ffd05": "## FFD05: Figures 8 and 9"}


def outcomes(part, keys, form):
    return table(["method", "start"] + [form(k) for k in keys] + [f"cpu s/s, {form(keys[-1])}", "certified"],
                 [[f"`{m.split(':')[0]}`", "cold" if m.endswith(":cold") else "warm"]
                  + [part[m, k].outcome() for k in keys] + [part[m, keys[-1]].cost(), part[m, keys[-1]].share()]
                  for m in METHODS])


def write_stacks(runs, extra):
    return HEADINGS["stacks"] + "\n\n" + outcomes(runs, STACKS, lambda n: f"{n} cubes")


def write_houses(runs, extra):
    return HEADINGS["houses"] + "\n\n" + outcomes(runs, HOUSES, lambda n: f"{n} levels")


def write_epsilon(runs, extra):
    return HEADINGS["epsilon"] + """

Algorithm 1 as published, `staggered`, with the threshold ε of its eq. 28.

""" + table(["ε"] + [f"{s}{what}" for s in EPSILON_SCENES for what in ("", ", iterations", ", cpu s/s")],
            [[e] + [cell for s in EPSILON_SCENES for cell in (runs[s, e].outcome(), runs[s, e].cell("staggered_iterations_mean"),
                                                              runs[s, e].cost())] for e in EPSILONS])


def beside(ours, contacts, ms, paper):
    """Time per contact beside the paper's, where there are as many contacts."""
    if ours is None:
        return "no time"
    if abs(contacts / paper - 1) > ALIKE:
        return f"not compared: {contacts:,.0f} contacts for {paper:,}"
    return f"{1e3 * ours / contacts:.2g} ({1e3 * ms / paper:.2g})"


def rigid_rows(runs, extra):
    rows, paper = [], {"arch-sp08": (2042, 162, 5.6, 133.7, 1200), "card-house-sp08": (528, 348, 3.2, 57.1, 4700)}
    for name in ITERATIONS:
        loop, cold, own = (runs[name, start] for start in ("staggered", "staggered:cold", "coupled"))
        contacts, dof, warm_there, cold_there, ms = paper[name.split(",")[0]]
        warm_here, cold_here, steps = extra.get(name) or (None, None, 0)
        slow, fast = loop.solve_ms(), own.solve_ms()
        rows.append([name, f"{own.cell('contacts_mean')} ({contacts:,})", f"{own.cell('dof')} ({dof})"]
                    + [f"{here:.3g} ({there})" if here is not None else loop.why or cold.why or "no recording"
                       for here, there in ((warm_here, warm_there), (cold_here, cold_there))]
                    + [f"{steps:,}", f"{loop.cell('time')}, {cold.cell('time')}, {own.cell('time')}",
                       f"{slow:.3g}" if slow is not None else loop.why, f"{fast:.3g} ({ms:,})" if fast is not None else own.why,
                       beside(fast, own.report.get("contacts_mean") or 0, ms, contacts)])
    return rows


def deformable_rows():
    soft, rows = json.loads((ROOT / "bench/results/soft.json").read_text()), []
    for name, contacts, dof, warm, cold, ms in (("composites", 921, 192, 6.4, 25.8, 560), ("chairs", 9025, 1766, 2.9, 30.9, 720),
                                                ("chairs, fine feet", 9025, 1766, 2.9, 30.9, 720),
                                                ("dinosaurs", 4690, 315, 2.7, 18.3, 610)):
        run = soft["run"][name]
        counted = [soft["count"].get(f"{name}/{start}/mass", {}).get("staggered_iterations_mean") for start in ("warm", "cold")]
        rows.append([name, f"{run['contacts_mean']:,.0f} ({contacts:,})", f"{run['dof']:,} ({dof:,})"]
                    + [f"{c:.3g} ({p})" if c is not None else "as `chairs`" for c, p in zip(counted, (warm, cold))]
                    + [f"{run['ms_mean']['project']:.3g} ({ms})",
                       beside(run["ms_mean"]["project"], run["contacts_mean"], ms, contacts)])
    return rows, soft["commit"]


def write_iterations(runs, extra):
    rows, made = deformable_rows()
    return HEADINGS["iterations"] + """

Mean iterations of Algorithm 1 per step with 8 tangent samples, warm and cold over the same first steps,
and the paper's in brackets; times are those of the solve, on a 3 GHz Pentium D there. Algorithm 1 runs
for 20 s of processor time, `coupled` for 60, or to the end. Contacts are found by another detection than
the paper's, and times per contact are compared where contacts differ by less than """ + f"{100 * ALIKE:.0f} %:" + """

- of a card that stands on its edge we keep the two ends of the edge; found 4 mm ahead, both edges of its
  thin face, which makes the number of contacts the paper's.
- the feet of `chairs` have some five points each; with fine feet as many as in the paper.
- dinosaurs are not matched: 455 is the mean of a run that begins in flight, and the pile has up to 2,225.
  A higher limit per patch changes nothing at first (`contacts_per_face` 400: the same 105 at most in the
  first 0.22 s), and the generator has no surfaces finer than those of 2,000 tetrahedra.

""" + table(["scene", "contacts", "degrees of freedom", "warm", "cold", "over steps", "simulated s: warm, cold, `coupled`",
             "`staggered`, ms", "`coupled`, ms", "µs per contact"], rigid_rows(runs, extra)) + f"""

The deformable rows, from the last run of [bench/soft.py](benchmarks.md#deformable-bodies), commit {made},
`coupled`; iterations in the metric of the mass.

""" + table(["scene", "contacts", "degrees of freedom", "warm", "cold", "solve, ms", "µs per contact"], rows)


def write_decomposition(runs, extra):
    rows = []
    for name, on, paper in (("log house", "false", "4,900"), ("log house, decomposed", "true", "61")):
        run, ms = runs[on], runs[on].solve_ms()
        rows.append([name, run.cell("dof") + " (414)", run.cell("contacts_max"), run.cell("time"), run.share(),
                     run.why if ms is None else f"{ms:.3g} ({paper})", run.why if ms is None else f"{run.solve_ms('ms_p99'):.3g}"])
    return HEADINGS["decomposition"] + """

The log house slides down its ramp, jumps, and breaks at the first impact, after 2.2 s. Solve per step
with islands split into sub-islands and without, at the tolerance 1e-4.

""" + table(["scene", "degrees of freedom", "contacts, at most", "simulated s", "certified", "solve, ms", "99 %, ms"], rows)


def write_nfs10(runs, extra):
    return HEADINGS["nfs10"] + """

Steps of 0.1 s, cubes of 1 m, 10 s, with stabilization and without. Largest displacement of a body, deepest
overlap, largest energy gain of a step without a cause. `scenes/build-wall.json` is a wall of 14 cubes,
course by course; `scenes/press-and-tip.json` is the task: build a stack, press it, tip it.
[methods/stabilization.md](methods/stabilization.md) discusses it.

![Drift of every contact, energy and overlap over 10 s](images/nfs10.svg)

""" + table(["setting", "scene", "moved mm", "overlap mm", "gain J", "creep mm/s"],
            [[name, scene, r.cell("displacement_max", 1e3), r.cell("penetration_max", 1e3, 2),
              r.cell("unexplained_gain_max", 1, 2), r.cell("creep_max", 1e3, 2)]
             for name, _ in NFS10 for scene in NFS10_SCENES for r in [runs[name, scene]]])


def write_ladder(runs, extra):
    return HEADINGS["ladder"] + """

Collision, normal impulse, friction, stacking, card house without and with friction; 2 s each.
[guide-ladder.md](guide-ladder.md) climbs it by hand; `make paper ONLY=ladder` runs this table alone.

""" + table(["test", "method", "moved mm", "certified", "overlap mm"],
            [[name, f"`{m}`", r.cell("displacement_max", 1e3), r.share(), r.cell("penetration_max", 1e3, 2)]
             for (name, m), r in runs.items()])


def tell_heap(run, heap):
    if not heap:
        return f"No curves: {run.why or 'nothing was recorded'}."
    return "![Contacts over steps, and the work of projections over contacts](images/ffd-figures.svg)\n\n" + textwrap.fill(
        f"`{run.scene}`, {heap['steps']} steps of 1/210 s, up to {heap['contacts']:.0f} contacts, "
        f"{'up to its limit of processor time' if run.ended_early else 'all of it'}. Iterations of both "
        f"projections, over all bodies, grow as contacts to the power of {heap['exponent']:.2f}; an iteration "
        f"costs as much as the contacts of its body. Counts stand for times, which depend on what else the machine "
        f"does. Energy {heap['energy'][0]:.3g} J at first, {heap['energy'][1]:.3g} J in the end; "
        f"{'it never rises' if heap['rise'] <= 0 else 'the largest rise in a step is %.2g J' % heap['rise']}.", 100)


def write_ffd05(runs, extra):
    def part(title, key):
        return f"\n\n{title}\n\n" + table(["method"] + FFD_SCENES,
                                         [[f"`{m}`"] + [runs[s, m].cell(key, digits=2) for s in FFD_SCENES] for m in FFD_METHODS])

    others = [runs[s, "ffd"] for s in ("hopper", "helmets", "heap")]
    return HEADINGS["ffd05"] + """

[methods/ffd.md](methods/ffd.md) has the method, what the paper leaves open, and its claims. Steps of
1/210 s.

""" + tell_heap(runs["heap", "ffd"], extra.get("heap")) + part(
        "Largest displacement of a body, m; a cube that slides should come to rest after 0.68 m, a ball should roll on,\n"
        "the stack and the card house should stand.", "displacement_max") + part(
        "The largest gain of energy in a step that no force accounts for, J.", "unexplained_gain_max") + part(
        "The largest error of momentum in a step, over that of one step of weight and motion.", "momentum_error_max"
    ) + "\n\nThe paper's other scenes, with `ffd`:\n\n" + table(
        ["scene", "simulated s", "contacts, at most", "energy J, start and end", "gain J", "overlap mm", "cpu s/s"],
        [[r.scene, r.cell("time") + (" †" if r.ended_early else ""), r.cell("contacts_max"),
          r.cell("energy_start") + ", " + r.cell("energy_end"), r.cell("unexplained_gain_max", 1, 2),
          r.cell("penetration_max", 1e3, 2), r.cost()] for r in others])


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

| what | why |
|---|---|
| FFD05, wall time of Figs. 8 and 9 | counts of work are given: times are those of other machines |
| SP08, iterations of `chairs, fine feet` and of all nine dinosaurs with Algorithm 1 | a step takes it minutes: [benchmarks.md](benchmarks.md#deformable-bodies) has what was counted instead |
| `sqp` | one step of a stack of 5 cubes takes 0.25 s: [methods/sqp.md](methods/sqp.md) |
"""


def draw_stabilization(part, folder):
    draw_nfs10(part, [name for name, _ in NFS10], NFS10_SCENES, folder)
    return {}


WRITERS = {"stacks": write_stacks, "houses": write_houses, "epsilon": write_epsilon, "iterations": write_iterations,
           "decomposition": write_decomposition, "nfs10": write_nfs10, "ladder": write_ladder, "ffd05": write_ffd05}
# what is kept of recordings: pictures are drawn, and figures stored
EXTRAS = {"iterations": lambda part, folder: {name: common_iterations(part[name, "staggered"], part[name, "staggered:cold"])
                                              for name in ITERATIONS},
          "nfs10": draw_stabilization, "ffd05": lambda part, folder: {"heap": draw_heap(part["heap", "ffd"], folder)}}
