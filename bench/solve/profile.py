#!/usr/bin/env python3
"""Performance profiles [Dolan and Moré 2002]: Drystone and the solvers of Siconos on the same problem files.

Every solver runs alone on one thread until the scale-free natural-map error of its answer, computed by one function
for all, is at most the tolerance; bench-solve does one such measurement, docs/benchmarks.md has the method. Problems
are the repository's own (problems/) and, where the environment variable DRYSTONE_PROBLEMS names their folder,
third-party ones.
The solvers follow one another on a problem, in an order that moves on from problem to problem, so that noise of the
machine hits all alike. Results go to results/solve.json, as each run ends, solve.md and solve_profile_T.png.

Exit code: 0, or 1 where Drystone left a problem unsolved or could not be run.
"""
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.append(str(FOLDER.parent))
from common import ROOT, open_results, origin, parser_of, start, tell, text_of  # noqa: E402

OWN, LOCAL = "drystone", "drystone-w"
TITLES = {OWN: "Drystone", LOCAL: "Drystone, W alone"}
SETS = {"third-party": "third-party problems", "own": "own problems"}
# Problems this small are solved in microseconds: what counts there is the overhead of a call.
LARGE = 10
QUICK = ("Confeti", "OneObject", "NESpheres_30", "FC3D_Example1.dat", "FC2D", "GFC3D_TwoRods1.dat")
PATIENCE = 600  # s of processor time of a process that does not end itself
TIME_LIMIT = "time limit"  # bench-solve's word for it
GOAL_FASTEST, GOAL_RATIO = 0.8, 3


# ---- problems and runs -----------------------------------------------------------------------------------------------


def find_problems(options):
    """(set, path) of all problem files that have a solution."""
    folders = [("own", ROOT / "problems")]
    if os.environ.get("DRYSTONE_PROBLEMS"):
        folders.insert(0, ("third-party", ROOT / os.environ["DRYSTONE_PROBLEMS"]))
    words = [w for w in options.problems.split(",") if w]
    folders = [f for f in folders if f[0] in options.sets.split(",")]
    found = []
    for name, folder in folders:
        paths = sorted(p for p in folder.glob("*") if p.suffix in (".hdf5", ".h5", ".dat")
                       and not p.name.startswith("infeasible"))
        if not paths:
            print(f"bench: no {SETS[name]}" + ("" if name == "own" else f" in {folder}"), file=sys.stderr)
        if options.quick:
            paths = [p for k, p in enumerate(paths) if any(w in p.name for w in QUICK) or name == "own" and k % 5 == 0]
        found += [(name, p) for p in paths if not words or any(w in p.name for w in words)]
    return found


