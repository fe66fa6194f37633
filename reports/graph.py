"""The map of a paper: what rests on what, in layers, as an SVG that needs no script.

Foundations stand at the top; an arrow goes down from a statement to what rests on it. Verdicts are
told apart by a mark and by the border, not by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

MARKS = {
    "proved": "✓", "certified": "✓", "supported": "~", "refuted": "✗", "definition": "=",
    "cited": "“", "open": "?",
}  # fmt: skip
_CHARACTER = 7.0
_HEIGHT = 24.0
_GAP = 10.0
_ROW = 34.0
_LAYER = 30.0
_SWEEPS = 6


@dataclass(frozen=True)
class Box:
    """One statement of the map.

    href: where its box leads. touched: it rests on something refuted.
    """

    id: str
    label: str
    href: str
    says: str
    verdict: str
    touched: bool


def layers(rests_on: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The statements by the longest way up from each; a way that returns to itself is cut.

    rests_on: for each id the ids it rests on; ids that are no keys are ignored. Inside a layer the
    order is that of the barycentres of its neighbours, which keeps most arrows short.
    """
    depth: dict[str, int] = {}
    for start in rests_on:
        # Depth first without recursion: an audit may hold a chain of any length.
        stack = [(start, False)]
        open_: set[str] = set()
        while stack:
            name, finished = stack.pop()
            if finished:
                above = [depth[r] for r in rests_on[name] if r in depth and r not in open_]
                depth[name] = max(above, default=-1) + 1
                open_.discard(name)
            elif name not in depth and name not in open_:
                open_.add(name)
                stack.append((name, True))
                stack += [(r, False) for r in rests_on[name] if r in rests_on and r not in depth]
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in rests_on:
        rows[depth[name]].append(name)
    carries: dict[str, list[str]] = {name: [] for name in rests_on}
    for name, below in rests_on.items():
        for other in below:
            if other in carries:
                carries[other].append(name)
    place = {name: (i + 0.5) / len(row) for row in rows for i, name in enumerate(row)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):

            def centre(name: str, down: bool = down) -> float:
                near = [r for r in (rests_on if down else carries)[name] if r in place]
                return sum(place[r] for r in near) / len(near) if near else place[name]

            row.sort(key=centre)
            for i, name in enumerate(row):
                place[name] = (i + 0.5) / len(row)
    return rows


def draw(
    boxes: Sequence[Box],
    rests_on: Mapping[str, Sequence[str]],
    *,
    title: str,
    description: str,
    prefix: str,
    width: float = 1040.0,
) -> str:
    """The map as SVG markup.

    rests_on: for each box's id the ids it rests on. prefix: of the ids inside the picture, so that
    two pictures may stand on one page.
    """
    named = {box.id: box for box in boxes}
    known = {name: [r for r in rests_on.get(name, ()) if r in named] for name in named}
    place, height = _places(layers(known), named, width)
    out = [
        f'<svg class="map" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="group" aria-labelledby="{prefix}-title {prefix}-desc">',
        f'<title id="{prefix}-title">{escape(title)}</title>',
        f'<desc id="{prefix}-desc">{escape(description)}</desc>',
    ]
    number = {name: i for i, name in enumerate(named)}
    for name, above in known.items():
        for other in dict.fromkeys(above):
            wrong = named[other].verdict == "refuted" or named[other].touched
            out.append(_arrow(place[other], place[name], number[other], number[name], wrong))
    for name, box in named.items():
        x, y, wide = place[name]
        kind = "box" + (" touched" if box.touched and box.verdict != "refuted" else "")
        tip = f"{box.label}: {box.verdict}. {box.says}"
        out.append(
            f'<a href="{escape(box.href)}" class="{kind} v-{escape(box.verdict)}" '
            f'data-n="{number[name]}" aria-label="{escape(f"{box.label}, {box.verdict}")}">'
            f"<title>{escape(tip)}</title>"
            f'<rect x="{x - wide / 2:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_HEIGHT}" '
            f'rx="3"></rect>'
            f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">'
            f"{MARKS.get(box.verdict, '')} {escape(box.label)}</text></a>"
        )
    return "".join(out) + "</svg>"


def _places(
    rows: Sequence[Sequence[str]], named: Mapping[str, Box], width: float
) -> tuple[dict[str, tuple[float, float, float]], float]:
    """Centre, top and width of every box; a layer that is too wide takes several rows."""
    place: dict[str, tuple[float, float, float]] = {}
    y = 8.0
    for row in rows:
        lines: list[list[str]] = [[]]
        used = 0.0
        for name in row:
            wide = _wide(named[name])
            if lines[-1] and used + wide + _GAP > width:
                lines.append([])
                used = 0.0
            lines[-1].append(name)
            used += wide + _GAP
        for line in lines:
            free = width - sum(_wide(named[name]) for name in line)
            gap = free / (len(line) + 1)
            x = gap
            for name in line:
                wide = _wide(named[name])
                place[name] = (x + wide / 2, y, wide)
                x += wide + gap
            y += _ROW
        y += _LAYER
    return place, y - _LAYER + 4


def _wide(box: Box) -> float:
    return _CHARACTER * (len(box.label) + 2) + 12


def _arrow(
    start: tuple[float, float, float], end: tuple[float, float, float], a: int, b: int, wrong: bool
) -> str:
    x0, y0 = start[0], start[1] + _HEIGHT
    x1, y1 = end[0], end[1]
    bend = max(20.0, abs(y1 - y0) / 2)
    kind = "edge wrong" if wrong else "edge"
    return (
        f'<path class="{kind}" data-a="{a}" data-b="{b}" fill="none" '
        f'd="M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} '
        f'{x1:.1f} {y1:.1f}"></path>'
    )
