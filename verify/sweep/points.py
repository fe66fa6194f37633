"""The setting of every index of a sweep, exactly, in any order.

A grid counts through its axes. A random design draws entry i of a parameter from word i of a
Philox stream whose key is made of the seed and the parameter's name, so that it depends on nothing
else: not on how the work is shared, nor on what else is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.arith.columns import Column
from bounds.setting import Setting, show
from verify.sweep.grid import INTEGERS, Draw, Sweep, log_between, rounded, setting_of

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Values:
    """One parameter over a range of indices; `whole` says that they are integers by nature.

    texts: the exact values as text, where doubles would not give them back.
    """

    column: Column
    whole: bool
    texts: list[str] | None = None

    def integers(self) -> Integers:
        """The values of a whole parameter, [points]."""
        return np.asarray(self.column.high).astype(np.int64)


def words(seed: int, name: str, start: int, stop: int) -> NDArray[np.uint64]:
    """Words start, ..., stop - 1 of a parameter's stream [points]."""
    key = int.from_bytes(hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=16).digest())
    stream = np.random.Philox(key=key)
    # One step of the counter gives four words.
    stream.advance(start // 4)
    found: NDArray[np.uint64] = stream.random_raw(stop - 4 * (start // 4))[start % 4 :]
    return found


def drawn(draw: Draw, raw: NDArray[np.uint64]) -> Column:
    """The values that words stand for: short exact decimals, ends included."""
    if draw.low == draw.high:
        return Column.table((draw.low,), np.zeros(len(raw), dtype=np.intp))
    if draw.kind == "log-uniform":
        return _log_uniform(draw, raw)
    places = 0
    if draw.kind == "uniform":
        while (draw.high - draw.low) * 10**places < 10**draw.digits:
            places += 1
    scale = 10**places
    first = -(-draw.low.numerator * scale // draw.low.denominator)
    count = draw.high.numerator * scale // draw.high.denominator - first + 1
    if count < 2**32:
        # The upper half of a word times the count: exact in 64 bits, and fair to 2^-32 count.
        picked = ((raw >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
        mantissa = picked.astype(np.int64) + first
    else:
        mantissa = np.array([(int(word) * count >> 64) + first for word in raw], dtype=np.int64)
    return _decimals(mantissa, np.full(len(raw), -places, dtype=np.int64))


def _decimals(mantissa: Integers, exponent: Integers) -> Column:
    if np.all(np.abs(exponent) <= 22):
        return Column.decimals(mantissa, exponent)
    values = tuple(
        Fraction(m) * Fraction(10) ** e
        for m, e in zip(mantissa.tolist(), exponent.tolist(), strict=True)
    )
    return Column.table(values, np.arange(len(values)))


def _log_uniform(draw: Draw, raw: NDArray[np.uint64]) -> Column:
    """low (high/low)^u, rounded; u = word/2^64 to 53 bits.

    Doubles serve unless they come so near to a tie that their error could turn it: those are taken
    to 45 digits, so that the answer is that of correct rounding on every machine.
    """
    whole = draw.name in INTEGERS
    steps = raw >> np.uint64(11)
    start = _log(draw.low)
    span = _log(draw.high) - start
    value = np.exp(start + span * (steps.astype(np.float64) * 2.0**-53))
    exponent = np.floor(np.log10(value)).astype(np.int64) - (draw.digits - 1)
    if whole:
        exponent = np.maximum(exponent, 0)
    # Both powers are within 1e-15 of the truth, wherever the exponent is.
    scaled = value * 10.0 ** -exponent.astype(np.float64)
    mantissa = np.rint(scaled).astype(np.int64)
    error = scaled * (1e-14 * (2 + abs(start) + abs(span)))
    unsure = np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) <= error
    for i in np.flatnonzero(unsure):
        exact = rounded(
            log_between(draw.low, draw.high, Fraction(int(steps[i]), 2**53)), draw.digits, whole
        )
        mantissa[i] = int(exact / Fraction(10) ** int(exponent[i]))
    for _ in range(2):
        values = _decimals(mantissa, exponent)
        under, over = _below(values, draw.low), _below(values.negative(), -draw.high)
        if not np.any(under | over):
            return values
        # Rounding has left the range: the next short decimal inside is taken.
        mantissa = mantissa + under - over
    kept = tuple(min(max(values.exact(i), draw.low), draw.high) for i in range(len(raw)))
    return Column.table(kept, np.arange(len(kept)))


def _below(values: Column, end: Fraction) -> NDArray[np.bool_]:
    """Whether each value is below `end`."""
    edge = Column.constant(end)
    rest = 0.0 if values.low is None else values.low
    found: NDArray[np.bool_] = (values.high < edge.high) | (
        (values.high == edge.high) & (rest < (edge.low or 0.0))
    )
    return found


def _log(value: Fraction) -> float:
    import math

    return math.log(value.numerator) - math.log(value.denominator)


@dataclass(frozen=True)
class Points:
    """The points of a sweep."""

    sweep: Sweep

    def values(self, start: int, stop: int) -> dict[str, Values]:
        """What varies, over a range of indices, by flag name."""
        found: dict[str, Values] = {}
        index = np.arange(start, stop)
        stride = self.sweep.count
        for axis in self.sweep.axes:
            stride //= len(axis.values)
            at = (index // stride) % len(axis.values)
            whole = axis.name in INTEGERS
            used, at = np.unique(at, return_inverse=True)
            values = tuple(axis.values[k] for k in used)
            texts = None
            if not whole and not axis.short:
                names = [show(value) for value in values]
                texts = [names[k] for k in at]
            found[axis.name] = Values(Column.table(values, at), whole, texts)
        for draw in self.sweep.draws:
            raw = words(self.sweep.seed, draw.name, start, stop)
            found[draw.name] = Values(drawn(draw, raw), draw.name in INTEGERS)
        return found

    def exact(self, start: int, stop: int) -> Iterator[dict[str, Fraction]]:
        """All the values of each point in turn, by flag name."""
        varied = self.values(start, stop)
        for i in range(stop - start):
            yield {
                **self.sweep.shared, **{name: item.column.exact(i) for name, item in varied.items()}
            }  # fmt: skip

    def point(self, index: int) -> dict[str, Fraction]:
        """All the values of one point, by flag name."""
        return next(self.exact(index, index + 1))

    def setting(self, index: int) -> Setting:
        """The setting of one point. Raises `InvalidInput` where the values make none."""
        return setting_of(self.point(index))


def shown(values: dict[str, Any]) -> str:
    """Values as a user would type them, in one line."""
    return ", ".join(f"{name} {show(value)}" for name, value in values.items())
