#!/usr/bin/env python3
"""The benchmark of the page: what a picture of 2,000 bodies costs the browser and the graphics card.

Every scene is run for a while and its recording played in the page, in a Chromium without a window, at 1280 x 720. Counted are
calls of WebGL, in the page itself: draw calls, triangles, bytes that are uploaded. Script time is taken with calls that draw
left out; the garbage of a picture by the browser's own profiler. There is no graphics card here: frames per second are those
of SwiftShader, which draws in software, and stand for reference only. docs/viewer.md has the budget and its source.

Needs node, Chromium and the page's modules, which the build of the program leaves beside it. Results go to
results/view.json and view.md.

Exit code: 0, or 1 where a picture is over the budget or a scene could not be measured.
"""
import json
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from common import ROOT, conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402
from run import run_command  # noqa: E402

# generator: simulated seconds
SCENES = {"pile:count=2000": 0.6, "chess-drop": 0.6, "bunny-drop": 0.6, "composites": 0.3, "dinosaurs": 0.6}
FORCES = "normal,friction,cones"
ROWS = [(scene, "") for scene in SCENES] + [("pile:count=2000", FORCES), ("chess-drop", FORCES)]
BUDGET = {"calls": 100, "triangles": 500_000, "bytes": 2_000_000}
FRAME = 1000 / 60  # ms


# ---- running ---------------------------------------------------------------------------------------------------------


def recording_of(options, scene):
    """The messages of a run of the scene, for the page; why there are none."""
    name = scene.split(":")[0]
    record, folder = options.work / f"{name}.h5", options.work / name
    if (folder / "recording.bin").exists():
        return folder / "recording.bin", ""
    # interrupted, the program leaves a recording up to there
    run_command(["timeout", "--signal=INT", str(options.limit), options.drystone, "run", scene, "--time",
                 str(SCENES[scene]), "--tol", "1e-3", "--quiet", "-o", str(record)], options.limit + 120)
    failure = run_command([options.drystone, "view", str(record), "--export", str(folder)], 120)[2]
    return folder / "recording.bin", failure


def measure(options, scene, layers):
    recording, failure = recording_of(options, scene)
    if failure:
        return {"failure": failure}
    text, _, failure = run_command(["node", str(options.web / "test" / "measure.mjs"), str(recording), layers], 900)
    try:
        return json.loads((text or "").splitlines()[-1])
    except (ValueError, IndexError):
        return {"failure": failure or "the page said nothing"}


def place_tests(options):
    """The measuring script beside the modules that it needs, as test/test_page.sh does it."""
    options.web = Path(options.drystone).resolve().parent / "web"
    if not (options.web / "node_modules" / "playwright-core").is_dir():
        sys.exit(f"view.py: {options.web} has no modules of the page: build the program with npm and a network")
    shutil.rmtree(options.web / "test", ignore_errors=True)
    shutil.copytree(ROOT / "web" / "test", options.web / "test")


# ---- tables ----------------------------------------------------------------------------------------------------------


def over(r):
    """What of a picture is over the budget."""
    sums = {"calls": r["calls"] + r["shadowCalls"], "triangles": r["triangles"] + r["shadowTriangles"],
            "bytes": r["bytes"]}
    return [f"{sums[key]:,.0f} {key}" for key in BUDGET if sums[key] > BUDGET[key]]


def row(scene, layers, r):
    title = f"{scene}{', forces and cones' if layers else ''}"
    if "failure" in r:
        return f"| {title} | {r['failure']} |" + " |" * 11
    cells = [title, f"{r['bodies']:,} / {r['forms']:,}", f"{r['frames']}", f"{r['contacts']:,}",
             f"{r['whole']:,}",
             f"{r['calls']} + {r['shadowCalls']}", f"{r['triangles']:,.0f} + {r['shadowTriangles']:,.0f}",
             f"{r['lines']:,.0f}", f"{r['points']:,}", f"{r['bytes'] / 1000:,.0f}",
             f"{r['script']['processor']:.1f} / {r['script']['median']:.1f} / {r['script']['p99']:.1f}", f"{r['garbage'] / 1000:.0f}", f"{r['rate']:.2f}"]
    return "| " + " | ".join(cells) + " |"


def summary(data):
    lines, faults = ["## What this run says", ""], []
    rows = {key: r for key, r in data.get("rows", {}).items()}
    for key, r in rows.items():
        faults += [f"{key}: {r['failure']}"] if "failure" in r else [f"{key}: {what}" for what in over(r)]
    good = [r for r in rows.values() if "failure" not in r]
    if faults:
        lines.append("- Over the budget, or not measured: " + "; ".join(faults) + ".")
    elif good:
        calls = max(r["calls"] + r["shadowCalls"] for r in good)
        triangles = max(r["triangles"] + r["shadowTriangles"] for r in good)
        lines.append(f"- No picture needs more than {calls} draw calls and {triangles:,.0f} triangles, shadows "
                     f"included; the budget is {BUDGET['calls']} and {BUDGET['triangles']:,}.")
    if good:
        worst = max(r["script"]["processor"] for r in good)
        lines.append(f"- The script takes {worst:.1f} ms of processor time per picture at most (mean of a scene), of the "
                     f"{FRAME:.1f} ms that 60 frames per second leave.")
    return lines + [""], bool(good) and not faults


def write_tables(data, path):
    m = data["machine"]
    lines = ["# Pictures of the page", "",
             f"Commit {data['commit']}, {data['date']}. {m['processor']}, {m['cores']} cores, {m['system']}, load "
             f"{m['load']:.1f} at the start, no graphics card. Written by bench/view.py; the budget: docs/viewer.md.", ""]
    lines += summary(data)[0]
    lines += ["## Scenes", "",
              "The most of any picture at 1280 x 720, everything in view. Calls and triangles: of the picture + of its "
              "shadow map. Triangles as sent: what the program gave. Script: ms per picture with drawing left out, mean of "
              "processor time / median / 99 % by the clock, on a machine that others used too. The last column is SwiftShader's, in software.", "",
              "| scene | bodies / forms | frames | contacts | triangles as sent | draw calls | triangles drawn | lines | points "
              "| kB uploaded | script, ms | garbage, kB | frames per second, in software |", "|---" * 13 + "|"]
    for scene, layers in ROWS:
        r = data.get("rows", {}).get(f"{scene} {layers}".strip())
        lines.append(row(scene, layers, r or {"failure": "not run"}))
    path.write_text("\n".join(lines) + "\n")


# ---- the whole run ---------------------------------------------------------------------------------------------------


def read_options():
    parser = parser_of("The page: draw calls, triangles, bytes and script time a picture.", "view", "the table")
    add = parser.add_argument
    add("--scenes", default="", help="only scenes whose name contains one of these words, comma-separated")
    add("--limit", type=float, default=400, help="seconds at which the run of a scene is interrupted (400)")
    return parser.parse_args()


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    if not options.tables:
        data.update(**origin(options))
        options.work = work_folder(options, "view")
        place_tests(options)
        words = [word for word in options.scenes.split(",") if word]
        for scene, layers in ROWS:
            key = f"{scene} {layers}".strip()
            if (words and not any(word in key for word in words)) or (options.resume and key in data.get("rows", {})):
                continue
            result = data.setdefault("rows", {})[key] = measure(options, scene, layers)
            print(f"{key}: {result.get('failure') or row(scene, layers, result)}", flush=True)
            keep_results(data, json_path)
    return conclude(data, md_path, write_tables, summary)


if __name__ == "__main__":
    start(main)
