"""The exact divergence of fixed-order noisy SGD on the slowest quadratic, in Fractions.

Losses lambda/2 (theta - x)^2: every update contracts by c = 1 - eta lambda, an update that holds
the differing record shifts the two runs apart by eta S_g/b, and both last iterates are Gaussian
with one variance, so that R_alpha = alpha A (sum of c^(updates after each use))^2 / sum of c^(2s).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.setting import Setting


def uses(setting: Setting) -> list[int]:
    """How many updates follow each update that holds the record, latest last."""
    size = setting.batches
    return [
        (setting.epochs or 1) * size - 1 - (k * size + setting.place)
        for k in range(setting.epochs or 1)
    ]


def exact_ratio(setting: Setting) -> Fraction:
    """R_alpha/alpha [-] of the last iterate, the same for every order."""
    c = 1 - setting.eta_lambda
    shift = sum((c**later for later in uses(setting)), start=Fraction(0))
    spread = sum((c ** (2 * s) for s in range(setting.steps)), start=Fraction(0))
    return setting.rate * shift**2 / spread


def below_truth(setting: Setting, claimed: Any) -> bool:
    """Whether a claimed upper bound on R_alpha/alpha [-] is below the exact value."""
    return bool(claimed < exact_ratio(setting))
