"""The code of every bound equals the printed formula beside it, by symbols, Fractions and balls."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp

from bounds.arith import NotRational, TooCostly
from bounds.arith.ball import Ball, accuracy, precision
from bounds.arith.exact import Exact
from bounds.arith.symbolic import Symbolic
from bounds.bound import Bound, bind, find, registry, symbolic_parameters
from bounds.setting import Setting
from tests.bounds.points import Point, fit, labels, reads_position

BITS = 240
LOSS = sp.Symbol("g", positive=True)
SHAPES = ((2, 1, 2), (3, 1, 2), (4, 1, 2), (5, 2, 1), (7, 2, 2))
"""n, b, K: two batches, three, an even number, b not dividing n, and both oddities."""


def small_points(count: int, seed: int) -> list[Point]:
    """Settings at which a sum over everything is short."""
    source = random.Random(seed)
    return [
        Point(
            batches=source.randint(2, 7), epochs=source.randint(1, 4),
            loss=Fraction(source.randint(1, 99), 100), order=Fraction(source.randint(11, 60), 10),
            rate=Fraction(source.randint(1, 300), 100), b=source.randint(1, 3),
            position=source.choice(("first", "middle", "last")),
        )
        for _ in range(count)
    ]  # fmt: skip


def is_atom(part: Any) -> bool:
    """Whether a part of an expression is a transcendental or irrational function of its symbols."""
    return isinstance(part, sp.exp | sp.log) or (
        isinstance(part, sp.Pow) and not part.exp.is_Integer and bool(part.free_symbols)
    )


def normal_form(expression: Any) -> Any:
    """The expression as a reduced fraction in its symbols and settled atoms.

    Equal rational functions have the same form. Fields of fractions reduce at every step, which
    keeps recursions short where `cancel` on the whole would not end.
    """
    names: dict[Any, Any] = {}

    def hide(part: Any) -> Any:
        if is_atom(part):
            return names.setdefault(settle(part), sp.Dummy())
        return part.func(*(hide(sub) for sub in part.args)) if part.args else part

    hidden = hide(expression)
    if not hidden.free_symbols:
        return expression
    field = sp.QQ.frac_field(*sorted(hidden.free_symbols, key=str))
    back = {dummy: atom for atom, dummy in names.items()}
    return field.to_sympy(field.from_sympy(hidden)).xreplace(back)


def settle(part: Any) -> Any:
    """An exponential, logarithm or power with its argument in normal form."""
    if isinstance(part, sp.exp) and (logs := part.args[0].atoms(sp.log)):
        (log,) = logs  # e^(y log x) = x^y
        return sp.Pow(normal_form(log.args[0]), normal_form(sp.expand(part.args[0] / log)))
    if isinstance(part, sp.Pow) and isinstance(part.base, sp.Pow):
        # The only roots are of 1 - 2 eta beta lambda/(beta + lambda), which is not negative.
        return settle(sp.Pow(part.base.base, part.base.exp * part.exp, evaluate=False))
    if isinstance(part, sp.Pow):
        return sp.Pow(normal_form(part.base), normal_form(part.exp))
    return part.func(normal_form(part.args[0]))


def same(left: Any, right: Any) -> bool:
    """Whether two expressions are equal as rational functions of symbols and settled atoms."""
    return bool(normal_form(normal_form(left) - normal_form(right)) == 0)


def shapes(bound: Bound) -> list[dict[str, int]]:
    """Small counts that the bound is about, with every kind of position."""
    found: list[dict[str, int]] = []
    for n, b, epochs in SHAPES:
        sizes = {"n": n, "b": n if "full-batch" in labels(bound) else b, "epochs": epochs}
        if "one-epoch" in labels(bound):
            sizes["epochs"] = 1
        batches = sizes["n"] // sizes["b"]
        places = {0, batches // 2, batches - 1} if reads_position(bound) else {batches - 1}
        found.extend({**sizes, "position": place} for place in sorted(places))
    return found


# Whole orders, for bounds that are a finite expression only there.
WHOLE_ORDER = {"sampled_gaussian"}
# A largest or smallest of several expressions, which no normal form decides: balls do.
PIECEWISE = {"optimal_fixed_order", "optimal_shuffle", "optimal_without_replacement"}


@pytest.mark.parametrize("name", [name for name in registry() if name not in PIECEWISE])
def test_by_symbols(name: str) -> None:
    bound = find(name)
    for sizes in shapes(bound):
        if name == "without_replacement" and sizes["epochs"] * (sizes["n"] // sizes["b"]) > 3:
            continue  # powers of powers of sums; balls take over
        for order in (2, 3) if name in WHOLE_ORDER else (None,):
            # lambda = g/eta is no restriction, and every contraction is a function of g alone.
            p = symbolic_parameters(
                **sizes, alpha=order, lambda_=LOSS / sp.Symbol("eta", positive=True)
            )
            left, right = bound.epsilon(p, Symbolic), bound.printed(p, Symbolic)
            assert not left.has(sp.Float), (name, sizes)
            assert not right.has(sp.Float), (name, sizes)
            assert same(left, right), (name, sizes)


@pytest.mark.parametrize("name", registry())
def test_by_fractions_and_balls(name: str) -> None:
    bound = find(name)
    exact = 0
    for point in small_points(25, seed=11):
        setting = bound.check(fit(bound, point.setting()))
        with precision(BITS):
            ctx = Ball(BITS)
            p = bind(setting, ctx)
            left, right = bound.epsilon(p, ctx), bound.printed(p, ctx)
            assert left.overlaps(right), (left, right, point)
            assert min(accuracy(left), accuracy(right)) > 100, (left, right, point)
        try:
            both = [bound.in_system(setting, Exact, printed=printed) for printed in (False, True)]
        except (NotRational, TooCostly):
            continue
        assert both[0] == both[1], point
        exact += 1
    assert exact in (0, 25) or "balle" in name


def test_symbols_are_exact_in_every_field() -> None:
    p = symbolic_parameters(n=5, b=2, epochs=3, eta="0.02")
    assert p.eta == sp.Rational(1, 50)
    assert (p.batches, p.half, p.steps, p.position) == (2, 1, 6, 1)
    assert p.b / p.n == sp.Rational(2, 5)
    for value in vars(replace(p)).values():
        assert not isinstance(value, float)
    size = sp.Symbol("l", integer=True, positive=True)
    p = symbolic_parameters(batches=size)
    assert p.batches == size
    assert p.position == size - 1
    assert p.half == sp.floor(size / 2)
    with pytest.raises(ValueError, match="not a parameter"):
        symbolic_parameters(learning_rate=1)


def test_closed_forms_accept_symbols_for_counts() -> None:
    size = sp.Symbol("l", integer=True, positive=True)
    p = symbolic_parameters(batches=size)
    left = find("fixed_order").epsilon(p, Symbolic)
    values = {size: 4, p.epochs: 3, p.eta_lambda.args[0]: sp.Rational(1, 5)}
    assert left.subs(values).free_symbols


@pytest.mark.parametrize("name", registry())
def test_a_wrong_formula_is_not_the_printed_one(name: str) -> None:
    """The comparison can fail: one part in 10^20 is seen, and so is a doubled rate."""
    bound = find(name)
    setting = bound.check(fit(bound, small_points(1, seed=5)[0].setting()))
    with precision(BITS):
        p = bind(setting, Ball(BITS))
        right = bound.printed(p, Ball(BITS))
        assert not (bound.epsilon(p, Ball(BITS)) * (1 + Ball.number(Fraction(1, 10**20)))).overlaps(
            right
        )


@pytest.mark.parametrize(
    ("name", "change"), list(product(("fixed_order", "shuffle_partition"), ("epochs", "half")))
)
def test_symbols_see_a_mutant(name: str, change: str) -> None:
    bound, p = find(name), symbolic_parameters(n=5, b=1, epochs=3)
    wrong = replace(p, **{change: getattr(p, change) + 1})
    assert not same(bound.epsilon(wrong, Symbolic), bound.printed(p, Symbolic))


def test_printed_in_a_setting() -> None:
    setting = Setting.of(
        n=4, b=1, epochs=2, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1, alpha=2
    )
    bound = find("fixed_order")
    assert bound.in_system(setting, Exact) == bound.in_system(setting, Exact, printed=True)
