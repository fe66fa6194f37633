"""Log-Sobolev constant of the last iterate for strongly convex smooth losses (Lemma D.3).

Setting: fixed batches, point start, lambda-strongly convex beta-smooth losses,
eta < 2/(lambda + beta).
Statement: after t = K n/b updates the law satisfies the log-Sobolev inequality with constant at
least 1/(2 eta sigma^2 sum_{s<t} (1 - eta lambda)^(2s)).
Symbols: constant [1/parameter^2].
Direction: lower (the true constant is at least this).
Source: Ye and Shokri 2022, Lemma D.3, equation (76).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=1, eta="1/2", lambda_=1, beta=1, sigma2=1)
>>> find("lem-d.3").in_system(s, Exact)
Fraction(4, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import EPOCHS, NOISE, SMOOTHNESS, STEP_POSITIVE, STEP_SIZE, STRONGLY_CONVEX

SOURCE = Source(PAPER, "lem-d.3", "Lemma D.3", "(76)", "D.3")
SCHEME = "fixed order"
DIRECTION = "lower"
QUANTITY = "lsi-constant"
ASSUMPTIONS = (EPOCHS, NOISE, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """1/(2 eta sigma^2 sum of c^(2s)) [1/parameter^2]."""
    c = p.contraction
    shrinkage = ctx.one_minus_power(c, 2) / ctx.one_minus_power(c, 2 * p.steps)
    return shrinkage / (2 * p.eta * p.sigma2)


def printed(p: Parameters, ctx: Any) -> Any:
    """The recursion (77), update by update."""
    inverse = ctx.number(0)
    for _ in range(p.steps):
        inverse = ctx.power(p.contraction, 2) * inverse + 2 * p.eta * p.sigma2
    return 1 / inverse
