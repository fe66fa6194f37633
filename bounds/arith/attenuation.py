"""Recursions u <- (u + a) c^m (1 - x(k)) with losses x(k) that fall to 0, for very long runs.

Both multi-epoch recursions of the paper, (95) and (101), have this shape, one step an epoch. In
d(k) = -m log c - log(1 - x(k)) > 0, which falls to its limit -m log c, the solution from u_0 = 0 is

    u_K = a sum_{i<K} exp(-(d(i) + ... + d(K-1))).

All terms are positive, so nothing cancels. Once x(k) no longer shows against the limit the rest is
a geometric sum. Before that, at most `MOST_STEPS` steps are summed one by one; a longer stretch is
cut into blocks on which d, being monotone, lies between its values at the two ends: that gives a
proved interval, whose upper end is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

MOST_STEPS = 10**8
_CHUNK = 1 << 20
_BALL_STEPS = 20_000
_BLOCKS_PER_OCTAVE = 4096


def attenuated_sum_float(
    a: float, log_c: float, m: int, loss: Callable[[Any], Any], count: int
) -> float:
    """u after `count` steps in float64; an upper end where a step-by-step sum would be too long.

    a: what is added each step; log_c: log c <= 0; loss: k (array) -> x(k), decreasing.
    """
    limit = -m * log_c

    def decay(k: Any) -> Any:
        with np.errstate(under="ignore"):
            return limit - np.log1p(-loss(k))

    settled = _first(lambda k: float(decay(k)) == limit, count)
    total, gone = 0.0, 0.0
    if settled < count:
        total, gone = _geometric(limit, count - settled), limit * (count - settled)
    high = settled
    while high > 0 and gone < 745:
        if settled - high < MOST_STEPS:
            low = max(0, high - _CHUNK)
            rates = decay(np.arange(low, high, dtype=np.float64))[::-1]
            sums = gone + np.cumsum(rates)
            with np.errstate(under="ignore"):
                total += float(np.sum(np.exp(-sums)))
            gone = float(sums[-1])
        else:
            low = min(high - 1, int(high * (1 - 1 / _BLOCKS_PER_OCTAVE)))
            slowest = float(decay(high - 1))
            total += math.exp(-gone) * _geometric(slowest, high - low)
            gone += slowest * (high - low)
        if total and (low * math.exp(-gone) < total * 1e-18):
            break
        high = low
    return a * total


def attenuated_sum_ball(
    a: Any, log_c: Any, m: int, loss: Callable[[int], Any], count: int, bits: int
) -> Any:
    """u after `count` steps, enclosed: step by step at first, then block by block."""
    import flint

    limit = -(log_c * m)
    tiny = flint.arb(2) ** (-bits)
    out = flint.arb(0)

    def negligible(k: int) -> bool:
        return bool(loss(k) < limit * tiny) or bool(loss(k) < tiny / (count + 1))

    settled = _first(negligible, count)
    for low, high in _blocks(settled):
        if high == low + 1:
            out = (out + a) * (-limit).exp() * (1 - loss(low))
            continue
        fast, slow = limit - (-loss(low)).log1p(), limit - (-loss(high - 1)).log1p()
        out = _advance(out, a, slow.union(fast), high - low)
    if settled < count:
        last = loss(settled)
        out = _advance(out, a, limit.union(limit - (-last).log1p()), count - settled)
    return out


def _advance(u: Any, a: Any, decay: Any, steps: int) -> Any:
    """u <- (u + a) e^-d, `steps` times, for a constant d anywhere in the ball (monotone in d)."""
    ends = []
    for d in (decay.lower(), decay.upper()):
        geometric = -(-d * steps).expm1() / d.expm1() if d > 0 else d * 0 + steps
        ends.append(u * (-d * steps).exp() + a * geometric)
    return ends[0].union(ends[1])


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    low = 0
    while low < count:
        high = low + 1 if low < _BALL_STEPS else low + max(1, low // _BLOCKS_PER_OCTAVE)
        yield low, min(high, count)
        low = high


def _geometric(decay: float, steps: int) -> float:
    """e^-d + e^-2d + ... (`steps` terms)."""
    if decay == 0:
        return float(steps)
    return -math.expm1(-min(decay * steps, 745.0)) / math.expm1(min(decay, 700.0))


def _first(holds: Callable[[int], bool], count: int) -> int:
    """The first k < count from which a monotone condition holds, else count."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
