#!/usr/bin/env python3
"""Frames per second of the page on this machine's graphics card.

    drystone run pile:count=2000 -t 0.6 --tol 1e-3 -o pile.h5 && drystone view pile.h5 --export pile
    python3 bench/card.py pile

Opens every folder that `drystone view RECORD.h5 --export FOLDER` made in a Chromium without a window and plays it, a
moment of the recording a picture, the camera turning, 60 frames per second where the card can: counted are those that come
late, once the page has found out how finely this card can draw (web/src/pace.ts). Then one picture at a time as finely as can
be, each waited for: what script and card take together, one after the other.

How fast the card is at drawing is measured beside it, in the same browser: multiplications and additions of a fragment
shader, pixels blended, triangles smaller than a pixel. So the figures can be held against those of other cards: Intel's
Gen9 (2015, 24 execution units) has 0.4 Tflop/s.

Needs Chromium and Python alone. `--flags` chooses a driver, such as `--flags="--use-angle=vulkan"`; Chromium draws in
software where it finds no card, and the table then says so. Results go to results/card.json and card.md; with --resume beside
those of other cards that are there, each under its --label.

Exit code: 0, or 1 where a folder could not be measured or its pictures come slower than 60 a second.
"""
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.dont_write_bytecode = True
from common import conclude, keep_results, open_results, origin, parser_of, start, work_folder  # noqa: E402

FRAME = 1000 / 60  # ms
SIZES = {"1280x720": (1280, 772), "1920x1080": (1920, 1132)}  # of the picture; of the window, with the time line
FORCES = "normal,friction,cones"

READY = """window.drystone?.shown != null && window.drystone.player.complete === true"""

# The layers, no panel; resolves with what is in the scene.
PREPARE = """(async (layers) => {
  const app = window.drystone, { scene, world, view, player: { history } } = app;
  app.player.playing = false;
  app.chrome.togglePanel();
  window.lost = 0;
  view.canvas.addEventListener("webglcontextlost", () => window.lost++);
  for (const name of %s) app.setLayer(name, layers.includes(name));
  await new Promise((done) => setTimeout(done, 500));
  const at = Array.from({ length: history.length }, (_, k) => history.at(k));
  return { bodies: scene.bodies.filter((body) => body.mass > 0).length, contacts: Math.max(...at.map((frame) => frame.contacts)),
           width: view.canvas.width, height: view.canvas.height };
})""" % json.dumps(FORCES.split(","))

# Every picture another moment from another side, as the page's own loop draws them.
PLAY = """((count) => new Promise((done) => {
  const app = window.drystone, { history } = app.player, times = [], pace = app.view.pace, before = 240;
  let k = 0, last = 0, level = 0, part = 1;
  const next = (now) => {
    if (k > before) {
      times.push(now - last);
      level = Math.max(level, pace.level);
      part = Math.min(part, pace.part);
    }
    last = now;
    if (k++ === count + before) return done({ times, level, part });
    app.player.scrub(history.begin + (history.end - history.begin) * ((k * 0.013) % 1));
    app.view.orbit.turn(0.005, 0);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}))"""

# The same one at a time, each waited for.
ALONE = """((count) => {
  const app = window.drystone, { history } = app.player, gl = app.view.renderer.getContext(), pixel = new Uint8Array(4), times = [];
  for (let k = 0; k < count + 10; k++) {
    app.player.scrub(history.begin + (history.end - history.begin) * ((k * 0.013) % 1));
    const begun = performance.now();
    app.update(begun);
    app.show.draw(true);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    if (k >= 10) times.push(performance.now() - begun);
  }
  return times;
})"""

