"""Divergence eps_0^j for a record of the first batch after j updates of the first epoch (99).

Setting: fixed batches, lambda-strongly convex beta-smooth losses, equal starting parameters.
Statement: eps_0^j(alpha) <= alpha A q^(j-1) / (1 + q + ... + q^(j-1)), q = (1 - eta lambda)^2,
j = n/b - j_0: the updates from the one that holds the record to the end of the epoch.
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; alpha [-], Renyi order; eta lambda [-].
Direction: upper.
Source: Ye and Shokri 2022, Theorem 3.3 and equation (99).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=4, b=1, epochs=1, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=2, position=3)
>>> find("first_epoch").in_system(s, Exact)
Fraction(1, 1)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import (
    NOISE,
    ONE_EPOCH,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
)

SOURCE = Source(PAPER, "eq-099", "proof of Theorem 3.3", "(99)", "D.5")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, ONE_EPOCH, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    POSITION,
)  # fmt: skip


def profile(p: Parameters, ctx: Any, j: Any) -> Any:
    """q^(j-1) / (1 + q + ... + q^(j-1)) [-], at most 1, decreasing in j; j >= 1."""
    c = p.contraction
    return ctx.power(c, 2 * (j - 1)) * ctx.one_minus_power(c, 2) / ctx.one_minus_power(c, 2 * j)


def share(p: Parameters, ctx: Any, j: Any) -> Any:
    """eps_0^j(alpha) / alpha [-], the same for every order."""
    return p.rate * profile(p, ctx, j)


def printed_share(p: Parameters, ctx: Any, j: Any) -> Any:
    """eps_0^j(alpha) / alpha as printed in Theorem 3.3."""
    c = p.contraction
    front = p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    return front * ctx.power(c, 2 * (j - 1)) / ctx.total(lambda s: ctx.power(c, 2 * s), 0, j - 1)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A q^(j-1)/(1 + ... + q^(j-1)), j = n/b - j_0 [-]."""
    return p.alpha * share(p, ctx, p.batches - p.position)


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (99)."""
    return p.alpha * printed_share(p, ctx, p.batches - p.position)
