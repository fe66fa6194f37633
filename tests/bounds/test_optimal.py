"""The optimal shift bounds against solvers that follow the definition and import no bound."""

import itertools
import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bounds import optimal as opt
from bounds.arith import TooCostly
from bounds.arith.ball import Ball, precision
from bounds.arith.exact import Exact
from bounds.arith.float64 import Float64
from bounds.arith.hitting import log_moment
from bounds.arith.multiprecision import Multiprecision
from bounds.arith.symbolic import Symbolic
from bounds.bound import bind, find, symbolic_parameters
from bounds.derived import (
    optimal_fixed_order,
    optimal_shuffle,
    optimal_without_replacement,
)
from bounds.setting import AssumptionViolated, InvalidInput, Setting

F = Fraction
FIGURE = Setting.of(
    n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
)

# --- solvers that follow the definition -----------------------------------------------------------


def cost_of_touching(c, s, v, touched):
    """Absorb evenly between the steps whose gap is 0; None where a gap would be negative."""
    horizon, total, gaps = len(c), F(0), [F(0)] * (len(c) + 1)
    for start, end in pairwise((0, *touched, horizon)):
        weight, weights = F(1), []
        for t in range(end, start, -1):
            weights.append(weight)
            weight *= c[t - 1]
        weights.reverse()
        shift = sum((w * s[start + i] for i, w in enumerate(weights)), F(0))
        room = sum((w * w * v[start + i] for i, w in enumerate(weights)), F(0))
        for i, w in enumerate(weights):
            t = start + i + 1
            a = w * v[t - 1] * shift / room
            gaps[t] = c[t - 1] * gaps[t - 1] + s[t - 1] - a
            if gaps[t] < 0:
                return None
            total += a * a / v[t - 1]
    return total


def brute_force(c, s, v):
    """The least cost over all 2^(T-1) sets of steps whose gap is 0 (one is the optimum's)."""
    inner = range(1, len(c))
    costs = [
        cost_of_touching(c, s, v, touched)
        for size in range(len(c))
        for touched in itertools.combinations(inner, size)
    ]
    return min(cost for cost in costs if cost is not None)


def isotonic(c, s, v):
    """The dual: slopes by the max-min formula of isotonic regression (c > 0)."""
    horizon = len(c)
    w = [math.prod(c[t + 1 :], start=F(1)) for t in range(horizon)]
    rise = list(itertools.accumulate((x * y for x, y in zip(w, s, strict=True)), initial=F(0)))
    room = list(itertools.accumulate((x * x * y for x, y in zip(w, v, strict=True)), initial=F(0)))

    def mean(i, j):
        return (rise[j] - rise[i]) / (room[j] - room[i])

    slopes = [
        max(min(mean(i, j) for j in range(t, horizon + 1)) for i in range(t))
        for t in range(1, horizon + 1)
    ]
    return sum((m * m * (room[t + 1] - room[t]) for t, m in enumerate(slopes)), F(0))


def by_quadratic_programme(c, s, v):
    """The least cost by a general solver, in floats."""
    horizon = len(c)
    c, s, v = (np.array(x, dtype=float) for x in (c, s, v))

    def gaps(a):
        out, z = [], 0.0
        for t in range(horizon):
            z = c[t] * z + s[t] - a[t]
            out.append(z)
        return np.array(out)

    found = minimize(
        lambda a: np.sum(a * a / v), s, jac=lambda a: 2 * a / v, method="SLSQP",
        bounds=[(0, None)] * horizon,
        constraints=[
            {"type": "ineq", "fun": lambda a: gaps(a)[:-1]} if horizon > 1 else
            {"type": "ineq", "fun": lambda a: 1.0},
            {"type": "eq", "fun": lambda a: gaps(a)[-1]},
        ],
        options={"ftol": 1e-13, "maxiter": 300},
    )  # fmt: skip
    return found.fun


def best_linear_run(c, s, v, tries, rng):
    """The largest divergence of random linear runs, signs included."""
    best = F(0)
    for _ in range(tries):
        apart = noise = F(0)
        for ct, s_t, v_t in zip(c, s, v, strict=True):
            factor = ct * F(rng.randint(-4, 4), 4)
            apart = factor * apart + s_t * F(rng.randint(-2, 2), 2)
            noise = factor**2 * noise + v_t
        best = max(best, apart * apart / noise)
    return best


