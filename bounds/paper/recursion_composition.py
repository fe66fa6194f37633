"""Recursion (100) alone: composition over epochs, post-processing within each.

Setting: fixed batches, lambda-strongly convex beta-smooth losses.
Statement: eps <= (K - 1) eps_0^(n/b)(alpha) + eps_0^(n/b - j_0)(alpha).
Symbols: eps_0^j [-] as in Theorem 3.3; K [epochs].
Direction: upper.
Source: Ye and Shokri 2022, equation (100).

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=2, b=1, epochs=2, eta="1/2", lambda_=1, beta=1, sensitivity=2, sigma2=1,
...                alpha=2)
>>> find("eq-100").in_system(s, Exact)
Fraction(6, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.paper.first_epoch import printed_share, share
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE,
    STRONGLY_CONVEX,
)

SOURCE = Source(PAPER, "eq-100", "proof of Theorem 3.3", "(100)", "D.5")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
    POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """(K - 1) eps_0^(n/b) + eps_0^(n/b - j_0) [-]."""
    last = share(p, ctx, p.batches - p.position)
    return p.alpha * ((p.epochs - 1) * share(p, ctx, p.batches) + last)


def printed(p: Parameters, ctx: Any) -> Any:
    """(100) accumulated over the epochs."""
    whole = printed_share(p, ctx, p.batches)
    return p.alpha * ((p.epochs - 1) * whole + printed_share(p, ctx, p.batches - p.position))
