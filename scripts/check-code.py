#!/usr/bin/env python3
"""Checks the code of the manual that no other test runs. Usage: check-code.py PROGRAM SOURCE_DIR

Blocks of JSON are read by the program: scenes as they are, parts of scenes in a scene that has the bodies they name.
Commands, in blocks of sh or indented, are not run, because many take minutes: their options have to be in the help of the
command, generators have to take their parameters, targets of make, scripts and scene files have to exist.
Blocks of Python, which need h5py, have to compile. What is run elsewhere or cannot be run has its reason in ELSEWHERE; a block in a
language that is not known fails.
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ELSEWHERE = {  # (page, language; "" = all): who runs it, or why it is not run
    ("README.md", ""): "test_readme",
    ("docs/start.md", ""): "test_guides",
    ("docs/guide-masonry.md", ""): "test_guides",
    ("docs/guide-robotics.md", ""): "test_guides",
    ("docs/guide-graphics.md", ""): "test_guides",
    ("docs/guide-teaching.md", ""): "test_guides",
    ("docs/sweep.md", ""): "test_guides",
    ("docs/python.md", "python"): "test_python",
    ("docs/api.md", "c"): "test_install",
    ("docs/problems.md", "c"): "test_install",
    ("docs/web.md", "js"): "test_web runs the same calls; needs the npm package",
}
program, source = sys.argv[1], Path(sys.argv[2])
faults, counts = [], {}


def call(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60)


def cached(function):
    known = {}
    return lambda *key: known[key] if key in known else known.setdefault(key, function(*key))


help_of = cached(lambda command: call("help", command))
generators = set(re.findall(r"^([a-z][a-z0-9-]*)(?: |$)", call("scenes").stdout, re.M))
targets = set(re.findall(r"^([a-z]+):.*##", (source / "Makefile").read_text(), re.M))


@cached
def generate(specification):
    name, _, parameters = specification.partition(":")
    return call("scene", name, *[p for p in parameters.split(",") if p])


def check_command(words):
    """What is wrong with a command, or None."""
    command, wrong = words[0], None
    if command.startswith("-") or command in ("help", "COMMAND"):
        return None
    text = help_of(command)
    if text.returncode != 0:
        return f"there is no command {command}"
    for word in words[1:]:
        option = re.match(r"--?[a-zA-Z][a-z-]*", word)
        if option and not re.search(rf"(?<![\w-]){re.escape(option[0])}(?![\w-])", text.stdout):
            wrong = f"{command} has no option {option[0]}"
    places = [w for w in words[1:2] if re.fullmatch(r"[a-z][a-z0-9-]*(:\S+)?", w) and w.partition(":")[0] in generators]
    for place in places:
        made = generate(place)
        if made.returncode != 0:
            wrong = made.stderr.strip()
    for word in words[1:]:
        if word.startswith(("scenes/", "problems/", "examples/")) and not (source / word).exists():
            wrong = f"{word} does not exist"
    return wrong


def commands(text):
    for line in re.sub(r"\\\n\s*", " ", text).split("\n"):
        try:
            words = shlex.split(line.strip(), comments=True)
        except ValueError:
            continue
        part = []
        for word in words + ["&&"]:
            if word in ("&&", "||", "|", ";"):
                while part and re.fullmatch(r"[A-Z_]+=\S*", part[0]):
                    part.pop(0)
                if part:
                    yield part[:part.index(">")] if ">" in part else part
                part = []
            else:
                part.append(word)


def check_commands(where, text):
    for words in commands(text):
        wrong = None
        if words[0] in ("drystone", "build/drystone") and len(words) > 1:
            wrong = check_command(words[1:])
        elif words[0] == "make":
            wrong = next((f"make has no target {w}" for w in words[1:] if re.fullmatch("[a-z]+", w) and w not in targets), None)
        else:
            script = next((w for w in words[:2] if re.match(r"(scripts|bench|site|python)/\S+\.(py|sh)$", w)), None)
            if script is None:
                continue
            wrong = None if (source / script).exists() else f"{script} does not exist"
        counts["commands"] = counts.get("commands", 0) + 1
        if wrong:
            faults.append(f"{where}: {' '.join(words)}: {wrong}")


def bodies_of(joints):
    names = dict.fromkeys(name for joint in joints for name in joint["bodies"])
    names = names or ["block"]
    return [{"name": name, "kind": "dynamic" if k else "static", "position": [3 * k, 0, 0],
             "shapes": [{"kind": "box", "size": [1, 1, 1]}]} for k, name in enumerate(names)]


def scenes_of(text):
    """The scenes of a block: itself, or one around its parts."""
    if re.search(r'"drystone"\s*:', text):
        return [text]
    plain = re.sub(r"^\s*//.*$", "", text, flags=re.M).strip()
    if plain.startswith("{"):
        parts = [{"joints": [json.loads(line)]} for line in plain.split("\n")]
    else:
        parts = [json.loads("{" + plain + "}")]
    return [json.dumps({"drystone": 1, "bodies": bodies_of(part.get("joints", [])), **part}) for part in parts]


def check_json(where, text, folder):
    try:
        scenes = scenes_of(text)
    except (ValueError, KeyError) as error:
        faults.append(f"{where}: no scene, and no part of one: {error}")
        return
    for scene in scenes:
        file = folder / "block.json"
        file.write_text(scene)
        done = call("check", str(file))
        if done.returncode != 0:
            faults.append(f"{where}: {done.stderr.strip()}")


def check_page(page, folder):
    name, text = str(page.relative_to(source)), page.read_text()
    for block in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        language, code = block[1], block[2]
        where = f"{name}:{text[:block.start()].count(chr(10)) + 1}"
        if language in ("", "text") or (name, "") in ELSEWHERE or (name, language) in ELSEWHERE:
            continue
        counts[language] = counts.get(language, 0) + 1
        if language == "json":
            check_json(where, code, folder)
        elif language == "sh":
            check_commands(where, code)
        elif language == "python":
            try:
                compile(code, where, "exec")
            except SyntaxError as error:
                faults.append(f"{where}: {error}")
        else:
            faults.append(f"{where}: no test runs a block of {language}")
    plain = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    check_commands(name, "\n".join(re.findall(r"^    (\S.*)$", plain, re.M)))


with tempfile.TemporaryDirectory() as temporary:
    for page in sorted(source.glob("docs/**/*.md")) + [source / "README.md"]:
        check_page(page, Path(temporary))
if counts.get("commands", 0) < 50 or counts.get("json", 0) < 5:
    faults.append(f"few commands or blocks were found: {counts}")
print(*faults, sep="\n", end="\n" if faults else "")
print(", ".join(f"{n} {kind}" for kind, n in sorted(counts.items())) + f": {len(faults)} faults")
sys.exit(1 if faults else 0)
