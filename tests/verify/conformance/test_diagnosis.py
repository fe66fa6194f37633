"""Known mistakes planted in every bound: seen, and called by their names."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.verify.conformance.planting import kind, mistakes_for, plant
from verify.conformance import vectors
from verify.conformance.compare import Case
from verify.conformance.mistakes import NoPrediction, catalogue

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
        assert any(_changes(mistake.predict, case) for case in cases
                   if kind(case.bound) == mistake.about), mistake.name  # fmt: skip


def _few(name: str) -> list[Case]:
    from verify.conformance.judge import cases_of

    step = 1 if name in vectors.OTHERS else 5
    return [case for case in cases_of(name) if case.valid][::step]


def _changes(predict: object, case: Case) -> bool:
    assert callable(predict)
    assert case.lower is not None
    try:
        value = Decimal(predict(case))
    except NoPrediction:
        return False
    true = Decimal(case.lower)
    return abs(value - true) > Decimal("1e-6") * abs(true)


def test_no_mistake_is_named_for_what_is_none() -> None:
    """An error that is in no catalogue: the answer is none, not the nearest."""
    from decimal import Decimal

    from verify.conformance.compare import judge
    from verify.conformance.diagnosis import diagnose
    from verify.conformance.judge import cases_of
    from verify.conformance.subjects import Answer

    judged = []
    for case in cases_of("thm-4.2"):
        if case.valid:
            assert case.lower is not None
            value = Decimal(case.lower) * Decimal("0.837")
            answer = Answer("value", str(value), value)
            judged.append(judge(case, answer, case.setting, Decimal("1e-9"), True))
    assert diagnose("not-an-upper-bound", judged) is None
