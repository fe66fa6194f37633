"""Which known mistake a subject makes: the one that reproduces all its answers.

A mistake is named only when it predicts every number that the subject gave, the wrong ones as well
as the right ones, but for those where plain double arithmetic would lose the difference. The vector
that singles it out is one where no other mistake of the catalogue predicts the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from bounds.setting import InvalidInput
from verify.conformance import plain
from verify.conformance.compare import (
    LARGEST,
    PLAIN_SLACK,
    SMALL,
    Case,
    Judged,
    bound_of,
    difference,
    short,
)
from verify.conformance.mistakes import Mistake, NoPrediction, catalogue

CLOSE = Decimal("1e-7")
"""Relative difference up to which an answer is what a mistake predicts."""
SECONDS = 20.0
MOST_EVIDENCE = 80


@dataclass(frozen=True)
class Diagnosis:
    """A mistake with its evidence.

    vector: the id of the question that singles it out, "" where none does; `also`: other entries
    of the catalogue that predict the same at every question that was asked.
    """

    mistake: str
    says: str
    vector: str = ""
    also: tuple[str, ...] = ()
    matched: int = 0

    def as_json(self) -> dict[str, object]:
        """The contract of `check --json`, with the evidence after it."""
        return {
            "mistake": self.mistake, "says": self.says, "vector": self.vector or None,
            "also": list(self.also), "matched": self.matched,
        }  # fmt: skip


def diagnose(verdict: str, found: Sequence[Judged], lossy_all: bool = False) -> Diagnosis | None:
    """The mistake behind a verdict, or None.

    found: every question with its judgement.
    """
    if verdict in ("not-an-upper-bound", "too-large"):
        return numbers(found)
    if verdict == "imprecise":
        return _imprecise(found)
    if verdict == "accepts-invalid":
        return _accepted(found)
    if verdict == "refuses-valid":
        cases = [item.case for item in found if item.outcome == "refused"]
        return _explained(cases, "refusals")
    if verdict == "crashes":
        return _crashed(found)
    return None


def cost(case: Case) -> tuple[int, int]:
    """Simple questions first: few updates, short text."""
    setting = case.setting
    steps = 0
    if setting is not None and setting.epochs and setting.n and setting.b:
        steps = setting.n // setting.b + setting.epochs // 1000
    return (steps // 100, sum(len(text) for text in case.input.values()))


def matches(mistake: Mistake, item: Judged) -> bool | None:
    """Whether a mistake predicts an answer; None where it says nothing, or digits are lost."""
    assert mistake.predict is not None
    assert item.answer.value is not None
    try:
        predicted = mistake.predict(item.case)
    except NoPrediction:
        return None
    if abs(predicted) < SMALL or abs(predicted) > LARGEST:
        return None  # where doubles end, any mistake looks the same
    gap = abs(difference(item.answer.value, predicted, predicted))
    if gap <= CLOSE:
        return True
    return None if gap <= PLAIN_SLACK * _loss(item.case) else False


def _loss(case: Case) -> Decimal:
    """What plain arithmetic loses at a case, 0 where that is not known."""
    bound, setting = bound_of(case), case.setting
    lost = None if bound is None or setting is None else plain.loss(bound, setting)
    return lost or Decimal(0)


def numbers(found: Sequence[Judged]) -> Diagnosis | None:
    """The mistake that predicts all the numbers."""
    given = [
        item for item in found
        if item.case.valid and item.outcome != "unasked"
        and item.answer.value is not None and item.answer.value.is_finite()
    ]  # fmt: skip
    wrong = sorted((x for x in given if x.outcome in ("low", "high")), key=lambda x: cost(x.case))
    right = sorted(
        (x for x in given if x.outcome in ("right", "close")), key=lambda x: cost(x.case)
    )
    if not wrong:
        return None
    kind = wrong[0].case.bound if bound_of(wrong[0].case) is None else "bound"
    evidence = _mixed(wrong[:MOST_EVIDENCE], right[:MOST_EVIDENCE])
    end = time.monotonic() + SECONDS
    survivors: list[tuple[Mistake, int]] = []
    for mistake in catalogue(kind):
        hits, silent = 0, 0
        for item in evidence:
            if time.monotonic() > end:
                return None
            fits = matches(mistake, item)
            if fits is False:
                break
            failing = item.outcome in ("low", "high")
            hits += failing and fits is True
            silent += failing and fits is None
        else:
            if hits and hits >= silent:
                survivors.append((mistake, hits))
    if not survivors:
        return None
    survivors.sort(key=lambda pair: -pair[1])
    chosen = survivors[0][0]
    also = tuple(other.name for other, _ in survivors[1:])
    return Diagnosis(
        chosen.name, chosen.says, _single(chosen, wrong, {chosen.name, *also}, end), also,
        survivors[0][1],
    )  # fmt: skip


def _mixed(wrong: Sequence[Judged], right: Sequence[Judged]) -> list[Judged]:
    """Wrong answers and right ones in turns: either rules a mistake out."""
    out: list[Judged] = []
    for i in range(max(len(wrong), len(right))):
        out += [*wrong[i : i + 1], *right[i : i + 1]]
    return out


def _single(chosen: Mistake, wrong: Sequence[Judged], alike: set[str], end: float) -> str:
    """The id of the first question at which no mistake but those alike predicts the answer."""
    others = [other for other in catalogue(chosen.about) if other.name not in alike]
    for item in wrong:
        if matches(chosen, item) is not True:
            continue
        for other in others:
            if time.monotonic() > end:
                return ""
            if matches(other, item) is True:
                # What was mistaken for the other here is likely to be so at the next one too.
                others.remove(other)
                others.insert(0, other)
                break
        else:
            return item.case.id
    return ""


def _imprecise(found: Sequence[Judged]) -> Diagnosis:
    lossy = sorted((x for x in found if x.outcome == "lossy"), key=lambda x: cost(x.case))
    errors = [item.error for item in lossy if item.error is not None]
    explained = [
        item for item in lossy
        if item.error is None or abs(item.error) <= PLAIN_SLACK * _loss(item.case)
    ]  # fmt: skip
    if len(explained) < len(lossy):
        worst = max((abs(error) for error in errors), default=Decimal(0))
        return Diagnosis(
            "few-digits",
            f"Numbers are right to about {short(worst, 1)}, as where single precision is used or "
            "a sum is broken off.", lossy[0].case.id, (), len(lossy),
        )  # fmt: skip
    return Diagnosis(
        "float-cancellation",
        "Differences such as 1 - (1 - eta lambda)^m are formed in plain doubles and lose their "
        "digits; expm1 and log1p keep them.", explained[0].case.id, (), len(explained),
    )  # fmt: skip


def _explained(cases: Sequence[Case], about: str) -> Diagnosis | None:
    if not cases:
        return None
    for mistake in catalogue(about):
        assert mistake.explains is not None
        try:
            if mistake.explains(cases):
                least = min(cases, key=cost)
                return Diagnosis(mistake.name, mistake.says, least.id, (), len(cases))
        except (InvalidInput, AssertionError, TypeError, ArithmeticError):
            continue
    return None


def _accepted(found: Sequence[Judged]) -> Diagnosis | None:
    cases = [item.case for item in found if item.outcome == "accepted"]
    one = _explained(cases, "checks")
    if one is not None:
        return one
    missing = sorted({str(case.assumption) for case in cases})
    invalid = [item for item in found if not item.case.valid and item.outcome != "unasked"]
    if len(cases) == len(invalid):
        says = "Nothing is checked: every input is answered."
        return Diagnosis("no-checks", says, min(cases, key=cost).id, (), len(cases))
    says = f"Several conditions are not checked: {', '.join(missing)}."
    return Diagnosis("checks-missing", says, min(cases, key=cost).id, (), len(cases))


def _crashed(found: Sequence[Judged]) -> Diagnosis | None:
    crashed = sorted((x for x in found if x.outcome == "crashed"), key=lambda x: cost(x.case))
    raised = {item.answer.raised for item in crashed}
    known = {
        "OverflowError": (
            "exponential-overflow",
            "A number grows beyond doubles, as exp of a large order does; the largest exponent "
            "is to be taken out of the sum, and counts are not to be turned into doubles.",
        ),
        "ZeroDivisionError": (
            "division-by-zero",
            "Something that is small comes out as 0 and is divided by.",
        ),
        "MemoryError": ("memory", "It needs more memory than it was allowed."),
        "RecursionError": ("recursion", "It calls itself once for each update or epoch."),
    }
    if len(raised) == 1 and (name := next(iter(raised))) in known:
        return Diagnosis(*known[name], crashed[0].case.id, (), len(crashed))
    return None
