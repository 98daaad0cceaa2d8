"""What `make paper` runs: for each section of docs/paper.md the runs of its cells, and what they may cost."""
from paper_runs import FALLEN, STAND, Run

METHODS = ["coupled", "staggered", "two-pass", "pgs", "pgs:cold", "nncg", "nncg:cold", "shock", "lcp", "convex",
           "anitescu-hart", "mass-split", "ffd"]
STACKS = [5, 10, 15, 20]
HOUSES = [2, 3, 5, 7]
EPSILONS = ["1e-1", "1e-2", "1e-3", "1e-4", "1e-6", "1e-8"]
EPSILON_SCENES = ["card-house:levels=3", "arch:stones=25"]
# cards find contacts 4 mm ahead, and so have about as many as in the paper, 528: a card on its edge then has both edges of
# its thin face. 460 while the house stands, 186 as the generator writes it
ITERATIONS = {"arch-sp08": ("arch-sp08", 10, ()), "card-house-sp08": ("card-house-sp08", 14, ()),
              "card-house-sp08, 4 mm": ("card-house-sp08", 14, ("options.margin=0.004",))}
NFS10 = [("NNCG 75, Baumgarte 0.5", "nncg:stabilization=baumgarte"), ("NNCG 75, envelope", "nncg:stabilization=envelope"),
         ("NNCG 75, none", "nncg:stabilization=none"),
         ("PGS 12, Baumgarte 0.5", "pgs:max_iterations=12:stabilization=baumgarte"),
         ("PGS 12, Baumgarte 0.5, friction 0.8", "pgs:max_iterations=12:stabilization=baumgarte:friction_stabilization=0.8"),
         ("PGS 12, none", "pgs:max_iterations=12:stabilization=none"), ("`coupled`", "coupled:integrator=euler")]
NFS10_PLAIN, NFS10_ROUGH = NFS10[3], NFS10[4]
VARIATIONS = 8  # of each scene, for what depends on chance: gravity leans by a millionth of itself more in each
NFS10_SCENES = ["stack:count=5,size=1", "stack:count=10,size=1", "scenes/build-wall.json", "scenes/press-and-tip.json"]
LADDER = [("collision", "bounce"), ("normal impulse", "stack:count=1"), ("friction, sticks", "incline:mu=0.5005"),
          ("friction, slides", "incline:mu=0.49"), ("stack", "stack:count=10"),
          ("card house, no friction", "card-house:levels=2,mu=0"), ("card house, friction", "card-house:levels=2")]
FFD_STEP = "options.step=0.004761904761904762"  # 1/210 s, as in FFD05
FFD_METHODS = ["coupled", "ffd", "ffd-qp", "ffd-half", "ffd-relative", "ffd-other", "ffd-least"]
FFD_SCENES = ["slide", "roll", "stack:count=5", "card-house:levels=2", "chess-drop:count=30", "mechanism"]

LIMIT = 30  # processor seconds of a run, where nothing else is said
QUICK = 5   # the same with --quick
# processor time of a section: what is not begun by then is not run
MINUTES = {"stacks": 5, "houses": 12, "epsilon": 4, "iterations": 7, "decomposition": 6, "nfs10": 2, "ladder": 1, "ffd05": 8}


def standing(scene, method, quick):
    """A structure that should stand: the run ends when it has fallen."""
    return Run(scene, method, 2 if quick else STAND, QUICK if quick else LIMIT, until=FALLEN)


def stacks(quick):
    return {(m, n): standing(f"stack:count={n}", m, quick) for m in METHODS for n in STACKS}


def houses(quick):
    return {(m, n): standing(f"card-house:levels={n}", m, quick) for m in METHODS for n in HOUSES}


def epsilon(quick):
    return {(scene, e): standing(scene, f"staggered:rel_err={e}", quick) for e in EPSILONS for scene in EPSILON_SCENES}


def iterations(quick):
    """SP08 Tables 1 and 2, rigid rows: the published loop, its polygon of 8 corners, and the default solver."""
    return {(name, start): Run(scene, start, seconds, QUICK if quick else 60 if start == "coupled" else 20,
                               "options.friction_samples=8", *settings, record="" if start == "coupled" else "steps")
            for name, (scene, seconds, settings) in ITERATIONS.items() for start in ("staggered", "staggered:cold", "coupled")}


def decomposition(quick):
    """SP08 Table 2, right: the log house through its break, with sub-islands and without, at the paper's tolerance."""
    return {on: Run("log-house", "coupled", 0.5 if quick else 4, 30 if quick else 120, f"options.sub_islands={on}",
                       "options.tolerance=1e-4") for on in ("true", "false")}


def nfs10(quick):
    """NFS10 Table 1: steps of 0.1 s, cubes of 1 m; each also without its stabilization."""
    limit = QUICK if quick else LIMIT
    runs = {(name, scene): Run(scene, method, 10, limit, "options.step=0.1", record="contacts")
            for name, method in NFS10 for scene in NFS10_SCENES}
    for k in range(1, 2 if quick else VARIATIONS + 1):
        for name, method in (NFS10_PLAIN, NFS10_ROUGH):
            for scene in NFS10_SCENES:
                runs[name, scene, k] = Run(scene, method, 10, limit, "options.step=0.1", f"gravity=[{k}e-5,0,-9.81]")
    return runs


def ladder(quick):
    return {(name, method): Run(scene, method, 2, QUICK if quick else LIMIT)
            for name, scene in LADDER for method in ("coupled", "staggered", "mass-split")}


def ffd05(quick):
    """Fast Frictional Dynamics: what is known of the motion, the heap of its Figs. 8 and 9, and its other scenes."""
    limit = QUICK if quick else LIMIT
    runs = {(scene, method): Run(scene, method, 2 if scene == "mechanism" else 1, limit, FFD_STEP)
            for method in FFD_METHODS for scene in FFD_SCENES}
    runs["heap", "ffd"] = Run(f"chess-drop:count={343 if quick else 1000}", "ffd", 1, 30 if quick else 150, FFD_STEP,
                              record="steps")
    for scene, count, seconds in (("hopper", 2016, 2), ("helmets", 1000, 1)):
        runs[scene, "ffd"] = Run(f"{scene}:count={count}", "ffd", seconds, limit, FFD_STEP)
    return runs


SECTIONS = {"stacks": stacks, "houses": houses, "epsilon": epsilon, "iterations": iterations, "decomposition": decomposition,
            "nfs10": nfs10, "ladder": ladder, "ffd05": ffd05}
