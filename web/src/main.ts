// Starts the page. The URL determines the source of messages: with ?token= the program that serves the page, else the WebAssembly module where the page has one (<html data-engine>), else a recording next to the page.
import { App } from "./app";
import { Chrome } from "./chrome";
import { Keys, type Shortcut } from "./keys";
import { LAYERS } from "./layers/layers";
import { Pair } from "./pair";
import { Theme } from "./theme";

const FIRST = "card-house"; // without a program and without ?scene=
const TURN = 0.09, PAN = 0.06, ZOOM = 1.12; // for one press of a key

function shortcuts(app: App, chrome: Chrome, theme: Theme, help: () => void): Shortcut[] {
  const does = (keys: string[], shown: string, text: string, run: Shortcut["run"], onView = false): Shortcut => ({
    keys, shown, does: text, onView, run: (event) => { event.preventDefault(); run(event); },
  });
  const arrow = (x: number, y: number) => (event: KeyboardEvent) => {
    if (app.hand.holds) app.choice.nudge(x, y);
    else if (event.shiftKey) app.view.orbit.pan(-x * PAN, -y * PAN);
    else app.view.orbit.turn(x * TURN, y * TURN);
  };
  return [
    does([" "], "space", "play, pause", () => app.toggle()),
    does([","], ",", "one frame back", () => app.player.step(-1)),
    does(["."], ".", "one frame forward", () => app.player.step(1)),
    does(["["], "[ ]", "slower, faster", () => chrome.changeSpeed(app, -1)),
    does(["]"], "", "", () => chrome.changeSpeed(app, 1)),
    does(["r", "R"], "R", "restart", () => app.restart()),
    does(["l", "L"], "L", "back to the present (live)", () => app.player.goLive()),
    does(["ArrowLeft"], "← → ↑ ↓", "turn; with shift: move sideways", arrow(-1, 0), true),
    does(["ArrowRight"], "", "", arrow(1, 0), true),
    does(["ArrowUp"], "", "", arrow(0, 1), true),
    does(["ArrowDown"], "", "", arrow(0, -1), true),
    does(["+", "="], "+ −", "nearer, farther", () => app.view.orbit.zoom(1 / ZOOM)),
    does(["-", "_"], "", "", () => app.view.orbit.zoom(ZOOM)),
    does(["h", "H", "Home"], "H", "reset the camera", () => app.view.orbit.goHome()),
    does(["Enter"], "enter", "select bodies one by one; then tab and shift tab", () => app.choice.chooseNext(1), true),
    { keys: ["Tab"], shown: "", does: "", onView: true, run: (event) => { if (app.chosen >= 0) { event.preventDefault(); app.choice.chooseNext(event.shiftKey ? -1 : 1); } } },
    does(["g", "G"], "G", "pull the selected body with the arrow keys; again: release it (live)", () => app.choice.grabChosen()),
    does(["f", "F"], "F", "look at the selected body", () => app.choice.focusChosen()),
    does(["Escape"], "esc", "release; deselect", () => { app.hand.release(); app.choice.choose(-1); }, true),
    ...LAYERS.map((layer) => does([layer.key, layer.key.toLowerCase()], layer.key, layer.label.toLowerCase(), () => app.setLayer(layer.name, !app.layers.has(layer.name)))),
    does(["p", "P"], "P", "panel", () => chrome.togglePanel()),
    does(["t", "T"], "T", "dark or light", () => theme.toggle()),
    does(["s", "S"], "S", "save a picture", () => void app.screenshot()),
    does(["v", "V"], "V", "record a video; again: stop", () => void app.toggleVideo()),
    does(["o", "O"], "O", "open a scene or a recording", () => chrome.pickFile()),
    { ...does(["z"], "Ctrl Z", "undo a change; Ctrl Y: redo (tab Edit)", () => app.editor.undo()), ctrl: true },
    { ...does(["y", "Z"], "", "", () => app.editor.redo()), ctrl: true },
    { ...does(["d"], "Ctrl D", "copy the selected body (tab Edit)", () => { if (app.editor.active) app.editor.copy(); }), ctrl: true },
    does(["Delete"], "delete", "delete the selected body (tab Edit)", () => { if (app.editor.active) app.editor.remove(); }),
    does(["?"], "?", "this list", help),
  ];
}

function start(): void {
  const asked = new URLSearchParams(location.search), left = asked.get("left"), right = asked.get("right");
  if (left && right) return void Object.assign(window, { pair: new Pair(left, right) });
  const canvas = document.getElementById("canvas") as HTMLCanvasElement;
  let app!: App;
  const chrome = new Chrome(() => app);
  try {
    app = new App(canvas, document.getElementById("overlay")!, chrome);
  } catch (error) {
    return chrome.note(`This page needs WebGL 2, which is not available in this browser: ${(error as Error).message}`, true);
  }
  const theme = new Theme((light) => app.show.setLight(light));
  let keys!: Keys;
  const help = () => keys.toggleSheet();
  keys = new Keys(shortcuts(app, chrome, theme, help), canvas);
  chrome.buildTools(app, help, () => theme.toggle());
  if (window.innerWidth < 760) chrome.togglePanel();
  Object.assign(window, { drystone: app }); // for tests and the console
  const query = new URLSearchParams(location.search), token = query.get("token"), engine = document.documentElement.dataset.engine;
  if (token) app.source.connect(token);
  else if (engine && !query.has("recording") && location.protocol !== "file:") app.source.run(engine, query.get("scene") ?? FIRST);
  else void openRecording(app, query.get("recording"));
}

async function openRecording(app: App, wanted: string | null): Promise<void> {
  // Browsers do not let a page opened as a file read other files.
  if (location.protocol === "file:") return app.chrome.showEmpty(true);
  if (!wanted) return app.loadUrl("recording.bin", true);
  const url = new URL(wanted, location.href);
  if (url.origin !== location.origin) return app.chrome.note("Recordings of other hosts cannot be opened: save the file next to this page, or drop it here.", true);
  return app.loadUrl(url.href, false);
}

start();
