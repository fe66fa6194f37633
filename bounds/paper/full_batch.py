"""Noisy full-batch gradient descent (Theorem D.6).

Setting: b = n, lambda-strongly convex beta-smooth losses, eta < 1/beta.
Statement: eps <= alpha eta S_g^2/(2 sigma^2 n^2) sum_(k=1..K) (1 - eta lambda/2)^k.
Symbols: K [updates, which are epochs]; alpha, eta lambda [-].
Direction: upper.
Source: Ye and Shokri 2022, Theorem D.6, equation (112).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-d.6").float64(s)), 6)
0.006257
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import PAPER
from bounds.setting import (
    EPOCHS,
    FULL_BATCH,
    NOISE,
    ORDER,
    SENSITIVITY,
    SMOOTHNESS,
    STEP_POSITIVE,
    STEP_SIZE_SMALL,
    STRONGLY_CONVEX,
)

SOURCE = Source(PAPER, "thm-d.6", "Theorem D.6", "(112)", "D.7")
SCHEME = "full batch"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_SMALL, FULL_BATCH,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """2 alpha A r (1 - r^K)/(1 - r), r = 1 - eta lambda/2 [-]."""
    r = ctx.complement(p.given.eta_lambda / 2)
    series = ctx.power(r, 1) * ctx.geometric(r, p.epochs)
    return 2 * p.alpha * p.rate * series


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (112), term by term."""
    r = ctx.complement(p.given.eta_lambda / 2)
    front = p.alpha * p.eta * p.sensitivity**2 / (2 * p.sigma2 * p.n**2)
    return front * ctx.total(lambda k: ctx.power(r, k), 1, p.epochs)