def ask(options, *arguments):
    """Runs bench-solve. Returns (output or None, what went wrong or None). Its processes are limited by their processor
    time alone, PATIENCE at most: by the clock a busy machine would fail whoever happened to run."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 5))

    try:
        done = subprocess.run([str(options.program), *map(str, arguments)], capture_output=True, text=True,
                              env=environment, preexec_fn=limit)
    except OSError as error:
        sys.exit(f"bench: {error.filename}: {error.strerror}; build it with `make bench`")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return None, f"no answer within {PATIENCE} s of processor time"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return None, lines[-1].removeprefix("bench-solve: ")[:200] if lines else f"exit code {done.returncode}"
    return done.stdout, None


def list_rivals(options):
    text, failure = ask(options, "--list")
    if failure:
        sys.exit(f"bench: bench-solve: {failure}")
    lines = [line.split() for line in text.splitlines()]
    return [{"solver": words[0], "dimension": int(words[1])} for words in lines if words[0] not in (OWN, LOCAL)]


def key_of(kind, name, solver, unit, tolerance):
    return f"{kind}/{name}/{solver}/{unit}/{tolerance:g}"


def solvers_of(problem, rivals):
    """(solver, unit) of all runs on a problem. Drystone's answer does not depend on units: it gets the file's."""
    own = [(OWN, "file")] + ([(LOCAL, "file")] if problem["whole"] else [])
    return own + [(r["solver"], unit) for r in rivals if r["dimension"] == problem["dimension"]
                  for unit in ("file", "scaled")]


def plan(data, options):
    """All runs as (set, path, solver, unit, tolerance). What is to be known of a problem goes to data["problems"]."""
    only = [w.lower() for w in options.solvers.split(",") if w]
    runs = []
    for number, (kind, path) in enumerate(find_problems(options)):
        text, failure = ask(options, "--about", path)
        if failure:
            print(f"bench: {path.name}: {failure}", file=sys.stderr)
            data["unread"].append(f"{kind}/{path.name}")
            continue
        problem = json.loads(text)
        data["problems"][f"{kind}/{path.name}"] = problem
        solvers = [(s, u) for s, u in solvers_of(problem, data["rivals"]) if not only or s.lower() in only]
        start = 6 * number % max(1, len(solvers))
        runs += [(kind, path, s, u, t) for t in sorted(options.tolerances, reverse=True)
                 for s, u in solvers[start:] + solvers[:start]]
    return runs


def unsolved(failure):
    return {"solved": False, "time_s": None, "natural_error": None, "failure": failure}


def run(options, data, kind, path, solver, unit, tolerance):
    """One measurement, without what cannot change the outcome: a solver that ran out of time at a looser tolerance is
    not run again at a tighter one, and in its second units it has no more time than it took in the first."""
    known = data["results"]
    for looser in options.tolerances:
        before = known.get(key_of(kind, path.name, solver, unit, looser))
        if looser > tolerance and before and before["failure"] == TIME_LIMIT:
            return unsolved(f"{TIME_LIMIT} at {power(looser)}")
    limit, first = options.limit, known.get(key_of(kind, path.name, solver, "file", tolerance))
    if unit == "scaled" and first and first["solved"]:
        limit = min(limit, 1.5 * first["time_s"] + 0.02)
    text, failure = ask(options, "--tolerance", tolerance, "--limit", limit, "--unit", unit, solver, path)
    if failure:
        return unsolved(failure)
    result = json.loads(text)
    if result["failure"] == TIME_LIMIT and limit < options.limit:
        result["failure"] = "slower than in the file's units"
    keep = ("solved", "time_s", "natural_error", "own_tolerance", "iterations", "runs", "storage", "failure")
    return {k: result[k] for k in keep}


# ---- figures ---------------------------------------------------------------------------------------------------------


class Figures:
    """What the results say of problems and solvers. A rival has its faster time of those in both units."""

    def __init__(self, data, units=("file", "scaled")):
        self.data, self.units = data, units
        self.tolerances = data["tolerances"]
        run = {key.split("/")[2] for key in data["results"]}
        self.rivals = [r["solver"] for r in data["rivals"] if r["dimension"] == 3 and r["solver"] in run]

    def problems(self, kind, dimension=3, contacts=0):
        chosen = [(p["contacts"], key.split("/", 1)[1]) for key, p in self.data["problems"].items()
                  if key.startswith(kind + "/") and p["dimension"] == dimension and p["contacts"] >= contacts]
        return [name for _, name in sorted(chosen)]

    def kinds(self):
        return [k for k in SETS if self.problems(k) or self.problems(k, 2)]

    def runs(self, kind, name, solver, tolerance):
        units = ("file",) if solver in (OWN, LOCAL) else self.units
        keys = [key_of(kind, name, solver, unit, tolerance) for unit in units]
        return [self.data["results"][k] for k in keys if k in self.data["results"]]

    def time(self, kind, name, solver, tolerance):
        """Seconds, infinite where unsolved. W alone is the file itself where it has not been run."""
        if solver == LOCAL and not self.runs(kind, name, LOCAL, tolerance):
            solver = OWN
        return min((r["time_s"] for r in self.runs(kind, name, solver, tolerance) if r["solved"]), default=math.inf)

    def best_rival(self, kind, name, tolerance):
        """(seconds, solver)"""
        return min(((self.time(kind, name, s, tolerance), s) for s in self.rivals), default=(math.inf, "none"))

    def best(self, kind, name, tolerance):
        return min(self.time(kind, name, OWN, tolerance), self.best_rival(kind, name, tolerance)[0])

    def ratio(self, kind, name, tolerance, solver=OWN):
        """Our time over the best rival's: infinite where we alone fail, 0 where we alone succeed."""
        own, rival = self.time(kind, name, solver, tolerance), self.best_rival(kind, name, tolerance)[0]
        if math.isinf(rival):
            return math.nan if math.isinf(own) else 0.0
        return own / rival

    def ran(self, kind, solver, tolerance):
        """Whether the solver has been run on that set at all; W alone counts as run."""
        return solver == LOCAL or any(self.runs(kind, n, solver, tolerance) for n in self.problems(kind))

    def solved(self, kind, solver, tolerance):
        return sum(math.isfinite(self.time(kind, n, solver, tolerance)) for n in self.problems(kind))

    def fastest(self, kind, solver, tolerance):
        """Faster than all others, where Drystone counts once: on the file as it is, or on W alone in that row."""
        count = 0
        for name in self.problems(kind, 3, LARGE):
            own = math.inf if solver in (OWN, LOCAL) else self.time(kind, name, OWN, tolerance)
            best = min(own, self.best_rival(kind, name, tolerance)[0])
            seconds = self.time(kind, name, solver, tolerance)
            count += math.isfinite(seconds) and seconds <= best
        return count

    def profile(self, kind, solver, tolerance, contacts):
        """Ascending ratios to the best solver of each problem that `solver` solves, and the number of problems."""
        names = self.problems(kind, 3, contacts)
        ratios = []
        for name in names:
            seconds, best = self.time(kind, name, solver, tolerance), self.best(kind, name, tolerance)
            if math.isfinite(seconds):
                ratios.append(max(1.0, seconds / best) if math.isfinite(best) else 1.0)
        return sorted(ratios), len(names)


