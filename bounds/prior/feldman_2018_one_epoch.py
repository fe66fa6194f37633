"""Privacy amplification by iteration over one pass (Feldman, Mironov, Talwar and Thakurta 2018).

Setting: fixed batches, one epoch, convex beta-smooth losses, eta <= 2/beta.
Statement: eps <= alpha A/(n/b - j_0).
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-], with S_g/2 for the Lipschitz constant of a record.
Direction: upper.
Source: Feldman et al. 2018, Theorem 23, read with mini-batches.

>>> from bounds.bound import find
>>> from bounds.arith.exact import Exact
>>> from bounds.setting import Setting
>>> s = Setting.of(n=10, b=2, epochs=1, eta="0.5", beta=1, sensitivity=4, sigma2=1, alpha=2,
...                position=0)
>>> find("feldman_2018_one_epoch").in_system(s, Exact)
Fraction(1, 5)
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import (
    NOISE,
    ONE_EPOCH,
    ORDER,
    POSITION,
    SENSITIVITY,
    SMOOTH,
    STEP_POSITIVE,
    STEP_SIZE_CONVEX_CLOSED,
)

SOURCE = Source("Feldman et al. 2018", "feldman_2018_one_epoch", "Theorem 23")
SCHEME = "fixed order"
ASSUMPTIONS = (
    ORDER, ONE_EPOCH, NOISE, SENSITIVITY, STEP_POSITIVE, SMOOTH, STEP_SIZE_CONVEX_CLOSED,
    POSITION,
)  # fmt: skip


def epsilon(p: Parameters, ctx: Any) -> Any:
    """alpha A/(floor(n/b) - j_0) [-]."""
    return p.alpha * p.rate / (p.batches - p.position)


def printed(p: Parameters, ctx: Any) -> Any:
    """alpha 2 L^2/(s^2 (n + 1 - i)): i = j_0 + 1, L = S_g/(2b), eta s = sqrt(2 eta sigma^2)."""
    lipschitz = p.sensitivity / (2 * ctx.number(p.b))
    variance = 2 * p.eta * p.sigma2 / p.eta**2
    return p.alpha * 2 * lipschitz**2 / (variance * (p.batches + 1 - (p.position + 1)))
