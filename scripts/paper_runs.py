"""The runs of `make paper`: one `drystone run` each, with a limit of processor time, kept in build/paper/."""
import hashlib
import json
import os
import pathlib
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "drystone"
KEPT = ROOT / "build" / "paper"

STAND = 60     # s: what stands for so long has stood
FALLEN = 0.02  # m: a tenth of a cube of the stacks, a fifth of a card; a structure that moved farther has fallen
# what is kept of a report in bench/results/paper.json
FIELDS = ("steps", "step", "time", "ended", "dof", "contacts_mean", "contacts_max", "converged_share", "displacement_max",
          "staggered_iterations_mean", "penetration_max", "unexplained_gain_max", "momentum_error_max", "creep_max",
          "energy_start", "energy_end", "wall_seconds", "cpu_seconds")


def program_digest():
    """Of the program: a kept run is of no use to another one."""
    return hashlib.sha256(PROGRAM.resolve().read_bytes()).hexdigest()


def within(limit, command):
    """Runs a command for at most this processor time, s: exit status, what it said, and the time it took."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        asked, spent = 0, 0
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
        return process.returncode, process.stderr.read(), spent


class Budget:
    """Processor time of a section, s: what is not begun before it is used up is not run."""

    def __init__(self, seconds):
        self.seconds, self.spent, self.lock = seconds, 0.0, threading.Lock()

    def take(self, seconds):
        with self.lock:
            self.spent += seconds

    @property
    def used_up(self):
        return self.spent >= self.seconds


class Run:
    """Its arguments, and after `take` its report, or why there is none.

    `until`: ends when a body is so far from its start, m. `record`: "steps" keeps a line per step, "contacts" also one
    per contact and step."""

    def __init__(self, scene, method, seconds, limit, *settings, until=None, record=""):
        name, *options = method.split(":")
        self.scene, self.method, self.seconds, self.limit, self.record = scene, method, seconds, limit, record
        self.arguments = [scene, "--method", name, "--time", str(seconds), "--threads", "1", "--quiet"]
        if until is not None:
            self.arguments += ["--until-moved", str(until)]
        for option in options:
            self.arguments += ["--set", "options." + ("warm_start=false" if option == "cold" else option)]
        for setting in settings:
            self.arguments += ["--set", setting]
        self.report, self.path = {}, None

    def place(self, digest):
        text = " ".join(self.arguments + [self.record, digest])
        self.path = KEPT / (hashlib.sha256(text.encode()).hexdigest()[:24] + ".json")

    def kept(self):
        """Whether it has run already: to its end, or to the same limit."""
        if not self.path.exists():
            return False
        report = json.loads(self.path.read_text())
        return report.get("ended") in ("finished", "moved") or report["limit"] == self.limit

    @property
    def rows(self):
        return self.path.with_suffix(".csv")

    @property
    def contacts(self):
        return self.path.with_suffix(".contacts.csv")

    def take(self, digest, budget, fresh):
        self.place(digest)
        if fresh or not self.kept():
            if budget.used_up:
                self.report = {"why": f"not run: the {budget.seconds / 60:.0f} minutes of its section were used up"}
                return
            self.simulate()
        self.report = json.loads(self.path.read_text())
        budget.take(self.report["spent"])

    def simulate(self):
        part, film = self.path.with_suffix(".part"), self.path.with_suffix(".h5")
        record = ["--record", film] if self.record else []
        code, said, spent = within(self.limit, [PROGRAM, "run", *self.arguments, "--report", part, *record])
        if self.record and film.exists():
            for what, to in (("report", self.rows), ("contacts", self.contacts)):
                if what == "report" or self.record == "contacts":
                    subprocess.run([PROGRAM, "export", film, "-o", to, "--what", what, "--quiet"], check=True)
            film.unlink()
        full = json.loads(part.read_text()) if part.exists() else {}
        part.unlink(missing_ok=True)
        report = {key: full.get(key) for key in FIELDS}
        report["spent"] = max(spent, full.get("cpu_seconds") or 0)
        for which in ("ms_mean", "ms_p99"):
            report[which] = (full.get(which) or {}).get("project")
        if not full.get("steps"):
            report = {"spent": spent, "why": f"no step within {self.limit:g} s" if code in (137, 143, -9, -15)
                      else f"exit {code}: {said.strip()[-200:]}"}
        self.path.write_text(json.dumps({**report, "limit": self.limit}))

    # ---- what tables say ----

    @property
    def why(self):
        return self.report.get("why", "")

    @property
    def reached(self):
        return self.report.get("time", 0)

    @property
    def fell(self):
        return not self.why and self.report["displacement_max"] > FALLEN

    @property
    def ended_early(self):
        return not self.why and self.report["ended"] == "interrupted"

    @property
    def stood(self):
        return not self.why and not self.fell and not self.ended_early and self.seconds >= STAND

    def outcome(self):
        """Stands, falls, or how far it came."""
        if self.why:
            return self.why
        if self.fell:
            return f"**falls** ({self.reached:.2g} s)"
        moved = f"{1e3 * self.report['displacement_max']:.2g} mm"
        return moved + (f" in {self.report['steps']:,} of {round(self.seconds / self.report['step']):,} steps †"
                        if self.ended_early else "")

    def share(self):
        """Of the steps, certified."""
        return self.why or f"{100 * self.report['converged_share']:.0f} %"

    def cost(self):
        return self.why or f"{self.report['cpu_seconds'] / max(self.reached, 1e-9):.2g}"

    def cell(self, key, factor=1.0, digits=3):
        if self.why:
            return self.why
        value = self.report.get(key)
        return "none" if value is None else f"{factor * value:.{digits}g}"

    def solve_ms(self, key="ms_mean"):
        """Of a step, ms of processor time; None where there is none."""
        if self.why:
            return None
        share = self.report["cpu_seconds"] / self.report["wall_seconds"] if self.report.get("wall_seconds") else 1
        return self.report[key] * share


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
