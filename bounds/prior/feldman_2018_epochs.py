"""Privacy amplification by iteration, composed over several passes (Feldman et al. 2018).

Setting: fixed batches, convex beta-smooth losses, eta <= 2/beta. Each stretch from one use of the
record to the next is one pass that starts with it.
Statement: eps <= (K - 1) alpha A/(n/b) + alpha A/(n/b - j_0).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: upper.
Source: Feldman et al. 2018, Theorem 23 with Renyi composition over passes.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("feldman_2018_epochs").float64(s)), 6)
0.148
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.prior import feldman_2018_one_epoch
from bounds.setting import (
    EPOCHS,
    NOISE,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTH,
    STEP_POSITIVE,
    STEP_SIZE_CONVEX_CLOSED,
)

SOURCE = Source("Feldman et al. 2018", "feldman_2018_epochs", "Theorem 23, composed")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, SMOOTH, STEP_SIZE_CONVEX_CLOSED,
    POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """(K - 1) alpha A/floor(n/b) + alpha A/(floor(n/b) - j_0) [-]."""
    one_pass = feldman_2018_one_epoch.epsilon(p, ctx)
    return p.alpha * p.rate * (p.epochs - 1) / p.batches + one_pass


def printed(p: Parameters, ctx: Any) -> Any:
    """K - 1 whole passes that start with the record, and the rest of the last one."""
    return ctx.total(
        lambda k: p.alpha * p.rate / p.batches, 1, p.epochs - 1
    ) + feldman_2018_one_epoch.printed(p, ctx)
