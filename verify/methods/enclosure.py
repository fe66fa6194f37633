"""Balls on points and on boxes: comparisons that are proved, refuted, or left undecided."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Formulas:
    """Both sides of a comparison in the language of certificates, and the exact point.

    With them another program can compute both sides again. Parameters that neither formula uses
    are left out.
    """

    left: str
    right: str
    at: Mapping[str, int | Fraction]

    def used(self) -> dict[str, str]:
        """The parameters as exact texts."""
        words = set(re.findall(r"[A-Za-z_]\w*", f"{self.left} {self.right}"))
        return {name: str(Fraction(x)) for name, x in self.at.items() if name in words}


PLACES = 15


def rounded(x: Any) -> list[str]:
    """A ball's number rounded down and up to 15 digits, or twice the simple rational that it is.

    Raises:
        ValueError: the ball is too wide to tell.
    """
    low, high = decimal_bounds(flint.arb(x), PLACES)
    if low == high:
        return [str(Fraction(low))] * 2
    size = max(abs(Fraction(low)), abs(Fraction(high)))
    if Fraction(high) - Fraction(low) > 3 * size / 10 ** (PLACES - 1):
        raise ValueError(f"a ball from {low} to {high} does not give {PLACES} digits")
    simple = Fraction((Fraction(low) + Fraction(high)) / 2).limit_denominator(10**6)
    with precision(1024):
        if (flint.arb(x) - rational(simple)).contains(0):
            return [str(simple)] * 2
    size = max(abs(Fraction(low)), abs(Fraction(high)))
    if Fraction(high) - Fraction(low) > size / 10 ** (PLACES - 1):
        raise ValueError(f"a ball from {low} to {high} does not give {PLACES} digits")
    return [low, high]


def points(rows: Iterable[tuple[Formulas, Any, Any]], relation: str) -> list[dict[str, Any]]:
    """Certificates for many comparisons that hold, one for each pair of formulas.

    rows: the formulas with their point, and both sides as balls.
    """
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    for formulas, left, right in rows:
        at = formulas.used()
        one = made.setdefault((formulas.left, formulas.right, *at), {
            "kind": "points", "formulas": {"left": formulas.left, "right": formulas.right},
            "relation": relation, "names": list(at), "at": [], "values": [],
        })  # fmt: skip
        one["at"].append(list(at.values()))
        one["values"].append([rounded(left), rounded(right)])
    return list(made.values())


def exact_point(
    formulas: Formulas, left: Fraction, right: Fraction, relation: str
) -> dict[str, Any]:
    """A certificate for two exact numbers that are the values of two formulas."""
    return {
        "kind": "point", "parameters": formulas.used(),
        "formulas": {"left": formulas.left, "right": formulas.right},
        "left": [str(Fraction(left))] * 2, "right": [str(Fraction(right))] * 2,
        "relation": relation,
    }  # fmt: skip


def compare(
    left: Any,
    right: Any,
    *,
    parameters: Mapping[str, Any],
    relation: str,
    domain: str,
    what: str,
    formulas: Formulas | None = None,
) -> Finding:
    """Whether `left relation right` holds at one point, by two balls; relation "<=", "<" or "=".

    formulas: what the balls enclose, where it is a formula of the language of certificates.
    """
    sides = [list(decimal_bounds(flint.arb(side), 25)) for side in (left, right)]
    certificate: dict[str, Any] = {
        "kind": "point",
        "parameters": {k: show(v) for k, v in parameters.items()},
        "left": sides[0],
        "right": sides[1],
        "relation": relation,
    }
    if formulas is not None:
        certificate |= {
            "parameters": formulas.used(), "left": rounded(left), "right": rounded(right),
            "formulas": {"left": formulas.left, "right": formulas.right},
        }  # fmt: skip
    numbers = f"{what}: {sides[0][0]} against {sides[1][0]}"
    if relation == "=":
        outcome = "undecided" if left.overlaps(right) else "fails"
    elif left < right or (relation == "<=" and left <= right):
        outcome = "holds"
    elif left > right or (relation == "<" and left >= right):
        outcome = "fails"
    else:
        return Finding(
            "undecided", "point", domain, f"{what}: the balls overlap", relation=relation
        )  # fmt: skip
    return Finding(outcome, "point", domain, numbers, certificate=certificate, relation=relation)


def positive_on_box(
    f: Callable[..., Any],
    box: Box,
    *,
    domain: str,
    what: str,
    whole: bool,
    formula: str = "",
    most: int = 20_000,
    bits: int = BITS,
) -> Finding:
    """Prove f > 0 on a box by subdivision; f takes one ball per side, by name.

    A midpoint where f is certainly not positive refutes it, and is reported exactly.
    formula: f in the language of certificates, with the names of the sides.
    """
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
    certificate: dict[str, Any] = {
        "kind": "boxes",
        "box": {n: [str(a), str(b)] for n, (a, b) in box.items()},
    }
    if formula:
        with precision(bits):
            corners = [rounded(f(**{n: ball(ends[i]) for n, ends in box.items()})) for i in (0, 1)]
        certificate |= {"formula": formula, "corners": corners}
    else:
        certificate["rests on"] = f"{done} boxes of a function that is no formula"
    return Finding(
        "holds", "box", domain, f"{what}: {done} boxes", whole, certificate, relation=">"
    )


def _span(a: Fraction, b: Fraction) -> Any:
    return ball(a).union(ball(b))


def _width(low: Fraction, high: Fraction, a: Fraction, b: Fraction) -> Fraction:
    return (b - a) / (high - low) if high > low else Fraction(0)
