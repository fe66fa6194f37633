"""What every bound must do, whatever its formula: directions of growth, scaling, and order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bounds.arith.ball import precision
from bounds.bound import Bound, find
from bounds.setting import Setting
from tests.bounds.points import COSTLY, UPPER, Point, corners, fit, labels, reads_position

PLACES = ("first", "middle", "last")


def log_uniform(low: int, high: int) -> st.SearchStrategy[Fraction]:
    """Short decimals m * 10^e with 10^low <= value < 10^(high + 1)."""
    return st.builds(
        lambda mantissa, exponent: Fraction(mantissa) * Fraction(10) ** (exponent - 2),
        st.integers(100, 999),
        st.integers(low, high),
    )


losses = st.one_of(log_uniform(-18, -1), log_uniform(-15, -1).map(lambda x: 1 - x))
points = st.builds(
    Point,
    batches=st.one_of(st.integers(2, 9), st.integers(2, 400)),
    epochs=st.one_of(st.integers(1, 4), st.integers(1, 10**12)),
    loss=losses.filter(lambda x: 0 < x < 1),
    order=log_uniform(-9, 5).map(lambda x: 1 + x),
    rate=log_uniform(-12, 5),
    position=st.sampled_from(PLACES),
    b=st.integers(1, 5),
)
# A moment that is a double rounded upward by definition: directions hold but for its last places.
ROUNDED = {"optimal_without_replacement"}
NASTY = list(corners((2, 3)))[::23]


def over_points(check: Callable[[Bound, Point], None]) -> Callable[[Bound, Point], None]:
    """Hypothesis over points, with nasty corners as examples, on every machine alike."""

    def run(bound: Bound, point: Point) -> None:
        if bound.name not in COSTLY or point in NASTY[::3]:
            check(bound, point)

    run.__name__ = check.__name__
    run.__doc__ = check.__doc__
    run.__module__ = check.__module__
    wrapped: Any = given(point=points)(run)
    for point in NASTY:
        wrapped = example(point=point)(wrapped)
    wrapped = settings(
        max_examples=12, deadline=None, derandomize=True, database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )(wrapped)  # fmt: skip
    marked: Callable[[Bound, Point], None] = pytest.mark.parametrize(
        "bound", UPPER, ids=lambda bound: bound.name
    )(wrapped)
    return marked


def value(bound: Bound, setting: Setting) -> Any:
    """An enclosure to 20 digits of a bound at a setting fitted to it."""
    ball = bound.enclose(setting, 20)
    if bound.name in ROUNDED:
        with precision(200):
            ball *= flint.arb(1, 1e-12)
    return ball


def never_above(small: Any, large: Any) -> None:
    """small <= large, unless their balls overlap."""
    with precision(200):
        assert not small > large, (small, large)


@over_points
def test_grows_with_epochs(bound: Bound, point: Point) -> None:
    setting = fit(bound, point.setting())
    if "one-epoch" in labels(bound):
        return
    assert setting.epochs is not None
    for more in (1, 7, setting.epochs):
        later = setting.replace(epochs=setting.epochs + more)
        never_above(value(bound, setting), value(bound, later))


@over_points
def test_grows_with_the_order(bound: Bound, point: Point) -> None:
    setting = fit(bound, point.setting())
    assert setting.alpha is not None
    for higher in (setting.alpha + Fraction(1, 10**9), setting.alpha * 2 - 1):
        never_above(value(bound, setting), value(bound, setting.replace(alpha=higher)))


@over_points
def test_grows_with_sensitivity_and_falls_with_noise(bound: Bound, point: Point) -> None:
    setting = fit(bound, point.setting())
    here = value(bound, setting)
    assert setting.sensitivity is not None
    assert setting.sigma2 is not None
    for factor in (1 + Fraction(1, 10**9), Fraction(3)):
        louder = setting.replace(sensitivity=setting.sensitivity * factor)
        never_above(here, value(bound, louder))
        quieter = setting.replace(sigma2=setting.sigma2 * factor)
        never_above(value(bound, quieter), here)
    both = setting.replace(sensitivity=setting.sensitivity * 3, sigma2=setting.sigma2 * 9)
    assert bound.float64(both) == bound.float64(setting)


@over_points
def test_does_not_depend_on_units(bound: Bound, point: Point) -> None:
    """Parameters in other units: lambda and beta by u, eta by 1/u, S_g^2 and sigma^2 alike."""
    setting = fit(bound, point.setting())
    assert setting.eta is not None
    assert setting.lambda_ is not None
    assert setting.beta is not None
    assert setting.sensitivity is not None
    assert setting.sigma2 is not None
    unit = Fraction(7, 3)
    other = setting.replace(
        eta=setting.eta / unit, lambda_=setting.lambda_ * unit, beta=setting.beta * unit,
        sensitivity=setting.sensitivity * unit, sigma2=setting.sigma2 * unit,
    )  # fmt: skip
    assert other.rate == setting.rate
    assert bound.float64(other) == bound.float64(setting)


@over_points
def test_does_not_depend_on_the_place_or_grows_with_it(bound: Bound, point: Point) -> None:
    """The later its batch, the less a record is hidden."""
    values = [
        value(bound, fit(bound, replace(point, position=place).setting())) for place in PLACES
    ]
    never_above(values[0], values[1])
    never_above(values[1], values[2])
    if not reads_position(bound):
        never_above(values[2], values[0])


# Orders between bounds: (smaller, larger, which places of the record).
ORDERS: list[tuple[str, str, str]] = [
    # A mean of exponentials is at most the largest, which the last batch has.
    ("shuffle_partition", "fixed_order", "last"),
    # Inequality (104) and the lines after it.
    ("recursion_combined", "fixed_order", "any"),
    # (1 - g/2)^k < exp(-g k/2) < the integral of exp(-g x/2) from k - 1 to k.
    ("full_batch", "chourasia_2021", "any"),
    # The left sides are the exact worst case.
    ("bok_2024_full_batch", "full_batch", "any"),
    ("bok_2024_cyclic", "fixed_order", "last"),
    # At lambda -> 0 the shares of (3) and the factors of (100) are those of (80), and they fall.
    ("recursion_composition", "convex_fixed_order", "any"),
    # One update an epoch, without any post-processing.
    ("convex_fixed_order", "fixed_order_composition", "any"),
    ("feldman_2018_epochs", "fixed_order_composition", "any"),
]


@pytest.mark.parametrize(("small", "large", "where"), ORDERS)
@given(point=points)
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_order(small: str, large: str, where: str, point: Point) -> None:
    for place in PLACES:
        setting = fit(find(small), replace(point, position=place).setting())
        if where == "any" or setting.place == setting.batches - 1:
            never_above(value(find(small), setting), value(find(large), setting))


@pytest.mark.parametrize(("small", "large", "where"), ORDERS)
def test_order_at_nasty_corners(small: str, large: str, where: str) -> None:
    for point in list(corners((2, 3, 7)))[::7]:
        setting = fit(find(small), point.setting())
        if where == "any" or setting.place == setting.batches - 1:
            never_above(value(find(small), setting), value(find(large), setting))


def test_orders_are_strict_somewhere() -> None:
    """An order that is always an equality would prove nothing about the two sides."""
    setting = Setting.of(
        n=60, b=4, epochs=9, eta="0.1", lambda_=1, beta=4, sensitivity=2, sigma2=3, alpha=5
    )
    for small, large, _ in ORDERS:
        left = value(find(small), fit(find(small), setting))
        right = value(find(large), fit(find(small), setting))
        with precision(200):
            if {small, large} != {"convex_fixed_order", "feldman_2018_epochs"}:
                assert left < right, (small, large)


def test_a_violated_order_is_seen() -> None:
    setting = Setting.of(
        n=60, b=4, epochs=9, eta="0.1", lambda_=1, beta=4, sensitivity=2, sigma2=3, alpha=5
    )
    with pytest.raises(AssertionError):
        never_above(value(find("fixed_order"), setting), value(find("shuffle_partition"), setting))
