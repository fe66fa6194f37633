"""The full-batch privacy dynamics read with b records in place of n (Theorem 2.1).

Setting: "shuffle and partition", lambda-strongly convex beta-smooth losses.
Statement: eps <= alpha S_g^2/(lambda sigma^2 b^2) (1 - exp(-lambda eta K/2)).
Symbols: K [epochs]; alpha, eta lambda [-]; S_g [gradient]; sigma^2 [parameter * gradient].
Direction: upper.
Source: Ye and Shokri 2022, Theorem 2.1.

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("thm-2.1").float64(s)), 4)
3.9347
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
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

SOURCE = Source(PAPER, "thm-2.1", "Theorem 2.1", "", "2")
SCHEME = "shuffle once"
ASSUMPTIONS = (
    ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX, SMOOTHNESS, STEP_SIZE,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """4 alpha A (1 - exp(-eta lambda K/2)) / (eta lambda) [-]."""
    return p.alpha * p.rate * 4 * -ctx.expm1(-(p.eta_lambda * p.epochs / 2)) / p.eta_lambda


def printed(p: Parameters, ctx: Any) -> Any:
    """The display of Theorem 2.1."""
    front = p.alpha * p.sensitivity**2 / (p.lambda_ * p.sigma2 * p.b**2)
    return front * (1 - ctx.exp(-(p.lambda_ * p.eta * p.epochs / 2)))
