"""Symbolic identities, settled by polynomial arithmetic and again by exact evaluation.

No verdict rests on a simplifier: an expression is zero when the numerator of its common fraction
is the zero polynomial, and it is evaluated besides at random rational points. The certificate holds
both sides as they were handed over, so that another program can tell that they agree.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import sympy as sp

from reports.records import Link
from verify.methods.neutral import neutral
from verify.statement import Finding

POINTS = 12


@dataclass(frozen=True)
class Equation:
    """Two sides, kept apart: sympy would cancel their difference as soon as it is made.

    A side may be a function without arguments that makes it. It is then made once more with sympy's
    evaluation switched off, and the certificate shows it as it was put together and not as sympy
    simplifies it. A derivative in a side is best a `sp.Derivative`, a substitution a `sp.Subs`:
    they are carried out here, and written down as what they are in the certificate.
    """

    left: Any
    right: Any = 0
    shown: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        made = (self.left, self.right)
        if any(callable(side) and not isinstance(side, sp.Basic) for side in made):
            object.__setattr__(self, "left", _made(self.left))
            object.__setattr__(self, "right", _made(self.right))
            object.__setattr__(self, "shown", made)

    @property
    def difference(self) -> Any:
        """Left minus right, with derivatives carried out."""
        return _done(self.left) - _done(self.right)

    def texts(self) -> list[str]:
        """Both sides for the certificate."""
        if self.shown is not None:
            # Not everything can be made without evaluation; such a side is shown as it evaluates.
            with suppress(Exception):
                with sp.evaluate(False):
                    shown = [_made(side) for side in self.shown]
                left, right = (_cancelled(_done(side)) for side in shown)
                flat, names = _flatten(sp.expand_power_base(left - right))
                if _nonzero_point(flat, names, 0) is None:
                    return neutral(*shown)
        return neutral(_integrated(self.left), _integrated(self.right))


def _made(side: Any) -> Any:
    return sp.sympify(side() if callable(side) and not isinstance(side, sp.Basic) else side)


def _done(side: Any) -> Any:
    made = sp.sympify(side)
    return made.replace(lambda e: isinstance(e, sp.Derivative | sp.Subs), lambda e: e.doit())


def _cancelled(side: Any) -> Any:
    """Without logarithms of exponentials and the reverse, which the checker knows of too."""
    inverse = {sp.log: sp.exp, sp.exp: sp.log}
    return side.replace(
        lambda e: isinstance(e, sp.log | sp.exp) and isinstance(e.args[0], inverse[e.func]),
        lambda e: e.args[0].args[0],
    )


def _integrated(side: Any) -> Any:
    made = sp.sympify(side)
    return made.replace(lambda e: isinstance(e, sp.Integral), lambda e: e.doit())


def where(point: Mapping[str, Any]) -> str:
    """A point in words: `l = 2, x = 1/3`."""
    return ", ".join(f"{name} = {value}" for name, value in point.items())


def identity(
    left: Any,
    right: Any,
    domain: str,
    what: str,
    *,
    whole: bool = True,
    seed: int = 0,
    rests_on: str = "",
) -> Finding:
    """Whether two sides agree identically; see `rational_identity`."""
    return rational_identity(
        Equation(left, right), domain, what, whole=whole, seed=seed, rests_on=rests_on
    )


def rational_identity(
    claim: Any, domain: str, what: str, *, whole: bool = True, seed: int = 0, rests_on: str = ""
) -> Finding:
    """Whether an `Equation` holds identically; anything else is claimed to be 0.

    Function applications and powers with symbolic exponents count as symbols of their own.
    rests_on: what of the argument the certificate does not show, where the sides were computed
    from something else first (an integral, a limit).
    """
    made = claim if isinstance(claim, Equation) else Equation(claim)
    flat, names = _flatten(sp.expand_power_base(sp.sympify(made.difference)))
    numerator = sp.fraction(sp.together(flat))[0]
    zero = sp.Poly(numerator, *sorted(names, key=str)).is_zero if names else numerator == 0
    witness = _nonzero_point(flat, names, seed)
    if zero and witness is None:
        if any(sp.sympify(side).has(sp.Integral) for side in (made.left, made.right)):
            rests_on = rests_on or "an integral evaluated by sympy"
        left, right = made.texts()
        certificate = {
            "kind": "definition" if left == right else "identity", "left": left, "right": right,
        }  # fmt: skip
        if rests_on:
            certificate["rests on"] = rests_on
        return Finding("holds", "symbolic", domain, what, whole, certificate, relation="=")
    if witness is not None:
        point, value = witness
        return Finding(
            "fails", "point", domain, f"{what}: the two sides differ by {value} at {where(point)}",
            certificate=_failure(made, names, seed)
            or {
                "kind": "point", "parameters": point, "left": [str(value)] * 2,
                "right": ["0", "0"], "relation": "=",
                "rests on": "the difference of the two sides, with values for their functions",
            },
            relation="=",
        )  # fmt: skip
    return Finding(
        "undecided", "symbolic", domain, f"{what}: zero at points, not as a polynomial",
        relation="=",
    )  # fmt: skip


def _failure(made: Equation, names: Iterable[Any], seed: int) -> dict[str, Any] | None:
    """A certificate that the two sides differ, where they are rational in their symbols."""
    sides = [_done(made.left), _done(made.right)]
    free = sorted(sides[0].free_symbols | sides[1].free_symbols, key=str)
    if set(free) != set(names) or not all(side.is_rational_function(*free) for side in sides):
        return None
    found = _nonzero_point(sides[0] - sides[1], free, seed)
    if found is None:
        return None
    values = [side.subs({x: sp.Rational(found[0][str(x)]) for x in free}) for side in sides]
    left, right, *plain = neutral(*sides, *free)
    return {
        "kind": "point",
        "parameters": {x: found[0][str(symbol)] for x, symbol in zip(plain, free, strict=True)},
        "formulas": {"left": left, "right": right}, "relation": "=",
        "left": [str(values[0])] * 2, "right": [str(values[1])] * 2,
    }  # fmt: skip


def _flatten(expression: Any) -> tuple[Any, set[Any]]:
    """Replace everything that is not rational arithmetic by fresh symbols."""
    table: dict[Any, Any] = {}

    def visit(node: Any) -> Any:
        if node.is_Rational or node.is_Symbol:
            return node
        if isinstance(node, sp.Pow):
            if node.exp.is_Integer:
                return visit(node.base) ** node.exp
            return _split_power(node, visit, table)
        if isinstance(node, sp.Add | sp.Mul):
            return node.func(*[visit(part) for part in node.args])
        return table.setdefault(node, sp.Symbol(f"_f{len(table)}"))

    flat = visit(expression)
    return flat, flat.free_symbols


def _split_power(node: Any, visit: Any, table: dict[Any, Any]) -> Any:
    """b**(i + r) as b**i times one symbol for b**r, so that powers of one base combine."""
    whole, rest = sp.Integer(0), sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(node.exp)):
        if term.is_Integer:
            whole += term
        else:
            rest += term
    factor = sp.Integer(1)
    for term in sp.Add.make_args(rest):
        coefficient, free = term.as_coeff_Mul()
        if not coefficient.is_Integer:
            coefficient, free = sp.Integer(1), term
        key = (visit(node.base), free)
        factor *= table.setdefault(key, sp.Symbol(f"_p{len(table)}")) ** coefficient
    return visit(node.base) ** whole * factor


def _nonzero_point(flat: Any, names: Iterable[Any], seed: int) -> tuple[dict[str, str], Any] | None:
    ordered = sorted(names, key=str)
    draw = random.Random(seed)
    for _ in range(POINTS):
        point = {
            name: Fraction(draw.randint(1, 97), draw.choice((7, 11, 13, 17, 19)))
            for name in ordered
        }
        try:
            value = _value(flat, dict(point))
        except ZeroDivisionError:
            continue
        if value != 0:
            return {str(k): str(v) for k, v in point.items()}, value
    return None


def _value(node: Any, known: dict[Any, Fraction]) -> Fraction:
    """The value of a flat expression in exact arithmetic, without sympy's."""
    found = known.get(node)
    if found is None:
        if node.is_Rational:
            found = Fraction(node.p, node.q)
        elif isinstance(node, sp.Pow):
            found = _value(node.base, known) ** int(node.exp)
        elif isinstance(node, sp.Add):
            found = sum((_value(part, known) for part in node.args), start=Fraction(0))
        elif isinstance(node, sp.Mul):
            found = prod((_value(part, known) for part in node.args), start=Fraction(1))
        else:
            raise TypeError(f"{node} is not rational arithmetic")
        known[node] = found
    return found


