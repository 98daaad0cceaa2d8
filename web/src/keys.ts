// Keyboard shortcuts, and the sheet that lists them. A focused field or button keeps the keys that it uses.
import { el, iconButton } from "./dom";

export interface Shortcut { keys: string[]; shown: string; does: string; run: (event: KeyboardEvent) => void; onView?: boolean; ctrl?: boolean }

export class Keys {
  private readonly sheet: HTMLDialogElement;

  constructor(private readonly shortcuts: Shortcut[], private readonly view: HTMLElement) {
    this.sheet = this.makeSheet();
    document.body.append(this.sheet);
    window.addEventListener("keydown", (event) => this.press(event));
  }

  toggleSheet(): void { this.sheet.open ? this.sheet.close() : this.sheet.showModal(); }

  private press(event: KeyboardEvent): void {
    const ctrl = event.ctrlKey || event.metaKey;
    if (event.altKey || this.sheet.open) return;
    const target = event.target as HTMLElement, onView = target === this.view || target === document.body;
    if (!onView && target.matches("input:not([type=checkbox]):not([type=range]), select, textarea")) return;
    if (!onView && [" ", "Enter", "Tab", "Escape"].includes(event.key) && target.matches("button, input, summary, a")) return;
    if (!onView && event.key.startsWith("Arrow")) return;
    const hit = this.shortcuts.find((shortcut) => shortcut.keys.includes(event.key) && (shortcut.ctrl ?? false) === ctrl && (onView || !shortcut.onView));
    if (hit) hit.run(event);
  }

  private makeSheet(): HTMLDialogElement {
    const list = el("dl"), mouse = el("dl");
    for (const [how, what] of [["drag", "a body: pull it (live); on the background: turn"], ["shift drag", "turn, also over bodies"], ["right drag", "move sideways"], ["wheel", "nearer, farther"], ["double click", "look at a body"], ["drop a file", "open a scene or a recording"]])
      mouse.append(el("dt", {}, el("kbd", {}, how)), el("dd", {}, what));
    // Layers are listed below the mouse, so that both columns have the same height.
    for (const { shown, does } of this.shortcuts)
      if (shown) (/^[\dJA]$/.test(shown) ? mouse : list).append(el("dt", {}, ...shown.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, does));
    const sheet = el("dialog", { class: "sheet", "aria-label": "Keys" });
    sheet.append(el("header", {}, el("h2", {}, "Keys and mouse"), iconButton("close", "Close", () => sheet.close())), el("div", { class: "columns" }, list, mouse));
    sheet.addEventListener("click", (event) => { if (event.target === sheet) sheet.close(); });
    sheet.addEventListener("keydown", (event) => { if (event.key === "?") sheet.close(); });
    return sheet;
  }
}