def random_case(rng, longest=6, zero=False):
    horizon = rng.randint(1, longest)
    lowest = 0 if zero else 1
    return (
        [F(rng.randint(lowest, 4), 4) for _ in range(horizon)],
        [F(rng.choice((0, 0, 1, 2, 5)), 2) for _ in range(horizon)],
        [F(rng.randint(1, 6), 3) for _ in range(horizon)],
    )


def cyclic(c, size, epochs, position):
    horizon = size * epochs
    return [c] * horizon, [F(int(t % size == position)) for t in range(horizon)], [F(1)] * horizon


def pattern_mean(gamma, p, c, horizon):
    """log E exp(gamma V(H)) over all 2^T patterns, V by the max-min formula."""
    total = 0.0
    for hits in itertools.product((0, 1), repeat=horizon):
        chance = math.prod(p if hit else 1 - p for hit in hits)
        worth = isotonic([c] * horizon, [F(hit) for hit in hits], [F(1)] * horizon)
        total += float(chance) * math.expm1(gamma * float(worth))
    return math.log1p(total)


# --- the solver and its certificate ---------------------------------------------------------------


def test_the_optimum_is_found_by_four_ways():
    rng = random.Random(5)
    for _ in range(70):
        case = random_case(rng)
        certificate = opt.optimal(opt.schedule(*case))
        opt.verify_certificate(certificate)
        assert certificate.value == brute_force(*case) == isotonic(*case)
        assert best_linear_run(*case, 30, rng) <= certificate.value
    for _ in range(25):
        case = random_case(rng)
        value = float(opt.optimal(opt.schedule(*case)).value)
        assert by_quadratic_programme(*case) == pytest.approx(value, rel=1e-5, abs=1e-7)


