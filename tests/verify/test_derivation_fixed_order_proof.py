"""Independent looks at the proof of Theorem 3.3 and at what is said beside it.

Recursions in floats and Fractions, written afresh; of the modules under test only verdicts are
used, and the exact suprema, which are put between a run and its composition.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from reports.records import Evidence
from verify.derivations.fixed_order_proof import supremum
from verify.registry import registry
from verify.statement import Run
from verify.verdict import verdict

PROVED = [
    "eq-003", "eq-091", "eq-092", "eq-093", "eq-094", "eq-095", "eq-097", "eq-098", "eq-099",
    "eq-100", "eq-101", "eq-102", "eq-104", "eq-105", "eq-107", "eq-108", "eq-109", "eq-110",
    "txt-d.5-shift", "txt-d.5-bounded-ratio",
]  # fmt: skip
OTHERS = {
    "eq-096": "definition",
    "eq-103": "refuted",
    "eq-106": "refuted",
    "eq-111": "refuted",
    "txt-3.2-factor-n-over-b": "refuted",
    "txt-3.2-last-batch": "certified",
    "txt-3.2-one-epoch-order": "certified",
    "txt-3.2-beats-composed-balle": "certified",
    "txt-d.6-first-batch": "cited",
    "txt-d.6-last-batch": "cited",
}


def judged(key: str, about: str) -> str:
    found: list[Evidence] = [
        made.evidence(about, Run())[0]
        for made in registry().checks[key]
        if about in made.forms
    ]  # fmt: skip
    said = registry().statements[key]
    return verdict(found, definition=said.definition, cited=said.cited)


@pytest.mark.parametrize(
    ("key", "expected"), [*((key, "proved") for key in PROVED), *OTHERS.items()]
)
def test_verdict_as_printed(key, expected):
    assert judged(key, "printed") == expected


@pytest.mark.parametrize("key", ["eq-103", "eq-106"])
def test_corrections_are_proved(key):
    assert judged(key, "correction") in ("proved", "certified")
    assert registry().statements[key].severity == "misprint"


def weights(c: Fraction, size: int, updates: int) -> tuple[list[Fraction], list[Fraction]]:
    """Shifts and noise variances as they arrive at the end, over their units."""
    shifts = [c ** (updates - 1 - t) if t % size == 0 else Fraction(0) for t in range(updates)]
    return shifts, [c ** (2 * (updates - 1 - t)) for t in range(updates)]


@pytest.mark.parametrize(
    ("size", "epochs", "updates"), [(2, 1, 1), (2, 1, 2), (3, 2, 1), (4, 1, 3)]
)
def test_supremum_lies_between_a_run_and_the_composition(size, epochs, updates):
    for c in (Fraction(1, 3), Fraction(9, 10)):
        count = epochs * size + updates
        shifts, noise = weights(c, size, count)
        run = sum(shifts) ** 2 / sum(noise)
        value = supremum(c, size, epochs, updates)
        assert run <= value <= epochs + 1
        assert value <= supremum(c, size, epochs, 0) + supremum(c, size, 0, updates)


def test_first_epoch_by_telescoping_in_floats():
    q = 0.83
    ratio = 1.0
    for j in range(1, 9):
        formula = q ** (j - 1) / sum(q**s for s in range(j))
        assert math.isclose(ratio, formula, rel_tol=1e-12)
        ratio *= q * sum(q**s for s in range(j)) / sum(q**s for s in range(j + 1))


def test_literal_product_of_103_is_below_the_truth():
    # n/b = 3, first epoch, q = 1/4: the run itself has A q^2/(1 + q + q^2) = A/21.
    q = Fraction(1, 4)
    truth = q**2 / (1 + q + q**2)
    literal = (q / (1 + q)) ** 2
    meant = q / (1 + q) * q * (1 + q) / (1 + q + q**2)
    assert truth == Fraction(1, 21) == meant
    assert literal == Fraction(1, 25) < truth


def test_equality_of_106_fails_at_the_first_epoch():
    q = Fraction(1, 4)
    assert q / (1 + q) == Fraction(1, 5) != q == Fraction(1, 4)


def test_solutions_of_95_need_not_obey_the_second_relation_of_92():
    # n/b = 2, two epochs, first batch: (u + A) q W_3/W_4 against u + A q/W_2, u = A q/W_2.
    def excess(q: float) -> float:
        start = q / (1 + q)
        end = (start + 1) * q * (1 + q + q * q) / (1 + q + q * q + q**3)
        return end - 2 * start

    assert excess(0.5) < 0 < excess(0.81)


def test_without_conditioning_the_recursion_for_a_later_batch_is_larger():
    # n/b = 3, one epoch, j0 = 1: the true count of updates makes W longer.
    q = 0.5
    conditioned = q * 1 / (1 + q)
    unconditioned = q * (1 + q) / (1 + q + q * q)
    assert conditioned < unconditioned


def figure_1(epochs: int, last: bool) -> tuple[float, float, float]:
    """Theorem 2.1, Theorem 3.3 and Balle et al. composed, over alpha A, in floats."""
    x, q, size, half = 0.02, 0.98**2, 25, 12

    def share(j: int) -> float:
        return q ** (j - 1) / sum(q**s for s in range(j))

    naive = 4 / x * (1 - math.exp(-x * epochs / 2))
    rho = q ** (size - half)
    ours = share(half) * (1 - rho ** (epochs - 1)) / (1 - rho) + share(1 if last else size)
    whole = (1 - 2 * 0.02 * 4 / 5) ** 12.5 / 24
    return naive, ours, whole * (epochs - 1) + (1 if last else whole)


@pytest.mark.parametrize(
    ("epochs", "ratio"),
    [(1, 84.27), (2, 44.15), (5, 58.92), (10, 103.5), (50, 424.6), (200, 933.0), (10**5, 1079.1)],
)
def test_factor_in_figure_1a(epochs, ratio):
    naive, ours, _ = figure_1(epochs, last=False)
    assert math.isclose(naive / ours, ratio, rel_tol=1e-3)


def test_where_the_composition_is_passed():
    for last in (False, True):
        below = [k for k in range(2, 201) if figure_1(k, last)[2] < figure_1(k, last)[1]]
        assert below == [2, 3, 4, 5, 6]
    naive, ours, _ = figure_1(10, last=True)
    assert naive / ours > 15


def test_factor_of_the_least_epoch_count_is_at_two():
    ratios = {k: figure_1(k, last=False)[0] / figure_1(k, last=False)[1] for k in range(1, 201)}
    assert min(ratios, key=ratios.__getitem__) == 2


def test_section_d6_at_half_the_sensitivity():
    # Source: noise eta Z with Var Z = 2 sigma^2/eta; shift eta Sg/b against variance 2 eta sigma^2.
    eta, sens, b, s2 = 0.3, 1.7, 3, 0.9
    gaussian = (eta * sens / b) ** 2 / (2 * 2 * eta * s2)
    printed = 2 * (eta * sens / 2 / b) ** 2 / (2 * eta * s2)
    source = 2 * (sens / 2 / b) ** 2 / (2 * s2 / eta)
    assert math.isclose(gaussian, printed)
    assert math.isclose(gaussian, source)
    assert math.isclose(printed, eta * sens**2 / (4 * b**2 * s2))
