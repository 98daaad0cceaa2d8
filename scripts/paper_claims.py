"""The claims of the papers, and what the runs of `make paper` say of each: confirmed, refuted, or not decided and why."""
import json
import math

from paper_runs import ROOT, STAND, table

GAIN = 2  # of times: beside other work they differ by 1.3, and the same two runs had 1.02 and 1.3; the paper has 80


def listed(part, method, keys, what):
    return ", ".join(f"{key} {what}: {part[method, key].outcome()}" for key in keys)


def open_runs(runs):
    """Of those that neither stood nor fell, how far they came."""
    return "; ".join(f"{r.scene}: " + (r.why or f"{r.reached:.2g} s" + (
        f" in {r.limit:g} s of processor time" if r.ended_early else ", a short run")) for r in runs)


def at_rest(run):
    """Whether all of it is certified, and nothing has moved."""
    return not run.why and run.report["converged_share"] == 1 and run.report["displacement_max"] < 1e-6


def held(runs):
    """Of the claim that these stand."""
    if any(r.fell for r in runs):
        return "**refuted**"
    left = [r for r in runs if not r.stood]
    if left and all(at_rest(r) for r in left):
        return f"confirmed, as far as they ran ({open_runs(left)}; at rest, every step certified)"
    return f"not decided ({open_runs(left)})" if left else "confirmed"


def fallen(runs):
    """Of the claim that these fall: one that stood refutes it."""
    if any(r.stood for r in runs):
        return "**refuted**"
    left = [r for r in runs if not r.fell]
    return f"not decided ({open_runs(left)})" if left else "confirmed"


def counted(wins):
    """Of the claim that something holds in all scenes."""
    if not wins:
        return "not decided: no scene ran"
    if all(wins) or not any(wins):
        return "confirmed" if wins[0] else "**refuted**"
    return f"confirmed in {sum(wins)} of {len(wins)} scenes, **refuted** in the other{'s' if len(wins) - sum(wins) > 1 else ''}"


def better(part, first, second, scenes, key):
    """Of the claim that the second setting has less of it."""
    return counted([part[second, s].report[key] < part[first, s].report[key] for s in scenes
                    if not (part[first, s].why or part[second, s].why)])


def side(part, first, second, scenes, key, unit, factor=1.0):
    """Of two settings, scene by scene."""
    return "; ".join(f"{s}: {part[first, s].cell(key, factor)} and {part[second, s].cell(key, factor)} {unit}" for s in scenes)


def of_houses(runs, extras, plans):
    houses, levels = runs["houses"], plans.HOUSES
    cold, shock = ([houses[m, n] for n in levels] for m in ("pgs:cold", "shock"))
    return [["SP08 8.2", "iterative LCP solvers fail on card houses of all sizes",
             f"{fallen(cold)} for `pgs` without warm starts: {listed(houses, 'pgs:cold', levels, 'levels')}. With them "
             f"{fallen([houses['pgs', n] for n in levels])}: {listed(houses, 'pgs', levels, 'levels')}"],
            ["SP08 8.2", "shock propagation fails on card houses of all sizes",
             f"{fallen(shock)}. {listed(houses, 'shock', levels, 'levels')}"]]


def of_stacks(runs, extras, plans):
    stacks, counts = runs["stacks"], plans.STACKS
    return [["SP08 8.2", "iterative LCP solvers let stacks fall over after a few seconds",
             f"{fallen([stacks['pgs:cold', n] for n in counts])} for `pgs` without warm starts. "
             f"{listed(stacks, 'pgs:cold', counts, 'cubes')}. With them {listed(stacks, 'pgs', counts, 'cubes')}"],
            ["SP08 8.2", "shock propagation holds stacks",
             f"{held([stacks['shock', n] for n in counts])}. {listed(stacks, 'shock', counts, 'cubes')}"],
            ["slides", "mass splitting is free of jitter",
             f"{held([stacks['mass-split', n] for n in counts])}. {listed(stacks, 'mass-split', counts, 'cubes')}"],
            ["FFD05", "stacking is one of the behaviours obtained", f"{held([stacks['ffd', n] for n in counts])}. {listed(stacks, 'ffd', counts, 'cubes')}"]]


