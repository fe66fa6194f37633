"""Log-Sobolev constant of the last iterate for convex smooth losses (Lemma D.2).

Setting: fixed batches, point start, convex beta-smooth losses, eta < 2/beta.
Statement: after t = K n/b updates the law satisfies the log-Sobolev inequality with constant at
least 1/(2 eta sigma^2 t).
Symbols: constant [1/parameter^2].
Direction: lower (the true constant is at least this).
Source: Ye and Shokri 2022, Lemma D.2, equation (71).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=4, b=2, epochs=3, eta="1/2", lambda_=0, beta=1, sigma2=1)
>>> find("lem-d.2").in_system(s, Exact)
Fraction(1, 6)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import CONVEX, EPOCHS, NOISE, SMOOTHNESS, STEP_POSITIVE, STEP_SIZE_CONVEX

SOURCE = Source(PAPER, "lem-d.2", "Lemma D.2", "(71)", "D.3")
SCHEME = "fixed order"
DIRECTION = "lower"
QUANTITY = "lsi-constant"
ASSUMPTIONS = (EPOCHS, NOISE, STEP_POSITIVE, CONVEX, SMOOTHNESS, STEP_SIZE_CONVEX)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """1/(2 eta sigma^2 K floor(n/b)) [1/parameter^2]."""
    return 1 / (2 * p.eta * p.sigma2 * ctx.number(p.steps))


def printed(p: Parameters, ctx: Any) -> Any:
    """The recursion (72), update by update."""
    inverse = ctx.total(lambda t: 2 * p.eta * p.sigma2, 1, p.steps)
    return 1 / inverse
