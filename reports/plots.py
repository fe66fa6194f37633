"""A series of an audit as SVG: curves with bands, or a map with a number or a word in each cell.

Colour-blind safe, and legible without colour: curves differ in dash and mark, cells say in writing
what their shade says.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from reports.figures import COLOURS, STYLES
from reports.records import Curve, Series

GREEK = {"alpha": "α", "beta": "β", "eta": "η", "lambda": "λ", "sigma": "σ"}
MARKS = ("o", "s", "^", "D", "v", "P", "X")
# From here on words and numbers are white, on the dark end of the shades.
DARK = 0.55


def greek(text: str) -> str:
    """A text with its Greek letters as letters."""
    return re.sub(r"[a-z]+", lambda found: GREEK.get(found[0], found[0]), text)


def svg(series: Series) -> str:
    """The figure as one SVG element, the same text each time; its letters are text."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    options: Any = {"svg.hashsalt": series.id, "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(options):
        canvas, axes = pyplot.subplots(figsize=(6.6, 4.6), layout="constrained")
        if series.form == "map":
            _draw_map(axes, series)
        else:
            _draw_curves(axes, series)
        axes.set_title(greek(series.title))
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(canvas)
    text = out.getvalue()
    return text[text.index("<svg") :]


def _draw_curves(axes: Any, series: Series) -> None:
    x = [float(value) for value in series.x]
    lines = 0
    for curve in series.curves:
        if curve.role == "band":
            _draw_band(axes, x, curve)
            continue
        y = [float(value) for value in curve.epsilon]
        exact = curve.role == "exact"
        axes.plot(
            x, y, label=greek(curve.name),
            color="black" if exact else COLOURS[lines % len(COLOURS)],
            linestyle="-" if exact else STYLES[lines % len(STYLES)],
            # The exact curve lies below: what meets it is seen on it.
            linewidth=3 if exact else 1.5, zorder=1.8 if exact else 2,
            # Marks apart on the page, not at every point, so that dashes stay dashes.
            marker=MARKS[lines % len(MARKS)], markersize=4, markevery=0.06,
        )  # fmt: skip
        lines += 1
    axes.set(xlabel=greek(series.x_name), ylabel=greek(series.y_name))
    if len(x) > 1 and min(x) > 0 and max(x) > 20 * min(x):
        axes.set_xscale("log")
    values = [float(v) for curve in series.curves for v in curve.epsilon]
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 20 * min(positive):
        axes.set_yscale("log", nonpositive="clip")
    axes.grid(alpha=0.3)
    # Below the curves, which it would hide.
    axes.figure.legend(loc="outside lower center", ncols=3, fontsize="small")


def _draw_band(axes: Any, x: Sequence[float], curve: Curve) -> None:
    low = [float(value) for value in curve.lower]
    high = [float(value) for value in curve.upper]
    axes.fill_between(
        x, low, high, color=COLOURS[-1], alpha=0.3, hatch="///", edgecolor="#555555",
        linewidth=0.4, label=greek(curve.name),
    )  # fmt: skip


def _draw_map(axes: Any, series: Series) -> None:
    import numpy as np
    from matplotlib.colors import LogNorm

    values = np.array([[float(v) for v in curve.epsilon] for curve in series.curves])
    words = sorted({word for curve in series.curves for word in curve.labels})
    if words:
        # Words are shades apart, and stand in the cells as letters that the legend explains.
        shades = np.array([[words.index(w) for w in curve.labels] for curve in series.curves])
        shown = 0.15 + 0.7 * shades / max(1, len(words) - 1)
        axes.imshow(shown, cmap="cividis_r", aspect="auto", vmin=0, vmax=1)
        depth = shown
        texts = [[chr(65 + words.index(w)) for w in curve.labels] for curve in series.curves]
        legend = "\n".join(f"{chr(65 + i)}  {word}" for i, word in enumerate(words))
        axes.text(1.02, 1, legend, transform=axes.transAxes, va="top", fontsize="small")
    else:
        norm = LogNorm(min(values.min(), 1), max(values.max(), 1.001))
        axes.imshow(values, cmap="cividis_r", aspect="auto", norm=norm)
        depth = norm(values)
        texts = [[f"{v:.3g}" for v in row] for row in values]
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            axes.text(
                column, row, text, ha="center", va="center", fontsize=8,
                color="white" if depth[row][column] > DARK else "black",
            )  # fmt: skip
    axes.set_xticks(range(len(series.x)), [f"{float(v):.3g}" for v in series.x])
    axes.set_yticks(range(len(series.curves)), [curve.name for curve in series.curves])
    axes.set(xlabel=greek(series.x_name), ylabel=greek(series.row_name))
