#!/usr/bin/env python3
"""Draws performance profiles: a JSON object on standard input (see profile.py), a picture where it says."""
import json
import sys

# This folder's profile.py must not stand in for Python's own module of that name.
sys.path = [p for p in sys.path if not p.endswith("solve")]
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

OWN_COLOUR = "#c2185b"
# Families share a colour: Gauss-Seidel, Newton, first-order, fixed points, in the order of `bench-solve --list`.
STYLES = {
    "NSGS-AC": ("#1f77b4", "-"), "NSGS-projection": ("#1f77b4", "--"),
    "NSGS-one-projection": ("#1f77b4", "-."), "NSGS-quartic": ("#1f77b4", ":"),
    "NSN_AC": ("#2ca02c", "-"), "NSN_FB": ("#2ca02c", "--"), "PROX": ("#6a3d9a", "-"),
    "ADMM": ("#ff7f0e", "-"), "VI_EG": ("#b8860b", "-"), "VI_FPP": ("#b8860b", "--"),
    "ACLM": ("#7f7f7f", "-"), "Panagiotopoulos": ("#7f7f7f", "--"), "Tresca": ("#7f7f7f", ":"),
}
TAU_MAX = 1000


def staircase(ratios, count):
    """Corners of the share of problems solved within a factor tau of the best."""
    x, y = [1.0], [0.0]
    for k, ratio in enumerate(ratios, 1):
        if ratio > TAU_MAX:
            break
        x += [ratio, ratio]
        y += [y[-1], k / count]
    return x + [TAU_MAX], y + [y[-1]]


def draw_panel(axes, panel, own):
    for name, ratios in panel["curves"].items():
        x, y = staircase(ratios, panel["count"])
        if name in own:
            width, style = (3.2, "-") if name == own[0] else (1.8, "--")
            axes.plot(x, y, color=OWN_COLOUR, linewidth=width, linestyle=style, zorder=10, label=name)
        else:
            colour, style = STYLES.get(name, ("#444444", "-"))
            axes.plot(x, y, color=colour, linestyle=style, linewidth=1.4, label=name)
    axes.set_xscale("log")
    axes.set_xlim(1, TAU_MAX)
    axes.set_ylim(0, 1.02)
    axes.set_xticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3", "10", "30", "100", "300", "1000"])
    axes.minorticks_off()
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20 %", "40 %", "60 %", "80 %", "100 %"])
    axes.grid(True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(panel["title"], fontsize=11)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    data = json.load(sys.stdin)
    columns = min(2, len(data["panels"]))
    rows = (len(data["panels"]) + columns - 1) // columns
    figure, grid = plt.subplots(rows, columns, figsize=(6.2 * columns + 2.2, 4.1 * rows + 0.5), squeeze=False, dpi=110)
    axes = [a for line in grid for a in line]
    for a, panel in zip(axes, data["panels"]):
        draw_panel(a, panel, data["own"])
    for a in axes[len(data["panels"]):]:
        a.set_visible(False)
    for line in grid:
        line[0].set_ylabel("problems solved")
    for a in grid[-1]:
        a.set_xlabel("within this factor of the fastest solver's time")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.suptitle(f"Natural-map error at most {data['tolerance']}, one thread", fontsize=13)
    figure.tight_layout(rect=(0, 0, 1 - 2.1 / figure.get_figwidth(), 0.98))
    figure.legend(handles, labels, loc="center right", frameon=False, fontsize=10, handlelength=2.6)
    figure.savefig(data["output"])


if __name__ == "__main__":
    main()
