"""The double precision of every bound against its enclosure, over the whole range of settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import flint
import numpy as np
import pytest

from bounds.arith import TooCostly
from bounds.arith.ball import accuracy, precision
from bounds.arith.float64 import MARGIN, Float64
from bounds.bound import Bound, find, registry
from bounds.setting import Setting
from tests.bounds.points import (
    COSTLY,
    Point,
    corners,
    draws,
    fit,
    labels,
    long_runs,
    reads_position,
)

LEAST_NORMAL = float(np.finfo(np.float64).tiny)
"""Factors of a formula may underflow, so an answer has this much absolute room, twice.

It shows below 1e-296; above that the agreement is to 1e-12.
"""
NARROW = 44
"""Bits from which a ball can show an agreement to 1e-12."""


@dataclass
class Survey:
    """What a run over many points found."""

    points: int = 0
    wide: int = 0
    costly: int = 0
    worst: float = 0.0
    faults: list[str] = field(default_factory=list)


def survey(bound: Bound, points: Iterable[Point]) -> Survey:
    """Compare float64 with the enclosure at every point that makes a difference to the bound."""
    found, seen = Survey(), set()
    for point in points:
        setting = fit(bound, point.setting())
        if not reads_position(bound):
            setting = setting.replace(position=None)
        if setting in seen:
            continue
        seen.add(setting)
        try:
            with precision(300):
                _compare(bound, bound.check(setting), point, found)
        except TooCostly:
            found.costly += 1
    return found


def _compare(bound: Bound, setting: Setting, point: Point, found: Survey) -> None:
    ball = bound.enclose(setting, 20)
    answer, raw = float(bound.float64(setting)), float(bound.raw(setting))
    found.points += 1
    if not math.isfinite(answer) or not ball.is_finite():
        found.faults.append(f"{answer} and {ball} at {point}")
        return
    got = flint.arb(answer)
    if accuracy(ball) < NARROW:
        found.wide += 1
        if bound.direction == "upper" and got < ball.lower():
            found.faults.append(f"{answer} is below all of {ball} at {point}")
        return
    if bound.direction == "upper" and not got >= ball.upper():
        found.faults.append(f"{answer} is below {ball} at {point}")
    if bound.direction == "lower" and not got <= ball.lower():
        found.faults.append(f"{answer} is above {ball} at {point}")
    if not abs(got - ball) < ball * 1e-12 + 2 * LEAST_NORMAL:
        found.faults.append(f"{answer} is far from {ball} at {point}")
    if ball > LEAST_NORMAL / MARGIN:
        found.worst = max(found.worst, abs(float(flint.arb(raw) / ball - 1)))


def quick_points() -> Iterator[Point]:
    """What every test run looks at."""
    return chain(
        (point for i, point in enumerate(corners()) if i % 5 == 0), long_runs(), draws(40, seed=1)
    )


def judge(bound: Bound, found: Survey) -> None:
    """Fail on a fault, or when too much of the survey could say nothing."""
    assert found.faults == [], f"{len(found.faults)} faults, such as {found.faults[:3]}"
    assert found.wide <= found.points // 10, f"{found.wide} of {found.points} balls are wide"
    assert found.costly <= found.points // 5, f"{found.costly} of {found.points} are too costly"
    assert found.points >= 15
    assert found.worst < MARGIN


@pytest.mark.parametrize("name", registry())
def test_float64_agrees_with_the_enclosure(name: str) -> None:
    every = 5 if name in COSTLY else 1
    judge(find(name), survey(find(name), list(quick_points())[::every]))


@pytest.mark.slow
@pytest.mark.parametrize("name", registry())
def test_float64_agrees_with_the_enclosure_at_many_points(name: str) -> None:
    many = chain(corners((2, 3, 7, 100, 1001)), draws(600, seed=2))
    every = 5 if name in COSTLY else 1
    judge(find(name), survey(find(name), list(many)[::every]))


def test_points_are_what_they_say() -> None:
    for point in chain(corners((2,)), draws(50, seed=3)):
        setting = point.setting()
        assert setting.batches == point.batches
        assert setting.eta_lambda == point.loss
        assert setting.rate == point.rate
        for bound in registry().values():
            changed = bound.check(fit(bound, setting))
            assert changed.rate == point.rate
            assert labels(bound) >= {"noise"}


# Ways to lose digits that a test at comfortable settings would not see.


def naive_one_minus_power(c: object, m: object) -> object:
    """1 - c**m as it stands on the page."""
    return 1 - np.exp(np.asarray(m, dtype=np.float64) * c.log)  # type: ignore[attr-defined]


def naive_log_mean_exp(scale: object, profile: object, count: int) -> object:
    """The logarithm of a mean of exponentials, without expm1."""
    exponents = scale * profile(np.arange(1, count + 1))  # type: ignore[operator]
    top = np.max(exponents)
    return top + np.log(np.mean(np.exp(exponents - top)))


@pytest.mark.parametrize(
    ("word", "naive", "victim"),
    [
        ("one_minus_power", naive_one_minus_power, "fixed_order"),
        ("one_minus_power", naive_one_minus_power, "recursion_combined"),
        ("one_minus_power", naive_one_minus_power, "bok_2024_full_batch"),
        ("log_mean_exp", naive_log_mean_exp, "shuffle_partition"),
        ("expm1", lambda x: np.exp(x) - 1, "naive_extension"),
    ],
)
def test_a_lost_digit_is_seen(
    word: str, naive: Any, victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Float64, word, staticmethod(naive))
    with np.errstate(all="ignore"):
        try:
            found = survey(find(victim), quick_points())
        except (ValueError, ZeroDivisionError):
            return
    assert found.faults


def test_inward_rounding_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bounds.arith.float64.MARGIN", -1e-15)
    found = survey(find("fixed_order"), draws(20, seed=4))
    assert any("below" in fault for fault in found.faults)
