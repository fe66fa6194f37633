"""Independent looks at (112) to (132) and at the headline claims: recursions in plain numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from verify.registry import registry
from verify.run import judge
from verify.statement import Run

STEPS = (1e-3, 0.1, 0.5, 0.9, 0.999)
COUNTS = (1, 2, 3, 10, 300)


def verdict_of(name: str) -> tuple[str, str | None, str | None]:
    """Verdict, severity and the correction's verdict, all checks run once."""
    known = registry()
    found = [made.evidence(about, Run())[0] for made in known.checks[name] for about in made.forms]
    record = judge(known, name, found)
    return record.verdict, record.severity, (record.correction or {}).get("verdict")


def geometric(step: float, count: int) -> float:
    """The sum in (112), term by term."""
    return sum((1 - step / 2) ** k for k in range(1, count + 1))


def relaxed(step: float, count: int) -> float:
    """(129) over the constant of (112)."""
    return (1 - step / 2) * sum(math.exp(-step * k / 2) for k in range(count))


def earlier(step: float, count: int, *, half: bool = True) -> float:
    """(127) over the constant of (112), or (132) as printed."""
    return 2 / step * -math.expm1(-step * count * (0.5 if half else 1))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("count", COUNTS)
def test_the_recursion_stays_between_the_truth_and_the_theorem(step: float, count: int) -> None:
    """Log-Sobolev constants and half steps one by one, with no closed form; R/alpha, v = noise."""
    kept, noise, shift = 1 - step, 2.0, 0.7
    inverse, bound, apart, spread = 0.0, 0.0, 0.0, 0.0
    for _ in range(count):
        half = kept**2 * inverse + noise / 2
        bound = (bound + shift**2 / (2 * (noise / 2))) / (1 + noise / 2 / half)
        inverse = kept**2 * inverse + noise
        apart, spread = kept * apart + shift, kept**2 * spread + noise
    theorem = shift**2 / noise * geometric(step, count)
    assert apart**2 / (2 * spread) <= bound * (1 + 1e-12)
    assert bound <= theorem * (1 + 1e-12)
    assert theorem < shift**2 / noise * earlier(step, count)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("count", COUNTS)
def test_the_comparison_as_printed_and_as_meant(step: float, count: int) -> None:
    """(129) is strict from K = 2 on; (130) with the half is the sum; (131) and (132) hold."""
    left, right, fall = geometric(step, count), relaxed(step, count), math.exp(-step / 2)
    meant = (1 - step / 2) * -math.expm1(-step * count / 2) / (1 - fall)
    printed = (1 - step / 2) * -math.expm1(-step * count) / (1 - fall)
    assert right == pytest.approx(meant, rel=1e-9)
    assert printed > right * (1 + 1e-9 * step) or count == 300
    if count == 1:
        assert left == right
        assert printed == pytest.approx(right * (1 + fall), rel=1e-9)
    else:
        assert left < right
    for half in (True, False):
        third = (1 - step / 2) / fall * earlier(step, count, half=half)
        assert left < third < earlier(step, count, half=half)


def test_equality_of_the_strict_step_in_fractions() -> None:
    """eta lambda = 1/2, K = 1: (128) and (129) are 3/4 of one constant."""
    step = Fraction(1, 2)
    assert sum((1 - step / 2) ** k for k in range(1, 2)) == (1 - step / 2) * 1 == Fraction(3, 4)


def test_the_resampling_recursion_converges_or_not() -> None:
    """log S/(alpha-1) of Theorem 4.3, in floats: Figure 2's setting, and n = 2, b = 1, A = 1."""

    def run(p: float, exponent: float, kept: float, updates: int) -> list[float]:
        logs = [0.0]
        for _ in range(updates):
            logs.append(np.logaddexp(math.log(p) + exponent + logs[-1],
                                     math.log(1 - p) + kept * logs[-1]))  # fmt: skip
        return logs

    calm = run(0.04, 0.45, 0.98**2, 25 * 60)
    gaps = [calm[-1] - calm[25 * k] for k in range(1, 8)]
    assert all(0 < later < 0.45 * gap for gap, later in pairwise(gaps))
    wild = run(0.5, 2.0, 0.25, 200)
    assert min(np.diff(wild)) > math.log(0.5) + 2.0 - 1e-9
    edge = run(0.5, math.log(2), 0.25, 20_000)
    assert edge[-1] > edge[10_000] + 0.5 > edge[1000]


def test_crossings_at_the_captions_parameters() -> None:
    """Theorem 4.2 and composition written out in floats at order 10; the naive bound too."""
    alpha, rate, q, size = 10, 0.005, 0.98**2, 25
    share = [alpha * rate * q ** (j - 1) * (1 - q) / (1 - q**j) for j in range(1, size + 1)]
    mean = sum(math.exp((alpha - 1) * e) for e in share) / size
    moment = sum(
        math.comb(alpha, k) * 0.96 ** (alpha - k) * 0.04**k * math.exp(rate * k * (k - 1))
        for k in range(alpha + 1)
    )

    def ours(epochs: int) -> float:
        ratio = q ** (size - size // 2)
        earlier_epochs = share[size // 2 - 1] * (1 - ratio ** (epochs - 1)) / (1 - ratio)
        return earlier_epochs + math.log(mean) / (alpha - 1)

    def composed(epochs: int) -> float:
        return epochs * size * math.log(moment) / (alpha - 1)

    assert ours(7) > composed(7) and ours(8) < composed(8)
    assert composed(200) > 25 * ours(200)
    limit = 4 * alpha * rate / 0.02
    assert limit == pytest.approx(10)
    assert limit > 24 * composed(200)
    assert composed(4959) < limit < composed(4960)


def test_laplacian_of_a_logistic_loss_exceeds_its_smoothness() -> None:
    """log(e^a + e^b + e^c) at 0 by finite differences: Laplacian 2/3, largest eigenvalue 1/3."""
    h = 1e-4

    def loss(point: np.ndarray) -> float:
        return float(np.log(np.exp(point).sum()))

    axes = np.eye(3) * h
    matrix = np.array([
        [(loss(u + v) - loss(u - v) - loss(v - u) + loss(-u - v)) / (4 * h * h) for v in axes]
        for u in axes
    ])  # fmt: skip
    assert np.trace(matrix) == pytest.approx(2 / 3, abs=1e-6)
    assert np.linalg.eigvalsh(matrix).max() == pytest.approx(1 / 3, abs=1e-6)


PROVED = (*range(114, 127), 112, 128, 131)


@pytest.mark.parametrize("name", [f"eq-{number}" for number in PROVED])
def test_proved_equations(name: str) -> None:
    assert verdict_of(name)[0] == "proved"


@pytest.mark.parametrize(
    ("name", "verdict", "severity", "correction"),
    [
        ("eq-113", "definition", None, None),
        ("eq-127", "cited", None, None),
        ("eq-129", "refuted", "step", "proved"),
        ("eq-130", "refuted", "misprint", "proved"),
        ("eq-132", "refuted", "misprint", "proved"),
        ("txt-1-full-batch-tighter", "proved", None, None),
        ("txt-d.7-strictly-tighter", "proved", None, None),
        ("txt-2-naive-worse", "certified", None, None),
        ("txt-0-linear", "proved", None, None),
        ("txt-0-exponential", "refuted", "statement", "proved"),
        ("txt-0-smaller", "certified", None, None),
        ("txt-a-conventions", "refuted", "misprint", "certified"),
    ],
)
def test_verdicts(name: str, verdict: str, severity: str | None, correction: str | None) -> None:
    assert verdict_of(name) == (verdict, severity, correction)
