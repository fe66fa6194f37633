"""Lemma 4.1: joint convexity of the exponentiated Renyi divergence."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from bounds.arith.ball import precision
from verify.methods.enclosure import BITS, ball, compare
from verify.methods.properties import fractions, try_to_break
from verify.methods.symbolic import identity
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "lem-4.1",
        printed="exp((alpha-1) R_alpha(sum p_j mu_j || sum p_j nu_j)) <= "
        "sum p_j exp((alpha-1) R_alpha(mu_j || nu_j)), alpha >= 1, p_j >= 0, sum p_j = 1",
        rests_on=("def-b2",),
        reading="at alpha = 1 both sides are 1; infinite values are allowed on the right. The "
        "proof's (134) integrates against mu where nu is meant",
    ),
)


@check(
    "lem-4.1", "derived", "symbolic Hessian",
    form=lambda x, y, alpha: x**alpha * y ** (1 - alpha),
    mutants={
        "exponent of y not 1 - alpha": lambda x, y, alpha: x**alpha * y ** (-alpha),
        "x alone": lambda x, y, alpha: x**alpha * y**2,
        "order below 1": lambda x, y, alpha: -(x**alpha) * y ** (1 - alpha),
    },
)  # fmt: skip
def integrand_is_jointly_convex(form: Callable[..., Any], run: Run) -> Finding:
    """exp((alpha-1) R_alpha) integrates h(mu, nu), h = x^alpha y^(1-alpha), which is convex.

    Its Hessian is alpha (alpha-1) x^(alpha-2) y^(-alpha-1) times [[y^2, -xy], [-xy, x^2]], a
    non-negative multiple of the square (y dx - x dy)^2. Convexity under the integral is the lemma,
    for any m and any weights.
    """
    x, y, alpha, dx, dy = sp.symbols("x y alpha dx dy", positive=True)
    h = form(x, y, alpha)
    by_x, by_y = sp.Derivative(h, x), sp.Derivative(h, y)
    second = (
        sp.Derivative(by_x, x) * dx**2
        + 2 * sp.Derivative(by_x, y) * dx * dy
        + sp.Derivative(by_y, y) * dy**2
    )
    square = alpha * (alpha - 1) * x ** (alpha - 2) * y ** (-alpha - 1) * (y * dx - x * dy) ** 2
    return identity(
        second, square, "all x, y > 0 and alpha >= 1",
        "the Hessian form is alpha (alpha-1) x^(alpha-2) y^(-alpha-1) (y dx - x dy)^2 >= 0",
        seed=run.seed,
    )  # fmt: skip


@st.composite
def _mixtures(draw: Any) -> dict[str, Any]:
    size, parts = draw(st.integers(2, 3)), draw(st.integers(2, 3))

    def law(length: int) -> list[Fraction]:
        weights = [draw(st.integers(1, 40)) for _ in range(length)]
        return [Fraction(w, sum(weights)) for w in weights]

    order = st.one_of(st.sampled_from((Fraction(1), Fraction(1001, 1000), Fraction(60))),
                      fractions("1", "20"))  # fmt: skip
    return {
        "weights": law(parts), "first": [law(size) for _ in range(parts)],
        "second": [law(size) for _ in range(parts)], "alpha": draw(order),
    }  # fmt: skip


def _power_sum(p: list[Fraction], q: list[Fraction], alpha: Fraction) -> Any:
    return sum(
        (ball(y) * (ball(alpha) * ball(x / y).log()).exp() for x, y in zip(p, q, strict=True)),
        start=ball(0),
    )


@check(
    "lem-4.1", "valid", "balls on finite laws, Hypothesis",
    form=lambda weights, values: sum(
        (ball(w) * v for w, v in zip(weights, values, strict=True)), start=ball(0)
    ),
    mutants={
        "the smallest for the average": lambda weights, values: min(values, key=float),
        "squares of the weights": lambda weights, values: sum(
            (ball(w * w) * v for w, v in zip(weights, values, strict=True)), start=ball(0)
        ),
    },
)  # fmt: skip
def holds_for_finite_laws(form: Callable[..., Any], run: Run) -> Finding:
    """The inequality for mixtures of two or three laws on two or three points."""

    def sides(point: dict[str, Any]) -> tuple[Any, Any]:
        weights, alpha = point["weights"], point["alpha"]
        mixed = [
            [sum((w * law[i] for w, law in zip(weights, laws, strict=True)), start=Fraction(0))
             for i in range(len(laws[0]))]
            for laws in (point["first"], point["second"])
        ]  # fmt: skip
        values = [
            _power_sum(p, q, alpha) for p, q in zip(point["first"], point["second"], strict=True)
        ]
        return _power_sum(mixed[0], mixed[1], alpha), form(weights, values)

    def holds(point: dict[str, Any]) -> bool:
        with precision(BITS):
            left, right = sides(point)
            return not left > right

    def certify(point: dict[str, Any]) -> Finding:
        with precision(BITS):
            left, right = sides(point)
            return compare(left, right, parameters={"alpha": point["alpha"]}, relation="<=",
                           domain="finite laws", what="mixture against average")  # fmt: skip

    return try_to_break(
        _mixtures(), holds, run, certify=certify, domain="finite laws, orders from 1 to 60",
        what="the mixture's moment is at most the average of the moments",
    )  # fmt: skip
