"""Appendix D up to Lemma 3.1, by quadrature on mixtures: nothing of the modules gives the numbers.

p and q are images of two-point mixtures of Gaussians under the heat equation, so that neither the
densities nor their ratio are Gaussian; derivatives in space are exact, those in t and alpha are
central differences.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from verify.derivations import diffusion, information
from verify.derivations.ratio import PAIRS, pointwise
from verify.statement import Run

Array = NDArray[np.float64]
# The trapezoidal rule on smooth, fast decaying functions is exact to rounding.
X: Array = np.linspace(-30.0, 30.0, 6001)
STEP = float(X[1] - X[0])
SIGMA2, TIME = 0.6, 0.5
P = ((0.3, -1.0, 0.8), (0.7, 1.5, 1.1))  # weight, mean, variance at time 0
Q = ((0.6, -0.5, 1.3), (0.4, 1.0, 0.9))


def jets(law: tuple[tuple[float, float, float], ...], t: float) -> tuple[Array, Array, Array]:
    """Density, first and second derivative on X of the law after noise 2 t sigma^2."""
    total = [np.zeros_like(X) for _ in range(3)]
    for weight, mean, variance in law:
        v = variance + 2 * t * SIGMA2
        f = weight * np.exp(-((X - mean) ** 2) / (2 * v)) / math.sqrt(2 * math.pi * v)
        slope = -(X - mean) / v
        for part, factor in zip(total, (1.0, slope, slope**2 - 1 / v), strict=True):
            part += f * factor
    return total[0], total[1], total[2]


def integral(values: Array) -> float:
    return float(values.sum() * STEP)


def renyi(alpha: float, t: float) -> float:
    p, q = jets(P, t)[0], jets(Q, t)[0]
    return math.log(integral(p**alpha * q ** (1 - alpha))) / (alpha - 1)


@pytest.mark.parametrize("alpha", [1.2, 2.0, 3.5])
def test_rate_from_33_to_51(alpha: float) -> None:
    (p, dp, ddp), (q, dq, ddq) = jets(P, TIME), jets(Q, TIME)
    step = 1e-4
    rate = (renyi(alpha, TIME + step) - renyi(alpha, TIME - step)) / (2 * step)
    h, dh = p / q, (dp * q - p * dq) / q**2
    moment = integral(p**alpha * q ** (1 - alpha))
    low, dlow = h ** (alpha - 1), (alpha - 1) * h ** (alpha - 2) * dh
    high, dhigh = h**alpha, alpha * h ** (alpha - 1) * dh
    front = 1 / ((alpha - 1) * moment)
    at42 = front * SIGMA2 * integral(alpha * low * ddp - (alpha - 1) * high * ddq)
    at48 = front * SIGMA2 * integral(-alpha * dlow * dp + (alpha - 1) * dhigh * dq)
    at49 = alpha * SIGMA2 / moment * integral(h ** (alpha - 2) * dh * (-dp + h * dq))
    at50 = -alpha * SIGMA2 / moment * integral(h ** (alpha - 2) * dh**2 * q)
    at51 = -alpha * SIGMA2 / moment * integral(h**alpha * (dp / p - dq / q) ** 2 * q)
    assert integral(low * ddp) == pytest.approx(-integral(dlow * dp), rel=1e-9)  # (45)
    assert integral(high * ddq) == pytest.approx(-integral(dhigh * dq), rel=1e-9)  # (46)
    for value in (at42, at48, at49, at50, at51):
        assert value == pytest.approx(rate, rel=1e-6)


@pytest.mark.parametrize("alpha", [1.0, 1.2, 2.0, 3.5])
def test_information_from_18_to_31(alpha: float) -> None:
    (p, dp, _), (q, dq, _) = jets(P, TIME), jets(Q, TIME)
    h, step = p / q, 1e-4

    def log_moment(order: float) -> float:
        return math.log(integral(p**order * q ** (1 - order)))

    moment = math.exp(log_moment(alpha))
    r = h**alpha / moment
    ratio = integral(h**alpha * (dp / p - dq / q) ** 2 * q) / moment
    # (22) with the gradient of log(rho/nu) by differences.
    slope = np.gradient(np.log(r), X, edge_order=2)
    assert integral(q * r * slope**2) / alpha**2 == pytest.approx(ratio, rel=1e-3)
    kl = integral(q * r * np.log(r))
    by_order = (log_moment(alpha + step) - log_moment(alpha - step)) / (2 * step)
    assert alpha * by_order - log_moment(alpha) == pytest.approx(kl, rel=1e-6)  # (25) to (29)
    if alpha > 1:

        def divergence(order: float) -> float:
            return log_moment(order) / (order - 1)

        turn = (divergence(alpha + step) - divergence(alpha - step)) / (2 * step)
        assert divergence(alpha) + alpha * (alpha - 1) * turn == pytest.approx(kl, rel=1e-5)  # (31)
    else:
        assert integral(p * np.log(h)) == pytest.approx(kl, rel=1e-9)


@pytest.mark.parametrize("chain", [information.CHAIN, diffusion.CHAIN])
def test_every_statement_is_asked_about(chain) -> None:
    declared = {statement.id for statement in chain.statements}
    assert declared == {made.statement for made in chain.checks}


def test_one_and_three_coordinates_agree_with_two() -> None:
    """The quick run looks at two coordinates; the identities hold in one and three as well."""
    for link in (diffusion.ONE.link(), diffusion.TWO.link(), information.FISHER["eq-022"]):
        assert len(PAIRS) == 3
        assert pointwise(link, "", "", Run("standard")).outcome == "holds"


def test_sphere_terms_vanish() -> None:
    """The flux of (44) falls to 0 with the radius, where h^alpha q is integrable."""
    (p, dp, _), (q, _, _) = jets(P, TIME), jets(Q, TIME)
    for alpha in (1.2, 3.5):
        flux = (p / q) ** (alpha - 1) * dp
        ends = [abs(flux[3000 + k] - flux[3000 - k]) for k in (500, 1000, 1500)]
        assert ends[0] > ends[1] > ends[2]
        assert ends[2] < 1e-12
