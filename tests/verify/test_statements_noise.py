"""Independent looks at Lemmas 3.1, 3.2, D.1, D.2, D.3 and Theorem D.4: quadrature and recursion.

Nothing of the statement modules is used for the numbers, only their verdicts and mutants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from bounds.bound import find
from bounds.setting import Setting
from verify.registry import registry
from verify.run import judge
from verify.statement import Check, Run

Array = NDArray[np.float64]
MINE = ("lem-3.1", "lem-3.2", "lem-d.1", "lem-d.2", "lem-d.3", "thm-d.4")
# The trapezoidal rule on smooth, fast decaying functions is exact to rounding.
GRID: Array = np.linspace(-14.0, 14.0, 561)
STEP = float(GRID[1] - GRID[0])
BENDS: dict[str, tuple[Callable[[Array], Array], float]] = {
    "sine": (lambda x: x + 0.5 * np.sin(x), 1.5),
    "soft threshold": (lambda x: np.sign(x) * np.maximum(np.abs(x) - 1.0, 0.0), 1.0),
    "saturating": (lambda x: 2.0 * np.tanh(x), 2.0),
}


def log_density(bend: Callable[[Array], Array], mean: float, noise: float) -> Array:
    """log density on GRID of bend(N(mean, 1)) + N(0, noise), by summation over the start."""
    start = np.linspace(mean - 9.0, mean + 9.0, 721)
    weight = np.exp(-((start - mean) ** 2) / 2) * (start[1] - start[0]) / math.sqrt(2 * math.pi)
    gap = GRID[:, None] - bend(start)[None, :]
    kernel = np.exp(-(gap**2) / (2 * noise)) / math.sqrt(2 * math.pi * noise)
    return np.asarray(np.log(kernel @ weight))


def renyi(log_p: Array, log_q: Array, alpha: float) -> float:
    exponent = alpha * log_p + (1 - alpha) * log_q
    top = exponent.max()
    return float((top + math.log(STEP * np.exp(exponent - top).sum())) / (alpha - 1))


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.parametrize("alpha", [1.3, 2.0, 4.0])
def test_rate_of_lemma_3_1_on_bent_gaussians(name: str, alpha: float) -> None:
    """(1) by central differences, for laws that are not Gaussian."""
    bend, lipschitz = BENDS[name]
    sigma2, t, h = 0.7, 0.4, 1e-3

    def divergence(order: float, time: float) -> float:
        noise = 2 * time * sigma2
        return renyi(log_density(bend, 0.0, noise), log_density(bend, 1.0, noise), order)

    rate = (divergence(alpha, t + h) - divergence(alpha, t - h)) / (2 * h)
    slope = (divergence(alpha + h, t) - divergence(alpha - h, t)) / (2 * h)
    c_t = 1 / (lipschitz**2 + 2 * t * sigma2)
    right = -c_t * 2 * sigma2 * (divergence(alpha, t) / alpha + (alpha - 1) * slope)
    assert rate < right < 0


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.parametrize("alpha", [1.2, 2.0, 6.0])
def test_first_row_of_lemma_3_2_on_bent_gaussians(name: str, alpha: float) -> None:
    """Before: N(0, 1) and N(1, 1), R_a/a = 1/2 at every order a, c = 1."""
    bend, lipschitz = BENDS[name]
    noise = 0.8
    after = renyi(log_density(bend, 0.0, noise), log_density(bend, 1.0, noise), alpha)
    assert after / alpha <= 0.5 / (1 + noise / lipschitz**2) + 1e-12


def test_first_row_changes_the_order() -> None:
    """N(0, s) and N(0, 1), s < 1, c = 1: the row holds at alpha' and would fail at a smaller one.

    With R at the order alpha in place of alpha' the claim is weaker; with R at an order below
    alpha' it is false here, so the change of order cannot be larger.
    """
    before, noise, alpha = mpmath.mpf("0.2"), mpmath.mpf(1), mpmath.mpf(3)

    def ratio(first: mpmath.mpf, second: mpmath.mpf, order: mpmath.mpf) -> mpmath.mpf:
        blend = order * second - (order - 1) * first
        logs = mpmath.log(second / first) + mpmath.log(second / blend) / (order - 1)
        return logs / 2 / order

    growth = 1 + noise
    after = ratio(before + noise, 1 + noise, alpha)
    moved = (alpha - 1) / growth + 1
    assert after <= ratio(before, mpmath.mpf(1), moved) / growth


def test_printed_map_of_lemma_3_2_is_refuted_by_quadrature() -> None:
    """Losses x theta, eta = 1/2, sigma^2 = 1: the printed f halves, the update translates."""
    eta, alpha = 0.5, 2.0

    def shared(x: Array) -> Array:
        return x - eta * 1.0

    def printed(x: Array) -> Array:
        return x - eta * (1.0 * x)

    log_p, log_q = (log_density(shared, mean, 1.0) for mean in (-eta, eta))
    truth = renyi(log_p, log_q, alpha) / alpha
    lipschitz = float(np.max(np.abs(np.diff(printed(GRID)) / STEP)))
    assert lipschitz == pytest.approx(0.5)
    assert truth == pytest.approx(0.25, abs=1e-10)
    assert 0.5 / (1 + 1 / lipschitz**2) == pytest.approx(0.1)


def test_second_row_of_lemma_3_2_on_bent_gaussians() -> None:
    """The record shifts the mean by 0.6 under one of the two runs."""
    bend, _ = BENDS["sine"]
    noise, shift = 0.5, 0.6
    for alpha in (1.5, 3.0):
        log_p = log_density(bend, 0.0, noise)
        log_q = log_density(lambda x: bend(x) + shift, 1.0, noise)
        after = renyi(log_p, log_q, alpha) / alpha
        assert after <= 0.5 + shift**2 / (2 * noise)


@pytest.mark.parametrize("alpha", [1.0, 1.7, 3.0])
def test_lemma_d_1_for_mixtures(alpha: float) -> None:
    """nu = N(0, 1), c = 1, mu a mixture of two Gaussians; at alpha = 1 it is (23)."""
    nu = -(GRID**2) / 2 - math.log(2 * math.pi) / 2
    bumps = [
        math.log(w) - (GRID - m) ** 2 / (2 * v) - math.log(2 * math.pi * v) / 2
        for w, m, v in ((0.3, -1.5, 0.4), (0.7, 0.8, 0.6))
    ]
    mu = np.logaddexp(*bumps)
    slope = np.gradient(mu - nu, STEP, edge_order=2)
    tilted = np.exp(alpha * (mu - nu) + nu)
    moment = STEP * tilted.sum()
    information = STEP * (tilted * slope**2).sum() / moment
    # KL(rho || nu), which is what the right side of (17) amounts to.
    rho = tilted / moment
    kullback = STEP * (rho * (alpha * (mu - nu) - math.log(moment))).sum()
    assert information >= 2 / alpha**2 * kullback
    if alpha > 1:
        h = 1e-4
        at, up, down = (renyi(mu, nu, alpha + d) for d in (0.0, h, -h))
        right = 2 / alpha**2 * (at + alpha * (alpha - 1) * (up - down) / (2 * h))
        assert right == pytest.approx(2 / alpha**2 * kullback, rel=1e-5)


def test_swapped_names_in_lemma_d_1_by_quadrature() -> None:
    """nu = N(0, 1), mu = N(0, 2), alpha = 3/2: swapped in I and E only: 1/7 against 0.717."""
    alpha = mpmath.mpf(3) / 2

    def nu(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x)

    def mu(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x, 0, mpmath.sqrt(2))

    def mean(f: Callable[[mpmath.mpf], mpmath.mpf]) -> mpmath.mpf:
        return mpmath.quad(lambda x: nu(x) * f(x), [-40, -10, 0, 10, 40])

    moment = mean(lambda x: (nu(x) / mu(x)) ** alpha)
    information = mean(lambda x: (nu(x) / mu(x)) ** alpha * (x / 2) ** 2) / moment

    def divergence(order: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(mean(lambda x: (mu(x) / nu(x)) ** order)) / (order - 1)

    h = mpmath.mpf("1e-4")
    slope = (divergence(alpha + h) - divergence(alpha - h)) / (2 * h)
    right = 2 / alpha**2 * (divergence(alpha) + alpha * (alpha - 1) * slope)
    assert abs(information - mpmath.mpf(1) / 7) < 1e-9
    assert abs(right - mpmath.mpf("0.717202506")) < 1e-6


@pytest.mark.parametrize("shift", [0.5, 0.25])
def test_mixture_violates_the_constant_of_lemma_d_2(shift: float) -> None:
    """(16) itself for the first iterate under a random first batch; a fixed one attains it."""
    variance, s = 1.0, 2.0

    def excess(means: tuple[float, ...]) -> float:
        density = sum(
            np.exp(-((GRID - m) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
            for m in means
        ) / len(means)  # fmt: skip
        square = np.exp(s * GRID)
        total = STEP * (density * square).sum()
        entropy = STEP * (density * square * s * GRID).sum() - total * math.log(total)
        energy = 2 * variance * STEP * (density * square * s**2 / 4).sum()
        return float((entropy - energy) / total)

    assert abs(excess((shift,))) < 1e-8
    x = s * shift
    assert excess((-shift, shift)) == pytest.approx(
        x * math.tanh(x) - math.log(math.cosh(x)), abs=1e-8
    )
    assert excess((-shift, shift)) > 0.05


def test_theorem_d_4_against_a_run_in_fractions() -> None:
    """Every batch and few epochs, three kinds of curvature; attained where the module says so."""
    bound = find("thm-d.4")
    attained = 0
    for batches in (1, 2, 3):
        for epochs in (1, 2, 3):
            for place in range(batches):
                for kind in ("linear", "forget", "reflect"):
                    setting = Setting.of(
                        n=batches, b=1, epochs=epochs, eta=1, lambda_=0, beta="19/10",
                        sensitivity=1, sigma2="1/2", alpha=2, position=place,
                    )  # fmt: skip
                    gap, spread = Fraction(0), Fraction(0)
                    for _ in range(epochs):
                        for index in range(batches):
                            factor = Fraction(1)
                            if kind == "forget" and index == place:
                                factor = Fraction(0)
                            if kind == "reflect" and index != place:
                                factor = Fraction(-9, 10)
                            gap, spread = factor * gap, factor**2 * spread + 1
                            gap += index == place
                    truth = 2 * gap**2 / (2 * spread)
                    claimed = Fraction(bound.answer(setting).upper or "0")
                    assert truth <= claimed
                    attained += claimed - truth < Fraction(1, 10**30)
                    if (kind == "linear" and place == 0) or (kind == "forget" and epochs == 1):
                        assert claimed - truth < Fraction(1, 10**30)
    assert attained


class Few(Run):
    """Fewer random draws than an audit makes."""

    @property
    def examples(self) -> int:
        return 20


def checks() -> list[Any]:
    """Those whose mutants are shrunk by Hypothesis take longer."""
    return [
        pytest.param(
            made, id=made.name.rsplit(".", 1)[-1] + "-" + key,
            marks=[pytest.mark.slow] if "Hypothesis" in made.method else [],
        )
        for key in MINE for made in registry().checks[key]
    ]  # fmt: skip


def test_verdicts() -> None:
    known = registry()
    found = {}
    for key in MINE:
        evidence = [made.evidence(about, Few())[0] for made in known.checks[key]
                    for about in made.forms]  # fmt: skip
        found[key] = judge(known, key, evidence)
    assert {key: record.verdict for key, record in found.items()} == {
        "lem-3.1": "proved", "lem-3.2": "refuted", "lem-d.1": "proved", "lem-d.2": "proved",
        "lem-d.3": "proved", "thm-d.4": "proved",
    }  # fmt: skip
    assert found["lem-3.2"].severity == "misprint"
    assert found["lem-3.2"].correction is not None
    assert found["lem-3.2"].correction["verdict"] == "proved"
    literal = {
        item.about: item.outcome for key in ("lem-d.1", "lem-d.2", "lem-d.3")
        for item in found[key].evidence if item.about != "printed"
    }  # fmt: skip
    assert sorted(literal.values()) == ["fails", "fails", "fails", "holds"]


@pytest.mark.parametrize("made", checks())
def test_every_mutant_is_rejected(made: Check) -> None:
    assert made.mutants
    for mistake, form in made.mutants.items():
        assert made.run(form, Few()).outcome == "fails", mistake
