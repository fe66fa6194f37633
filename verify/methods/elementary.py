"""Two elementary inequalities that proofs of the paper lean on, proved once by calculus."""

from __future__ import annotations

import sympy as sp

from verify.methods.symbolic import rational_identity
from verify.statement import Finding


def exponential_above_tangent(domain: str, *, seed: int = 0) -> Finding:
    """e^x >= 1 + x for every real x, with equality only at 0.

    f = e^x - 1 - x has f(0) = 0 and f' = e^x - 1, which has the sign of x. Hence 1 - x <= e^(-x)
    and 1 - e^(-x) >= x e^(-x).
    """
    x = sp.Symbol("x", real=True)
    slope = sp.diff(sp.exp(x) - 1 - x, x) - (sp.exp(x) - 1)
    at_zero = (sp.exp(x) - 1 - x).subs(x, 0)
    return rational_identity(
        slope + at_zero, domain,
        "e^x - 1 - x vanishes at 0 and its derivative e^x - 1 has the sign of x", seed=seed,
    )  # fmt: skip
