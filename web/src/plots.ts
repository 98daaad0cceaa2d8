// Small plots under each other with one time axis: what the solver did and what the scene's energy was. The line is the moment shown; a click goes there.
import { el, figure } from "./dom";
import type { History } from "./history";
import type { Frame } from "./protocol";

interface Series { label: string; color: string; value: (frame: Frame) => number }
interface Plot { title: string; unit: string; log: boolean; stacked?: boolean; series: Series[] }

const stat = (k: number) => (frame: Frame) => frame.statistic[k];
const A = "var(--c1)", B = "var(--c2)", C = "var(--c3)", D = "var(--c4)", E = "var(--c5)";
export const PLOTS: Plot[] = [
  { title: "Iterations", unit: "", log: false, series: [{ label: "staggered", color: A, value: stat(0) }, { label: "factorizations", color: B, value: stat(2) }] },
  { title: "Error", unit: "", log: true, series: [{ label: "natural map", color: A, value: stat(3) }, { label: "residual, J", color: B, value: (f) => Math.abs(f.statistic[4]) }, { label: "relative", color: C, value: stat(5) }] },
  { title: "Energy", unit: "J", log: false, series: [{ label: "kinetic", color: A, value: stat(6) }, { label: "potential", color: B, value: stat(7) }, { label: "elastic", color: C, value: stat(8) }] },
  { title: "Contacts", unit: "", log: false, series: [{ label: "found", color: A, value: (f) => f.contactsFound }, { label: "active", color: B, value: stat(9) }, { label: "islands", color: C, value: stat(10) }] },
  { title: "Time per step", unit: "ms", log: false, stacked: true, series: [
    { label: "detect", color: A, value: stat(11) }, { label: "assemble", color: B, value: stat(12) }, { label: "predict", color: C, value: stat(13) },
    { label: "project", color: D, value: stat(14) }, { label: "integrate", color: E, value: stat(15) }] },
];

const HEIGHT = 84, MOST_SAMPLES = 600, SPACE = 6;

export class Plots {
  private readonly charts: { plot: Plot; canvas: HTMLCanvasElement; values: HTMLElement[] }[] = [];
  private readonly span = el("select", { id: "span", "aria-label": "Span of the plots" }, el("option", { value: 5 }, "5 s"), el("option", { value: 20 }, "20 s"), el("option", { value: 0 }, "all"));
  private range: [number, number] = [0, 1];

  constructor(root: HTMLElement, private readonly scrub: (time: number) => void) {
    this.span.value = "20";
    root.append(el("label", { class: "row" }, el("span", {}, "Span"), this.span));
    for (const plot of PLOTS) root.append(this.chart(plot));
  }

  private chart(plot: Plot): HTMLElement {
    const canvas = el("canvas", { class: "plot", role: "img", "aria-label": `Plot: ${plot.title}` }), values: HTMLElement[] = [], legend = el("div", { class: "legend" });
    for (const series of plot.series) {
      const value = el("b");
      const swatch = el("i");
      swatch.style.background = series.color;
      legend.append(el("span", {}, swatch, series.label, " ", value));
      values.push(value);
    }
    canvas.addEventListener("pointerdown", (event) => this.scrubTo(canvas, event));
    canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.scrubTo(canvas, event); });
    this.charts.push({ plot, canvas, values });
    return el("figure", {}, el("figcaption", {}, plot.title, plot.unit ? el("small", {}, plot.unit) : ""), canvas, legend);
  }

  private scrubTo(canvas: HTMLCanvasElement, event: PointerEvent): void {
    const box = canvas.getBoundingClientRect();
    this.scrub(this.range[0] + (this.range[1] - this.range[0]) * Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1));
  }

  show(history: History, time: number, frame: Frame | null): void {
    if (!history.length) return;
    this.range = this.chooseRange(history, time);
    const samples = sample(history, this.range);
    for (const { plot, canvas, values } of this.charts) {
      draw(canvas, plot, samples, this.range, time);
      plot.series.forEach((series, k) => (values[k].textContent = frame ? figure(series.value(frame)) : ""));
    }
  }

  private chooseRange(history: History, time: number): [number, number] {
    const span = Number(this.span.value), whole = history.end - history.begin;
    if (span === 0 || whole <= span) return [history.begin, Math.max(history.end, history.begin + 1e-6)];
    const end = Math.min(Math.max(time + 0.25 * span, history.begin + span), history.end);
    return [end - span, end];
  }
}

