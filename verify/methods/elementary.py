"""Two elementary inequalities that proofs of the paper lean on, proved once by calculus."""

from __future__ import annotations

import sympy as sp

from verify.methods.symbolic import all_hold, identity
from verify.statement import Finding


def exponential_above_tangent(domain: str, *, seed: int = 0) -> Finding:
    """e^x >= 1 + x for every real x, with equality only at 0.

    f = e^x - 1 - x has f(0) = 0 and f' = e^x - 1, which has the sign of x. Hence 1 - x <= e^(-x)
    and 1 - e^(-x) >= x e^(-x).
    """
    x = sp.Symbol("x", real=True)
    return all_hold([
        identity(lambda: sp.exp(0) - 1 - 0, 0, domain, "e^x - 1 - x vanishes at 0", seed=seed),
        identity(sp.Derivative(sp.exp(x) - 1 - x, x), sp.exp(x) - 1, domain,
                 "its derivative e^x - 1 has the sign of x", seed=seed),
    ])  # fmt: skip
