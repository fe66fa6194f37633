"""Normal numbers: the layers by their definition, the law by samples, and mutants that are told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom, chi2, norm

from empirical.normals import LAYERS, SPARE, Normals, Tables, tables
from empirical.simulate import BLOCK, generator_for

Floats = npt.NDArray[np.float64]

LEVEL = 1e-9  # of every test of healthy numbers, each seed being fixed
NUMBERS = 1 << 22
FEWER = 1 << 19
SIGMAS = float(norm.isf(LEVEL / 2))


def draw(normals: Normals, size: int) -> Floats:
    out = np.empty(size)
    for low in range(0, size, BLOCK):
        normals.fill(out[low : low + BLOCK])
    return out


@pytest.fixture(scope="module")
def numbers() -> Floats:
    return draw(Normals(generator_for(20, 0, 0)), NUMBERS)


def steps(x: Floats, widths: Floats) -> Floats:
    """The mass of the layers at and left of x: a uniform number for each."""
    order = np.sort(widths)
    inverse = np.concatenate([np.cumsum((1 / order)[::-1])[::-1], [0.0]])
    wider = np.searchsorted(order, np.abs(x), side="right")
    inside = (wider + np.abs(x) * inverse[wider]) / (2 * LAYERS)
    return len(widths) / (2 * LAYERS) + np.copysign(inside, x)


def rest_below(x: Floats) -> Floats:
    """The distribution function of the rest."""
    return (ndtr(x) - steps(x, tables().outer)) * LAYERS / SPARE


def tail_below(x: Floats) -> Floats:
    return 1 - ndtr(-x) / ndtr(-tables().start)


def excess(values: Floats, below: Callable[[Floats], Floats]) -> float:
    """Kolmogorov-Smirnov distance over the limit of Dvoretzky, Kiefer, Wolfowitz and Massart."""
    at = below(np.sort(values))
    ranks = np.arange(len(values) + 1) / len(values)
    distance = max(np.max(ranks[1:] - at), np.max(at - ranks[:-1]))
    return float(distance) / math.sqrt(math.log(2 / LEVEL) / (2 * len(values)))


def chi_square_tail(counts: npt.NDArray[np.int64], chances: Floats) -> float:
    expected = chances * counts.sum()
    assert expected.min() > 100
    return float(chi2.sf(np.sum((counts - expected) ** 2 / expected), len(counts) - 1))


# --- tables ------------------------------------------------------------------------------------


def test_layers_have_equal_area_and_stand_on_each_other_below_the_density() -> None:
    made = tables()
    assert len(made.outer) == LAYERS - SPARE
    assert np.all(np.diff(made.outer) < 0)
    assert np.array_equal(made.widths[SPARE:] * 2.0**63, made.outer)
    with mpmath.workdps(40):
        floor = mpmath.mpf(0)
        for width in made.outer:
            height = mpmath.npdf(mpmath.mpf(float(width)))
            assert abs(2 * float(width) * (height - floor) * LAYERS - 1) < 1e-12
            floor = height
        # No further layer has room: the greatest rectangle in the cap is too small.
        cap = max(2 * x * (mpmath.npdf(x) - floor) for x in mpmath.linspace(0, made.outer[-1], 200))
        assert cap < 1 / mpmath.mpf(LAYERS)


def test_the_rest_has_the_mass_that_is_left_for_it() -> None:
    made = tables()
    with mpmath.workdps(40):
        ends = [mpmath.mpf(float(w)) for w in made.outer] + [mpmath.mpf(0)]
        tail = mpmath.ncdf(-ends[0])
        wedges = [
            mpmath.ncdf(a) - mpmath.ncdf(b) - (a - b) * mpmath.npdf(a) for a, b in pairwise(ends)
        ]
        assert min(wedges) > 0
        assert abs((2 * (mpmath.fsum(wedges) + tail)) * LAYERS / SPARE - 1) < 1e-11
        # The envelopes: rectangles between the heights at the ends, and the tail itself.
        boxes = [(a - b) * (mpmath.npdf(b) - mpmath.npdf(a)) for a, b in pairwise(ends)] + [tail]
        total = mpmath.fsum(boxes)
        chances = np.array([float(box / total) for box in boxes])
    assert np.diff(made.until, prepend=0.0) == pytest.approx(chances, rel=1e-10, abs=1e-15)
    assert made.until[-1] == 1.0


def test_tables_do_not_depend_on_the_precision_that_others_work_with() -> None:
    with mpmath.workdps(5):
        again = tables.__wrapped__()
    assert np.array_equal(again.widths, tables().widths)
    assert np.array_equal(again.until, tables().until)


# --- the law -----------------------------------------------------------------------------------


def test_moments_to_the_eighth_order(numbers: Floats) -> None:
    def moment(order: int) -> float:
        return float(math.prod(range(order - 1, 0, -2))) if order % 2 == 0 else 0.0

    power = np.ones(NUMBERS)
    for order in range(1, 9):
        power *= numbers
        error = math.sqrt((moment(2 * order) - moment(order) ** 2) / NUMBERS)
        assert abs(power.mean() - moment(order)) < SIGMAS * error, order


def test_the_law_is_normal_to_the_limit_of_the_sample(numbers: Floats) -> None:
    assert excess(numbers, ndtr) < 1


def test_a_fine_histogram(numbers: Floats) -> None:
    edges = ndtri(np.arange(1, 8192) / 8192)
    counts = np.bincount(np.searchsorted(edges, numbers), minlength=8192)
    assert chi_square_tail(counts, np.full(8192, 1 / 8192)) > LEVEL


def test_a_histogram_between_the_ends_of_the_layers(numbers: Floats) -> None:
    # Too much or too little in the wedges shows at the ends.
    ends = tables().outer[4::4]
    edges = np.concatenate([-ends, ends[::-1]])
    counts = np.bincount(np.searchsorted(edges, numbers), minlength=len(edges) + 1)
    chances = np.diff(ndtr(edges), prepend=0.0, append=1.0)
    assert chi_square_tail(counts, chances) > LEVEL


def test_the_rest_has_its_law() -> None:
    values = Normals(generator_for(21, 0, 0))._rest(FEWER)
    assert len(values) == FEWER
    assert excess(values, rest_below) < 1
    edges = np.array([-4.0, -3, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, 1, 2, 3, 4])
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1)
    chances = np.diff(rest_below(edges), prepend=0.0, append=1.0)
    assert chi_square_tail(counts, chances) > LEVEL


def test_the_tail_has_its_law(numbers: Floats) -> None:
    normals, start = Normals(generator_for(22, 0, 0)), tables().start
    values = normals._tail(FEWER)
    assert len(values) == FEWER and values.min() >= start
    assert excess(values, tail_below) < 1
    for end in (start, 3.0, 3.5):
        for count in (np.count_nonzero(numbers > end), np.count_nonzero(numbers < -end)):
            chance = float(ndtr(-end))
            assert binom.sf(count - 1, NUMBERS, chance) > LEVEL
            assert binom.cdf(count, NUMBERS, chance) > LEVEL


def test_signs_are_even_and_do_not_depend_on_the_size(numbers: Floats) -> None:
    sign = np.sign(numbers)
    size = np.abs(numbers)
    for low, high in ((0, 9), (0, 0.01), (0.01, 1), (1, 2), (2, 4), (3, 9)):
        some = sign[(size >= low) & (size < high)]
        assert abs(some.sum()) < SIGMAS * math.sqrt(len(some))


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 7, 8, 16, 100, BLOCK])
def test_neighbours_are_unrelated(numbers: Floats, lag: int) -> None:
    size = numbers**2 - 1
    early, late = slice(None, -lag), slice(lag, None)
    count = NUMBERS - lag
    # Standard deviations of the products of independent numbers.
    for one, other, error in (
        (numbers, numbers, 1),
        (size, size, 2),
        (numbers, size, math.sqrt(2)),
    ):
        assert abs(one[early] @ other[late]) < SIGMAS * error * math.sqrt(count)


def test_lowest_bits_of_the_numbers_are_even(numbers: Floats) -> None:
    # Those of a number of middling size; a layer's index in the magnitude would show here.
    middle = numbers[(numbers >= 0.5) & (numbers < 1)]
    whole = np.ascontiguousarray(middle).view(np.int64)
    for bit in range(0, 40, 4):
        odd = np.count_nonzero((whole >> bit) & 1)
        assert abs(2 * odd - len(whole)) < SIGMAS * math.sqrt(len(whole))


# --- use ---------------------------------------------------------------------------------------


def test_numbers_depend_on_the_generator_and_the_lengths_alone() -> None:
    lengths = [1, 1000, 7, 1000, 0, 3000]
    one, other = (Normals(generator_for(5, 0, 0)) for _ in range(2))
    for length in lengths:
        a, b = np.full(length, 7.0), np.empty(length)
        assert one.fill(a) is a
        assert np.array_equal(a, other.fill(b))
    fresh = Normals(generator_for(6, 0, 0)).fill(np.empty(1000))
    assert not np.array_equal(fresh, Normals(generator_for(5, 0, 0)).fill(np.empty(1000)))


def test_more_of_the_rest_than_is_made_at_once_can_be_asked_for() -> None:
    values = Normals(generator_for(7, 0, 0)).fill(np.empty(5_000_000))
    assert np.unique(values[np.abs(values) > tables().start]).size > 50


# --- mutants -----------------------------------------------------------------------------------


def rejected(normals: Normals) -> list[str]:
    """What tells that these are not normal numbers."""
    values = draw(normals, FEWER)
    odd = []
    if excess(values, ndtr) >= 1:
        odd.append("law")
    if abs((values**2).mean() - 1) >= SIGMAS * math.sqrt(2 / FEWER):
        odd.append("variance")
    if abs(values[:-1] @ values[1:]) >= SIGMAS * math.sqrt(FEWER):
        odd.append("neighbours")
    if excess(normals._rest(FEWER), rest_below) >= 1:
        odd.append("rest")
    if excess(normals._tail(FEWER // 8), tail_below) >= 1:
        odd.append("tail")
    return odd


class Clipped(Normals):
    def _tail(self, count: int) -> Floats:
        return np.full(count, tables().start)


class NoSecondTest(Normals):
    def _tail(self, count: int) -> Floats:
        return np.sqrt(tables().start ** 2 + 2 * self._generator.standard_exponential(count))


class NoSigns(Normals):
    def _propose(self) -> Floats:
        return np.abs(super()._propose())


class Repeating(Normals):
    def fill(self, out: Floats) -> Floats:
        super().fill(out)
        out[1::64] = out[::64]
        return out


def wider(made: Tables) -> Tables:
    return replace(made, widths=made.widths * 1.01)


def misplaced(made: Tables) -> Tables:
    """As if the layer at an index were the one 16 places further down."""
    return replace(made, widths=np.concatenate([made.widths[:SPARE], made.widths[SPARE + 16 :],
                                                made.widths[-16:]]))  # fmt: skip


def without_test(made: Tables) -> Tables:
    return replace(made, rises=np.zeros_like(made.rises))


def without_cap(made: Tables) -> Tables:
    until = made.until.copy()
    until[-2] = until[-3]
    return replace(made, until=until)


def without_tail(made: Tables) -> Tables:
    until = made.until.copy()
    until[-2] = 1.0
    return replace(made, until=until)


def evenly_chosen(made: Tables) -> Tables:
    return replace(made, until=np.arange(1, len(made.until) + 1) / len(made.until))


def test_healthy_numbers_are_not_rejected() -> None:
    assert rejected(Normals(generator_for(30, 0, 0))) == []


@pytest.mark.parametrize(
    "mutate", [wider, misplaced, without_test, without_cap, without_tail, evenly_chosen]
)
def test_wrong_tables_are_detected(mutate: Callable[[Tables], Tables]) -> None:
    assert rejected(Normals(generator_for(30, 0, 0), mutate(tables())))


@pytest.mark.parametrize("kind", [Clipped, NoSecondTest, NoSigns, Repeating])
def test_wrong_steps_are_detected(kind: type[Normals]) -> None:
    assert rejected(kind(generator_for(30, 0, 0)))
