"""Known mistakes planted in every bound: seen, and called by their names."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.verify.conformance.planting import kind, mistakes_for, plant
from verify.conformance import vectors
from verify.conformance.compare import Case, judge
from verify.conformance.diagnosis import diagnose
from verify.conformance.judge import cases_of
from verify.conformance.mistakes import Mistake, catalogue, predicted
from verify.conformance.subjects import Answer

COSTLY = {"optimal_without_replacement"}
EVERY = [name for name in (*vectors.names(), *vectors.OTHERS) if name not in COSTLY]
USUAL = ("shuffle_partition", "sampled_gaussian", "conversion")


def rate(name: str, step: int = 1) -> tuple[int, int, list[str]]:
    """How many mistakes apply, how many are named rightly, and which are not."""
    applied, missed = 0, []
    for mistake in mistakes_for(name)[::step]:
        found = plant(mistake, name)
        if not found.applies:
            continue
        applied += 1
        assert found.verdict in ("not-an-upper-bound", "too-large"), mistake.name
        if not found.right(mistake):
            missed.append(mistake.name)
    return applied, applied - len(missed), missed


@pytest.mark.parametrize("name", USUAL)
def test_planted_mistakes_are_named(name: str) -> None:
    """A part of the catalogue in three bounds of different kinds."""
    applied, right, missed = rate(name, 4)
    assert applied >= 2
    assert right >= 0.9 * applied, missed


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_every_planted_mistake_is_named_nine_times_in_ten(name: str) -> None:
    applied, right, missed = rate(name)
    assert applied >= 5
    assert right >= 0.9 * applied, missed


def test_the_catalogue_is_named_once_and_says_something() -> None:
    seen = [(mistake.about, mistake.name) for mistake in catalogue()]
    assert len(seen) == len(set(seen))
    assert len({name for _, name in seen}) >= 50
    for mistake in catalogue():
        assert mistake.says.endswith("."), mistake.name
        assert (mistake.predict is None) != (mistake.explains is None)


def test_every_mistake_applies_somewhere() -> None:
    """A mistake that changes no answer of any bound would never be found."""
    cases = [case for name in EVERY for case in _few(name)]
    for mistake in catalogue():
        if mistake.predict is None:
            continue
        assert any(_changes(mistake, case) for case in cases
                   if kind(case.bound) == mistake.about), mistake.name  # fmt: skip


def _few(name: str) -> list[Case]:
    step = 1 if name in vectors.OTHERS else 5
    return [case for case in cases_of(name) if case.valid][::step]


def _changes(mistake: Mistake, case: Case) -> bool:
    value = predicted(mistake, case)
    assert case.lower is not None
    true = Decimal(case.lower)
    return value is not None and abs(value - true) > Decimal("1e-6") * abs(true)


TYPICAL = {
    "K for K - 1": ("epochs-plus-one", "fixed_order"),
    "K - 1 for K": ("epochs-minus-one", "fixed_order"),
    "ceil for floor": ("ceil-for-floor", "shuffle_partition"),
    "sigma for sigma^2": ("sigma-for-sigma-squared", "fixed_order"),
    "sum for mean of the gradients": ("noise-on-the-sum", "convex_fixed_order"),
    "sum for mean of the exponentials": ("sum-of-exponentials", "shuffle_partition"),
    "alpha dropped": ("alpha-dropped", "fixed_order"),
    "1/(alpha - 1) dropped": ("division-by-alpha-minus-one-dropped", "shuffle_partition"),
    "average for sum": ("average-over-epochs", "convex_fixed_order"),
    "half the sensitivity": ("half-the-sensitivity", "fixed_order"),
    "twice the sensitivity": ("twice-the-sensitivity", "fixed_order"),
    "epochs for updates": ("epochs-for-updates", "sampled_gaussian"),
    "updates for epochs": ("updates-for-epochs", "fixed_order"),
    "eta doubled in the noise": ("noise-doubled", "fixed_order"),
    "binary logarithm of a moment": ("binary-logarithm", "sampled_gaussian"),
    "binary logarithm of 1/delta": ("conversion-in-binary-logarithm", "conversion"),
    "delta ignored": ("delta-ignored", "conversion"),
    "lists that part": ("orders-sorted-without-their-values", "conversion"),
    "delta fixed": ("delta-of-one-in-a-hundred-thousand", "calibration"),
    "orders too few": ("order-grid-too-narrow", "conversion_of_bound"),
    "sensitivity of a whole conversion": ("half-the-sensitivity", "conversion_of_bound"),
    "noise of a calibration": ("noise-halved", "calibration"),
    "signs of the series": ("signs-of-the-binomial-series-dropped", "sampled_gaussian"),
}
"""Mistakes that people make; cancellation, which predicts no number, is among the subjects."""


@pytest.mark.parametrize("what", TYPICAL)
def test_typical_mistakes_are_called_by_their_names(what: str) -> None:
    name, bound = TYPICAL[what]
    mistake = next(item for item in mistakes_for(bound) if item.name == name)
    found = plant(mistake, bound).diagnosis
    assert found is not None
    assert (found.mistake, found.says) == (name, mistake.says)


@pytest.mark.parametrize(("every", "named"), [(4, True), (2, False)])
def test_two_mistakes_at_once_are_said_to_be_so(every: int, named: bool) -> None:
    """Twice the noise, and something unknown at every fourth input; at every second, no name."""
    halved = next(item for item in mistakes_for("fixed_order") if item.name == "noise-doubled")
    judged = []
    for i, case in enumerate(case for case in cases_of("fixed_order") if case.valid):
        value = predicted(halved, case)
        assert value is not None
        value *= Decimal("0.837") if i % every == 0 else 1
        answer = Answer("value", str(value), value)
        judged.append(judge(case, answer, case.setting, Decimal("1e-9"), True))
    found = diagnose("not-an-upper-bound", judged)
    assert (found is not None) == named
    if found is not None:
        assert found.mistake == "noise-doubled"
        assert "something else is wrong as well" in found.says


def test_no_mistake_is_named_for_what_is_none() -> None:
    """An error that is in no catalogue: the answer is none, not the nearest."""
    judged = []
    for case in cases_of("thm-4.2"):
        if case.valid:
            assert case.lower is not None
            value = Decimal(case.lower) * Decimal("0.837")
            answer = Answer("value", str(value), value)
            judged.append(judge(case, answer, case.setting, Decimal("1e-9"), True))
    assert diagnose("not-an-upper-bound", judged) is None
