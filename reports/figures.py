"""Figures drawn from records: vector graphics, colour-blind safe, legible without colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Okabe and Ito's palette, which keeps its hues apart for every common kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))


@dataclass(frozen=True)
class Line:
    """A curve: one y for each x, None where there is none."""

    name: str
    y: tuple[float | None, ...]


@dataclass(frozen=True)
class Band:
    """An interval for each x; an open end is None."""

    name: str
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]


@dataclass(frozen=True)
class Figure:
    """What is drawn: curves and bands over one axis."""

    title: str
    x_name: str
    y_name: str
    x: tuple[int, ...]
    lines: tuple[Line, ...]
    bands: tuple[Band, ...]


def save(figure: Figure, path: Path) -> None:
    """Draw a figure as SVG, PDF or PNG, by the ending of the path.

    Raises:
        ValueError: the ending is none of these.
        OSError: the file cannot be written.
    """
    if path.suffix not in (".svg", ".pdf", ".png"):
        raise ValueError(f"{path} should end in .svg, .pdf or .png")
    import matplotlib

    matplotlib.use("Agg")
    # The same figure gives the same file.
    matplotlib.rcParams["svg.hashsalt"] = "hiddenstate"
    from matplotlib import pyplot

    canvas, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for index, band in enumerate(figure.bands):
        _draw_band(axes, figure.x, band, index)
    for index, line in enumerate(figure.lines):
        points = [(x, y) for x, y in zip(figure.x, line.y, strict=True) if y is not None]
        axes.plot(
            [x for x, _ in points], [y for _, y in points], label=line.name,
            color="black" if index == 0 else COLOURS[(index - 1) % len(COLOURS)],
            linestyle=STYLES[index % len(STYLES)], linewidth=2.2 if index == 0 else 1.5,
            marker="o", markersize=3,
        )  # fmt: skip
    axes.set(xlabel=figure.x_name, ylabel=figure.y_name, title=figure.title, yscale="log")
    if len(figure.x) > 1 and figure.x[-1] > 20 * figure.x[0]:
        axes.set_xscale("log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    canvas.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(canvas)


def _draw_band(axes: Any, x: Sequence[int], band: Band, index: int) -> None:
    closed = [
        (at, low, high) for at, low, high in zip(x, band.lower, band.upper, strict=True)
        if low is not None and high is not None
    ]  # fmt: skip
    colour = COLOURS[-1 - index % len(COLOURS)]
    if closed:
        axes.fill_between(
            [at for at, _, _ in closed], [low for _, low, _ in closed],
            [high for _, _, high in closed], alpha=0.35, color=colour, label=band.name,
        )  # fmt: skip
    ends = [
        (at, low) for at, low, high in zip(x, band.lower, band.upper, strict=True)
        if low and high is None
    ]  # fmt: skip
    if ends:
        axes.plot(
            [at for at, _ in ends], [low for _, low in ends], linestyle="none", marker="^",
            color=colour, label=f"{band.name} (lower end)",
        )  # fmt: skip