STEPS = st.lists(
    st.tuples(
        st.fractions(0, 1, max_denominator=9) | st.sampled_from((F(0), F(1), F(1, 10**9))),
        st.fractions(0, 4, max_denominator=5) | st.just(F(0)),
        st.fractions(F(1, 9), 9, max_denominator=9),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(steps=STEPS)
@example(steps=[(F(0), F(0), F(1))])
@example(steps=[(F(1), F(1), F(1)), (F(0), F(0), F(1)), (F(1), F(1), F(1))])
@example(steps=[(F(1), F(1), F(1)), (F(1), F(1), F(1)), (F(1), F(0), F(1))])
def test_every_certificate_checks_and_the_float_agrees(steps):
    certificate = opt.optimal(opt.schedule(*zip(*steps, strict=True)))
    opt.verify_certificate(certificate)
    columns = [np.array([float(x) for x in column]) for column in zip(*steps, strict=True)]
    assert opt.optimal_float(*columns) == pytest.approx(float(certificate.value), rel=1e-12)
    assert opt.legal_run_value(certificate, F(0)) == certificate.value
    assert opt.legal_run_value(certificate, F(1, 2)) <= certificate.value


def test_a_spoiled_certificate_is_refused():
    rng = random.Random(11)
    for _ in range(40):
        good = opt.optimal(opt.schedule(*random_case(rng)))
        if not good.value:
            continue
        a, t = list(good.multipliers), rng.randrange(len(good.steps))
        a[t] += F(1, 7)
        slower = (*(c / 2 for c in good.contractions[:-1]), good.contractions[-1] + 1)
        for bad in (
            replace(good, multipliers=tuple(a)),
            replace(good, multipliers=good.multipliers[:-1]),
            replace(good, value=good.value * F(101, 100)),
            replace(good, value=good.value * F(99, 100)),
            replace(good, contractions=slower),
            replace(good, slopes=tuple(m and 2 * m for m in good.slopes)),
            replace(good, knots=(*good.knots, len(good.steps) + 1)),
        ):
            with pytest.raises(opt.CertificateInvalid):
                opt.verify_certificate(bad)


def minorant_value(rise, room, sign=1):
    """V from points, by the lower hull (sign = 1) or the upper hull (sign = -1)."""
    hull = [0]
    for t in range(1, len(rise)):
        hull.append(t)
        while len(hull) > 2:
            i, j, k = hull[-3:]
            turn = (rise[j] - rise[i]) * (room[k] - room[j]) - (rise[k] - rise[j]) * (
                room[j] - room[i]
            )
            if sign * turn < 0:
                break
            del hull[-2]
    return sum((rise[j] - rise[i]) ** 2 / (room[j] - room[i]) for i, j in pairwise(hull))


def mutant(case, kind):
    c, s, v = case
    horizon = len(c)
    w = [math.prod(c[t + 1 :], start=F(1)) for t in range(horizon)]
    if kind == "wrong index":
        w = [math.prod(c[t:], start=F(1)) for t in range(horizon)]
    if kind == "shift one late":
        s = [F(0), *s[:-1]]
    power = 1 if kind == "no square" else 2
    rise = list(itertools.accumulate((x * y for x, y in zip(w, s, strict=True)), initial=F(0)))
    room = list(
        itertools.accumulate((x**power * y for x, y in zip(w, v, strict=True)), initial=F(0))
    )
    return minorant_value(rise, room, -1 if kind == "majorant" else 1)


def test_mutants_are_rejected():
    rng = random.Random(3)
    cases = [random_case(rng) for _ in range(60)]
    truths = [brute_force(*case) for case in cases]
    assert [mutant(case, "none") for case in cases] == truths
    assert [opt.optimal(opt.schedule(*case)).value for case in cases] == truths
    for kind in ("majorant", "no square", "wrong index", "shift one late"):
        assert sum(mutant(c, kind) != true for c, true in zip(cases, truths, strict=True)) > 15


def test_long_schedules_in_doubles():
    horizon = 120_000
    c, v = np.full(horizon, 0.9), np.ones(horizon)
    s = np.zeros(horizon)
    s[24::25] = 1
    exact_tail = opt.optimal(opt.schedule(*cyclic(F(9, 10), 25, 12, 24))).value
    assert opt.optimal_float(c, s, v) == pytest.approx(float(exact_tail), rel=1e-12)
    assert opt.optimal_float(np.ones(horizon), np.ones(horizon), v) == pytest.approx(horizon)


def test_bad_schedules_are_refused():
    for columns in (((), (), ()), ((1,), (1, 1), (1,)), ((-1,), (1,), (1,)), ((1,), (1,), (0,))):
        with pytest.raises(InvalidInput):
            opt.schedule(*columns)
    with pytest.raises(InvalidInput):
        opt.optimal(())
    with pytest.raises(InvalidInput):
        opt.optimal_float([0.5], [1.0], [0.0])


# --- the cyclic closed form -----------------------------------------------------------------------


def small(size, epochs, position, c, **more):
    """A setting with A = 1 and contraction c."""
    return Setting.of(
        n=size, b=1, epochs=epochs, eta=1 - c, lambda_=1, beta=1, sensitivity=2, sigma2=1 - c,
        alpha=2, position=position, **more,
    )  # fmt: skip


CONTRACTIONS = (F(1, 1000), F(1, 3), F(4, 5), F(49, 50), F(999999, 10**6))


@pytest.mark.parametrize("c", CONTRACTIONS)
def test_closed_form_is_the_optimum_at_every_position(c):
    for size, epochs in ((1, 1), (1, 4), (2, 1), (2, 2), (3, 2), (2, 5), (3, 4), (4, 3), (7, 2)):
        values = []
        for position in range(size):
            s = small(size, epochs, position, c)
            value = find("optimal_fixed_order").in_system(s, Exact)
            certificate = opt.optimal(opt.cyclic_schedule(s))
            opt.verify_certificate(certificate)
            assert certificate.renyi(F(2)) == value
            assert find("optimal_fixed_order").in_system(s, Exact, printed=True) == value
            if size * epochs <= 9:
                assert 2 * brute_force(*cyclic(c, size, epochs, position)) == value
            values.append(value)
            if position == 0:
                assert certificate.contractions == (c,) * (size * epochs)
        assert values == sorted(values)


def test_the_corner_is_where_the_docstring_says():
    for c, size, epochs in itertools.product(CONTRACTIONS, (2, 3, 5, 8), (2, 3, 6)):
        for r in range(1, size + 1):
            steps = opt.cyclic_schedule(small(size, epochs, size - r, c))
            certificate = opt.optimal(steps)
            g = c**size
            hit = len(steps) - r
            bends = c ** (size - 2 * r) < 1 + g ** (epochs - 1) * (1 - g)
            if c ** (size - 2 * r) != 1 + g ** (epochs - 1) * (1 - g):
                assert (hit in certificate.knots) == bends


def test_special_cases():
    for c, epochs in itertools.product(CONTRACTIONS, (1, 2, 9)):
        s = small(1, epochs, 0, c)
        assert find("optimal_fixed_order").in_system(s, Exact) == find(
            "bok_2024_full_batch"
        ).in_system(s, Exact)
        for size in (2, 3, 6):
            last = small(size, epochs, size - 1, c)
            assert find("optimal_fixed_order").in_system(last, Exact) == find(
                "bok_2024_cyclic"
            ).in_system(last, Exact)
            for position in range(size):
                one = small(size, 1, position, c)
                assert find("optimal_fixed_order").in_system(one, Exact) == find(
                    "first_epoch"
                ).in_system(one, Exact)
                s = small(size, epochs, position, c)
                assert find("optimal_fixed_order").in_system(s, Exact) <= find("thm-3.3").in_system(
                    s, Exact
                )


def test_total_loss_of_memory():
    for position, epochs in itertools.product(range(3), (1, 3)):
        s = small(3, epochs, position, F(0))
        expected = opt.optimal(opt.cyclic_schedule(s)).renyi(F(2))
        bound = find("optimal_fixed_order")
        assert bound.in_system(s, Exact) == expected == (2 if position == 2 else 0)
        assert bound.in_system(s, Exact, printed=True) == expected
        assert bound.raw(s) == expected
        assert bound.enclose(s) == int(expected)
        assert (
            find("optimal_shuffle")
            .enclose(s)
            .overlaps(find("optimal_shuffle").in_system(s, Ball(128)))
        )


def test_attaining_runs_and_their_legality():
    first = opt.optimal(opt.cyclic_schedule(small(4, 3, 0, F(4, 5))))
    assert first.least_contraction == F(4, 5)
    for size, epochs, position in ((4, 3, 1), (4, 3, 2), (5, 2, 2), (7, 4, 3)):
        c, total = F(4, 5), size * epochs
        certificate = opt.optimal(opt.cyclic_schedule(small(size, epochs, position, c)))
        left = (1 - c ** (2 * (total - position))) / (1 - c ** (2 * total))
        run = opt.linear_run_value(certificate.steps, [c] * total)
        if 2 * position < size:
            assert run == certificate.value * left
        else:
            assert run <= certificate.value * left
    middle = opt.optimal(opt.cyclic_schedule(small(4, 3, 3, F(4, 5))))
    assert middle.least_contraction == 0
    gap = [opt.legal_run_value(middle, F(k, 10)) for k in range(9)]
    assert gap[0] == middle.value
    assert all(x > y > 0 for x, y in pairwise(gap))


WIDE = st.tuples(
    st.integers(2, 10**6), st.integers(1, 10**12), st.integers(0, 10**6),
    st.one_of(
        st.integers(1, 18).map(lambda k: F(1, 10**k)),
        st.integers(1, 12).map(lambda k: 1 - F(1, 10**k)),
        st.fractions(F(1, 10**6), F(999, 1000), max_denominator=10**7),
    ),
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(draw=WIDE)
@example(draw=(2, 1, 0, F(1, 10**18)))
@example(draw=(3, 2, 1, F(1, 10**18)))
@example(draw=(10**6, 10**12, 10**6 - 1, F(1, 10**18)))
@example(draw=(10**6, 2, 250_000, F(1, 10**9)))
@example(draw=(2, 10**12, 0, 1 - F(1, 10**12)))
@example(draw=(3, 10**30, 1, F(1, 10**18)))
def test_float64_is_accurate(draw):
    size, epochs, position, lost = draw
    s = small(size, epochs, position % size, 1 - lost)
    bound = find("optimal_fixed_order")
    with precision(220):
        ball = bound.in_system(s, Ball(220))
        if ball < 1e-250:
            return
        worst = 1e-13 if ball > 1e-60 else 4e-13
        assert abs(Ball.number(F(float(bound.raw(s)))) / ball - 1) < worst


def test_other_number_systems_agree():
    for size, epochs, position, c in itertools.product((2, 3), (1, 2, 3), (0, 1), CONTRACTIONS[1:]):
        s = small(size, epochs, position, c)
        bound = find("optimal_fixed_order")
        value = bound.in_system(s, Exact)
        assert F(str(bound.in_system(s, Symbolic))) == value
        mp = Multiprecision(40)
        assert abs(bound.in_system(s, mp) / mp.number(value) - 1) < mp.mp.mpf(10) ** -36
        assert bound.enclose(s).overlaps(Ball.number(value))
        for name in ("optimal_shuffle", "optimal_without_replacement"):
            other = find(name)
            with precision(160):
                enclosed = other.in_system(s, Ball(160))
                assert enclosed.overlaps(other.in_system(s, Ball(160), printed=True))
            near = pytest.approx(float(enclosed), rel=1e-12)
            assert float(other.raw(s)) == near
            assert float(other.in_system(s, mp)) == near
            if c == F(4, 5) and (s.steps <= 3 or name == "optimal_shuffle"):
                assert float(other.in_system(s, Symbolic).evalf(30)) == near


# --- shuffle and without replacement --------------------------------------------------------------


def settings_of(size, epochs, lost, rate, alpha):
    eta = F(1, 4)
    return Setting.of(
        n=size, b=1, epochs=epochs, eta=eta, lambda_=lost / eta, beta=4, sensitivity=2,
        sigma2=eta / rate, alpha=alpha,
    )  # fmt: skip


DRAWS = st.tuples(
    st.sampled_from((2, 3, 4, 5, 7, 25, 40)), st.sampled_from((1, 2, 3, 10, 10**6)),
    st.sampled_from((F(1, 10**9), F(1, 1000), F(1, 50), F(1, 3), F(9, 10))),
    st.sampled_from((F(1, 10**6), F(1, 200), F(1), F(20))),
    st.sampled_from((F(101, 100), F(2), F(10), F(100))),
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(draw=DRAWS)
def test_shuffle_is_never_above_theorem_4_2(draw):
    s = settings_of(*draw)
    ours, theirs = find("optimal_shuffle").raw(s), find("thm-4.2").raw(s)
    assert ours <= theirs * (1 + 4e-13)
    if s.epochs == 1:
        assert ours == pytest.approx(theirs, rel=1e-12)
    else:
        worst = find("optimal_fixed_order").raw(s)
        assert ours <= worst * (1 + 1e-12)


def test_shuffle_with_very_many_batches():
    for epochs, lost in ((1, F(1, 10**4)), (2, F(1, 10**5)), (3, F(1, 10**7)), (50, F(1, 1000))):
        s = settings_of(5000, epochs, lost, F(1, 10), 10)
        bound = find("optimal_shuffle")
        assert float(bound.enclose(s, 20)) == pytest.approx(float(bound.raw(s)), rel=1e-12)
        p = bind(bound.check(s), Float64)
        low = optimal_shuffle.last_corner(p)
        r = np.arange(1, 5001)
        both = optimal_fixed_order.value(p, Float64, r)
        corner = optimal_fixed_order.corner(p, Float64, r)
        chord = optimal_fixed_order.chord(p, Float64, r)
        assert np.allclose(both[:low], corner[:low], rtol=1e-12, atol=0)
        assert np.allclose(both[low + 4 :], chord[low + 4 :], rtol=1e-12, atol=0)
        assert np.all(np.diff(both) <= both[1:] * 1e-12)


def test_pattern_moment_is_above_the_mean_over_all_patterns():
    for horizon, p, c, gamma in itertools.product(
        (1, 2, 6), (F(1, 25), F(1, 2)), (F(1, 3), F(49, 50)), (F(1, 1000), F(2))
    ):
        truth = pattern_mean(float(gamma), p, c, horizon)
        found = log_moment(float(gamma), p, 1 - c, horizon)
        one_step = 1 + 1e-9
        assert truth <= found * (1 + 1e-11)
        if horizon == 1:
            assert found <= truth * one_step
        if horizon == 2:
            assert found <= truth * 1.02


def test_from_the_top_and_from_the_start_agree():
    slow = log_moment(0.45, F(1, 25), F(1, 50), 270)
    fast = log_moment(0.45, F(1, 25), F(1, 50), 10**15)
    assert slow == pytest.approx(fast, rel=3e-3)
    assert slow <= fast


@settings(max_examples=25, deadline=None)
@given(draw=DRAWS)
@example(draw=(2, 1, F(9, 10), F(20), F(100)))
def test_without_replacement_is_finite_and_never_above_theorem_4_3(draw):
    s = settings_of(*draw)
    bound = find("optimal_without_replacement")
    ours, theirs = float(bound.raw(s)), float(find("thm-4.3").raw(s))
    c = 1 - s.eta_lambda
    assert 0 < ours <= theirs * (1 + 1e-12)
    assert ours <= float(s.alpha * s.rate * (1 + c) / (1 - c)) * (1 + 1e-12)


def test_without_replacement_where_theorem_4_3_diverges():
    s = FIGURE.replace(epochs=10**12, alpha=100)
    assert find("thm-4.3").raw(s) > 1e12
    assert find("optimal_without_replacement").raw(s) < 49.5001
    full = FIGURE.replace(b=50)
    assert find("optimal_without_replacement").raw(full) == pytest.approx(
        find("bok_2024_full_batch").raw(full), rel=1e-12
    )


def test_gains_at_the_figure_settings():
    s = FIGURE.replace(epochs=200)
    gains = {
        ("optimal_fixed_order", "thm-3.3", 0): 1.94, ("optimal_fixed_order", "thm-3.3", 12): 1.42,
        ("optimal_fixed_order", "thm-3.3", 24): 1.06, ("optimal_shuffle", "thm-4.2", None): 1.29,
        ("optimal_without_replacement", "thm-4.3", None): 3.47,
    }  # fmt: skip
    for (ours, theirs, position), gain in gains.items():
        at = replace(s, position=position)
        ratio = find(theirs).float64(at) / find(ours).float64(at)
        assert gain < ratio < gain + 0.02


def test_vectors_of_orders_and_outward_rounding():
    orders = [F(2), F(10), F(31, 2)]
    for name in ("optimal_fixed_order", "optimal_shuffle", "optimal_without_replacement"):
        bound = find(name)
        s = FIGURE.replace(epochs=3)
        many = bound.float64(s, orders)
        for value, order in zip(many, orders, strict=True):
            single = replace(s, alpha=order)
            assert value == pytest.approx(float(bound.float64(single)), rel=1e-12)
            answer = bound.answer(single)
            assert float(answer.lower) <= answer.epsilon
            assert F(answer.upper) <= F(answer.epsilon)


def test_assumptions_are_named():
    for name in ("optimal_fixed_order", "optimal_shuffle", "optimal_without_replacement"):
        for change, label in (
            ({"lambda_": 0}, "strong-convexity"), ({"eta": "0.5"}, "step-size"),
            ({"alpha": 1}, "order"), ({"epochs": 0}, "epochs"), ({"sigma2": 0}, "noise"),
        ):  # fmt: skip
            with pytest.raises(AssumptionViolated) as caught:
                find(name).check(FIGURE.replace(**change))
            assert caught.value.label == label
    with pytest.raises(TooCostly):
        find("optimal_fixed_order").in_system(FIGURE.replace(epochs=10**9), Exact)
    for p in (symbolic_parameters(n=4, b=2, epochs=1), bind(FIGURE, Symbolic)):
        with pytest.raises(TooCostly):
            optimal_without_replacement.epsilon(p, Symbolic)


def test_symbols():
    p = symbolic_parameters(batches=3, epochs=2, eta="1/4", lambda_="1/2")
    given = {"alpha": 2, "S_g": 2, "sigma^2": 3, "b": 1}
    s = Setting.of(
        n=3, b=1, epochs=2, eta="1/4", lambda_="1/2", beta=1, sensitivity=2, sigma2=3, alpha=2
    )
    for formula in (optimal_fixed_order.epsilon, optimal_fixed_order.printed):
        value = formula(p, Symbolic)
        value = value.subs({x: given[x.name] for x in value.free_symbols})
        assert F(str(value)) == find("optimal_fixed_order").in_system(s, Exact)
