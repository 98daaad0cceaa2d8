#!/usr/bin/env python3
"""Puts deliberate faults into the sources, one at a time, and reports which of them the tests notice.

The faults are listed in test/mutations.txt. They are made in copies of the working tree, one for every worker, in
build/mutate/1, 2 and so on. A copy is built as a shared library, so that a fault costs one compilation and one link. Tests
run in their quick form: first those of the folder that was changed, then the others, cheapest first, until one fails or
takes ten times as long as without a fault. Tests that take too long for this, or fail in this build without a fault, are
left out. So are faults in sources that cannot be built on this machine.

Results are kept in build/mutate/results.json: a run that was interrupted, or ended after --minutes, goes on where it was.
A fault that does not compile does not count. Exit status 1 where the shares wanted are missed.
"""

import argparse
import collections
import functools
import hashlib
import json
import math
import multiprocessing
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "mutate")
RESULTS = os.path.join(WORK, "results.json")
TIMES = os.path.join(WORK, "times.json")  # of tests without a fault
LIST = os.path.join(ROOT, "test", "mutations.txt")

WANTED = 0.85  # share noticed of all ...
STRICT = {"project": 0.95, "problem": 0.95, "assemble": 0.95, "joint": 0.95, "touch": 0.95}  # ... and of these
SLOWEST = 1.0  # s of processor time: tests that take longer are left out, unless a folder begins with them
OWN = 6.0
PATIENCE = 10  # times the time without a fault: a test that takes longer has noticed it

# Tests to begin with, by folder: the quickest that look at it.
FIRST = {
    "project": "single_contact system newton homotopy cone conflict certificate goal project random_problems observe problem_set "
    "effort deadline equivalence golden",
    "problem": "certificate conflict problem_checks random_problems project problem_set problem_file problem_bad observe effort",
    "assemble": "assemble pressure friction_axis truth_impact warm touch_limits hand joints truth_motion joint_kinds certificate observe equivalence "
    "truth_incline deformable_contact deformable_motion deformable_incline stvk effort golden",
    "joint": "joint_kinds slider joint_limits drive planar joints certificate joints_contact golden",
    "touch": "touch_limits hand touch",
    "predict": "truth_motion truth_spin touch_limits stvk deformable_motion golden",
    "integrate": "rest_rule body_kinds energy_limit friction_axis truth_impact truth_motion sweep api deformable_motion golden",
    "kind": "body_kinds truth_motion truth_spin truth_impact deformable_motion stvk golden",
    "body": "mass api friction_axis truth_motion state_image bd_tree reduced",
    "record": "record record_damage record_live record_solid reduced_file",
    "la": "la cone joints golden",
    "detect": "detect gap faces hull field golden",
    "step": "model_range motion_certificate truth_impact midpoint motion sweep certificate effort observe deadline golden",
    "shape": "shapes mass ellipsoid cone_shape",
    "mesh": "mesh_mass mesh_check mesh_read recipe field isosurface solid",
    "reduce": "modes tets stuffing stvk reduced",
    "scene": "scene_file scene_solid scene_deformable generate_text",
    "stand": "stand_parts stand_input stand stand_material",
    "methods": "methods two_pass ffd",
    "io": "problem_file problem_bad reduced_file problem_set",
    "src": "certificate api effort observe deadline",
}
# They look at the text of the sources, need a browser, or draw: nothing that a fault would change.
NEVER = {"test_format", "test_layout", "test_install", "test_page", "test_draw", "test_film", "test_view", "test_bench_await"}


def fail(message):
    sys.exit("mutate: " + message)


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)


class Mutation:
    def __init__(self, file, old, new):
        self.file, self.old, self.new = file, old, new
        self.id = hashlib.sha1("\0".join((file, old, new)).encode()).hexdigest()[:10]
        parts = file.split("/")
        self.folder = parts[1] if len(parts) > 2 else "src"

    def describe(self):
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return "%s: %s  ==>  %s" % (self.file, old, new or "(nothing)")


def read_list(path):
    mutations, file, seen = [], None, set()
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            file = line[1:].strip()
            continue
        if "==>" not in line or file is None:
            fail("%s:%d: expected '@ FILE' or 'OLD ==> NEW'" % (path, number))
        old, new = (part.strip().replace("\\n", "\n") for part in line.split("==>", 1))
        text = open(os.path.join(ROOT, file), encoding="utf-8").read()
        if text.count(old) != 1:
            fail("%s:%d: '%s' occurs %d times in %s; expected once" % (path, number, old, text.count(old), file))
        mutation = Mutation(file, old, new)
        if mutation.id in seen:
            fail("%s:%d: the same as a line before" % (path, number))
        seen.add(mutation.id)
        mutations.append(mutation)
    return mutations


