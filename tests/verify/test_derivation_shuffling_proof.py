"""Theorem 4.2 and its explanations: the delicate facts, by other means than the audit's."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from verify.derivations import shuffling_explained, shuffling_proof
from verify.statement import Run
from verify.verdict import verdict


def _first(size: int, x: float, epochs: int) -> float:
    """First term of (5) over alpha A, from its sums."""
    half, c = size // 2, 1 - x
    gain = c ** (2 * half - 2) / sum(c ** (2 * s) for s in range(half))
    return gain * sum(c ** (2 * k * (size - half)) for k in range(epochs - 1))


def _second(size: int, x: float, order: float, scale: float) -> float:
    c = 1 - x
    shares = [c ** (2 * j - 2) / sum(c ** (2 * s) for s in range(j)) for j in range(1, size + 1)]
    mean = sum(math.exp((order - 1) * order * scale * s) for s in shares) / size
    return math.log(mean) / (order - 1)


def _sampled_gaussian(p: float, order: float, scale: float) -> float:
    """Divergence of the sampled Gaussian with A = scale, by a plain Riemann sum."""
    shift = math.sqrt(2 * scale)
    grid = np.linspace(-12, 12 + order * shift, 20_001)
    ratio = 1 - p + p * np.exp(shift * grid - scale)
    weight = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    return math.log(float(np.sum(ratio**order * weight)) * (grid[1] - grid[0])) / (order - 1)


def test_the_first_term_obeys_the_corrected_chain_and_not_the_printed_one():
    draw = random.Random(4)
    for _ in range(200):
        size, x = draw.randint(2, 15), draw.choice((draw.random(), 1e-4, 0.9999))
        epochs = draw.choice((1, 2, 3, 10, 300))
        factor = {2: 2, 3: 3}.get(size, 1)
        assert _first(size, x, epochs) < factor / (size * x)
    assert _first(2, 2 / 3, 2) > 1 / (2 * 2 / 3)
    for x in (0.01, 0.1, 0.9):  # n/b = 2 fails at every rate, once K is large
        assert _first(2, x, 2000) > 1 / (2 * x)
    assert _first(3, 0.2, 2000) > 1 / (3 * 0.2)
    assert _first(3, 0.18, 2000) < 1 / (3 * 0.18)


@pytest.mark.parametrize(("a", "x"), [(2, 0.5), (4, 0.01), (7, 0.9)])
def test_bernoulli_goes_the_other_way(a, x):
    assert (1 - x) ** a > 1 - a * x
    assert 1 / (a * x) < 1 / (1 - (1 - x) ** a) < 1 + 1 / (a * x)


@pytest.mark.parametrize(
    ("p", "order", "scale"), [(0.5, 1.2, 0.3), (0.04, 10, 0.02), (1 / 3, 2.5, 1.0), (0.1, 4, 0.5)]
)
def test_one_sampled_gaussian_step_exceeds_the_squared_rate(p, order, scale):
    assert _sampled_gaussian(p, order, scale) > p**2 * order * scale


def test_crossover_witnesses_against_the_sampled_gaussian():
    first = 2 * 0.01 * _first(3, 2 / 3, 2)
    assert 2 > 1 / (2 / 3)
    assert first > 1.4 * 6 * _sampled_gaussian(1 / 3, 2, 0.01)
    both = 100 * 0.001 * _first(3, 2 / 3, 5) + _second(3, 2 / 3, 100, 0.001)
    assert 5 > 1 / (2 / 3) + 3
    assert both == pytest.approx(0.190155, rel=1e-5)
    assert 15 * _sampled_gaussian(1 / 3, 100, 0.001) == pytest.approx(0.174478, rel=1e-5)


def test_without_beta_in_the_condition_the_restated_theorem_fails():
    """Curvature 4, eta = 1/2: both orders of (0, M) against (d, M), order 2, d = sigma^2 = 1."""
    epochs, far = 5, 10
    spread = 2 * epochs * 2 * 0.5
    grid = np.linspace(-160, 160, 32_001)

    def mixture(mean: float) -> np.ndarray:
        return sum(np.exp(-((grid - m) ** 2) / (2 * spread)) for m in (mean, -mean)) / 2

    norm = math.sqrt(2 * math.pi * spread)
    step = grid[1] - grid[0]
    here, there = mixture(2 * epochs * far), mixture(2 * epochs * (far - 1))
    inside = there > 1e-290
    divergence = math.log(float(np.sum(here[inside] ** 2 / there[inside])) * step / norm)
    scale = 0.5 * 4**2 / 4
    assert divergence > 2 * scale * (_first(2, 0.5, epochs) + 1)


def test_verdicts():
    printed = {}
    for chain in (shuffling_proof.CHAIN, shuffling_explained.CHAIN):
        for statement in chain.statements:
            evidence = [
                made.evidence("printed", Run())[0]
                for made in chain.checks
                if made.statement == statement.id
            ]
            printed[statement.id] = verdict(evidence, definition=statement.definition)
    refuted = {key for key, value in printed.items() if value == "refuted"}
    assert refuted == {
        "eq-134", "eq-135", "eq-145", "eq-146", "txt-4.1-growth-rate", "txt-4.1-crossover",
        "txt-4.1-crossover-first-term",
    }  # fmt: skip
    assert set(printed.values()) == {"refuted", "proved", "certified", "definition"}