# ---- tables ----------------------------------------------------------------------------------------------------------


def milliseconds(seconds):
    if not math.isfinite(seconds):
        return "–"
    value = 1000 * seconds
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.001 else "0.001"


def title(solver):
    return TITLES.get(solver, solver)


def row(cells):
    return "| " + " | ".join(str(c) for c in cells) + " |"


def head(cells):
    return [row(cells), "|---" * len(cells) + "|"]


def power(tolerance):
    return f"1e{round(math.log10(tolerance))}" if tolerance < 0.01 else f"{tolerance:g}"


def counts_table(figures):
    """Solved and fastest, a row a solver."""
    lines = ["## Solved, and fastest", "",
             f"Fastest: on how many of the problems with {LARGE} contacts or more no other solver takes less time.", ""]
    kinds = [k for k in figures.kinds() if figures.problems(k)]
    cells = ["solver"]
    for kind in kinds:
        for t in figures.tolerances:
            cells += [f"{kind}, {power(t)}: solved of {len(figures.problems(kind))}",
                      f"fastest of {len(figures.problems(kind, 3, LARGE))}"]
    lines += head(cells)
    for solver in [OWN, LOCAL] + figures.rivals:
        cells = [f"**{title(solver)}**" if solver == OWN else title(solver)]
        for kind in kinds:
            for t in figures.tolerances:
                ran = figures.ran(kind, solver, t)
                cells += [figures.solved(kind, solver, t), figures.fastest(kind, solver, t)] if ran else ["not run", "–"]
        lines.append(row(cells))
    return lines + [""]


def ratio_table(figures, kind):
    lines = [f"## Drystone against the best solver of each problem: {SETS[kind]}", "",
             "Times in ms; – is unsolved. The ratio is our time over the best rival's: below 1 we are faster.", ""]
    cells = ["problem", "contacts"]
    for t in figures.tolerances:
        cells += [f"{power(t)}: ours", "W alone", "best rival", "which", "ratio"]
    lines += head(cells)
    for name in figures.problems(kind):
        cells = [name, figures.data["problems"][f"{kind}/{name}"]["contacts"]]
        for t in figures.tolerances:
            rival, which = figures.best_rival(kind, name, t)
            ratio = figures.ratio(kind, name, t)
            cells += [milliseconds(figures.time(kind, name, OWN, t)), milliseconds(figures.time(kind, name, LOCAL, t)),
                      milliseconds(rival), which if math.isfinite(rival) else "none",
                      f"{ratio:.2g}" if math.isfinite(ratio) else "–"]
        lines.append(row(cells))
    return lines + [""]


def times_table(figures, kind, tolerance):
    lines = [f"## All times at {power(tolerance)}, ms: {SETS[kind]}", ""]
    lines += head(["problem"] + [title(s) for s in [OWN] + figures.rivals])
    for name in figures.problems(kind):
        cells = [name] + [milliseconds(figures.time(kind, name, s, tolerance)) for s in [OWN] + figures.rivals]
        lines.append(row(cells))
    return lines + [""]


def plane_table(figures):
    """Problems in 2D: Siconos has other solvers for them, and they are in no profile."""
    rivals = [r["solver"] for r in figures.data["rivals"] if r["dimension"] == 2]
    names = [(kind, name) for kind in figures.kinds() for name in figures.problems(kind, 2)]
    if not names:
        return []
    lines = ["## Problems in 2D, ms", "", "Not in the profiles: Siconos has solvers of its own for them.", ""]
    lines += head(["problem"] + [f"{title(s)}, {power(t)}" for t in figures.tolerances for s in [OWN] + rivals])
    for kind, name in names:
        lines.append(row([name] + [milliseconds(figures.time(kind, name, s, t)) for t in figures.tolerances
                                   for s in [OWN] + rivals]))
    return lines + [""]