# Faults that nobody has chosen: (what to look for, what to put in its place).
RULES = [(r" \+ (?=[\w(])", " - "), (r"(?<=[\w\])]) - (?=[\w(])", " + "), (r" \+= ", " -= "), (r" -= ", " += "),
         (r"(?<=[\w\])]) \* (?=[\w(])", " / "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
         (r" && ", " || "), (r" \|\| ", " && "), (r"if \(!", "if ("), (r" == ", " != "), (r"\bfmax\(", "fmin("),
         (r"\bfmin\(", "fmax("), (r"\b0\.5 \* ", ""), (r"\b2 \* ", ""), (r" \+ 1\b", ""), (r"\[0\]", "[1]"),
         (r"return true;", "return false;"), (r"return false;", "return true;")]


def draw(count, seed, folders):
    """So many faults at random places of the library's sources, comments and messages left alone."""
    source, places = random.Random(seed), collections.defaultdict(list)
    for base, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(base, name), ROOT)
            folder = path.split("/")[1] if path.count("/") > 1 else "src"
            if not name.endswith(".c") or (folders and folder not in folders):
                continue
            text = open(os.path.join(ROOT, path), encoding="utf-8").read()
            hidden = re.sub(r'/\*.*?\*/|"(\\.|[^"\\\n])*"|^#[^\n]*$', lambda m: "\x01" * len(m.group()), text,
                            flags=re.S | re.M)
            for pattern, new in RULES:
                for match in re.finditer(pattern, hidden):
                    begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
                    old = text[begin:end]
                    changed = text[begin : match.start()] + new + text[match.end() : end]
                    if "for (" in old or text.count(old) != 1 or "DS_NEW" in old or "failed(arena)" in old:
                        continue  # loops that never end and memory that ran out tell nothing
                    places[folder].append(Mutation(path, old, changed))
    names = sorted(places)
    return [source.choice(places[names[i % len(names)]]) for i in range(count)]


