"""One answer against the truth: right, or wrong in which way.

Numbers are compared as decimals of 60 digits with a wide exponent, so that a value far beyond
doubles is a number like any other. NaN is no number: `subjects.read_value` has sorted it out.

A subject that was given doubles was asked about those doubles. An answer that is wrong for the
exact input is therefore also held against the bound at the doubles: between the two it is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import cached_property
from typing import Any, Literal

from bounds.arith.ball import decimal_bounds
from bounds.bound import Bound, find
from bounds.setting import AssumptionViolated, InvalidInput, Setting
from verify.conformance.subjects import WIDE, Answer
from verify.conformance.translate import setting_of

DIVIDE = WIDE
"""The arithmetic of comparisons."""
CLOSE = Decimal("1e-12")
"""Relative difference up to which an answer is the right number."""
TOLERANCE = Decimal("1e-9")
"""Relative difference up to which it is within tolerance, by default."""
SMALL = Decimal("1e-300")
"""Below this a double has lost digits by itself."""
LARGEST = Decimal("1.797693134862315e308")
"""The largest double."""
PLAIN_SLACK = 1000
"""How much worse than plain double arithmetic an answer may be and still be called imprecise."""

ADVICE = ("whole-number", "not-a-number")
"""Labels about the type of an input: a subject that answers them is told so, and not failed."""

Outcome = Literal[
    "right", "close", "low", "high", "lossy", "accepted", "refused", "crashed", "hung",
    "malformed", "unasked",
]  # fmt: skip
FINE = ("right", "close", "unasked")


@dataclass(frozen=True)
class Case:
    """A question with its true answer: a vector, or a point that a property drew."""

    id: str
    input: Mapping[str, str]
    valid: bool
    lower: str | None = None
    upper: str | None = None
    assumption: str | None = None
    flags: tuple[str, ...] = ()
    bound: str = ""

    def __hash__(self) -> int:
        return hash((self.id, *self.input.items()))

    @cached_property
    def setting(self) -> Setting | None:
        """The setting within the input, if there is one."""
        try:
            return setting_of(self.input)
        except InvalidInput:
            return None

    @property
    def golden(self) -> bool:
        """Whether it is a golden vector, which has a permanent id."""
        return self.id.startswith(f"{self.bound}-")

    @property
    def expected(self) -> str:
        """The true answer in short."""
        if not self.valid:
            return f"a refusal ({self.assumption})"
        assert self.lower is not None
        return short(Decimal(self.lower))


@dataclass(frozen=True)
class Judged:
    """A question, what the subject did, and what that is.

    error: signed relative difference from the true value, for a number. digits_lost: whether
    plain double arithmetic loses the same digits there.
    """

    case: Case
    answer: Answer
    outcome: Outcome
    error: Decimal | None = None
    says: str = field(default="", compare=False)


def short(value: Decimal, digits: int = 17) -> str:
    """A decimal of at most 17 digits."""
    return str(Context(prec=digits, Emax=10**17, Emin=-(10**17)).plus(value).normalize(DIVIDE))


def difference(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    """Signed relative distance of a value from an interval; 0 inside.

    >>> difference(Decimal(3), Decimal(1), Decimal(2))
    Decimal('0.5')
    """
    if low <= value <= high:
        return Decimal(0)
    end = low if value < low else high
    if value.is_infinite() or end.is_infinite():
        return Decimal("Infinity") if value > end else Decimal("-Infinity")
    gap = DIVIDE.subtract(value, end)
    if end == 0:
        return Decimal("Infinity") if gap > 0 else Decimal("-Infinity")
    return DIVIDE.divide(gap, abs(end))


def judge(
    case: Case, answer: Answer, received: Setting | None, tolerance: Decimal, rounded: bool
) -> Judged:
    """What an answer is worth.

    received: the setting as it was handed over. rounded: whether numbers were handed over as
    doubles, and so answers are doubles at best.
    """
    bound = bound_of(case)
    if not case.valid:
        return _refusal(case, answer, received, bound)
    assert case.lower is not None and case.upper is not None
    low, high = Decimal(case.lower), Decimal(case.upper)
    if rounded and (low > LARGEST or abs(high) < SMALL) and _beyond(answer, low > LARGEST):
        return Judged(case, answer, "unasked", says="the value is at the end of what doubles hold")
    if answer.kind != "value":
        kinds: dict[str, Outcome] = {
            "refused": "refused", "crashed": "crashed", "hung": "hung", "malformed": "malformed",
        }  # fmt: skip
        if _outside(bound, received):
            return Judged(case, answer, "unasked", says="rounded, it is outside the assumptions")
        return Judged(case, answer, kinds[answer.kind])
    assert answer.value is not None
    error = difference(answer.value, low, high)
    if rounded and abs(high) < SMALL and abs(answer.value) <= SMALL:
        return Judged(case, answer, "right", error)
    if abs(error) > CLOSE and bound is not None and received not in (None, case.setting):
        assert received is not None
        try:
            ends = [Decimal(end) for end in decimal_bounds(bound.enclose(received, 25), 25)]
        except AssumptionViolated:
            return Judged(case, answer, "unasked", says="rounded, it is outside the assumptions")
        except (InvalidInput, ValueError):
            ends = []
        error = difference(answer.value, min(low, *ends, low), max(high, *ends, high))
    if abs(error) <= tolerance:
        return Judged(case, answer, "right" if abs(error) <= CLOSE else "close", error)
    return Judged(case, answer, "low" if error < 0 else "high", error)


def bound_of(case: Case) -> Bound | None:
    """The bound that a case is about; None for a conversion or a calibration."""
    try:
        return find(case.bound)
    except InvalidInput:
        return None


def _refusal(case: Case, answer: Answer, received: Setting | None, bound: Bound | None) -> Judged:
    if case.assumption in ADVICE and (answer.kind == "value" or answer.raised == "NaN"):
        what = "no whole number" if case.assumption == "whole-number" else "no number"
        says = f"it answers where an input is {what}, which is left to its types"
        return Judged(case, answer, "unasked", says=says)
    if case.assumption == "sensitivity" and answer.value == 0:
        return Judged(case, answer, "right", says="without sensitivity nothing is lost")
    if answer.kind in ("hung", "malformed") and answer.raised != "NaN":
        return Judged(case, answer, "hung" if answer.kind == "hung" else "malformed")
    if answer.kind == "crashed" and answer.fatal:
        return Judged(case, answer, "crashed")
    if answer.kind in ("refused", "crashed"):
        return Judged(case, answer, "right")
    if answer.value is not None and answer.value == Decimal("Infinity"):
        return Judged(case, answer, "right", says="infinity promises nothing")
    if bound is not None and received is not None and not _outside(bound, received):
        return Judged(case, answer, "unasked", says="rounded, it is within the assumptions")
    return Judged(case, answer, "accepted")


def _beyond(answer: Answer, large: bool) -> bool:
    """Whether a subject gave up where doubles end, which it may."""
    if answer.value is not None:
        return large and answer.value == Decimal("Infinity")
    return answer.kind in ("refused", "crashed") and not answer.fatal


def _outside(bound: Bound | None, received: Setting | None) -> bool:
    if bound is None or received is None:
        return False
    try:
        bound.check(received)
    except InvalidInput:
        return True
    return False


def enclosed(bound: Bound, setting: Setting, name: str = "drawn") -> Case:
    """A case at a drawn setting, with the truth from balls.

    Raises:
        AssumptionViolated, MissingParameter: see `Bound.check`.
    """
    low, high = decimal_bounds(bound.enclose(setting, 25), 25)
    given = {key.replace("-", "_"): text for key, text in setting.as_strings().items()}
    return Case(name, given, True, low, high, None, (), bound.name)


def refine(judged: Judged, loss: Any) -> Judged:
    """The judgement of a wrong number, given what plain double arithmetic loses there (or None).

    A number that is off by no more than that is imprecise and not wrong.
    """
    if judged.outcome not in ("low", "high") or judged.error is None or loss is None:
        return judged
    if abs(judged.error) <= PLAIN_SLACK * Decimal(loss):
        return Judged(judged.case, judged.answer, "lossy", judged.error)
    return judged