def failures_table(figures):
    """How runs in 3D ended that did not reach the tolerance in either unit."""
    lines = ["## How unsolved runs ended", ""]
    count = {}
    for kind in figures.kinds():
        for name in figures.problems(kind):
            for t in figures.tolerances:
                for solver in [OWN] + figures.rivals:
                    runs = figures.runs(kind, name, solver, t)
                    if runs and not any(r["solved"] for r in runs):
                        reason = (title(solver), runs[-1]["failure"])
                        count[reason] = count.get(reason, 0) + 1
    if not count:
        return []
    lines += head(["solver", "end", "runs"])
    return lines + [row([s, reason, n]) for (s, reason), n in sorted(count.items())] + [""]


def claims(figures, kind, tolerance, solver):
    """What Drystone does with a set at a tolerance as cells of a row, and whether it solved all of it."""
    names, large = figures.problems(kind), figures.problems(kind, 3, LARGE)
    own = figures.solved(kind, solver, tolerance)
    best, who = max(((figures.solved(kind, s, tolerance), s) for s in figures.rivals), default=(0, "none"))
    fastest = figures.fastest(kind, solver, tolerance)
    ratios = [figures.ratio(kind, n, tolerance, solver) for n in large]
    worst, where = max(((math.inf if math.isnan(r) else r, n) for r, n in zip(ratios, large)), default=(0, "–"))
    share = f"{fastest} of {len(large)} ({100 * fastest / len(large):.0f} %)" if large else "–"
    slowest = "unsolved" if math.isinf(worst) else f"{worst:.2g}"
    cells = [SETS[kind], power(tolerance), "W alone" if solver == LOCAL else "as in the file",
             f"{own} of {len(names)}", f"{best} ({who})", share, f"{slowest} ({where})"]
    return cells, own == len(names)


def verdicts(data):
    """The claims, checked against this run: lines of text, and whether Drystone solved everything."""
    lines, sound = ["## What this run says", ""], not data["unread"]
    for units, words in ((("file", "scaled"), "A rival has the better of two runs: in the file's units, and in units "
                                              "in which its own stopping criterion is ours."),
                         (("file",), "The same with the files in their own units only.")):
        figures = Figures(data, units)
        lines += [words, ""]
        lines += head(["set", "error", "Drystone gets", "and solves", "best rival solves",
                       f"fastest, {LARGE} contacts or more (goal {100 * GOAL_FASTEST:.0f} %)",
                       f"longest over best rival (goal {GOAL_RATIO})"])
        for kind in figures.kinds():
            whole = any(data["problems"][f"{kind}/{name}"]["whole"] for name in figures.problems(kind))
            for solver in (OWN, LOCAL) if whole else (OWN,):
                for t in figures.tolerances if figures.problems(kind) else ():
                    cells, all_solved = claims(figures, kind, t, solver)
                    lines.append(row(cells))
                    sound = sound and (all_solved or solver == LOCAL)
        lines.append("")
    lines += [f"- {name}: cannot be read" for name in data["unread"]]
    return lines, sound


def write_tables(data, path):
    figures = Figures(data)
    lines = ["# Solving problem files: Drystone and Siconos", "",
             f"Commit {data['commit']}, {data['date']}, {data['machine']}. Siconos {data['siconos']}. One thread; time "
             f"limit {data['limit']:g} s of processor time a run. Written by bench/solve/profile.py; "
             "docs/benchmarks.md has the method.", ""]
    lines += verdicts(data)[0]
    lines += [f"![profile at {power(t)}]({profile_path(path, t).name})" for t in figures.tolerances] + [""]
    lines += counts_table(figures)
    for kind in figures.kinds():
        if figures.problems(kind):
            lines += ratio_table(figures, kind)
    for kind in figures.kinds():
        for t in figures.tolerances:
            if figures.problems(kind):
                lines += times_table(figures, kind, t)
    lines += plane_table(figures) + failures_table(figures)
    path.write_text("\n".join(lines))


# ---- pictures --------------------------------------------------------------------------------------------------------


def profile_path(path, tolerance):
    return path.with_name(f"{path.stem}_profile_{power(tolerance)}.png")


