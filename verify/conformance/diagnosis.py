"""Which known mistake a subject makes: the one that reproduces all its answers.

A mistake is named when it predicts every number that the subject gave, the wrong ones as well as
the right ones, but for those where plain double arithmetic would lose the difference. The vector
that singles it out is one where no other mistake of the catalogue predicts the same. Where no
mistake predicts all, one that predicts most is named, and the diagnosis says that it does not.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
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
from verify.conformance.mistakes import Mistake, catalogue, predicted

CLOSE = Decimal("1e-7")
"""Relative difference up to which an answer is what a mistake predicts."""
SECONDS = 20.0
MOST_EVIDENCE = 80
PARTIAL_EVIDENCE = 24
LEAST_PARTIAL = 5


@dataclass(frozen=True)
class Diagnosis:
    """A mistake with its evidence.

    vector: the id of the golden vector that singles it out, "" where none does; at: its input, or
    that of a drawn question which does. also: other entries of the catalogue that predict the same
    at every question that was asked.
    """

    mistake: str
    says: str
    vector: str = ""
    also: tuple[str, ...] = ()
    matched: int = 0
    at: Mapping[str, str] | None = None

    def as_json(self) -> dict[str, object]:
        """The contract of `check --json`, with the evidence after it."""
        return {
            "mistake": self.mistake, "says": self.says, "vector": self.vector or None,
            "also": list(self.also), "matched": self.matched,
            "at": None if self.at is None else dict(self.at),
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


def _vector(cases: Sequence[Case]) -> str:
    """The id of the simplest golden vector among them, "" where there is none."""
    golden = [case for case in cases if case.golden]
    return min(golden, key=cost).id if golden else ""


def matches(mistake: Mistake, item: Judged) -> bool | None:
    """Whether a mistake predicts an answer; None where it says nothing, or digits are lost."""
    assert item.answer.value is not None
    value = predicted(mistake, item.case)
    if value is None or abs(value) < SMALL or abs(value) > LARGEST:
        return None  # where doubles end, any mistake looks the same
    gap = abs(difference(item.answer.value, value, value))
    if gap <= CLOSE:
        return True
    return None if gap <= PLAIN_SLACK * _loss(item.case) else False


def _loss(case: Case) -> Decimal:
    """What plain arithmetic loses at a case, 0 where that is not known."""
    bound, setting = bound_of(case), case.setting
    lost = None if bound is None or setting is None else plain.loss(bound, setting)
    return lost or Decimal(0)


def numbers(found: Sequence[Judged]) -> Diagnosis | None:
    """The mistake that predicts all the numbers, or if none does, the one that predicts most."""
    given = [
        item for item in found
        if item.case.valid and item.outcome != "unasked" and item.answer.value is not None
    ]  # fmt: skip
    if len(given) > 4 and len({item.answer.value for item in given}) == 1:
        says = f"The answer is {given[0].answer} whatever the input."
        cases = [item.case for item in given if item.outcome in ("low", "high")]
        return Diagnosis("constant-answer", says, _vector(cases), (), len(given))
    given = [x for x in given if x.answer.value is not None and x.answer.value.is_finite()]
    given.sort(key=lambda item: cost(item.case))
    wrong = [item for item in given if item.outcome in ("low", "high")]
    right = [item for item in given if item.outcome in ("right", "close")]
    if not wrong:
        return None
    kind = wrong[0].case.bound if bound_of(wrong[0].case) is None else "bound"
    evidence = _mixed(wrong[:MOST_EVIDENCE], right[:MOST_EVIDENCE])
    end = time.monotonic() + SECONDS
    ranked = _ranked(kind, evidence, 0, end)
    if not ranked:
        # An odd step, so that wrong answers and right ones are among them.
        return _partial(kind, evidence[:: len(evidence) // PARTIAL_EVIDENCE | 1], end)
    chosen, hits, _ = ranked[0]
    also = tuple(other.name for other, _, _ in ranked[1:])
    single = _single(chosen, wrong, {chosen.name, *also}, end)
    return Diagnosis(
        chosen.name, chosen.says, single.id if single and single.golden else "", also, hits,
        single.input if single else None,
    )  # fmt: skip


def _ranked(
    kind: str, evidence: Sequence[Judged], allowed: int, end: float
) -> list[tuple[Mistake, int, int]]:
    """The mistakes with how many wrong answers they predict and how many answers they do not.

    Those that mispredict more than allowed are left out, and so are those that are silent at most
    of the wrong ones. The best come first; none where the time is over.
    """
    out = []
    for mistake in catalogue(kind):
        hits = silent = misses = 0
        for item in evidence:
            if time.monotonic() > end:
                return []
            fits = matches(mistake, item)
            failing = item.outcome in ("low", "high")
            hits += failing and fits is True
            silent += failing and fits is None
            misses += fits is False
            if misses > allowed:
                break
        else:
            if hits and hits >= silent:
                out.append((mistake, hits, misses))
    return sorted(out, key=lambda item: item[2] - item[1])


def _partial(kind: str, evidence: Sequence[Judged], end: float) -> Diagnosis | None:
    """A mistake that predicts most of the wrong answers, where there is more than one mistake."""
    for mistake, hits, misses in _ranked(kind, evidence, len(evidence) // 3, end):
        if hits >= LEAST_PARTIAL:
            says = (
                f"{mistake.says} That predicts {hits} of {hits + misses} answers; at the others "
                "something else is wrong as well."
            )
            return Diagnosis(mistake.name, says, "", (), hits)
    return None


def _mixed(wrong: Sequence[Judged], right: Sequence[Judged]) -> list[Judged]:
    """Wrong answers and right ones in turns: either rules a mistake out."""
    out: list[Judged] = []
    for i in range(max(len(wrong), len(right))):
        out += [*wrong[i : i + 1], *right[i : i + 1]]
    return out


def _single(chosen: Mistake, wrong: Sequence[Judged], alike: set[str], end: float) -> Case | None:
    """The first question, golden ones before drawn ones, that tells it from all but those alike."""
    others = [other for other in catalogue(chosen.about) if other.name not in alike]
    for item in sorted(wrong, key=lambda item: not item.case.golden):
        if matches(chosen, item) is not True:
            continue
        for other in others:
            if time.monotonic() > end:
                return None
            if matches(other, item) is True:
                # What was mistaken for the other here is likely to be so at the next one too.
                others.remove(other)
                others.insert(0, other)
                break
        else:
            return item.case
    return None


def _imprecise(found: Sequence[Judged]) -> Diagnosis:
    lossy = [item for item in found if item.outcome == "lossy"]
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
            "a sum is broken off.", _vector([x.case for x in lossy]), (), len(lossy),
        )  # fmt: skip
    return Diagnosis(
        "float-cancellation",
        "Differences such as 1 - (1 - eta lambda)^m are formed in plain doubles and lose their "
        "digits; expm1 and log1p keep them.", _vector([x.case for x in explained]), (),
        len(explained),
    )  # fmt: skip


def _explained(cases: Sequence[Case], about: str) -> Diagnosis | None:
    if not cases:
        return None
    for mistake in catalogue(about):
        assert mistake.explains is not None
        try:
            if mistake.explains(cases):
                return Diagnosis(mistake.name, mistake.says, _vector(cases), (), len(cases))
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
        return Diagnosis("no-checks", says, _vector(cases), (), len(cases))
    says = f"Several conditions are not checked: {', '.join(missing)}."
    return Diagnosis("checks-missing", says, _vector(cases), (), len(cases))


def _crashed(found: Sequence[Judged]) -> Diagnosis | None:
    crashed = [item for item in found if item.outcome == "crashed"]
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
        return Diagnosis(*known[name], _vector([x.case for x in crashed]), (), len(crashed))
    return None
