"""Composition over the updates that hold the record, in a fixed order.

Setting: fixed batches; every iterate released.
Statement: eps <= K alpha A: one Gaussian mechanism an epoch.
Symbols: A = eta S_g^2/(4 sigma^2 b^2) [-]; K [epochs].
Direction: upper.
Source: Mironov 2017, Proposition 1 (composition) and Proposition 7 (Gaussian mechanism).

>>> from bounds.bound import find
>>> from bounds.setting import Setting
>>> s = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
...                alpha=10)
>>> round(float(find("fixed_order_composition").float64(s)), 4)
2.5
"""

from __future__ import annotations

from typing import Any

from bounds.bound import Parameters, Source
from bounds.setting import EPOCHS, NOISE, ORDER, SENSITIVITY, STEP_POSITIVE

SOURCE = Source("Mironov 2017", "fixed_order_composition", "Propositions 1 and 7")
SCHEME = "fixed order"
ASSUMPTIONS = (ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE)


def epsilon(p: Parameters, ctx: Any) -> Any:
    """K alpha A [-]."""
    return p.alpha * p.rate * p.epochs


def printed(p: Parameters, ctx: Any) -> Any:
    """K times alpha Delta^2/(2 s^2), shift Delta = eta S_g/b, variance s^2 = 2 eta sigma^2."""
    shift = p.eta * p.sensitivity / p.b
    return p.epochs * (p.alpha * shift**2 / (2 * (2 * p.eta * p.sigma2)))
