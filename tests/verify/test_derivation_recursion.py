"""Independent looks at (57) to (90): quadrature, recursions and exact laws of our own."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from verify.derivations import recursion, recursion_convex, recursion_lsi
from verify.registry import registry
from verify.run import judge
from verify.statement import Run

ALL = [
    declared.id for module in (recursion, recursion_lsi, recursion_convex)
    for declared in module.CHAIN.statements
]  # fmt: skip
EXPECTED = {
    "eq-070": "refuted", "eq-087": "definition", "txt-3.1-recovers-feldman": "cited",
    "txt-d.4-feldman-23": "cited", "txt-d.4-feldman-35": "open",
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_verdict(name):
    known = registry()
    evidence = tuple(
        made.evidence(about, Run())[0] for made in known.checks[name] for about in made.forms
    )
    result = judge(known, name, evidence)
    assert result.verdict == EXPECTED.get(name, "proved")
    if name == "eq-070":
        assert result.correction is not None
        assert result.correction["verdict"] == "proved"


def gaussian_renyi(mean: float, variance: float, order: float) -> float:
    """R of N(0, variance) from N(mean, variance) by quadrature."""
    x = np.linspace(-40.0, 40.0, 8001)
    log_p = -(x**2) / (2 * variance)
    log_q = -((x - mean) ** 2) / (2 * variance)
    mass = np.exp(order * log_p + (1 - order) * log_q) / math.sqrt(2 * math.pi * variance)
    return math.log(mass.sum() * (x[1] - x[0])) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2.0, 6.0])
def test_the_middle_of_70_is_below_the_divergence(order):
    # Linear losses theta/2 and -theta/2, eta = sigma^2 = 1: N(-1/2, 2) and N(1/2, 2).
    truth = gaussian_renyi(1.0, 2.0, order)
    at = (order, 1.0, 1.0, 1.0, 1)
    assert truth == pytest.approx(recursion.CORRECT.middle(*at), rel=1e-9)
    assert truth > recursion.PRINTED.middle(*at) * 1.2


@pytest.mark.parametrize("order", [1.2, 3.0])
def test_the_first_row_by_quadrature(order):
    start, slope, noise, gap = 0.7, 1.3, 0.9, 1.1
    before = gaussian_renyi(gap, start, 1 + (order - 1) / (1 + noise / (start * slope**2)))
    shrunk = 1 + (order - 1) / (1 + noise / (start * slope**2))
    after = gaussian_renyi(slope * gap, slope**2 * start + noise, order)
    assert after / order == pytest.approx(before / shrunk / (1 + noise / (start * slope**2)))


def test_the_time_integral_of_62():
    lip, c, s2, end = 1.4, 0.6, 0.8, 2.5
    s = (np.arange(200000) + 0.5) * end / 200000
    integral = float(np.sum(2 * s2 / (lip**2 / c + 2 * s * s2)) * end / 200000)
    assert integral == pytest.approx(math.log(1 + 2 * c * end * s2 / lip**2), rel=1e-9)


def test_82_is_not_about_the_values_of_86():
    # n/b = 2, K = 2, j0 = 0: three quarters of 1/2 + 1 against 1/2 + 1/2.
    assert recursion_convex.recursion_values(1, 2, 2) == Fraction(9, 8)
    assert recursion_convex.composed(1, 2, 2) == 1
    assert recursion_convex.recursion_values(0, 5, 7) == Fraction(1, 5)


def test_a_common_start_only_lowers_the_divergence():
    draw = np.random.default_rng(5)
    for _ in range(200):
        p, q = draw.dirichlet(np.ones(4), (2, 3))
        weights, order = draw.dirichlet(np.ones(3)), 1 + 5 * draw.random()
        each = (p**order * q ** (1 - order)).sum(axis=1)
        mixed = ((weights @ p) ** order * (weights @ q) ** (1 - order)).sum()
        assert mixed <= each.max() * (1 + 1e-12)