def files_of_tree():
    """The files that git tracks, and new ones; without git, all but what is built."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    if listed.returncode == 0:
        return [name for name in listed.stdout.split("\0") if name]
    names = []
    for base, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in (".git", "node_modules", "demo") and
                      not (base == ROOT and name == "build")]
        names += [os.path.relpath(os.path.join(base, name), ROOT) for name in files]
    return names


class Place:
    """A copy of the tree and a build of it, for one worker."""

    def __init__(self, number, jobs):
        self.jobs = jobs
        self.tree, self.folder = (os.path.join(WORK, str(number), name) for name in ("tree", "build"))

    def copy_tree(self):
        """Files that are as they were keep their times."""
        for name in files_of_tree():
            source, target = os.path.join(ROOT, name), os.path.join(self.tree, name)
            if not os.path.isfile(source):
                if os.path.lexists(target):
                    os.remove(target)
                continue
            content = open(source, "rb").read()
            if os.path.isfile(target) and open(target, "rb").read() == content:
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
            shutil.copymode(source, target)

    def configure(self):
        """With the program if its packages are there, else the library alone; returns what cmake said."""
        done = os.path.join(self.folder, "configured")
        if os.path.isfile(done):
            return ""
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        options = ["-DBUILD_SHARED_LIBS=ON", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", "-DDRYSTONE_WERROR=OFF", "-DDRYSTONE_VIEW=OFF",
                   "-DDRYSTONE_PYTHON=OFF", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -w"]
        said = ""
        for tools in ("ON", "OFF"):
            shutil.rmtree(self.folder, ignore_errors=True)
            result = run(["cmake", "-S", self.tree, "-B", self.folder, "-DDRYSTONE_TOOLS=" + tools] + generator + options)
            if result.returncode == 0:
                open(done, "w").close()
                return ""
            said += result.stdout
        return said

    def build(self):
        return run(["cmake", "--build", self.folder, "-j", str(self.jobs)])

    def prepare(self):
        """Returns what went wrong, or an empty text."""
        self.copy_tree()
        said = self.configure()
        if said:
            return "cannot configure:\n" + said[-3000:]
        built = self.build()
        return "does not build without a fault:\n" + built.stdout[-3000:] if built.returncode != 0 else ""

    @functools.cached_property
    def tests(self):
        shown = run(["ctest", "--test-dir", self.folder, "--show-only=json-v1"])
        tests = {}
        for test in json.loads(shown.stdout)["tests"]:
            if test["name"] in NEVER or "command" not in test:
                continue
            folder = next((p["value"] for p in test.get("properties", []) if p["name"] == "WORKING_DIRECTORY"), self.folder)
            tests[test["name"]] = (test["command"], folder)
        return tests

    @functools.cached_property
    def sources(self):
        commands = json.load(open(os.path.join(self.folder, "compile_commands.json")))
        return {os.path.relpath(entry["file"], self.tree) for entry in commands}

    def builds(self, file):
        """Whether a source is a part of this build."""
        return file.endswith(".h") or file in self.sources

    def try_fault(self, mutation, times, rest):
        path = os.path.join(self.tree, mutation.file)
        text = open(path, encoding="utf-8").read()
        tests = self.tests
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(mutation.old, mutation.new))
        try:
            if self.build().returncode != 0:
                return {"result": "does not compile"}
            for name in order(times, mutation.folder, rest):
                if run_test(tests[name], 2 + PATIENCE * times[name])[0]:
                    return {"result": "noticed", "by": name}
            return {"result": "unnoticed"}
        finally:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def run_test(test, limit):
    """Whether it failed, and the processor time it took: other work on the machine must not decide."""
    command, folder = test
    environment = dict(os.environ, DRYSTONE_TEST_QUICK="1", LC_ALL="C.UTF-8")
    seconds = math.ceil(limit)

    def set_limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=environment, preexec_fn=set_limit, start_new_session=True)
    try:
        failed = process.wait(timeout=60 + 30 * limit) not in (0, 77)
    except subprocess.TimeoutExpired:
        failed = True
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # and what a script has left running
        except ProcessLookupError:
            pass
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return failed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def work(number, jobs, tasks, answers):
    """What a worker does: builds its copy, then a test or a fault at a time, until it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    place = Place(number, jobs)
    answers.put(("ready", number, place.prepare()))
    while True:
        kind, subject, arguments = tasks.get()
        if kind == "test":
            answers.put((kind, subject, run_test(place.tests[subject], *arguments)))
        else:
            start = time.monotonic()
            found = place.try_fault(subject, *arguments)
            answers.put((kind, subject, (found, time.monotonic() - start)))


