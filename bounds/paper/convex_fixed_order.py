"""Privacy dynamics for convex smooth losses, without strong convexity (Theorem D.4).

Setting: fixed batches, convex beta-smooth losses, eta < 2/beta.
Statement: eps <= alpha A (b/n)(K - 1) + alpha A/(n/b - j_0).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs]; j_0 [-], the record's batch, from 0.
Direction: upper.
Source: Ye and Shokri 2022, Theorem D.4, equation (80).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-d.4").float64(s)), 6)
0.148
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTH,
    STEP_POSITIVE,
    STEP_SIZE_CONVEX,
)

SOURCE = Source(PAPER, "thm-d.4", "Theorem D.4", "(80)", "D.4")
SCHEME = "fixed order"
ASSUMPTIONS = (ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, SMOOTH, STEP_SIZE_CONVEX, POSITION)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A ((K - 1)/floor(n/b) + 1/(floor(n/b) - j_0)) [-]."""
    earlier = ctx.number(p.epochs - 1) / ctx.number(p.batches)
    return p.alpha * p.rate * (earlier + 1 / ctx.number(p.batches - p.position))


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (80) with n/b read as its floor."""
    front = p.alpha * p.eta * p.sensitivity**2 / (4 * p.sigma2 * p.b**2)
    return front * (1 / ctx.number(p.batches)) * (p.epochs - 1) + front * (
        1 / ctx.number(p.batches - p.position)
    )