def of_both(runs, extras, plans):
    stacks, houses = runs["stacks"], runs["houses"]
    small = [stacks["lcp", n] for n in plans.STACKS if n <= 15] + [houses["lcp", 2]]
    large = [stacks["lcp", n] for n in plans.STACKS if n > 15] + [houses["lcp", n] for n in plans.HOUSES if n > 2]
    solved = [r for r in large if at_rest(r) and r.report["steps"] > 100]

    def told(part):
        return ", ".join(f"{r.scene}: " + (r.why or f"{r.outcome()}, {r.share()} certified, {r.cost()} s/s") for r in part)

    return [["SP08 8.2", "the direct LCP holds up to 15 cubes and a house of two levels, slowly", f"{held(small)}. {told(small)}"],
            ["SP08 8.2", "it can not scale, and fails beyond",
             (f"**refuted** for {', '.join(r.scene for r in solved)}: every step that fits in the limit is solved, at rest. " if solved else "")
             + (f"Confirmed for {', '.join(r.scene for r in large if r not in solved)}. " if len(solved) < len(large) else "")
             + f"{told(large)}. It takes 300 contacts at most; 7 levels have more"],
            ["SP08 8.2", "staggered projections stand for long",
             f"{held([houses['staggered', n] for n in plans.HOUSES] + [stacks['staggered', n] for n in plans.STACKS])} "
             f"for Algorithm 1 as published, at steps of 10 ms (SP08's house has 1 ms): "
             f"{listed(houses, 'staggered', plans.HOUSES, 'levels')}. `coupled` "
             f"{held([houses['coupled', n] for n in plans.HOUSES] + [stacks['coupled', n] for n in plans.STACKS])}; "
             f"for 600 s: [soak.md](../bench/results/soak.md)"]]


def of_epsilon(runs, extras, plans):
    part, (house, arch) = runs["epsilon"], plans.EPSILON_SCENES
    tight = [part[s, "1e-8"] for s in (house, arch)]
    return [["SP08 8.2", "ε = 1e-1 is generally sufficient",
             f"{held([part[house, '1e-1'], part[arch, '1e-1']])}. {house}: {part[house, '1e-1'].outcome()}, {arch}: "
             f"{part[arch, '1e-1'].outcome()}"],
            ["SP08 8.2", "convergence was tested down to ε = 1e-8",
             f"{held(tight)}. {', '.join(f'{r.scene}: {r.outcome()}' for r in tight)}; the loop often ends at its 200 "
             f"iterations: [below](#sp08-tolerance-against-outcome-and-cost)"]]


def of_iterations(runs, extras, plans):
    said, wins = [], []
    for name, paper in (("arch-sp08", "5.6 and 133.7"), ("card-house-sp08, 4 mm", "3.2 and 57.1")):
        counts = extras["iterations"].get(name)
        if counts:
            wins.append(counts[0] < counts[1])
            said.append(f"{name}: {counts[0]:.3g} and {counts[1]:.3g} in the same {counts[2]} steps (the paper: {paper})")
    return [["SP08 Table 2", "warm starts save iterations", f"{counted(wins)}. {'; '.join(said)}"]]


def of_decomposition(runs, extras, plans):
    logs = runs["decomposition"]
    times = [logs[on].solve_ms() for on in ("false", "true")]
    if None in times:
        verdict = "not decided: " + " ".join(r.why for r in logs.values())
    else:
        reached = min(r.reached for r in logs.values())
        verdict = "confirmed in part" if GAIN * times[1] < times[0] else "**refuted**"
        verdict = (f"not decided before it breaks, at 2.2 s (reached: {reached:.2g} s)" if reached < 2.2 else verdict) \
            + f": {times[0]:.3g} ms and {times[1]:.3g} ms, {times[0] / times[1]:.2g} times instead of 80. Sparse " \
              f"factorizations gain without it what the paper's dense ones gain by it"
    return [["SP08 Table 2", "decomposition: 4.9 s and 0.061 s per solve of the log house", verdict]]


def of_haptics(runs, extras, plans):
    touch = json.loads((ROOT / "bench/results/haptic.json").read_text())["runs"]["deadline"]
    return [["SP08 8.2", "haptic: 3.2 ms per step, about 80 % of the steps converge",
             f"confirmed, and better: {touch['ms']['mean']:.2g} ms, {100 * touch['converged_share']:.2f} %, "
             f"{touch['contacts_mean']:.0f} contacts (117), by [bench/haptic.py](benchmarks.md#touch)"]]


