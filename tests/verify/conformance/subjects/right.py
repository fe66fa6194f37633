"""Bounds written plainly by hand, and right: what subjects look like that ought to conform."""

import math
from fractions import Fraction


def _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    """The assumptions of the strongly convex bounds, in exact arithmetic."""
    if not 1 <= b <= n or epochs < 1 or n // b < 2:
        raise ValueError("batches or epochs")
    if not (alpha > 1 and sigma2 > 0 and sensitivity > 0 and eta > 0 and lambda_ > 0):
        raise ValueError("a parameter is not positive, or the order not above 1")
    if beta < lambda_ or Fraction(eta) * (Fraction(lambda_) + Fraction(beta)) >= 2:
        raise ValueError("smoothness or step size")


def _log_contraction(eta, lambda_):
    """log(1 - eta lambda), accurate at both ends."""
    lost = Fraction(eta) * Fraction(lambda_)
    return math.log1p(-float(lost)) if lost < Fraction(1, 2) else math.log(float(1 - lost))


def _profile(log_c, j):
    """c^(2(j-1)) over the sum of c^(2s), s < j."""
    return math.exp(2 * (j - 1) * log_c) * math.expm1(2 * log_c) / math.expm1(2 * j * log_c)


def _rate(b, eta, sensitivity, sigma2):
    return eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4


def fixed_order(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, position):
    """Theorem 3.3."""
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size = n // b
    if not 0 <= position < size:
        raise ValueError("position")
    log_c, half = _log_contraction(eta, lambda_), size // 2
    earlier = _profile(log_c, half) * _epochs(log_c, size - half, epochs)
    return alpha * _rate(b, eta, sensitivity, sigma2) * (earlier + _profile(log_c, size - position))


def _epochs(log_c, rest, epochs):
    return math.expm1(2 * (epochs - 1) * rest * log_c) / math.expm1(2 * rest * log_c)


def shuffle_partition(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    """Theorem 4.2."""
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size = n // b
    log_c, half = _log_contraction(eta, lambda_), size // 2
    scale = alpha * _rate(b, eta, sensitivity, sigma2)
    earlier = scale * _profile(log_c, half) * _epochs(log_c, size - half, epochs)
    exponents = [(alpha - 1) * scale * _profile(log_c, j) for j in range(1, size + 1)]
    top = exponents[0]
    if top < 30:
        mean = math.log1p(math.fsum(math.expm1(x) for x in exponents) / size)
    else:
        mean = top + math.log(math.fsum(math.exp(x - top) for x in exponents) / size)
    return earlier + mean / (alpha - 1)


def convex_fixed_order(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4."""
    if not 1 <= b <= n or epochs < 1 or not 0 <= position < n // b:
        raise ValueError("batches, epochs or position")
    if not (alpha > 1 and sigma2 > 0 and sensitivity > 0 and eta > 0 and beta > 0):
        raise ValueError("a parameter is not positive, or the order not above 1")
    if Fraction(eta) * Fraction(beta) >= 2:
        raise ValueError("step size")
    size = n // b
    weight = Fraction(epochs - 1, size) + Fraction(1, size - position)
    return alpha * _rate(b, eta, sensitivity, sigma2) * float(weight)


def dp_sgd(steps, n, batch, lr, reg, smooth, clip, noise_multiplier, order):
    """Theorem 4.2 in the terms of DP-SGD."""
    size = n // batch if 1 <= batch <= n else 1
    if steps % size:
        raise ValueError("whole epochs are wanted")
    sigma2 = lr * (noise_multiplier * 2 * clip / batch) ** 2 / 8 if batch else 0.0
    return shuffle_partition(n, batch, steps // size, lr, reg, smooth, 2 * clip, sigma2, order)


def exact(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4 over Fractions."""
    if not 1 <= b <= n or epochs < 1 or not 0 <= position < n // b:
        raise ValueError("batches, epochs or position")
    if not (alpha > 1 and sigma2 > 0 and sensitivity > 0 and eta > 0 and beta > 0):
        raise ValueError("a parameter is not positive, or the order not above 1")
    if eta * beta >= 2:
        raise ValueError("step size")
    weight = Fraction(epochs - 1, n // b) + Fraction(1, n // b - position)
    return alpha * eta * sensitivity**2 / (4 * sigma2 * b * b) * weight


def conversion(orders, epsilons, delta, rule):
    """The least epsilon over the orders."""
    if not 0 < delta < 1 or not orders or len(orders) != len(epsilons):
        raise ValueError("delta, or the lists")
    if any(a <= 1 for a in orders) or any(e < 0 for e in epsilons):
        raise ValueError("an order or a divergence")
    found = math.inf
    for alpha, value in zip(orders, epsilons, strict=True):
        if rule == "classical":
            extra = -math.log(delta) / (alpha - 1)
        else:
            extra = -math.log1p(1 / (alpha - 1)) - (math.log(delta) + math.log(alpha)) / (alpha - 1)
        found = min(found, value + extra)
    return max(found, 0.0)
