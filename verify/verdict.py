"""One pure function from evidence to verdict."""

from __future__ import annotations

from collections.abc import Iterable

from reports.records import Evidence

_RIGOROUS = ("symbolic", "box", "point")
_COVERING = ("symbolic", "box")
_GRADES = ("open", "supported", "certified", "proved")
_DECIDING = ("derived", "valid", "constants", "restated", "well-posed")


def verdict(evidence: Iterable[Evidence], *, definition: bool = False, cited: bool = False) -> str:
    """The verdict on one reading of a statement.

    A part of the statement is refuted by a rigorous failure of `valid`, `constants`, `restated`
    or `well-posed`. A failed `derived` says that an argument breaks, not that its conclusion is
    false; then something else must carry the part. A part is established by the best of what
    derives it and what shows it valid; constants and restatements must hold besides. Failures
    that are only sampled or statistical leave the statement open, as does anything undecided.
    The statement is as good as its weakest part.
    """
    decisive = [
        item for item in evidence
        if item.obligation != "tight" and item.outcome != "not-applicable"
    ]  # fmt: skip
    if not any(item.obligation in _DECIDING for item in decisive):
        return "open"
    if any(_refutes(item) for item in decisive):
        return "refuted"
    grade = len(_GRADES) - 1
    for part in {item.part for item in decisive}:
        grade = min(grade, _grade([item for item in decisive if item.part == part]))
    if grade == 0:
        return "open"
    if definition:
        return "definition"
    return "cited" if cited else _GRADES[grade]


def _refutes(item: Evidence) -> bool:
    return (
        item.outcome == "fails"
        and item.strength in _RIGOROUS
        and item.obligation in ("valid", "constants", "restated", "well-posed")
    )


def _grade(items: list[Evidence]) -> int:
    grades = []
    truth = [item for item in items if item.obligation in ("derived", "valid")]
    if truth:
        unsettled = any(item.outcome != "holds" for item in truth if item.obligation == "valid")
        grades.append(0 if unsettled else max(_worth(item) for item in truth))
    for item in items:
        if item.obligation in ("constants", "restated", "well-posed"):
            grades.append(_worth(item))
        if item.obligation == "transcribed" and item.outcome != "holds":
            grades.append(0)
    return min(grades, default=len(_GRADES) - 1)


def _worth(item: Evidence) -> int:
    if item.outcome != "holds":
        return 0
    if item.strength in _COVERING and item.whole:
        return 3
    return 2 if item.strength in _RIGOROUS else 1