def positive_terms(polynomial: Any, domain: str, what: str) -> Finding:
    """Whether a polynomial is positive for positive symbols because all its coefficients are."""
    made = sp.Poly(sp.expand(polynomial), *sorted(polynomial.free_symbols, key=str))
    if min(made.coeffs()) <= 0:
        return Finding("undecided", "symbolic", domain, f"{what}: a coefficient is not positive")
    text, *names = neutral(polynomial, *made.gens)
    terms = {
        tuple(sorted((name, power) for name, power in zip(names, powers, strict=True) if power)):
        str(c) for powers, c in made.terms()
    }  # fmt: skip
    certificate = {
        "kind": "positive", "polynomial": text,
        "coefficients": [terms[key] for key in sorted(terms)],
    }  # fmt: skip
    return Finding("holds", "symbolic", domain, what, True, certificate, relation=">")


def positive_on_interval(
    polynomial: Any, x: Any, low: Fraction, high: Fraction, domain: str, what: str
) -> Finding:
    """Whether a polynomial in one symbol is positive on a closed interval: it has no zero there."""
    made = sp.Poly(polynomial, x)
    ends = [sp.Rational(end.numerator, end.denominator) for end in (low, high)]
    values = [made.eval(end) for end in ends]
    for end, value in zip((low, high), values, strict=True):
        if value <= 0:
            return Finding(
                "fails", "point", domain, f"{what}: {value} at {end}",
                certificate={
                    "kind": "point", "parameters": {neutral(x)[0]: str(end)}, "relation": "<",
                    "formulas": {"left": "0", "right": neutral(polynomial)[0]},
                    "left": ["0", "0"], "right": [str(value)] * 2,
                },
            )  # fmt: skip
    if made.count_roots(*ends) or not made.is_sqf:
        return Finding("undecided", "symbolic", domain, f"{what}: it has a zero there, or a double")
    text, name = neutral(polynomial, x)
    return Finding(
        "holds", "symbolic", domain, what, True,
        {"kind": "sturm", "polynomial": text, "name": name, "interval": [str(low), str(high)],
         "values": [str(value) for value in values]},
        relation=">",
    )  # fmt: skip


def all_hold(findings: Iterable[Finding]) -> Finding:
    """One finding for several links: the first that does not hold, else all of them together.

    A generator is followed no further than the first that does not hold. The links of a link take
    its place.
    """
    kept: list[Finding] = []
    links: list[Link] = []
    for found in findings:
        links += found.links or [Link(found.relation, found.detail, found.outcome, found.strength)]
        if found.outcome != "holds":
            return replace(found, links=tuple(links))
        kept.append(found)
    weakest = max(
        kept, key=lambda item: ("symbolic", "box", "point", "sampled").index(item.strength)
    )
    return Finding(
        "holds", weakest.strength, kept[0].domain, "; ".join(item.detail for item in kept),
        all(item.whole for item in kept),
        {"kind": "links", "links": [dict(item.certificate or {}) for item in kept]},
        links=tuple(links),
    )  # fmt: skip
