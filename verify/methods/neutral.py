"""sympy expressions as text in the language of certificates (verify/certificates/GRAMMAR.md).

Nothing is simplified on the way: what stands in the tree is what is written, with derivatives,
substitutions and sums left as they are.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

_OWN = {
    sp.exp: "exp", sp.log: "log", sp.Abs: "abs", sp.floor: "floor", sp.ceiling: "ceil",
    sp.Min: "min", sp.Max: "max", sp.binomial: "binomial",
}  # fmt: skip
_TAKEN = {
    "pi", "exp", "log", "sqrt", "expm1", "log1p", "abs", "floor", "ceil", "min", "max",
    "binomial", "let", "sum", "diff", "iterate",
}  # fmt: skip


def neutral(*expressions: Any) -> list[str]:
    """The expressions as texts, in which one symbol has one name.

    Raises:
        TypeError: something in them has no place in the language.
    """
    made = [sp.sympify(expression) for expression in expressions]
    found = set().union(*(expression.atoms(sp.Symbol) for expression in made))
    found |= {node.func for expression in made for node in expression.atoms(AppliedUndef)}
    names: dict[Any, str] = {}
    for symbol in sorted(found, key=lambda s: (str(s), getattr(s, "dummy_index", 0))):
        plain = re.sub(r"\W", "_", str(symbol), flags=re.ASCII)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        while plain in _TAKEN or plain in names.values():
            plain += "_"
        names[symbol] = plain
    return [_text(expression, names) for expression in made]


def _text(e: Any, names: dict[Any, str]) -> str:
    """One expression; sums are written without brackets of their own."""

    def inner(part: Any) -> str:
        written = _text(part, names)
        return written if re.fullmatch(r"\w+(\(\w*\))?", written) else f"({written})"

    def call(name: str, *args: Any) -> str:
        return f"{name}({', '.join(_text(sp.sympify(arg), names) for arg in args)})"

    if e.is_Symbol:
        return names[e]
    if e is sp.pi:
        return "pi"
    if e is sp.E:
        return "exp(1)"
    if e.is_Rational:
        return f"{e.p}" if e.q == 1 else f"{e.p}/{e.q}"
    if isinstance(e, sp.Add):
        terms = [_text(part, names) for part in e.args]
        terms = [f"({t})" if isinstance(part, sp.Add) else t
                 for t, part in zip(terms, e.args, strict=True)]  # fmt: skip
        return " + ".join(terms).replace(" + -", " - ")
    if isinstance(e, sp.Mul):
        return _product(e, inner)
    if isinstance(e, sp.Pow):
        if e.exp == sp.Rational(1, 2):
            return call("sqrt", e.base)
        if e.exp.is_Rational and e.exp < 0:
            return _product(e, inner)
        return f"{inner(e.base)}**{inner(e.exp)}"
    if isinstance(e, sp.Min | sp.Max):
        args = list(e.args)
        text = _text(args.pop(), names)
        while args:
            text = f"{_OWN[e.func]}({_text(args.pop(), names)}, {text})"
        return text
    if e.func in _OWN:
        return call(_OWN[e.func], *e.args)
    if isinstance(e, sp.Sum) and len(e.limits) == 1:
        return call("sum", *e.limits[0], e.function)
    if isinstance(e, sp.Derivative):
        text = _text(e.expr, names)
        for variable, count in e.variable_count:
            for _ in range(int(count)):
                text = f"diff({text}, {_text(variable, names)})"
        return text
    if isinstance(e, sp.Subs):
        if e.point.free_symbols & set(e.variables):
            raise TypeError(f"{e} puts in what it replaces")
        text = _text(e.expr, names)
        for variable, point in zip(e.variables, e.point, strict=True):
            text = f"let({names[variable]}, {_text(point, names)}, {text})"
        return text
    if isinstance(e, AppliedUndef):
        return call(names[e.func], *e.args)
    raise TypeError(f"{type(e).__name__} has no place in the language of certificates: {e}")


def _product(e: Any, inner: Any) -> str:
    """A product or a negative power, with divisors behind strokes."""
    above, below, sign = [], [], ""
    for part in sp.Mul.make_args(e):
        if part.is_Rational:
            sign = "" if sign == ("-" if part < 0 else "") else "-"
            above += [str(abs(part.p))] if abs(part.p) != 1 else []
            below += [str(part.q)] if part.q != 1 else []
        elif isinstance(part, sp.Pow) and part.exp.is_Rational and part.exp < 0:
            below.append(inner(part.base if part.exp == -1 else sp.Pow(
                part.base, -part.exp, evaluate=False)))  # fmt: skip
        else:
            above.append(inner(part))
    return f"{sign}{'*'.join(above) or '1'}{''.join('/' + b for b in below)}"
