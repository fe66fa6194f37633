"""The clipped softmax gradient by brute force: independent code and finite differences."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bounds.arith.ball import precision
from verify.methods.slow_direction import BITS, estimate
from verify.statement import Run
from verify.statements.logistic import POINTS, clipped_form
from verify.statements.logistic_conclusion import (
    WITNESS,
    above_the_truth_with_three_classes,
    contraction,
    printed_claim,
)

RNG = np.random.default_rng(7)


def loss_gradient(theta, x, label):
    """Gradient of the softmax loss in theta [classes, features + 1] at one record."""
    bar = np.append(x, 1.0)
    logits = theta @ bar
    p = np.exp(logits - logits.max())
    p /= p.sum()
    p[label] -= 1
    return np.outer(p, bar)


def clipped(theta, x, label, half):
    g = loss_gradient(theta, x, label)
    return g * min(1.0, half / np.linalg.norm(g))


def jacobian_form(theta, x, label, half, v, step=1e-5):
    up = clipped(theta + step * v, x, label, half)
    down = clipped(theta - step * v, x, label, half)
    return float(np.sum(v * (up - down)) / (2 * step))


def test_the_witness_is_negative_in_a_clipped_gradient():
    p, label, v = POINTS[0]
    theta = np.log(np.array([float(x) for x in p]))[:, None]
    direction = np.array([float(x) for x in v])[:, None]
    norm = np.linalg.norm(loss_gradient(theta, np.zeros(0), label))
    for half in (norm / 2, norm / 10):
        form = jacobian_form(theta, np.zeros(0), label, half, direction)
        assert form < 0
        assert form == pytest.approx(half / norm * float(clipped_form(p, label, v)), rel=1e-4)


def test_the_update_expands_at_the_witness():
    p, label, v = POINTS[0]
    theta = np.log(np.array([float(x) for x in p]))[:, None]
    direction = np.array([float(x) for x in v])[:, None]
    half, lost, eta = 0.3, 1e-3, 0.5

    def update(at):
        return at - eta * (clipped(at, np.zeros(0), label, half) + lost * at)

    step = 1e-4
    moved = update(theta + step * direction) - update(theta - step * direction)
    assert np.linalg.norm(moved) > (1 - eta * lost) * np.linalg.norm(2 * step * direction)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_corrected_order_holds_at_random(classes):
    least = 0.0
    for _ in range(400):
        features = RNG.integers(0, 3)
        theta = RNG.normal(size=(classes, features + 1)) * 2
        x, label = RNG.normal(size=features), int(RNG.integers(classes))
        size2 = float(x @ x + 1)
        norm = np.linalg.norm(loss_gradient(theta, x, label))
        half = norm * RNG.uniform(0.1, 0.9)
        v = RNG.normal(size=theta.shape)
        v /= np.linalg.norm(v)
        form = jacobian_form(theta, x, label, half, v)
        assert -size2 / 16 - 1e-6 <= form <= size2 / 2 + 1e-6
        least = min(least, form)
    assert (least > -1e-6) == (classes == 2)


def test_gradients_have_the_stated_length():
    worst = 0.0
    for _ in range(400):
        theta, x = RNG.normal(size=(4, 3)) * 5, RNG.normal(size=2)
        g = loss_gradient(theta, x, int(RNG.integers(4)))
        worst = max(worst, float(np.sum(g * g) / (2 * (x @ x + 1))))
    assert 0.5 < worst <= 1


# --- the conclusion of Corollary 5.3 --------------------------------------------------------------

CLIP, DECAY = float(WITNESS.clip), float(WITNESS.decay)
MIX = [((float(x), y), count / 10**12) for (x, y), count in WITNESS.shared]
ENDS = [(float(x), y) for x, y in (WITNESS.first, WITNESS.second)]
# Directions that change the loss: those in which the classes' parameters add up to zero.
SPAN = np.array([[1, -1, 0], [1, 1, -2]]).T / np.sqrt([2, 6])


def unit_gradient(flat, record):
    """Clipped gradient over the clip norm, in the four directions that matter."""
    g = clipped(SPAN @ flat.reshape(2, 2), np.array([record[0]]), record[1], CLIP)
    return (SPAN.T @ g / CLIP).ravel()


def mean_field(flat):
    return sum(share * unit_gradient(flat, record) for record, share in MIX) + DECAY * flat


def differences(flat, step=1e-5):
    columns = [(mean_field(flat + d) - mean_field(flat - d)) / (2 * step) for d in np.eye(4) * step]
    return np.array(columns).T


def resting_point(extra=None, n=1e12):
    """Where the mean field, with one more record in n, is zero: Newton's method."""
    flat = (SPAN.T @ np.array(WITNESS.guess)).ravel()
    for _ in range(40):
        value = mean_field(flat)
        if extra is not None:
            value = value + unit_gradient(flat, extra) / n
        flat = flat - np.linalg.solve(differences(flat), value)
    assert np.abs(value).max() < 1e-12
    return flat


