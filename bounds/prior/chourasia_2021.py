"""Noisy full-batch gradient descent, Chourasia, Ye and Shokri 2021.

Setting: b = n, lambda-strongly convex beta-smooth losses, eta < 1/beta, start drawn from
N(0, 2 sigma^2/lambda).
Statement: eps <= alpha S_g^2/(lambda sigma^2 n^2) (1 - exp(-lambda eta K/2)).
Symbols: K [updates, which are epochs]; alpha, eta lambda [-].
Direction: upper.
Source: Chourasia et al. 2021, Corollary 1; restated as Theorem D.7, equation (127).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-d.7").float64(s)), 6)
0.006296
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.paper import naive_extension
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

SOURCE = Source("Chourasia et al. 2021", "thm-d.7", "Corollary 1", "(127)", "D.7")
SCHEME = "full batch"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS,
    STEP_SIZE_SMALL, FULL_BATCH,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """4 alpha A (1 - exp(-eta lambda K/2))/(eta lambda), with b = n [-]."""
    return naive_extension.epsilon(p, ctx)


def printed(p: Parameters, ctx: Any) -> Any:
    """Equation (127)."""
    front = p.alpha * p.sensitivity**2 / (p.lambda_ * p.sigma2 * p.n**2)
    return front * (1 - ctx.exp(-(p.lambda_ * p.eta * p.epochs / 2)))