function sample(history: History, [begin, end]: [number, number]): Frame[] {
  const first = Math.max(history.find(begin), 0), last = Math.min(history.find(end) + 1, history.length - 1), frames: Frame[] = [];
  const stride = Math.max(1, Math.ceil((last - first + 1) / MOST_SAMPLES));
  for (let k = first - (first % stride); k <= last; k += stride) frames.push(history.at(Math.max(k, 0)));
  return frames;
}

function resolve(canvas: HTMLElement, color: string): string {
  return color.startsWith("var(") ? getComputedStyle(canvas).getPropertyValue(color.slice(4, -1)).trim() : color;
}

function draw(canvas: HTMLCanvasElement, plot: Plot, frames: Frame[], [begin, end]: [number, number], time: number): void {
  const width = canvas.clientWidth, ratio = Math.min(window.devicePixelRatio || 1, 2);
  if (!width) return;
  if (canvas.width !== Math.round(width * ratio)) [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(HEIGHT * ratio)];
  const pen = canvas.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, HEIGHT);
  const columns = plot.series.map(({ value }) => frames.map(value));
  if (plot.stacked) for (let s = 1; s < columns.length; s++) columns[s] = columns[s].map((y, k) => y + columns[s - 1][k]);
  const [low, high] = bounds(columns, plot.log), map = plot.log ? Math.log10 : (y: number) => y;
  const x = (t: number) => ((t - begin) / (end - begin)) * width;
  const y = (value: number) => HEIGHT - SPACE - ((map(plot.log ? Math.max(value, 1e-17) : value) - low) / (high - low)) * (HEIGHT - 2 * SPACE);
  drawAxis(pen, canvas, width);
  for (let s = columns.length - 1; s >= 0; s--) {
    pen.strokeStyle = resolve(canvas, plot.series[s].color);
    pen.lineWidth = 1.4;
    pen.beginPath();
    frames.forEach((frame, k) => (k ? pen.lineTo(x(frame.time), y(columns[s][k])) : pen.moveTo(x(frame.time), y(columns[s][k]))));
    pen.stroke();
  }
  drawBounds(pen, canvas, low, high, plot.log);
  pen.strokeStyle = resolve(canvas, "var(--ink)");
  pen.globalAlpha = 0.75;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x(time), 0);
  pen.lineTo(x(time), HEIGHT);
  pen.stroke();
  pen.globalAlpha = 1;
}

function bounds(columns: number[][], log: boolean): [number, number] {
  let low = Infinity, high = -Infinity;
  for (const column of columns)
    for (const value of column) {
      if (!Number.isFinite(value) || (log && !(value > 0))) continue;
      const v = log ? Math.log10(Math.max(value, 1e-17)) : value;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  if (!(high >= low)) return [0, 1];
  if (log) return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
  low = Math.min(low, 0);
  return high - low < 1e-12 ? [low, low + 1] : [low, high + 0.05 * (high - low)];
}

function drawAxis(pen: CanvasRenderingContext2D, canvas: HTMLElement, width: number): void {
  pen.strokeStyle = resolve(canvas, "var(--line)");
  pen.lineWidth = 1;
  for (const part of [0, 0.5, 1]) {
    const y = Math.round(HEIGHT - SPACE - part * (HEIGHT - 2 * SPACE)) + 0.5;
    pen.beginPath();
    pen.moveTo(0, y);
    pen.lineTo(width, y);
    pen.stroke();
  }
}

/* The least and the greatest value, readable over the curves. */
function drawBounds(pen: CanvasRenderingContext2D, canvas: HTMLElement, low: number, high: number, log: boolean): void {
  pen.font = "10px system-ui, sans-serif";
  pen.strokeStyle = resolve(canvas, "var(--raised)");
  pen.fillStyle = resolve(canvas, "var(--soft)");
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  for (const [value, y] of [[high, SPACE + 10], [low, HEIGHT - SPACE - 3]]) {
    const text = log ? `1e${value}` : figure(value);
    pen.strokeText(text, 2, y);
    pen.fillText(text, 2, y);
  }
}