def draw(data, path):
    """The curves go to plot.py, under whichever Python has matplotlib: Debian's, where another one comes first."""
    figures = Figures(data)
    for tolerance in figures.tolerances:
        panels = []
        for kind in figures.kinds():
            for contacts in (0, LARGE):
                size = len(figures.problems(kind, 3, contacts))
                if size == 0:
                    continue
                more = f", {LARGE} contacts or more" if contacts else ", all"
                solvers = [s for s in [OWN, LOCAL] + figures.rivals if figures.ran(kind, s, tolerance)]
                curves = {title(s): figures.profile(kind, s, tolerance, contacts)[0] for s in solvers}
                panels.append({"title": f"{SETS[kind]}{more} ({size})", "count": size, "curves": curves})
        if not panels:
            continue
        text = json.dumps({"tolerance": power(tolerance), "panels": panels,
                           "own": [title(OWN), title(LOCAL)],
                           "output": str(profile_path(path, tolerance))})
        for python in (sys.executable, "/usr/bin/python3"):
            done = subprocess.run([python, str(FOLDER / "plot.py")], input=text, capture_output=True, text=True)
            if done.returncode == 0:
                break
        else:
            lines = done.stderr.strip().splitlines()
            print(f"bench: no pictures: {lines[-1] if lines else 'plot.py failed'}", file=sys.stderr)
            return


# ---- the whole -------------------------------------------------------------------------------------------------------


def origin_in_words(options):
    data = origin(options)
    m = data["machine"]
    return {**data, "machine": f"{m['processor']}, {m['cores']} processors, {m['system']}"}


def siconos_version():
    return text_of(["dpkg-query", "-W", "-f", "${Version}", "libsiconos-numerics-dev"]) or "of unknown version"


def read_options():
    parser = parser_of("Performance profiles of Drystone and Siconos on problem files.", "solve", "tables and pictures",
                       program=False)
    add = parser.add_argument
    add("--quick", action="store_true", help="a few problems, 1 s a run: a test of the bench")
    add("--sets", default=",".join(SETS), help=f"only these sets of problems ({','.join(SETS)})")
    add("--problems", default="", help="only problems whose name contains one of these words, comma-separated")
    add("--solvers", default="", help="only these solvers, comma-separated (bench-solve --list)")
    add("--tolerances", default="1e-4,1e-8", help="natural-map errors to reach (1e-4,1e-8)")
    add("--limit", type=float, default=1, help="processor seconds a run (1)")
    add("--again", default="", help="with --resume: measure these solvers once more, comma-separated")
    options = parser.parse_args()
    options.tolerances = [float(t) for t in options.tolerances.split(",")]
    options.program = options.build / "bench" / "bench-solve"
    if options.quick:
        options.limit, options.output = 1, options.output.with_name("quick_solve")
    return options


def progress(number, count, name, solver, unit, tolerance, result, seconds):
    text = f"{milliseconds(result['time_s'])} ms" if result["solved"] else result["failure"]
    if result["natural_error"] is not None:
        text += f", error {result['natural_error']:.1e}"
    unit = ", scaled" if unit == "scaled" else ""
    print(f"[{number}/{count}] {name}, {title(solver)}{unit}, {power(tolerance)}: {text} ({seconds:.1f} s)", flush=True)


def write_results(data, path):
    """JSON with a line a result: small, and its changes can be read."""
    rest = json.dumps({k: v for k, v in data.items() if k != "results"}, indent=1, ensure_ascii=False)
    lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in data["results"].items())
    path.write_text(rest[:-2] + ',\n "results": {\n' + lines + "\n }\n}\n")


def measure(data, options, path):
    again = [w.lower() for w in options.again.split(",") if w]
    runs = plan(data, options)
    for number, (kind, problem, solver, unit, tolerance) in enumerate(runs, 1):
        key = key_of(kind, problem.name, solver, unit, tolerance)
        if options.resume and key in data["results"] and solver.lower() not in again:
            continue
        begin = time.monotonic()
        result = run(options, data, kind, problem, solver, unit, tolerance)
        data["results"][key] = result
        progress(number, len(runs), problem.name, solver, unit, tolerance, result, time.monotonic() - begin)
        write_results(data, path)


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    if not options.tables:
        data.setdefault("results", {})
        data.update(**origin_in_words(options), limit=options.limit, tolerances=options.tolerances,
                    siconos=siconos_version(), rivals=list_rivals(options), unread=[])
        data.setdefault("problems", {})
        measure(data, options, json_path)
    if not data.get("problems"):
        sys.exit("bench: no problem files, nothing to show")
    write_results(data, json_path)
    write_tables(data, md_path)
    draw(data, md_path)
    lines, sound = verdicts(data)
    tell([*lines[2:], ""], md_path)
    return 0 if sound else 1


if __name__ == "__main__":
    start(main)