# What the card can do: Gflop/s in a fragment shader, Gpixel/s blended, Mtriangles/s.
CARD = """(() => {
  const canvas = new OffscreenCanvas(1024, 1024), gl = canvas.getContext("webgl2", { antialias: false });
  const info = gl.getExtension("WEBGL_debug_renderer_info"), pixel = new Uint8Array(4);
  const program = (vertex, fragment) => {
    const p = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const s = gl.createShader(type);
      gl.shaderSource(s, "#version 300 es\\nprecision highp float;\\n" + text);
      gl.compileShader(s);
      gl.attachShader(p, s);
    }
    gl.linkProgram(p);
    gl.useProgram(p);
    return p;
  };
  const wait = () => gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  const seconds = (draw) => { // of one draw: more and more until they take long enough
    draw(); wait();
    for (let n = 1; ; n *= 2) {
      const begun = performance.now();
      for (let i = 0; i < n; i++) draw();
      wait();
      const taken = (performance.now() - begun) / 1000;
      if (taken > 0.3) return taken / n;
    }
  };
  const whole = "void main() { gl_Position = vec4(vec2(gl_VertexID % 2, gl_VertexID / 2) * 4.0 - 1.0, 0.0, 1.0); }";
  const screen = () => gl.drawArrays(gl.TRIANGLES, 0, 3);
  program(whole, `out vec4 c; uniform float z; void main() {
    vec4 a = gl_FragCoord * 1e-3, b = a.yzwx, d = a.zwxy, e = a.wxyz;
    for (int i = 0; i < 64; i++) { a = a * z + b; b = b * z + d; d = d * z + e; e = e * z + a; }
    c = a + b + d + e; }`);
  const gflops = 1024 * 1024 * 64 * 4 * 4 * 2 / seconds(screen) / 1e9;
  program(whole, "out vec4 c; void main() { c = vec4(0.1, 0.2, 0.3, 0.5); }");
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  const gpixels = 1024 * 1024 / seconds(screen) / 1e9;
  gl.disable(gl.BLEND);
  program(`void main() { int t = gl_VertexID / 3, k = gl_VertexID % 3; vec2 x = vec2(t % 1024, t / 1024) / 512.0 - 1.0;
    gl_Position = vec4(x + vec2(k % 2, k / 2) * 4e-4, 0.0, 1.0); }`, "out vec4 c; void main() { c = vec4(1.0); }");
  const mtriangles = 1e6 / seconds(() => gl.drawArrays(gl.TRIANGLES, 0, 3000000)) / 1e6;
  return { renderer: gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER), gflops, gpixels, mtriangles };
})()"""


# ---- the browser -----------------------------------------------------------------------------------------------------


class Browser:
    """A Chromium spoken to over a pipe (Chrome DevTools Protocol: JSON messages that end with a zero byte)."""

    def __init__(self, options, size):
        self.profile = tempfile.mkdtemp(prefix="drystone-card-")
        to_browser, from_browser = os.pipe(), os.pipe()
        command = [options.chromium, "--headless=new", "--no-sandbox", "--no-first-run", "--remote-debugging-pipe",
                   f"--user-data-dir={self.profile}", "--force-prefers-reduced-motion", "--ignore-gpu-blocklist", f"--window-size={size[0]},{size[1]}"]
        command += options.flags.split() + ["about:blank"]

        def take_pipes():  # Chromium reads from 3 and writes to 4
            os.dup2(to_browser[0], 13), os.dup2(from_browser[1], 14)
            os.dup2(13, 3), os.dup2(14, 4)

        self.log = open(options.work / "chromium.log", "wb")
        self.child = subprocess.Popen(command, stdout=self.log, stderr=self.log, preexec_fn=take_pipes, close_fds=False)
        os.close(to_browser[0]), os.close(from_browser[1])
        self.to, self.back = os.fdopen(to_browser[1], "wb"), os.fdopen(from_browser[0], "rb")
        self.text, self.number, self.session = b"", 0, None
        self.limit = threading.Timer(options.limit, self.child.kill)
        self.limit.start()

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            while b"\0" not in self.text:
                more = os.read(self.back.fileno(), 1 << 16)
                if not more:
                    raise RuntimeError("Chromium ended, or took longer than --limit; see card/chromium.log in --build")
                self.text += more
            line, self.text = self.text.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]

    def evaluate(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "the page failed"))
        return answer["result"].get("value")

    def open(self, url, size):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=url)
        wait = f"new Promise((done) => {{ const look = () => {READY} ? done(true) : setTimeout(look, 50); look(); }})"
        for _ in range(20):  # the page may not have begun
            try:
                return self.evaluate(wait)
            except RuntimeError as error:
                if "ontext" not in str(error):
                    raise
        raise RuntimeError("the page did not open")

    def close(self):
        self.limit.cancel()
        self.child.terminate()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
        self.log.close()
        shutil.rmtree(self.profile, ignore_errors=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}/"


# ---- measuring -------------------------------------------------------------------------------------------------------


def spread(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]  # noqa: E731
    return {"mean": sum(times) / len(times), "median": at(0.5), "p99": at(0.99), "max": times[-1],
            "late": sum(t > 1.5 * FRAME for t in times) / len(times)}


def measure(options, folder, size, layers):
    server, url = serve(folder)
    browser = Browser(options, size)
    try:
        browser.open(url, size)
        facts = browser.evaluate(f"{PREPARE}({json.dumps(layers.split(',') if layers else [])})")
        played = browser.evaluate(f"{PLAY}({options.pictures})")
        alone = browser.evaluate(f"{ALONE}({max(1, options.pictures // 3)})")
        if browser.evaluate("window.lost"):
            raise RuntimeError("the card lost the picture")
        return {**facts, "level": played["level"], "part": played["part"], "playing": spread(played["times"]),
                "alone": spread(alone)}
    finally:
        browser.close()
        server.shutdown()


