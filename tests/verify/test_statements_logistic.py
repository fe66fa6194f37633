"""The clipped softmax gradient by brute force: independent code and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from verify.statements.logistic import POINTS, clipped_form

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
