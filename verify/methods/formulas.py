"""The bounds as printed, in the language of certificates, for claims at exact points.

They are written from the paper's text and share nothing with the library's formulas, whose values
they have to reproduce to fifteen digits when the certificate is checked. Parameters: n, b, K
(epochs), eta, lambda, beta, S_g, sigma2, alpha, and j0 for the batch of the record, from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bounds.setting import Setting

RATE = "eta*S_g**2/(4*sigma2*b**2)"


def named(body: str) -> str:
    """With A = eta S_g^2/(4 sigma^2 b^2), c = 1 - eta lambda, l = n/b and m = floor(l/2)."""
    return f"let(A, {RATE}, let(c, 1 - eta*lambda, let(l, n/b, let(m, floor(l/2), {body}))))"


def share(j: str) -> str:
    """eps_0^j over alpha."""
    return f"A*c**(2*({j} - 1))/sum(s, 0, {j} - 1, c**(2*s))"


def _mixed(j: str) -> str:
    """Theorem 5 of Balle et al. over alpha, for a record of a batch j that is not the last."""
    base = "(1 - 2*eta*beta*lambda/(beta + lambda))"
    return f"{RATE}*{base}**((n/b - {j})/2)/(n/b - {j} - 1)"


EARLIER = f"{share('m')}*(1 - c**(2*(K - 1)*(l - m)))/(1 - c**(2*(l - m)))"
SECOND = f"log(sum(j, 1, l, exp((alpha - 1)*alpha*{share('j')}))/l)/(alpha - 1)"
_MOMENT = "b/n*exp((alpha - 1)*alpha*A)*S + (1 - b/n)*exp(c**2*log(S))"

PRINTED: Mapping[str, str] = {
    "fixed_order": named(f"alpha*({EARLIER} + {share('(l - j0)')})"),
    "naive_extension": f"4*alpha*{RATE}*(1 - exp(-lambda*eta*K/2))/(lambda*eta)",
    "balle_2019_composed": f"alpha*((K - 1)*{_mixed('0')} + {_mixed('j0')})",
    "shuffle_partition": named(f"alpha*{EARLIER} + {SECOND}"),
    "without_replacement": named(
        f"log(iterate(S, k, 1, K*floor(l), {_MOMENT}))/(alpha - 1)"
    ),
    "sampled_gaussian": (
        f"K*floor(n/b)*log(sum(k, 0, alpha, binomial(alpha, k)*(1 - b/n)**(alpha - k)*(b/n)**k"
        f"*exp({RATE}*k*(k - 1))))/(alpha - 1)"
    ),
}  # fmt: skip


def printed(bound: str, setting: Setting) -> str:
    """The formula of a bound at a setting. Raises KeyError when it is not written down here."""
    if bound == "balle_2019_composed" and setting.place == setting.batches - 1:
        return f"alpha*((K - 1)*{_mixed('0')} + {RATE})"
    return PRINTED[bound]


def values(setting: Setting) -> dict[str, Fraction]:
    """The parameters of the formulas at a setting, those that it has."""
    found = {
        "n": setting.n, "b": setting.b, "K": setting.epochs, "eta": setting.eta,
        "lambda": setting.lambda_, "beta": setting.beta, "S_g": setting.sensitivity,
        "sigma2": setting.sigma2,
        "alpha": setting.alpha,
    }  # fmt: skip
    if setting.n is not None and setting.b is not None:
        found["j0"] = setting.place
    return {name: Fraction(value) for name, value in found.items() if value is not None}