def measure_card(options):
    browser = Browser(options, (800, 600))
    try:
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return browser.evaluate(CARD)
    finally:
        browser.close()


# ---- tables ----------------------------------------------------------------------------------------------------------


def slow_of(rows):
    return [key for key, r in rows.items() if "failure" in r or r["playing"]["mean"] > 1.02 * FRAME]


def say(label, run):
    """What one card's run says."""
    card, rows = run["card"], run["rows"]
    good = {key: r for key, r in rows.items() if "failure" not in r}
    text = (f"- {label}: {card['renderer']}; in a fragment shader {card['gflops'] / 1000:.2f} Tflop/s, {card['gpixels']:.1f} "
            f"Gpixel/s blended, {card['mtriangles']:,.0f} million triangles per second.")
    if not good:
        return text + " Nothing could be measured."
    slow, least = slow_of(rows), min(1000 / r["playing"]["mean"] for r in good.values())
    alone = max(r["alone"]["mean"] for r in good.values())
    return text + (f" {least:.1f} frames per second or more; as finely as can be a picture takes up to {alone:.1f} ms of "
                   f"{FRAME:.1f}. " + (f"Fewer than 60: {'; '.join(slow)}." if slow else "60 in every scene."))


def summary(data):
    runs = data.get("runs", {})
    lines = ["## What these runs say", ""] + [say(label, run) for label, run in runs.items()]
    return lines + [""], bool(runs) and not any(slow_of(run["rows"]) for run in runs.values())


def row(key, r):
    if "failure" in r:
        return f"| {key} | {r['failure']} |" + " |" * 6
    p, a = r["playing"], r["alone"]
    fineness = ("all", "all, smaller shadow map")[r["level"]] if r["level"] < 2 else f"{100 * r['part']:.0f} % of the sides"
    return (f"| {key} | {r['bodies']:,} | {r['contacts']:,} | {fineness} | {1000 / p['mean']:.1f} | "
            f"{p['median']:.1f} / {p['p99']:.1f} / {p['max']:.1f} | {100 * p['late']:.1f} % | "
            f"{a['mean']:.1f} / {a['median']:.1f} / {a['p99']:.1f} |")


def write_tables(data, path):
    lines = ["# Pictures of the page on a graphics card", "", "Written by bench/card.py; what to make of it: docs/viewer.md.", ""]
    lines += summary(data)[0]
    lines += ["Playing, 60 a second at most, each picture another moment of the recording from another side; late: 25 ms after the one "
              "before, or more. Alone: ms from the script's begin until the picture is there, one after the other, as finely as can be.", ""]
    for label, run in data.get("runs", {}).items():
        m = run["machine"]
        lines += [f"## {label}", "", f"Commit {run['commit']}, {run['date']}. {m['processor']}, {m['cores']} cores, {m['system']}.", "",
                  "| scene | bodies | contacts | pixels drawn | frames per second | between them, ms: median / 99 % / longest | late "
                  "| alone, ms: mean / median / 99 % |", "|---" * 8 + "|"]
        lines += [row(key, r) for key, r in run["rows"].items()] + [""]
    path.write_text("\n".join(lines[:-1]) + "\n")


# ---- the whole run ---------------------------------------------------------------------------------------------------


def read_options():
    parser = parser_of("The page: frames per second on this machine's graphics card.", "card", "the table", program=False)
    add = parser.add_argument
    add("folders", nargs="*", type=Path, help="folders of `drystone view RECORD.h5 --export FOLDER`")
    add("--chromium", default=next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""),
        help="the browser")
    add("--flags", default="", help="more flags for it")
    add("--pictures", type=int, default=600, help="pictures a scene (600)")
    add("--limit", type=float, default=300, help="seconds a scene may take (300)")
    add("--label", default="this machine's card", help="what the card is called in the table")
    return parser.parse_args()


def main():
    options = read_options()
    json_path, md_path, data = open_results(options)
    if not options.tables:
        if not options.chromium or not options.folders:
            sys.exit("card.py: needs Chromium (--chromium PATH) and at least one folder of drystone view --export")
        options.work = work_folder(options, "card")
        run = {**origin(options), "card": measure_card(options), "rows": {}}
        data.setdefault("runs", {})[options.label] = run
        for folder in options.folders:
            for size, layers in (("1280x720", ""), ("1920x1080", ""), ("1920x1080", FORCES)):
                key = f"{folder.name}, {size}{', forces and cones' if layers else ''}"
                print(key, flush=True)
                try:
                    run["rows"][key] = measure(options, folder, SIZES[size], layers)
                except (RuntimeError, OSError) as error:
                    run["rows"][key] = {"failure": str(error).splitlines()[0]}
                keep_results(data, json_path)
    return conclude(data, md_path, write_tables, summary)


if __name__ == "__main__":
    start(main)
