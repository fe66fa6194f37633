"""Symbolic identities, settled by polynomial arithmetic and again by exact evaluation.

No verdict rests on a simplifier: an expression is zero when the numerator of its common fraction
is the zero polynomial, and it is evaluated besides at random rational points.
"""

from __future__ import annotations

import keyword
import random
import re
from collections.abc import Iterable
from fractions import Fraction
from math import prod
from typing import Any

import sympy as sp

from verify.statement import Finding

POINTS = 12


def rational_identity(
    difference: Any, domain: str, what: str, *, whole: bool = True, seed: int = 0
) -> Finding:
    """Whether a rational expression in its symbols vanishes identically.

    Function applications and powers with symbolic exponents count as symbols of their own.
    """
    flat, names = _flatten(sp.sympify(difference))
    numerator = sp.fraction(sp.together(flat))[0]
    zero = sp.Poly(numerator, *sorted(names, key=str)).is_zero if names else numerator == 0
    witness = _nonzero_point(flat, names, seed)
    if zero and witness is None:
        certificate = {
            "kind": "identity", "expression": neutral(difference), "points": POINTS, "seed": seed,
        }  # fmt: skip
        return Finding("holds", "symbolic", domain, what, whole, certificate)
    if witness is not None:
        point, value = witness
        return Finding(
            "fails", "point", domain, f"{what}: the two sides differ by {value} at {point}",
            certificate={"kind": "point", "parameters": point, "difference": str(value)},
        )  # fmt: skip
    return Finding("undecided", "symbolic", domain, f"{what}: zero at points, not as a polynomial")


def neutral(expression: Any) -> str:
    """The expression as text in the grammar of certificates: its names are identifiers."""
    made = sp.sympify(expression)
    names: dict[Any, Any] = {}
    for symbol in sorted(made.free_symbols, key=str):
        plain = re.sub(r"\W", "_", str(symbol))
        plain = (
            f"{plain}_" if keyword.iskeyword(plain) or sp.Symbol(plain) in names.values() else plain
        )
        if plain != str(symbol):
            names[symbol] = sp.Symbol(plain)
    return str(made.xreplace(names))


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


def all_hold(findings: Iterable[Finding]) -> Finding:
    """One finding for several links: the first that does not hold, else all of them together.

    A generator is followed no further than the first that does not hold.
    """
    kept: list[Finding] = []
    for found in findings:
        if found.outcome != "holds":
            return found
        kept.append(found)
    weakest = max(
        kept, key=lambda item: ("symbolic", "box", "point", "sampled").index(item.strength)
    )
    return Finding(
        "holds", weakest.strength, kept[0].domain, "; ".join(item.detail for item in kept),
        all(item.whole for item in kept),
        {"kind": "links", "links": [dict(item.certificate or {}) for item in kept]},
    )  # fmt: skip
