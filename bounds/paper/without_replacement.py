"""Privacy dynamics under sampling b of n without replacement at every update (Theorem 4.3).

Setting: lambda-strongly convex beta-smooth losses, eta < 2/(lambda + beta).
Statement: eps <= log(S)/(alpha - 1), S after K floor(n/b) steps of
S <- (b/n) exp((alpha - 1) alpha A) S + (1 - b/n) S^((1 - eta lambda)^2) from S = 1.
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; alpha, eta lambda [-].
Direction: upper.
Source: Ye and Shokri 2022, Theorem 4.3, equations (6), (148)-(150).
Note: where b does not divide n an epoch has floor(n/b) updates and the sampling probability
stays b/n; where b = n every update holds the record. The recursion grows without bound in K once
(b/n) exp((alpha - 1) alpha A) >= 1.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-4.3").float64(s)), 6)
0.067241
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.bound import Parameters, Source, over_orders
from bounds.paper import PAPER
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
)

SOURCE = Source(PAPER, "thm-4.3", "Theorem 4.3", "(6)", "4.2")
SCHEME = "without replacement"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """log(S)/(alpha - 1) [-]."""
    if p.b == p.n:
        return p.alpha * p.rate * p.steps
    gain = over_orders(p, lambda alpha: (alpha - 1) * alpha * p.given.rate)
    lost = p.given.eta_lambda * (2 - p.given.eta_lambda)
    sampling = ctx.number(p.b) / ctx.number(p.n) if ctx.symbolic else Fraction(p.b, p.n)
    return ctx.resampling(gain, sampling, lost, p.steps) / p.alpha_minus_one


def printed(p: Parameters, ctx: Any) -> Any:
    """(148)-(150) and (6), step by step."""
    sampling = ctx.number(p.b) / ctx.number(p.n)
    grow = ctx.exp((p.alpha - 1) * p.alpha * p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2))
    kept = ctx.power(p.contraction, 2)
    moment = ctx.number(1)
    for _ in range(p.steps):
        moment = sampling * grow * moment + (1 - sampling) * ctx.exp(kept * ctx.log(moment))
    return 1 / (p.alpha - 1) * ctx.log(moment)
