"""The logistic loss, its Hessian and the clipped gradient against automatic brute force."""

from __future__ import annotations

import numpy as np
import pytest

from verify.derivations import logistic_clipping, logistic_proof

RNG = np.random.default_rng(11)


def loss(theta, x, label):
    """Softmax loss of theta [classes, features + 1]."""
    logits = theta @ np.append(x, 1.0)
    return np.log(np.exp(logits).sum()) - logits[label]


def probabilities(theta, x):
    e = np.exp(theta @ np.append(x, 1.0))
    return e / e.sum()


def slopes(f, theta, step=1e-5):
    """Central differences of f in every coordinate of theta, in the order of its entries."""
    flat = []
    for k in range(theta.size):
        d = np.zeros(theta.size)
        d[k] = step
        d = d.reshape(theta.shape)
        flat.append((f(theta + d) - f(theta - d)) / (2 * step))
    return np.array(flat)


def gradient(theta, x, label):
    r = probabilities(theta, x)
    r[label] -= 1
    return np.outer(r, np.append(x, 1.0)).ravel()


@pytest.fixture
def case():
    return RNG.normal(size=(3, 3)), RNG.normal(size=2), 2


def test_the_gradient_is_the_corrected_one_and_not_the_printed_one(case):
    theta, x, label = case
    true = slopes(lambda at: loss(at, x, label), theta)
    assert np.allclose(true, gradient(theta, x, label), atol=1e-8)
    e = np.exp(theta @ np.append(x, 1.0))
    for terms in (1, 3):
        last = e[0] / (terms * e[2]) - 1
        assert not np.allclose(true[-3:], last * np.append(x, 1.0), atol=1e-3)
    # As (169) is printed the only term of a record of class c is the logarithm of a constant.
    assert np.abs(true).max() > 1e-2


def test_the_hessian_is_the_kronecker_product(case):
    theta, x, label = case
    bar, p = np.append(x, 1.0), probabilities(theta, x)
    hessian = slopes(lambda at: gradient(at, x, label), theta)
    t = np.diag(p) - np.outer(p, p)
    assert np.allclose(hessian, np.kron(t, np.outer(bar, bar)), atol=1e-8)
    assert not np.allclose(hessian, np.kron(np.outer(bar, bar), t), atol=1e-3)


@pytest.mark.parametrize("classes", [1, 2, 3, 7])
def test_boehnings_bound(classes):
    least = np.inf
    for _ in range(200):
        p = RNG.dirichlet(np.full(classes, 0.2))
        t = np.diag(p) - np.outer(p, p)
        top = (np.eye(classes) - np.ones((classes, classes)) / classes) / 2
        assert np.linalg.eigvalsh(t)[0] > -1e-12
        least = min(least, np.linalg.eigvalsh(top - t)[0])
    assert least > -1e-12


def test_the_jacobian_of_the_clipped_gradient():
    negative = False
    for _ in range(60):
        theta, x, label = RNG.normal(size=(3, 3)), RNG.normal(size=2), int(RNG.integers(3))
        g = gradient(theta, x, label)
        norm = np.linalg.norm(g)
        half = norm * RNG.uniform(0.2, 0.9)

        def clipped(at, x=x, label=label, half=half):
            found = gradient(at, x, label)
            return found * min(1.0, half / np.linalg.norm(found))

        # Rows of `slopes` differentiate, so the Jacobian is its transpose.
        jacobian = slopes(clipped, theta).T
        hessian = slopes(lambda at, x=x, label=label: gradient(at, x, label), theta)
        m = np.eye(9) - np.outer(g, g) / norm**2
        assert np.allclose(jacobian, half / norm * m @ hessian, atol=1e-6)
        beta = (x @ x + 1) / 2
        form = np.linalg.eigvalsh((jacobian + jacobian.T) / 2)
        assert -beta / 8 - 1e-6 < form[0] <= form[-1] < beta + 1e-6
        negative = negative or bool(form[0] < -1e-3)
        # The eigenvalues of the product itself are not negative.
        assert np.linalg.eigvals(m @ hessian).real.min() > -1e-6
    assert negative


def test_two_records_differ_by_less_than_the_stated_sensitivity():
    worst = 0.0
    for _ in range(300):
        norm = RNG.uniform(0.5, 6)
        theta = RNG.normal(size=(3, 3)) * 4
        pair = []
        for _ in range(2):
            x = RNG.normal(size=2)
            pair.append(gradient(theta, x / np.linalg.norm(x) * norm, int(RNG.integers(3))))
        worst = max(worst, np.linalg.norm(pair[0] - pair[1]) / (2 * np.sqrt(2 * (norm**2 + 1))))
    assert 0.5 < worst <= 1


def test_every_equation_of_the_two_chains_is_declared_and_asked():
    for chain in (logistic_proof.CHAIN, logistic_clipping.CHAIN):
        declared = [made.id for made in chain.statements]
        assert len(set(declared)) == len(declared)
        assert {made.statement for made in chain.checks} == set(declared)
