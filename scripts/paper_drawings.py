"""The curves of docs/paper.md, drawn from what the runs recorded: each function writes an SVG file, and returns what is
said of it."""
import csv
import math

COLORS = ["#0072b2", "#009e73", "#999999", "#d55e00", "#cc79a7", "#555555", "#000000"]
CHART = """<svg xmlns="http://www.w3.org/2000/svg" width="760" height="280" font-family="sans-serif" font-size="12">
<rect width="760" height="280" fill="white"/>
"""


def chart(x, curves, title, left):
    """One panel of an SVG chart from `left` on: curves of (name, colour, values), or points where a value is a list."""
    low, width, top, height = left + 60, 290, 30, 200
    most, far = max(max(values) for _, _, values in curves) or 1, max(x) or 1
    lines = [f'<text x="{low}" y="18">{title}</text>',
             f'<path d="M{low},{top}v{height}h{width}" fill="none" stroke="black"/>',
             f'<text x="{low - 6}" y="{top + 4}" text-anchor="end">{most:,.0f}</text>',
             f'<text x="{low + width}" y="{top + height + 18}" text-anchor="end">{far:,.0f}</text>']
    for number, (name, colour, values) in enumerate(curves):
        dots = [(low + width * a / far, top + height * (1 - b / most)) for a, b in zip(x, values)]
        if len(curves) == 1:
            lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2" fill="{colour}"/>' for a, b in dots]
        else:
            lines.append('<polyline fill="none" stroke="%s" points="%s"/>' % (colour, " ".join("%.1f,%.1f" % d for d in dots)))
            lines.append(f'<text x="{low + 8}" y="{top + 16 + 16 * number}" fill="{colour}">{name}</text>')
    return "\n".join(lines)


def exponent(x, y):
    """Of y in x: the slope of a line through the logarithms."""
    pairs = [(math.log(a), math.log(b)) for a, b in zip(x, y) if a > 0 and b > 0]
    a, b = (sum(p[i] for p in pairs) / len(pairs) for i in (0, 1))
    return sum((p[0] - a) * (p[1] - b) for p in pairs) / sum((p[0] - a) ** 2 for p in pairs)


def drifts(run):
    """Of every contact, how far its two bodies have slid along it: curves of (time, m). Contacts of two bodies keep their
    order while they last."""
    step, curves, place, before = 0.1, {}, {}, None
    with run.contacts.open() as lines:
        for row in csv.DictReader(lines):
            if row["time"] != before:
                before, place = row["time"], {}
            pair = (row["a"], row["b"])
            place[pair] = place.get(pair, -1) + 1
            u, n = ([float(row[p + c]) for c in ("x", "y", "z")] for p in ("u", "n"))
            along = sum(a * b for a, b in zip(u, n))
            slip = [a - along * b for a, b in zip(u, n)]
            curve = curves.setdefault((pair, place[pair]), [[0.0, 0.0, 0.0]])
            curve[0] = [a + step * b for a, b in zip(curve[0], slip)]
            curve.append((float(row["time"]), math.sqrt(sum(a * a for a in curve[0]))))
    return [curve[1:] for curve in curves.values()]


def panel(left, top, title, curves, low, unit):
    """Curves of (colour, width, points) on a logarithmic axis from 10^low up, in 230 x 120."""
    width, height = 200, 110
    high = max([0] + [math.ceil(math.log10(y)) for _, _, points in curves for _, y in points if y > 0])
    lines = [f'<text x="{left}" y="{top - 6}">{title}</text>',
             f'<path d="M{left},{top}v{height}h{width}" fill="none" stroke="black"/>',
             f'<text x="{left - 4}" y="{top + 8}" text-anchor="end">1e{high} {unit}</text>',
             f'<text x="{left - 4}" y="{top + height}" text-anchor="end">1e{low}</text>']
    for color, stroke, points in curves:
        dots = [(left + round(width * min(1, x / 10)),
                 top + round(height * (high - max(low, min(high, math.log10(y) if y > 0 else low))) / (high - low))) for x, y in points]
        kept = [d for i, d in enumerate(dots) if i in (0, len(dots) - 1) or not dots[i - 1][1] == d[1] == dots[i + 1][1]]
        path = f"M{kept[0][0]},{kept[0][1]}l" + " ".join(f"{c[0] - a[0]},{c[1] - a[1]}" for a, c in zip(kept, kept[1:]))
        lines.append(f'<path fill="none" stroke="{color}" stroke-width="{stroke}" d="{path}"/>')
    return "\n".join(lines)


def draw_nfs10(runs, names, scenes, folder):
    """A row for each scene: the drift of every contact, the energy above that of the start, the overlap."""
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{60 + 160 * len(scenes)}" '
             'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>']
    for number, name in enumerate(names):
        parts.append(f'<text x="{20 + 210 * (number % 4)}" y="{16 + 16 * (number // 4)}" fill="{COLORS[number]}">'
                     f'{name.replace("`", "")}</text>')
    for row, scene in enumerate(scenes):
        drift, energy, overlap = [], [], []
        for color, name in zip(COLORS, names):
            run = runs[name, scene]
            if run.why or not run.contacts.exists():
                continue
            drift += [(color, 0.5, curve[::3]) for curve in drifts(run) if len(curve) > 9]
            steps = list(csv.DictReader(run.rows.open()))
            at = [float(s["time"]) for s in steps]
            begin = float(steps[0]["energy"])
            energy.append((color, 1.5, [(x, max(0, float(s["energy"]) - begin)) for x, s in zip(at, steps)]))
            overlap.append((color, 1.5, [(x, float(s["penetration"])) for x, s in zip(at, steps)]))
        top = 70 + 160 * row
        parts += [panel(70, top, f"{scene}: drift of every contact", drift, -6, "m"),
                  panel(350, top, "energy above the start", energy, -6, "J"),
                  panel(630, top, "overlap", overlap, -6, "m")]
    (folder / "nfs10.svg").write_text("\n".join(parts) + "\n</svg>\n")


def draw_heap(run, folder):
    """FFD05 Figs. 8 and 9 from one run: the picture, and its figures; nothing where there is no run."""
    if run.why or not run.rows.exists():
        return {}
    rows = list(csv.DictReader(run.rows.open()))[1:]
    steps = list(range(1, len(rows) + 1))
    contacts, active, work, energy = ([float(r[key]) for r in rows]
                                      for key in ("contacts", "active_contacts", "projection_iterations", "energy"))
    (folder / "ffd-figures.svg").write_text(
        CHART + chart(steps, [("contacts", "#1f77b4", contacts), ("active contacts", "#d62728", active)],
                      "Fig. 8: contacts over steps", 0)
        + chart(contacts, [("", "#333333", work)], "Fig. 9: iterations of projections over contacts", 380) + "</svg>\n")
    part = [(c, w) for c, w in zip(contacts, work) if c > 0.02 * max(contacts)]
    return {"steps": len(rows), "contacts": max(contacts), "exponent": exponent(*zip(*part)),
            "energy": [energy[0], energy[-1]], "rise": max(b - a for a, b in zip(energy, energy[1:]))}


def common_iterations(warm, cold):
    """Mean iterations of Algorithm 1 of two runs over the steps that both have taken: warm, cold, number of steps."""
    if warm.why or cold.why or not (warm.rows.exists() and cold.rows.exists()):
        return None
    counts = [[float(r["staggered_iterations"]) for r in list(csv.DictReader(run.rows.open()))[1:]] for run in (warm, cold)]
    steps = min(len(c) for c in counts)
    return [sum(c[:steps]) / steps for c in counts] + [steps]