class Workers:
    """Processes with a copy of the tree each; answers come in the order in which they are found."""

    def __init__(self, count, minutes):
        self.tasks, self.answers = multiprocessing.Queue(), multiprocessing.Queue()
        self.until = time.monotonic() + 60 * minutes
        jobs = max(1, (os.cpu_count() or 1) // count)
        self.processes = [multiprocessing.Process(target=work, args=(i + 1, jobs, self.tasks, self.answers)) for i in range(count)]
        for process in self.processes:
            process.start()
        for _, _, error in self.collect(count):
            if error:
                self.stop()
                fail(error)

    def collect(self, count):
        """So many answers; ends the program when time is over."""
        while count > 0:
            try:
                yield self.answers.get(timeout=max(0, min(self.until - time.monotonic(), 5)))
                count -= 1
            except queue.Empty:
                broken = not all(process.is_alive() for process in self.processes)
                if broken or time.monotonic() >= self.until:
                    self.stop()
                    fail("a worker has ended" if broken else "out of time; the same command goes on from here")

    def ask(self, tasks):
        for task in tasks:
            self.tasks.put(task)
        return self.collect(len(tasks))

    def stop(self):
        self.tasks.cancel_join_thread()  # nobody takes what is left
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join()


def measure(workers, tests):
    """Times without a fault, of the tests that pass and are quick; those known from a run before are believed."""
    times = json.load(open(TIMES)) if os.path.isfile(TIMES) else {}
    own = {"test_" + name for names in FIRST.values() for name in names.split()}
    limits = {name: OWN if name in own else SLOWEST for name in tests if name not in times}
    for _, name, (failed, seconds) in workers.ask([("test", name, (limits[name],)) for name in sorted(limits)]):
        times[name] = None if failed else seconds
        if failed:
            print("  left out: %s (%s)" % (name, "slow" if seconds >= 0.9 * limits[name] else "fails in this build"))
        save(times, TIMES)
    times = {name: seconds for name, seconds in times.items() if seconds is not None and name in tests}
    print("  %d tests, %.0f s" % (len(times), sum(times.values())), flush=True)
    return times


def try_all(remaining, results, count, minutes, rest):
    """Tries the faults, and keeps each result when it is known."""
    workers = Workers(count, minutes)
    try:
        place = Place(1, 1)
        left_out = [m for m in remaining if not place.builds(m.file)]
        if left_out:
            print("  %d faults are not tried: this machine lacks what is needed to build %s" %
                  (len(left_out), ", ".join(sorted({os.path.dirname(m.file) for m in left_out}))))
        remaining = [m for m in remaining if place.builds(m.file)]
        times = measure(workers, place.tests)
        asked = [("fault", m, (times, rest)) for m in remaining]
        for i, (_, mutation, (found, seconds)) in enumerate(workers.ask(asked), 1):
            results[mutation.id] = found
            save(results, RESULTS)
            print("%4d/%d %5.1f s %-10s %-24s %s" % (i, len(remaining), seconds, found["result"], found.get("by", ""),
                                                   mutation.describe()[:150]), flush=True)
    finally:
        workers.stop()


def order(times, folder, rest):
    """The folder's own tests, then others for `rest` seconds of processor time, the cheapest first."""
    names = ["test_" + name for name in FIRST.get(folder, "").split()]
    names = [name for name in names if name in times]
    for name in sorted(set(times) - set(names), key=lambda name: times[name]):
        rest -= times[name]
        if rest >= 0:
            names.append(name)
    return names


def report(mutations, results):
    counts = collections.defaultdict(lambda: [0, 0])
    lost = []
    for mutation in mutations:
        result = results.get(mutation.id, {}).get("result")
        if result not in ("noticed", "unnoticed"):
            continue
        for key in (mutation.folder, "all"):
            counts[key][0] += result == "noticed"
            counts[key][1] += 1
        if result == "unnoticed":
            lost.append(mutation)
    print("\n| folder | faults | noticed | share |\n|---|---|---|---|")
    missed = False
    for folder in sorted(counts, key=lambda name: (name == "all", name)):
        noticed, total = counts[folder]
        wanted = WANTED if folder == "all" else STRICT.get(folder, 0)
        below = noticed < wanted * total
        missed |= below
        print("| %s | %d | %d | %.0f %%%s |" % (folder, total, noticed, 100 * noticed / total,
                                              ", wanted %.0f %%" % (100 * wanted) if below else ""))
    broken = [m for m in mutations if results.get(m.id, {}).get("result") == "does not compile"]
    print("\n%d of %d tried, %d of them do not compile" % (sum(m.id in results for m in mutations), len(mutations), len(broken)))
    for mutation in lost:
        print("unnoticed %s" % mutation.describe())
    return missed


def save(what, path):
    with open(path + ".part", "w") as file:
        json.dump(what, file, indent=1, sort_keys=True)
    os.replace(path + ".part", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--again", action="store_true", help="try those again that were not noticed, or did not compile")
    parser.add_argument("--fresh", action="store_true", help="forget all results")
    parser.add_argument("--folder", action="append", help="only faults in src/FOLDER; may be repeated")
    parser.add_argument("--random", type=int, metavar="N", help="N faults at random places instead of the list")
    parser.add_argument("--seed", type=int, default=1, help="of the random places; default 1")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    parser.add_argument("--check", action="store_true", help="only check that every fault of the list can be made")
    parser.add_argument("--rest", type=float, default=30, help="s of processor time for tests that are not the folder's own; default 30")
    parser.add_argument("--workers", type=int, default=1, help="faults at a time, each with a copy and a build of its own; default 1")
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after so many; the same command goes on from there")
    arguments = parser.parse_args()

    mutations = draw(arguments.random, arguments.seed, arguments.folder) if arguments.random else read_list(LIST)
    if arguments.check:
        return print("%d faults" % len(mutations))
    if arguments.folder:
        mutations = [m for m in mutations if m.folder in arguments.folder]
    os.makedirs(WORK, exist_ok=True)
    results = {}
    if arguments.fresh and os.path.isfile(TIMES):
        os.remove(TIMES)
    if os.path.isfile(RESULTS) and not arguments.fresh:
        results = json.load(open(RESULTS))
    remaining = [m for m in mutations
            if m.id not in results or (arguments.again and results[m.id]["result"] != "noticed")]
    if remaining and not arguments.report:
        print("mutate: %d faults to try, %d known" % (len(remaining), len(mutations) - len(remaining)), flush=True)
        try_all(remaining, results, arguments.workers, arguments.minutes, arguments.rest)
    sys.exit(1 if report(mutations, results) else 0)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
