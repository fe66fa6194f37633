"""Definitions B.1 to B.3: nothing to prove; that they say something sensible is checked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import chain, combinations
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
        "def-b1",
        printed="P(A(D) in S) <= e^eps P(A(D') in S) + delta for all neighbouring D, D' and S",
        definition=True,
        reading="neighbours have one size and differ in at most one record (replace one)",
    ),
    Statement(
        "def-b2",
        printed="R_alpha(A(D) || A(D')) <= eps, R_alpha(mu || nu) = log(E_nu[(mu/nu)^alpha])/"
        "(alpha-1), alpha > 1",
        definition=True,
        reading="the densities exist, and mu is absolutely continuous with respect to nu; else "
        "the divergence is infinite. Lemma 4.1 and Lemma D.1 use order 1 too, where it is KL",
    ),
    Statement(
        "def-b3",
        printed="E[g^2 log g^2] - E[g^2] log E[g^2] <= (2/c) E[|grad g|^2] for all smooth g with "
        "E[g^2] < infinity",
        definition=True,
        reading="g smooth and square integrable; both sides may be infinite",
    ),
)


def _events(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), k) for k in range(size + 1)))


@check(
    "def-b1", "well-posed", "exact, all events of small spaces",
    form=lambda p, q, growth: sum(
        (max(x - growth * y, Fraction(0)) for x, y in zip(p, q, strict=True)), start=Fraction(0)
    ),
    mutants={
        "largest single excess": lambda p, q, growth: max(
            x - growth * y for x, y in zip(p, q, strict=True)
        ),
        "growth of 1 - eps": lambda p, q, growth: sum(
            (max(x - y / growth, Fraction(0)) for x, y in zip(p, q, strict=True)),
            start=Fraction(0),
        ),
    },
)  # fmt: skip
def least_delta(form: Callable[..., Any], run: Run) -> Finding:
    """For each eps the least delta exists: it is sum (p - e^eps q)_+, attained by one event.

    The supremum over all events is compared with that sum on three-point spaces, exactly; e^eps is
    a rational growth. It is 0 for equal laws and never exceeds 1.
    """
    p = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    q = (Fraction(1, 5), Fraction(1, 5), Fraction(3, 5))
    for growth in (Fraction(1), Fraction(3, 2), Fraction(3)):
        direct = max(
            sum((p[i] - growth * q[i] for i in event), start=Fraction(0)) for event in _events(3)
        )
        claimed = form(p, q, growth)
        if direct != claimed or not 0 <= claimed <= 1 or form(p, p, growth) != 0:
            return Finding(
                "fails", "point", "laws on three points",
                f"the least delta at e^eps = {growth} is {direct}, not {claimed}",
                certificate={"kind": "point", "parameters": {"growth": str(growth)},
                             "left": [str(direct)] * 2, "right": [str(claimed)] * 2,
                             "relation": "="},
            )  # fmt: skip
    return Finding(
        "holds", "point", "laws on three points, three growths",
        "the least delta is the sum of the positive parts of p - e^eps q",
        certificate={"kind": "points", "count": 3},
    )  # fmt: skip


@check(
    "def-b2", "well-posed", "symbolic, Gaussian family",
    form=lambda alpha, shift, variance: alpha * shift**2 / (2 * variance),
    mutants={
        "order lost": lambda alpha, shift, variance: shift**2 / (2 * variance),
        "standard deviation for variance": lambda alpha, shift, variance: alpha
        * shift**2 / (2 * variance**2),
        "half lost": lambda alpha, shift, variance: alpha * shift**2 / variance,
    },
)  # fmt: skip
def gaussian_value(form: Callable[..., Any], run: Run) -> Finding:
    """R_alpha(N(m, v) || N(0, v)) = alpha m^2/(2v), by completing the square.

    (mu/nu)^alpha nu has the exponent -(alpha (x-m)^2 + (1-alpha) x^2)/(2v) =
    -(x - alpha m)^2/(2v) + alpha (alpha-1) m^2/(2v), and the first part integrates to 1.
    """
    alpha, m, v, x = sp.symbols("alpha m v x", positive=True)
    exponent = -(alpha * (x - m) ** 2 + (1 - alpha) * x**2) / (2 * v)
    whole = -((x - alpha * m) ** 2) / (2 * v) + (alpha - 1) * form(alpha, m, v)
    return identity(
        exponent, whole, "all shifts, variances and orders",
        "the value for Gaussians of one variance", seed=run.seed,
    )  # fmt: skip


def _moment(p: list[Fraction], q: list[Fraction], alpha: Fraction) -> Any:
    return sum(
        (ball(y) * (ball(alpha) * ball(x / y).log()).exp() for x, y in zip(p, q, strict=True)),
        start=ball(0),
    )


@st.composite
def _pairs(draw: Any) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    size = draw(st.integers(2, 4))
    laws = []
    for _ in range(2):
        weights = [draw(st.integers(1, 50)) for _ in range(size)]
        laws.append([Fraction(w, sum(weights)) for w in weights])
    low = 1 + draw(fractions("1/100", "10"))
    return laws[0], laws[1], low, low + draw(fractions("1/100", "10"))


@check(
    "def-b2", "well-posed", "balls on finite laws, Hypothesis",
    form=lambda moment, alpha: moment.log() / ball(alpha - 1),
    part="order",
    mutants={
        "sign": lambda moment, alpha: -moment.log() / ball(alpha - 1),
        "divided by alpha^2": lambda moment, alpha: moment.log() / ball(alpha) ** 4,
    },
)  # fmt: skip
def monotone_and_not_negative(form: Callable[..., Any], run: Run) -> Finding:
    """Never negative, and nondecreasing in the order."""

    def sides(point: Any) -> tuple[Any, Any]:
        p, q, low, high = point
        return form(_moment(p, q, low), low), form(_moment(p, q, high), high)

    def holds(point: Any) -> bool:
        with precision(BITS):
            low, high = sides(point)
            return not (low < 0 or low > high)

    def certify(point: Any) -> Finding:
        with precision(BITS):
            low, high = sides(point)
            shown = {"low order": point[2], "high order": point[3]}
            if low < 0:
                return compare(ball(0), low, parameters=shown, relation="<=",
                               domain="finite laws", what="the divergence is negative")  # fmt: skip
            return compare(low, high, parameters=shown, relation="<=", domain="finite laws",
                           what="the divergence falls with the order")  # fmt: skip

    return try_to_break(
        _pairs(), holds, run, domain="laws on two to four points, orders to 21", certify=certify,
        what="R_alpha is not negative and grows with alpha",
    )  # fmt: skip


@check(
    "def-b3", "well-posed", "symbolic, Gaussian family and exponential test functions",
    form=lambda variance: 1 / variance,
    mutants={
        "constant of twice the Gaussian's": lambda variance: 2 / variance,
        "constant of half the Gaussian's": lambda variance: 1 / (2 * variance),
        "variance for its inverse": lambda variance: variance,
    },
)  # fmt: skip
def best_constant_of_a_gaussian(form: Callable[..., Any], run: Run) -> Finding:
    """N(0, v) has the constant 1/v and no better: g = exp(s x/2) gives equality for every s.

    g^2 = e^(s x), E[g^2] = e^(s^2 v/2) =: Z, E[g^2 log g^2] = s dZ/ds = s^2 v Z, log Z = s^2 v/2
    and |grad g|^2 = s^2 g^2/4: the two sides over Z are s^2 v/2 and (2/c) s^2/4. That the
    inequality holds for every g is Gross 1975, cited.
    """
    s, v = sp.symbols("s v", positive=True)
    normaliser = sp.exp(s**2 * v / 2)
    entropy = s * sp.diff(normaliser, s) / normaliser - s**2 * v / 2
    energy = 2 / form(v) * s**2 / 4
    return identity(
        entropy, energy, "every s and v", "entropy against energy for g = exp(s x/2)",
        seed=run.seed,
    )  # fmt: skip
