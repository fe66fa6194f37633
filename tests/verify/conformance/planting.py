"""Mistakes planted in our own bounds: a subject that makes them, and the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from verify.conformance.compare import Case, Judged, judge
from verify.conformance.diagnosis import MOST_EVIDENCE, Diagnosis, cost, diagnose
from verify.conformance.judge import VERDICTS, cases_of, sorted_out, worst
from verify.conformance.mistakes import Mistake, catalogue, predicted
from verify.conformance.subjects import Answer


@dataclass(frozen=True)
class Outcome:
    """What came of a planted mistake; applies: whether it changes any answer clearly."""

    applies: bool
    verdict: str = ""
    diagnosis: Diagnosis | None = None

    def right(self, mistake: Mistake) -> bool:
        """Whether the mistake is named, or one that is the same at every vector."""
        found = self.diagnosis
        return found is not None and mistake.name in (found.mistake, *found.also)


def kind(bound: str) -> str:
    """Which part of the catalogue is about these vectors."""
    return bound if bound in ("conversion", "conversion_of_bound", "calibration") else "bound"


def answered(mistake: Mistake, case: Case) -> Judged | None:
    """The judgement of a subject with this mistake, which hands out doubles."""
    value = predicted(mistake, case)
    if value is None:
        return None
    double = Decimal(float(value))
    answer = Answer("value", str(float(value)), double)
    return judge(case, answer, case.setting, Decimal("1e-9"), True)


def plant(mistake: Mistake, bound: str) -> Outcome:
    """Plant a mistake in a bound, ask the golden vectors, and diagnose.

    The simplest vectors are asked, as many as a diagnosis looks at.
    """
    valid = sorted((case for case in cases_of(bound) if case.valid), key=cost)[:MOST_EVIDENCE]
    judged = [found for case in valid if (found := answered(mistake, case)) is not None]
    judged = sorted_out(judged)
    clearly = [
        item for item in judged
        if item.outcome in ("low", "high") and abs(item.error or 0) > Decimal("1e-6")
    ]  # fmt: skip
    if not clearly:
        return Outcome(False)
    outcome, _ = worst(judged)
    return Outcome(True, VERDICTS[outcome], diagnose(VERDICTS[outcome], judged))


def mistakes_for(bound: str) -> tuple[Mistake, ...]:
    """The catalogue that can be planted there."""
    return catalogue(kind(bound))