def of_chance(part, first, second, key):
    """Of the claim that the second setting has less, where runs that are a little different end differently: by all
    variations of all scenes, together."""
    pairs = [(part[first, *rest].report[key] or 0, run.report[key] or 0) for (name, *rest), run in part.items()
             if name == second and not (run.why or part[first, *rest].why)]
    wins, count = sum(b < a for a, b in pairs), len(pairs)
    # how often a fair coin would be so far from the middle
    odds = min(1, 2 * sum(math.comb(count, i) for i in range(min(wins, count - wins) + 1)) / 2 ** count)
    ratios = sorted(b / a for a, b in pairs if a > 0)
    verdict = "not confirmed, and no more often true than by chance" if odds > 0.01 else "confirmed" if 2 * wins > count \
        else "**refuted**"
    return (f"{verdict}: less in {wins} of {count} runs, each scene in {count // 4} forms that differ by 1e-6 of gravity; "
            f"median ratio {ratios[len(ratios) // 2]:.2g}.")


def of_nfs10(runs, extras, plans):
    part, scenes = runs["nfs10"], plans.NFS10_SCENES
    plain, rough, none = "PGS 12, Baumgarte 0.5", "PGS 12, Baumgarte 0.5, friction 0.8", "PGS 12, none"
    nncg, envelope = "NNCG 75, Baumgarte 0.5", "NNCG 75, envelope"
    return [
        ["NFS10", "Baumgarte penetrates, the envelope less",
         f"{better(part, nncg, envelope, scenes, 'penetration_max')}. Overlap with NNCG 75, Baumgarte and envelope: "
         + side(part, nncg, envelope, scenes, "penetration_max", "mm", 1e3)],
        ["NFS10", "Baumgarte blows up, the envelope does not",
         f"{better(part, nncg, envelope, scenes, 'unexplained_gain_max')}. Largest gain of energy in a step: "
         + side(part, nncg, envelope, scenes, "unexplained_gain_max", "J")],
        ["NFS10", "with few iterations stabilization is unavoidable",
         f"{better(part, none, plain, scenes, 'penetration_max')}. Overlap with PGS 12, without and with Baumgarte: "
         + side(part, none, plain, scenes, "penetration_max", "mm", 1e3)],
        ["NFS10", "friction stabilization removes unwanted sliding", of_chance(part, plain, rough, "creep_max")
         + " Creep at the end without and with: " + side(part, plain, rough, scenes, "creep_max", "mm/s", 1e3)]]


def of_ffd05(runs, extras, plans):
    part, heap = runs["ffd05"], extras["ffd05"].get("heap")
    gains = [part[s, "ffd"] for s in plans.FFD_SCENES]
    rows = [["FFD05", "friction only dissipates",
             f"{counted([(r.report['unexplained_gain_max'] or 0) <= 0 for r in gains if not r.why])}: moving constraints "
             "add energy. Largest gain in a step: "
             + ", ".join(f"{r.scene}: {r.cell('unexplained_gain_max', digits=2)} J" for r in gains)]]
    if heap:
        rows.append(["FFD05", "the cost of contact resolution is linear in contacts",
                     f"{'confirmed' if heap['exponent'] < 1.1 else '**refuted**'}: iterations of projections grow as contacts "
                     f"to the power of {heap['exponent']:.2f}, up to {heap['contacts']:.0f} contacts "
                     f"([below](#ffd05-figures-8-and-9))"])
    return rows + [["FFD05", "point masses, rolling, the loop, jamming", "[methods/ffd.md](methods/ffd.md#claims-of-the-paper)"]]


# each with the sections that it needs
CLAIMS = [(of_stacks, ["stacks"]), (of_houses, ["houses"]), (of_both, ["stacks", "houses"]), (of_epsilon, ["epsilon"]),
          (of_iterations, ["iterations"]), (of_decomposition, ["decomposition"]), (of_haptics, []), (of_nfs10, ["nfs10"]),
          (of_ffd05, ["ffd05"])]


def claims(runs, extras, plans):
    """The table; of what was not run nothing is said."""
    rows = []
    for of, needed in CLAIMS:
        if all(name in runs for name in needed):
            rows += of(runs, extras, plans)
    return (f'"Stands" means for {STAND} simulated seconds.\n\n') + table(["paper", "claim", "here"], rows)
