"""Balls on points and on boxes: comparisons that are proved, refuted, or left undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint

from bounds.arith.ball import decimal_bounds, precision, rational
from bounds.setting import show
from verify.statement import Finding

BITS = 128
Box = Mapping[str, tuple[Fraction, Fraction]]


def ball(x: int | Fraction) -> Any:
    """A ball around an exact number."""
    return flint.arb(rational(x))


def compare(
    left: Any, right: Any, *, parameters: Mapping[str, Any], relation: str, domain: str, what: str
) -> Finding:
    """Whether `left relation right` holds at one point, by two balls; relation "<=", "<" or "="."""
    sides = [list(decimal_bounds(flint.arb(side), 25)) for side in (left, right)]
    certificate = {
        "kind": "point",
        "parameters": {k: show(v) for k, v in parameters.items()},
        "left": sides[0],
        "right": sides[1],
        "relation": relation,
    }
    numbers = f"{what}: {sides[0][0]} against {sides[1][0]}"
    if relation == "=":
        if not left.overlaps(right):
            return Finding("fails", "point", domain, numbers, certificate=certificate)
        return Finding("undecided", "point", domain, numbers, certificate=certificate)
    if left < right or (relation == "<=" and left <= right):
        return Finding("holds", "point", domain, numbers, certificate=certificate)
    if left > right or (relation == "<" and left >= right):
        return Finding("fails", "point", domain, numbers, certificate=certificate)
    return Finding("undecided", "point", domain, f"{what}: the balls overlap")


def positive_on_box(
    f: Callable[..., Any],
    box: Box,
    *,
    domain: str,
    what: str,
    whole: bool,
    most: int = 20_000,
    bits: int = BITS,
) -> Finding:
    """Prove f > 0 on a box by subdivision; f takes one ball per side, by name.

    A midpoint where f is certainly not positive refutes it, and is reported exactly.
    """  # fmt: skip
    names = list(box)
    todo = [tuple(box[name] for name in names)]
    done = 0
    with precision(bits):
        while todo:
            piece = todo.pop()
            value = f(**{n: _span(*side) for n, side in zip(names, piece, strict=True)})
            if value > 0:
                done += 1
                continue
            middle = {n: (a + b) / 2 for n, (a, b) in zip(names, piece, strict=True)}
            at = f(**{n: ball(x) for n, x in middle.items()})
            if at <= 0:
                point = {n: show(x) for n, x in middle.items()}
                return Finding(
                    "fails", "point", domain,
                    f"{what}: not positive at {point}",
                    certificate={
                        "kind": "point", "parameters": point, "left": ["0", "0"],
                        "right": list(decimal_bounds(at, 25)), "relation": "<",
                    },
                )  # fmt: skip
            if done + len(todo) >= most:
                return Finding("undecided", "box", domain, f"{what}: {most} boxes did not suffice")
            widest = max(range(len(names)), key=lambda i: _width(*box[names[i]], *piece[i]))
            a, b = piece[widest]
            for half in ((a, (a + b) / 2), ((a + b) / 2, b)):
                todo.append((*piece[:widest], half, *piece[widest + 1 :]))
    certificate = {
        "kind": "boxes",
        "box": {n: [show(a), show(b)] for n, (a, b) in box.items()},
        "boxes": done,
    }
    return Finding("holds", "box", domain, f"{what}: {done} boxes", whole, certificate)


def _span(a: Fraction, b: Fraction) -> Any:
    return ball(a).union(ball(b))


def _width(low: Fraction, high: Fraction, a: Fraction, b: Fraction) -> Fraction:
    return (b - a) / (high - low) if high > low else Fraction(0)
