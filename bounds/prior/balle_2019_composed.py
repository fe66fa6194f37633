"""Balle et al. 2019 composed over several passes, as Section D.6 does.

Setting: fixed batches, lambda-strongly convex beta-smooth losses, eta <= 2/(lambda + beta).
Statement: eps <= (K - 1) E(0) + E(j_0), E(j) the one-pass bound for a record of batch j.
Symbols: E [-] as in `balle_2019_one_epoch`; K [epochs].
Direction: upper.
Source: Balle et al. 2019, Theorem 5, with Renyi composition (Ye and Shokri 2022, Section D.6, first
and last batch).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("balle_2019_composed").float64(s)), 6)
0.117982
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.prior.balle_2019_one_epoch import share
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_CLOSED,
    STRONGLY_CONVEX,
)

SOURCE = Source("Balle et al. 2019", "txt-d.6-last-batch", "Theorem 5, composed", "", "D.6")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_CLOSED, POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """(K - 1) E(0) + E(j_0) [-]."""
    whole = share(p, ctx, 0)
    return p.alpha * ((p.epochs - 1) * whole + share(p, ctx, p.position))


def printed(p: Parameters, ctx: Any) -> Any:
    """The two expressions of Section D.6, and their like for a batch between."""
    if p.batches == 1:
        return p.epochs * p.alpha * p.rate
    front = p.alpha * p.eta * p.sensitivity**2 / (4 * (p.batches - 1) * p.b**2 * p.sigma2)
    base = 1 - 2 * p.eta * p.beta * p.lambda_ / (p.beta + p.lambda_)
    whole = front * (base ** (p.batches // 2) if p.batches % 2 == 0 else ctx.sqrt(base**p.batches))
    if p.position == 0:
        return whole * p.epochs
    if p.position == p.batches - 1:
        last = p.alpha * p.eta * p.sensitivity**2 / (4 * p.b**2 * p.sigma2)
        return whole * (p.epochs - 1) + last
    return whole * (p.epochs - 1) + p.alpha * share(p, ctx, p.position)