def test_the_mean_field_contracts_more_slowly_than_lambda():
    rest = resting_point()
    for (x, label), _ in MIX:
        g = loss_gradient(SPAN @ rest.reshape(2, 2), np.array([x]), label)
        assert np.linalg.norm(g) > CLIP
    rates = np.sort(np.linalg.eigvals(differences(rest)).real)
    assert 0 < rates[0] < DECAY / 3
    with precision(BITS):
        shown = estimate(WITNESS).rates
    assert np.allclose(rates, [float(r) for r in shown], rtol=1e-5)


def test_runs_of_the_algorithm_approach_each_other_more_slowly_than_lambda():
    """The printed update, noise left out, over shuffled epochs of a hundred records."""
    rest = resting_point()
    records = [record for record, share in MIX for _ in range(round(100 * share))]
    assert len(records) == 100
    rng, step, epochs = np.random.default_rng(3), 0.02, 80
    runs = [rest, rest + np.array([0.004, 0, 0, 0])]
    gaps = []
    for _ in range(epochs):
        for i in rng.permutation(100):
            runs = [at - step * (unit_gradient(at, records[i]) + DECAY * at) for at in runs]
        gaps.append(np.linalg.norm(runs[1] - runs[0]))
    # After the fast directions have died out.
    time = step * 100 * (epochs - 40)
    assert np.log(gaps[39] / gaps[-1]) / time < DECAY / 2
    assert gaps[-1] / gaps[39] > (1 - step * DECAY) ** (100 * (epochs - 40)) * 1.1


def test_one_record_moves_the_resting_point_by_the_certified_gap():
    n = 1e9
    moved = resting_point(ENDS[0], n) - resting_point(ENDS[1], n)
    slope = differences(resting_point())
    values, left = np.linalg.eig(slope.T)
    slow = left[:, np.argmin(values.real)].real
    slow /= np.linalg.norm(slow)
    with precision(BITS):
        found = estimate(WITNESS)
    gap = float(found.gap) + 2 * float(found.error)
    assert abs(slow @ moved) * n == pytest.approx(gap * float(WITNESS.n), rel=5e-3)


def test_the_gaussian_limit_lies_between_the_bound_and_nothing():
    """Small steps: the mean difference A^-1 dg/n and the covariance of Lyapunov's equation."""
    rest = resting_point()
    slope = differences(rest)
    push = unit_gradient(rest, ENDS[0]) - unit_gradient(rest, ENDS[1])
    eye = np.eye(4)
    # A S + S A' = h s^2 I, by Kronecker products; h s^2 from the witness.
    noise = float(WITNESS.step) * float(WITNESS.noise) ** 2
    system = np.kron(slope, eye) + np.kron(eye, slope)
    covariance = np.linalg.solve(system, (noise * eye).ravel()).reshape(4, 4)
    mean = np.linalg.solve(slope, push) / float(WITNESS.n)
    limit = mean @ np.linalg.solve(covariance, mean)  # R_2 of two Gaussians of one covariance
    with precision(BITS):
        certified = float(estimate(WITNESS).divergence)
        claimed = float(printed_claim(WITNESS))
    assert claimed < certified < limit
    assert limit > 2 * claimed
    # A quadratic of the same lambda meets the bound: (2 C/(n lambda))^2 over its variance.
    quadratic = (2 / (float(WITNESS.n) * DECAY)) ** 2 / (noise / (2 * DECAY))
    assert quadratic == pytest.approx(claimed, rel=1e-6)


@pytest.mark.parametrize("decay", ["1/50", "1/100"])
def test_the_estimate_stays_below_the_bound_where_contraction_is_fast(decay):
    """With a larger lambda the slow direction contracts faster than lambda: no violation."""
    problem = replace(WITNESS, decay=Fraction(decay))
    with precision(BITS):
        found = estimate(problem)
        assert found.sound
        assert found.rates[0] > float(Fraction(decay))
        assert found.divergence < printed_claim(problem)


def test_the_estimate_knows_when_it_does_not_apply():
    with precision(BITS):
        assert not estimate(replace(WITNESS, clip=Fraction(1, 2))).sound  # not clipped
        assert not estimate(replace(WITNESS, step=Fraction(1, 10**20))).sound
        assert not estimate(replace(WITNESS, radius=Fraction(1, 10))).sound


def test_the_corrected_contraction_holds_at_random_and_is_nearly_attained():
    worst = 0.0
    for _ in range(3000):
        beta, eta, lost = RNG.uniform(0.1, 3), RNG.uniform(0.01, 0.3), RNG.uniform(0, 0.3)
        c = 1 - eta * lost
        if eta * beta >= c:
            continue
        turn = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
        hessian = turn @ np.diag(beta * RNG.choice([0, 1, RNG.uniform()], size=3)) @ turn.T
        u = RNG.normal(size=3)
        u /= np.linalg.norm(u)
        off = np.eye(3) - np.outer(u, u)
        jacobian = c * np.eye(3) - eta * RNG.uniform(0.9, 1) * off @ hessian
        norm = np.linalg.norm(jacobian, 2)
        q = np.sqrt(contraction(c, eta, beta))
        assert norm <= q + 1e-12
        worst = max(worst, (norm - c) / (q - c))
    assert worst > 0.7


def test_twice_the_bound_is_not_called_false():
    # The certified divergence is about one and a half times the bound: no more may be claimed.
    found = above_the_truth_with_three_classes(lambda problem: printed_claim(problem) * 2, Run())
    assert found.outcome == "undecided"
