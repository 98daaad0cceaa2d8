// Small helpers to build the controls, and the icons. Every control has a name for screen readers.

type Props = Partial<Record<string, string | number | boolean | ((event: never) => void)>>;

/* An element: "class" and attributes as strings, "on..." as handlers, true = an empty attribute. */
export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
    else if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

const ICONS: Record<string, string> = {
  play: '<path d="M7 5l12 7-12 7z" fill="currentColor" stroke="none"/>',
  pause: '<path d="M8 5v14M16 5v14" stroke-width="3"/>',
  next: '<path d="M6 5l9 7-9 7z" fill="currentColor" stroke="none"/><path d="M18 5v14"/>',
  previous: '<path d="M18 5l-9 7 9 7z" fill="currentColor" stroke="none"/><path d="M6 5v14"/>',
  restart: '<path d="M4 12a8 8 0 1 0 3-6.2M4 4v4.5h4.5"/>',
  camera: '<rect x="3" y="7" width="18" height="12" rx="2"/><path d="M9 7l1.5-3h3L15 7"/><circle cx="12" cy="13" r="3.2"/>',
  video: '<rect x="3" y="6" width="12" height="12" rx="2"/><path d="M15 11l6-3.5v9L15 13"/>',
  theme: '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>',
  help: '<circle cx="12" cy="12" r="9"/><path d="M9.5 9.5a2.5 2.5 0 1 1 3.6 2.3c-.8.4-1.1.9-1.1 1.7M12 16.6v.4"/>',
  panel: '<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M15 4v16"/>',
  home: '<path d="M4 11l8-7 8 7M6 10v9h12v-9"/>',
  open: '<path d="M3 18V6h6l2 2h10v10z"/>',
  close: '<path d="M6 6l12 12M18 6L6 18"/>',
};

export function icon(name: string): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", width: "18", height: "18", fill: "none", stroke: "currentColor", "stroke-width": "1.7", "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true" }))
    svg.setAttribute(key, value);
  svg.innerHTML = ICONS[name] ?? "";
  return svg;
}

export function iconButton(name: string, label: string, click: () => void, id = ""): HTMLButtonElement {
  return el("button", { class: "icon", type: "button", title: label, "aria-label": label, ...(id ? { id } : {}), onclick: click }, icon(name));
}

export function setIcon(button: HTMLElement, name: string, label: string): void {
  if (button.dataset.icon === name) return;
  button.dataset.icon = name;
  button.replaceChildren(icon(name));
  button.title = label;
  button.setAttribute("aria-label", label);
}

/* Three significant digits, without long exponents where a plain number does. */
export function figure(x: number): string {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a === 0) return "0";
  if (a >= 1e5 || a < 1e-3) return x.toExponential(1).replace("e+", "e");
  return String(Number(x.toPrecision(3)));
}

/* With a prefix: 0.0042 N is 4.2 mN. */
export function withUnit(x: number, unit: string): string {
  const a = Math.abs(x);
  if (a < 1e-7 || !Number.isFinite(x)) return `0 ${unit}`; // rounding, for what is shown here
  for (const [factor, prefix] of [[1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]] as const)
    if (a >= 0.9995 * factor) return `${Number((x / factor).toPrecision(3))} ${prefix}${unit}`;
  return `${Number((x * 1e6).toPrecision(2))} µ${unit}`;
}
