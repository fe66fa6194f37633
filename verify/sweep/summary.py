"""What a sweep found: the worst ratio and where, who wins where, and where a claim fails.

The finished file is read one row group at a time, so that memory does not grow with the points.
Ties go to the lowest index.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.setting import show
from verify.sweep.evaluate import (
    FAILS,
    HOLDS,
    NOT_APPLICABLE,
    UNDECIDED,
    WIDTH,
    witness,
)
from verify.sweep.grid import Claim, Sweep, find
from verify.sweep.points import Points
from verify.sweep.store import Store

Array = NDArray[np.float64]


@dataclass
class Extreme:
    """The largest value [-] seen, and the index of the point."""

    value: float = -np.inf
    index: int = -1

    def see(self, values: Array, start: int, where: NDArray[np.bool_]) -> None:
        """Look at a row group that begins at `start`."""
        kept = np.where(where & np.isfinite(values), values, -np.inf)
        best = int(np.argmax(kept))
        if kept[best] > self.value:
            self.value, self.index = float(kept[best]), start + best


@dataclass
class Ratio:
    """A bound over what it is compared with, at the points that have both."""

    bound: str
    against: str
    points: int = 0
    worst: Extreme = field(default_factory=Extreme)


@dataclass
class Wins:
    """The points at which a bound is the least proved one of its scheme.

    lead: the largest ratio of the next best to it. ranges: of what varies, over its points.
    """

    bound: str
    scheme: str
    points: int = 0
    lead: Extreme = field(default_factory=Extreme)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Outcome:
    """How a claim fared: points by outcome, the failing point of lowest index, and the worst.

    closest: the largest ratio of the side claimed smaller to the other, among all points.
    """

    claim: Claim
    counts: dict[str, int]
    first: int = -1
    worst: Extreme = field(default_factory=Extreme)
    closest: Extreme = field(default_factory=Extreme)
    undecided: int = -1

    @property
    def good(self) -> bool:
        """Whether it fails nowhere and is open nowhere."""
        return not self.counts[FAILS] and not self.counts[UNDECIDED]


@dataclass
class Summary:
    """The answers of a whole sweep. ties: points of a scheme without one winner."""

    sweep: Sweep
    points: int = 0
    values: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    ratios: list[Ratio] = field(default_factory=list)
    wins: list[Wins] = field(default_factory=list)
    ties: dict[str, int] = field(default_factory=dict)
    claims: list[Outcome] = field(default_factory=list)
    errors: int = 0
    first_error: tuple[int, str] | None = None

    @property
    def good(self) -> bool:
        """Whether no claim fails or is open."""
        return all(claim.good for claim in self.claims)

    def where(self, index: int) -> dict[str, str]:
        """The exact values that vary, at a point."""
        point = Points(self.sweep).point(index)
        return {name: show(point[name]) for name in self.sweep.varied}

    def as_json(self) -> dict[str, Any]:
        """The contract of `hiddenstate sweep --json`; numbers are decimal strings."""

        def extreme(item: Extreme, word: str) -> dict[str, Any] | None:
            if item.index < 0:
                return None
            return {word: repr(item.value), "index": item.index, "at": self.where(item.index)}

        return {
            "points": self.points,
            "shared": {name: show(value) for name, value in self.sweep.shared.items()},
            "varied": list(self.sweep.varied),
            "columns": [
                {"name": name, "values": count, "reasons": self.reasons.get(name, {})}
                for name, count in self.values.items()
            ],
            "worst_ratios": [
                {"bound": item.bound, "against": item.against, "points": item.points,
                 "worst": extreme(item.worst, "ratio")}
                for item in self.ratios
            ],
            "winners": [
                {"scheme": item.scheme, "bound": item.bound, "points": item.points,
                 "largest_lead": extreme(item.lead, "ratio"),
                 "ranges": {k: [repr(low), repr(high)] for k, (low, high) in item.ranges.items()}}
                for item in self.wins
            ],
            "ties": self.ties,
            "claims": [
                {"claim": item.claim.text,
                 **{word.replace(" ", "_"): count for word, count in item.counts.items()},
                 "closest": extreme(item.closest, "ratio"),
                 "first_failure": self.failure(item, item.first),
                 "worst_failure": self.failure(item, item.worst.index),
                 "first_undecided": None if item.undecided < 0 else
                 {"index": item.undecided, "at": self.where(item.undecided)}}
                for item in self.claims
            ],
            "errors": self.errors,
            "first_error": None if self.first_error is None else
            {"index": self.first_error[0], "error": self.first_error[1],
             "at": self.where(self.first_error[0])},
        }  # fmt: skip

    def failure(self, item: Outcome, index: int) -> dict[str, Any] | None:
        """A failing point with both sides enclosed."""
        if index < 0:
            return None
        return {
            "index": index, "at": self.where(index),
            **witness(item.claim, Points(self.sweep).setting(index)),
        }  # fmt: skip


def summarise(store: Store) -> Summary:
    """Read a finished file once and answer."""
    return from_groups(store.sweep, store.groups())


def from_groups(sweep: Sweep, groups: Iterator[Any]) -> Summary:
    """Answer from tables that hold the points in order."""
    schemes = _schemes(sweep)
    summary = Summary(sweep)
    request = sweep.request
    summary.values = dict.fromkeys(_value_columns(sweep), 0)
    summary.claims = [
        Outcome(claim, dict.fromkeys((HOLDS, FAILS, UNDECIDED, NOT_APPLICABLE), 0))
        for claim in request.claims
    ]
    ratios: dict[tuple[str, str], Ratio] = {}
    wins: dict[tuple[str, str], Wins] = {}
    for table in groups:
        start = int(table.column("index")[0].as_py())
        summary.points += table.num_rows
        columns = {name: _array(table, name) for name in summary.values}
        for name, column in columns.items():
            summary.values[name] += int(np.count_nonzero(~np.isnan(column)))
            _count_reasons(summary, table, name)
        for scheme, names in schemes.items():
            _compare(summary, ratios, wins, scheme, names, columns, table, start)
        for outcome in summary.claims:
            _claims(outcome, columns, table, start)
        _errors(summary, table, start)
    summary.ratios, summary.wins = list(ratios.values()), list(wins.values())
    return summary


def _value_columns(sweep: Sweep) -> list[str]:
    request = sweep.request
    names = [*request.bounds, *(f"exact {scheme}" for scheme in request.exact)]
    if request.simulation is not None:
        names += [f"estimate {name}" for name in request.simulation.estimators]
    return names


def _schemes(sweep: Sweep) -> dict[str, list[str]]:
    """The columns of proved upper bounds by scheme; of two names for one bound, the first."""
    found: dict[str, dict[str, str]] = {}
    for name, file in sweep.request.bounds.items():
        bound = find(file)
        if bound.direction == "upper" and bound.standing == "theorem":
            found.setdefault(bound.scheme, {}).setdefault(file, name)
    return {scheme: list(names.values()) for scheme, names in found.items()}


def _array(table: Any, name: str) -> Array:
    found: Array = table.column(name).to_numpy(zero_copy_only=False).astype(np.float64)
    return found


def _count_reasons(summary: Summary, table: Any, name: str) -> None:
    import pyarrow.compute as pc

    column = f"{'estimate' if name.startswith('estimate ') else name} reason"
    for item in pc.value_counts(table.column(column)).to_pylist():
        if item["values"] is not None:
            there = summary.reasons.setdefault(name, {})
            there[item["values"]] = there.get(item["values"], 0) + item["counts"]


def _compare(
    summary: Summary,
    ratios: dict[tuple[str, str], Ratio],
    wins: dict[tuple[str, str], Wins],
    scheme: str,
    names: list[str],
    columns: dict[str, Array],
    table: Any,
    start: int,
) -> None:
    from verify.comparison import SCHEMES

    def see(name: str, against: str, base: Array) -> None:
        item = ratios.setdefault((name, against), Ratio(name, against))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = columns[name] / base
        both = np.isfinite(ratio) & (base > 0)
        item.points += int(np.count_nonzero(both))
        item.worst.see(ratio, start, both)

    exact = f"exact {SCHEMES[scheme][0]}" if scheme in SCHEMES else ""
    if exact in columns:
        for name in names:
            see(name, exact, columns[exact])
    if len(names) < 2:
        return
    stacked = np.array([np.nan_to_num(columns[name], nan=np.inf) for name in names])
    order = np.sort(stacked, axis=0)
    least, second = order[0], order[1]
    for name in names:
        see(name, f"the least of {scheme}", np.where(np.isfinite(least), least, np.nan))
    tied = np.isfinite(least) & (second <= least * (1 + WIDTH))
    summary.ties[scheme] = summary.ties.get(scheme, 0) + int(np.count_nonzero(tied))
    for k, name in enumerate(names):
        item = wins.setdefault((scheme, name), Wins(name, scheme))
        where = np.isfinite(least) & ~tied & (stacked[k] == least)
        count = int(np.count_nonzero(where))
        if not count:
            continue
        item.points += count
        with np.errstate(divide="ignore", invalid="ignore"):
            item.lead.see(second / least, start, where & np.isfinite(second))
        for varied in summary.sweep.varied:
            values = _varied(table, varied)[where]
            low, high = float(values.min()), float(values.max())
            if varied in item.ranges:
                low, high = min(low, item.ranges[varied][0]), max(high, item.ranges[varied][1])
            item.ranges[varied] = (low, high)


def _varied(table: Any, name: str) -> Array:
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_string(column.type):
        return np.array([float(Fraction(text)) for text in column.to_pylist()])
    return _array(table, name)


def _claims(outcome: Outcome, columns: dict[str, Array], table: Any, start: int) -> None:
    claim = outcome.claim
    said = table.column(claim.text).to_numpy(zero_copy_only=False)
    for word in outcome.counts:
        outcome.counts[word] += int(np.count_nonzero(said == word))
    sides = [columns[side.column] * float(side.factor) for side in (claim.left, claim.right)]
    small, large = sides if claim.relation in ("<=", "<") else sides[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = small / large
    outcome.closest.see(ratio, start, said != NOT_APPLICABLE)
    fails, opens = said == FAILS, said == UNDECIDED
    if np.any(fails):
        if outcome.first < 0:
            outcome.first = start + int(np.argmax(fails))
        outcome.worst.see(ratio, start, fails)
    if np.any(opens) and outcome.undecided < 0:
        outcome.undecided = start + int(np.argmax(opens))


def _errors(summary: Summary, table: Any, start: int) -> None:
    said = table.column("error")
    there = np.flatnonzero(said.is_valid().to_numpy(zero_copy_only=False))
    summary.errors += len(there)
    if len(there) and summary.first_error is None:
        first = int(there[0])
        summary.first_error = start + first, str(said[first].as_py())
