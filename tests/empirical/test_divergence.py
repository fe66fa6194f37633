"""Renyi divergences: closed forms, enclosed quadrature, independent quadrature, mutants."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest

from bounds.arith import TooCostly
from bounds.arith.ball import precision
from bounds.bound import find as find_bound
from bounds.setting import AssumptionViolated, InvalidInput, Setting
from empirical.divergence import (
    DIRECTIONS,
    Enclosure,
    exact_divergence,
    renyi_gaussian,
    renyi_grid,
    renyi_mixture,
    renyi_mixture_float,
    renyi_revealed,
    renyi_sum,
)
from empirical.laws import Mixture, PatternLaw, SumLaw, enumerate_patterns, grid_pair
from empirical.quadratic import Loss, Problem
from empirical.schemes import SCHEMES, find

RANDOM = ("shuffle-once", "reshuffle", "without-replacement", "poisson")


def setting(n: int, b: int, epochs: int, **more: object) -> Setting:
    values: dict[str, object] = {
        "eta": "0.1", "lambda": 1, "beta": 4, "sensitivity": 3, "sigma2": 1, "alpha": 3, **more,
    }  # fmt: skip
    return Setting.of(n=n, b=b, epochs=epochs, **values)


def mixtures(problem: Problem, scheme: str) -> tuple[Mixture, Mixture]:
    patterns = enumerate_patterns(problem, scheme)
    return patterns.mixture("first"), patterns.mixture("second")


def holds(ball: Any, value: Any) -> bool:
    """Whether the ball holds the value, which is good to 28 digits."""
    with precision(200), mpmath.workdps(40):
        low = mpmath.mpf(ball.lower().str(40, radius=False))
        high = mpmath.mpf(ball.upper().str(40, radius=False))
        slack = abs(value) * mpmath.mpf(10) ** -28
        return bool(low - slack <= value <= high + slack)


def by_mpmath(p: Mixture, q: Mixture, order: Fraction) -> Any:
    """30 digits, straight from the definition."""
    with mpmath.workdps(34):

        def number(x: Fraction) -> Any:
            return mpmath.mpf(x.numerator) / x.denominator

        def density(mixture: Mixture) -> Any:
            table = [(number(w), number(m), number(v)) for w, m, v in mixture.components]
            return lambda x: sum(
                w * mpmath.exp(-((x - m) ** 2) / (2 * v)) / mpmath.sqrt(2 * mpmath.pi * v)
                for w, m, v in table
            )

        alpha, over, under = number(order), density(p), density(q)
        means = [float(m) for _, m, _ in (*p.components, *q.components)]
        width = math.sqrt(max(float(v) for _, _, v in (*p.components, *q.components)))
        reach = float(order) * (max(means) - min(means)) + 14 * width
        count = math.ceil(reach / width)
        marks = [mpmath.mpf(k) * reach / count for k in range(-count, count + 1, 2)]
        if marks[-1] < reach:
            marks.append(mpmath.mpf(reach))
        total = mpmath.quad(
            lambda x: over(x) ** alpha * under(x) ** (1 - alpha), marks, maxdegree=7
        )
        return mpmath.log(total) / (alpha - 1)


@pytest.mark.parametrize(
    ("scheme", "shape", "centre", "order", "direction"),
    [
        ("shuffle-once", (4, 2, 2), 0, "3/2", "forward"),
        ("shuffle-once", (5, 2, 2), "1/2", "10", "backward"),
        ("reshuffle", (2, 1, 2), 2, "5", "forward"),
        ("without-replacement", (3, 1, 1), "1/2", "7/2", "backward"),
        ("poisson", (2, 1, 1), 1, "4", "forward"),
    ],
)
def test_against_independent_quadrature(
    scheme: str, shape: Any, centre: Any, order: str, direction: Any
) -> None:
    problem = Problem.of(setting(*shape), per="batch", centre=centre)
    p, q = mixtures(problem, scheme)
    up, down = (p, q) if direction == "forward" else (q, p)
    expected = by_mpmath(up, down, Fraction(order))
    ball = renyi_mixture(p, q, order, direction, 24)
    assert ball.rel_accuracy_bits() > 79
    assert holds(ball, expected)
    assert holds(renyi_sum(SumLaw(problem, find(scheme)), order, direction, 20), expected)
    assert renyi_mixture_float(p, q, order, direction) == pytest.approx(float(expected), rel=1e-11)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_mixtures_of_several_variances(direction: Any) -> None:
    records = [Loss.at(1, 2), Loss.at(4, 0)]
    problem = Problem.from_records(records, Loss.at(1, -1), 0, b=1, epochs=1, eta="0.3", sigma2=1)
    p, q = mixtures(problem, "without-replacement")
    assert p.common_variance is None
    up, down = (p, q) if direction == "forward" else (q, p)
    ball = renyi_mixture(p, q, 3, direction, 9)
    assert ball.rel_accuracy_bits() > 29
    assert holds(ball, by_mpmath(up, down, Fraction(3)))


def test_several_variances_may_diverge() -> None:
    one, two = Fraction(1), Fraction(2)
    p = Mixture.of([(one, Fraction(0), two)])
    q = Mixture.of([(one / 2, Fraction(0), one), (one / 2, Fraction(1), one)])
    assert not renyi_mixture(p, q, 3).is_finite()
    assert not renyi_gaussian(Fraction(0), two, Fraction(0), one, 2).is_finite()
    assert renyi_mixture(q, p, 3).is_finite()


@pytest.mark.parametrize("order", ["1.000001", "2", "1000"])
def test_gaussian_closed_form_against_quadrature(order: str) -> None:
    # Two components close together are told from one by the quadrature only.
    v, gap = Fraction(3, 2), Fraction(7, 5)
    half = Fraction(1, 2)
    tiny = Fraction(1, 10**40)
    p = Mixture.of([(half, gap, v), (half, gap + tiny, v)])
    q = Mixture.of([(half, Fraction(0), v), (half, tiny, v)])
    exact = renyi_gaussian(gap, v, Fraction(0), v, order)
    assert exact == Fraction(order) * gap**2 / (2 * v)
    ball = renyi_mixture(p, q, order, "forward", 20)
    assert abs(float(ball.mid()) / float(exact) - 1) < 1e-15
    assert ball.rel_accuracy_bits() > 60


def test_gaussian_of_two_variances() -> None:
    # v1 = 1, v2 = 2, alpha = 2: blend 3; R = 2/6 + (log 2 + log(2/3))/2.
    with precision(100):
        value = renyi_gaussian(Fraction(0), Fraction(1), Fraction(1), Fraction(2), 2)
    assert float(value) == pytest.approx(1 / 3 + math.log(2) / 2 + math.log(2 / 3) / 2, rel=1e-14)


@pytest.mark.parametrize("order", ["1.000001", "1.01", "2", "32", "1000"])
@pytest.mark.parametrize("sensitivity", ["0.0005", "0.05", "2"])
def test_orders_and_sizes(order: str, sensitivity: str) -> None:
    problem = Problem.of(setting(4, 2, 2, sensitivity=sensitivity), centre="1/2")
    p, q = mixtures(problem, "shuffle-once")
    for direction in DIRECTIONS:
        ball = renyi_mixture(p, q, order, direction)
        assert ball.rel_accuracy_bits() > 38
        quick = renyi_mixture_float(p, q, order, direction)
        assert quick == pytest.approx(float(ball), rel=1e-10)


def test_large_divergence() -> None:
    problem = Problem.of(setting(4, 2, 2, sensitivity=12, alpha=1000))
    answer = exact_divergence(problem, "shuffle-once", 1000)
    assert 500 < answer.value < 1100
    assert float(answer.upper) / float(answer.lower) - 1 < 1e-11


@pytest.mark.parametrize("scheme", RANDOM)
def test_direction_is_the_order_of_the_laws(scheme: str) -> None:
    problem = Problem.of(setting(5, 2, 2), per="batch", centre="1/2")
    p, q = mixtures(problem, scheme)
    there, back = renyi_mixture(p, q, 4), renyi_mixture(p, q, 4, "backward")
    assert renyi_mixture(q, p, 4).overlaps(back)
    assert not there.overlaps(back)
    swapped = replace(problem, first=problem.second, second=problem.first)
    assert renyi_sum(SumLaw(swapped, find(scheme)), 4).overlaps(back)
    symmetric = mixtures(Problem.of(setting(5, 2, 2), per="batch"), scheme)
    assert renyi_mixture(*symmetric, 4).overlaps(renyi_mixture(*symmetric, 4, "backward"))


def test_one_poisson_step_is_the_sampled_gaussian() -> None:
    # Integer order: E_q (p/q)^3 = sum_k C(3, k) (1-p)^(3-k) p^k exp((k^2 - k) d^2/(2 v)).
    # n = 3, b = 2: an epoch is one update, and each record is in it with probability 2/3.
    given = setting(3, 2, 1, sensitivity=4, sigma2="1/2", alpha=3)
    ours = exact_divergence(given, "poisson", centre="1/2")
    bound = find_bound("sampled_gaussian")
    other = exact_divergence(given, "poisson", None, "backward", centre="1/2")
    value = float(bound.enclose(given, 15).mid())
    assert max(ours.value, other.value) == pytest.approx(value, rel=1e-11)
    rate, shift, noise = 2 / 3, 0.2, 0.1
    moment = sum(
        math.comb(3, k) * rate**k * (1 - rate) ** (3 - k)
        * math.exp((k * k - k) * shift**2 / (2 * noise))
        for k in range(4)
    )  # fmt: skip
    assert ours.value == pytest.approx(math.log(moment) / 2, rel=1e-12)


def test_shuffle_once_by_hand() -> None:
    # Means -+5/8 and -+5/4, each with weight 1/2, variance 85/64; alpha = 2.
    given = Setting.of(
        n=2, b=1, epochs=2, eta=1, lambda_="1/2", beta=1, sensitivity=2, sigma2="1/2", alpha=2
    )
    with mpmath.workdps(30):
        v = mpmath.mpf(85) / 64

        def bell(x: Any, m: float) -> Any:
            return mpmath.exp(-((x - m) ** 2) / (2 * v))

        total = mpmath.quad(
            lambda x: (
                (bell(x, -0.625) + bell(x, -1.25)) ** 2 / (bell(x, 0.625) + bell(x, 1.25)) / 2
            ),
            [-25, -10, -5, 0, 5, 10, 25],
        ) / mpmath.sqrt(2 * mpmath.pi * v)
        expected = mpmath.log(total)
    answer = exact_divergence(given, "shuffle once")
    assert answer.proved
    assert float(answer.lower) <= float(expected) * (1 + 1e-15)
    assert float(answer.upper) >= float(expected) * (1 - 1e-15)
    assert answer.value == pytest.approx(float(expected), rel=1e-12)


def test_linear_losses_compose_without_amplification() -> None:
    # One Gaussian of shift K eta S_g/b and K n/b noises: alpha A K/(n/b), whatever the order.
    given = setting(6, 2, 4, **{"lambda": 0})
    expected = 3 * given.rate * Fraction(4, 3)
    for scheme in ("fixed-order", "shuffle-once", "reshuffle"):
        answer = exact_divergence(given, scheme)
        assert Fraction(answer.lower) <= expected <= Fraction(answer.upper)


def test_fixed_order_of_an_absurd_number_of_epochs() -> None:
    given = setting(50, 2, 10**12, **{"eta": "0.0001"})
    answer = exact_divergence(given, "fixed-order")
    bound = float(find_bound("thm-3.3").float64(given))
    assert float(answer.upper) / float(answer.lower) - 1 < 1e-10
    assert answer.value <= bound


@pytest.mark.parametrize(("scheme", "epochs"), list(zip(RANDOM, (2, 2, 1, 1), strict=True)))
def test_revealed_is_the_supremum(scheme: str, epochs: int) -> None:
    given = setting(2, 1, epochs, **{"lambda": 5, "beta": 5})
    sup = exact_divergence(given, scheme, centre="far")
    law = SumLaw(Problem.of(given, per="batch"), find(scheme))
    assert renyi_revealed(law, 3).overlaps(renyi_revealed(law.patterns(), 3))
    for centre in (0, "1/2", 2, 10, 200):
        problem = Problem.of(given, per="batch", centre=centre)
        p, q = mixtures(problem, scheme)
        value = renyi_mixture_float(p, q, 3)
        assert value <= sup.value * (1 + 1e-12)
    assert value == pytest.approx(sup.value, rel=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_grid_is_the_enclosure(scheme: str) -> None:
    problem = Problem.of(setting(5, 2, 2), per="batch", centre="1/2")
    first, second = grid_pair(problem, scheme, alpha=6)
    for direction in DIRECTIONS:
        pair = (first, second) if direction == "forward" else (second, first)
        value, error = renyi_grid(*pair, 6)
        answer = exact_divergence(problem, scheme, 6, direction)
        assert abs(value - answer.value) <= error < 1e-10


@pytest.mark.parametrize("scheme", SCHEMES)
def test_projection(scheme: str) -> None:
    given = setting(4, 2, 2)
    free = exact_divergence(Problem.of(given, per="batch"), scheme, 3)
    for diameter, close in ((1, False), (16, True), (10**6, True)):
        problem = Problem.of(given, per="batch", diameter=diameter)
        answer = exact_divergence(problem, scheme, 3)
        assert not answer.proved
        assert "grid" in answer.method
        # Clipping is no more than free where all is clipped at the end; here it is far less.
        assert (abs(answer.value - free.value) < 1e-9) == close
        assert answer.value < free.value + 1e-9


def test_records_of_their_own_curvature_under_poisson() -> None:
    problem = Problem.of(setting(2, 1, 1), centre=1)
    enumerated = exact_divergence(problem, "poisson", 2, digits=10)
    value, error = renyi_grid(*grid_pair(problem, "poisson", alpha=2), 2)
    assert abs(value - enumerated.value) < 1e-9 + error


def test_front_door_refuses() -> None:
    given = setting(4, 2, 2)
    with pytest.raises(AssumptionViolated, match="alpha > 1"):
        exact_divergence(given, "shuffle-once", 1)
    with pytest.raises(InvalidInput, match="direction"):
        exact_divergence(given, "shuffle-once", 2, "both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs --alpha"):
        exact_divergence(setting(4, 2, 2, alpha=None), "shuffle-once")
    with pytest.raises(InvalidInput, match="needs --b"):
        exact_divergence(Setting.of(n=4, epochs=1), "shuffle-once", 2)
    with pytest.raises(TooCostly, match="factors"):
        exact_divergence(setting(50, 2, 10**4), "without-replacement")
    sharp = Problem.of(setting(4, 2, 2, sigma2="0.01", sensitivity=40), diameter=4)
    with pytest.raises(TooCostly, match="below 1e-290"):
        exact_divergence(sharp, "fixed-order", 30)


def test_json() -> None:
    answer = exact_divergence(setting(4, 2, 2), "shuffle-once")
    record = answer.as_json()
    assert set(record) == {"epsilon", "lower", "upper", "problem", "method", "proved"}
    assert Fraction(answer.lower) <= Fraction(answer.upper)
    one = Mixture.of([(Fraction(1), Fraction(0), Fraction(1))])
    assert Enclosure.of(renyi_mixture(one, one, 2), 5, "", "").upper == "0"


# --- mutants -----------------------------------------------------------------------------------


def _wrong_weights(problem: Problem) -> PatternLaw:
    patterns = SumLaw(problem, find("shuffle-once")).patterns().patterns
    count = len(patterns)
    return PatternLaw(tuple(replace(p, probability=Fraction(1, count)) for p in patterns))


def test_mutants_are_rejected() -> None:
    problem = Problem.of(setting(5, 2, 2))
    p, q = mixtures(problem, "shuffle-once")
    truth = renyi_mixture(p, q, 5)
    first, second = grid_pair(problem, "shuffle-once", alpha=5)
    value, error = renyi_grid(first, second, 5)

    def agrees(mutant: tuple[Mixture, Mixture]) -> bool:
        return abs(float(renyi_mixture(*mutant, 5)) - value) <= error

    assert agrees((p, q))
    assert truth.rel_accuracy_bits() > 35
    half = Fraction(1, 2)
    mutants = {
        "noise variance eta sigma^2": replace(problem, sigma2=problem.sigma2 / 2),
        "noise variance without eta": replace(problem, sigma2=problem.sigma2 / problem.eta),
        "lost contraction": Problem.of(setting(5, 2, 2), curvature=0),
        "halved sensitivity": replace(
            problem,
            first=replace(problem.first, gradient=problem.first.gradient * half),
            second=replace(problem.second, gradient=problem.second.gradient * half),
        ),
        "mean over n": replace(problem, eta=problem.eta * Fraction(2, 5)),
        "K - 1 epochs": replace(problem, epochs=1),
        "ceil(n/b) batches": Problem.of(setting(6, 2, 2)),
    }
    for name, mutant in mutants.items():
        assert not agrees(mixtures(mutant, "shuffle-once")), name
    wrong = _wrong_weights(problem)
    assert not agrees((wrong.mixture("first"), wrong.mixture("second")))
    assert not agrees(mixtures(problem, "reshuffle"))
    assert not agrees((p, p))
    with pytest.raises(InvalidInput, match="sum to 1"):
        Mixture(tuple((2 * w, m, v) for w, m, v in p.components))


def test_enclosure_of_infinity_and_of_nothing() -> None:
    assert Enclosure.of(flint.arb("inf"), 5, "", "").lower == "Infinity"
    with pytest.raises(TooCostly, match="no enclosure"):
        Enclosure.of(flint.arb("nan"), 5, "", "")
