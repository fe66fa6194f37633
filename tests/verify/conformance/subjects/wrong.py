"""Subjects that are wrong, each in its own way; `SAYS` holds the verdict and mistake of each.

Those that compute are Theorem 4.2 or its like written by hand with one mistake; the others
misbehave.
"""

import math
import os
import sys
import time

SAYS = {}


def says(verdict, mistake=None, bound="shuffle_partition"):
    """Note what a check must find."""

    def note(function):
        SAYS[function.__name__] = (verdict, mistake, bound)
        return function

    return note


def _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    if not 1 <= b <= n or epochs < 1 or n // b < 2:
        raise ValueError("batches or epochs")
    if not (alpha > 1 and sigma2 > 0 and sensitivity > 0 and eta > 0 and lambda_ > 0):
        raise ValueError("a parameter is not positive, or the order not above 1")
    if beta < lambda_ or eta * (lambda_ + beta) >= 2:
        raise ValueError("smoothness or step size")


def _formula(
    n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, *,
    checked=True, size=None, half=None, divisor=None, mean=True, factor=None, scale=1.0,
    averaged=True, square=2,
):  # fmt: skip
    """Theorem 4.2, with places for mistakes."""
    if checked:
        _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size = n // b if size is None else size
    half = size // 2 if half is None else half
    lost = eta * lambda_
    log_c = square / 2 * (math.log1p(-lost) if lost < 1 else -math.inf)
    rate = eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4 * scale
    factor = alpha if factor is None else factor

    def share(j):
        top = math.exp(2 * (j - 1) * log_c) * math.expm1(2 * log_c)
        return factor * rate * top / math.expm1(2 * j * log_c)

    rest = size - half
    earlier = share(half) * math.expm1(2 * (epochs - 1) * rest * log_c)
    earlier /= math.expm1(2 * rest * log_c)
    divisor = alpha - 1 if divisor is None else divisor
    shares = [share(j) for j in range(1, size + 1)]
    if not averaged:
        return earlier + math.fsum(shares) / size
    exponents = [(alpha - 1) * x for x in shares]
    count = size if mean else 1
    if exponents[0] < 30 and mean:
        total = math.log1p(math.fsum(math.expm1(x) for x in exponents) / count)
    else:
        total = exponents[0] + math.log(math.fsum(math.exp(x - exponents[0]) for x in exponents))
        total -= math.log(count)
    return earlier + total / divisor


@says("too-large", "epochs-plus-one")
def one_epoch_more(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    return _formula(n, b, epochs + 1, eta, lambda_, beta, sensitivity, sigma2, alpha)


@says("too-large", "updates-for-epochs")
def updates(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    return _formula(n, b, epochs * (n // b), eta, lambda_, beta, sensitivity, sigma2, alpha)


@says("not-an-upper-bound", "ceil-for-floor")
def ceiling(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size = -(-n // b)
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, size=size)


@says("not-an-upper-bound", "half-rounded-up")
def half_up(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    half = -(-(n // b) // 2)
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, half=half)


@says("not-an-upper-bound", "sigma-for-sigma-squared")
def sigma(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, math.sqrt(sigma2), alpha)


@says("too-large", "noise-on-the-sum")
def on_the_sum(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, scale=b * b)


@says("not-an-upper-bound", "data-size-for-batch-size")
def averaged_over_all(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    scale = (b / n) ** 2
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, scale=scale)


@says("not-an-upper-bound", "half-the-sensitivity")
def clip_norm(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, scale=0.25)


@says("not-an-upper-bound", "noise-doubled")
def doubled_noise(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, scale=0.5)


@says("not-an-upper-bound", "alpha-dropped")
def no_alpha(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, factor=1.0)


@says("not-an-upper-bound", "division-by-alpha-minus-one-dropped")
def undivided(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, divisor=1.0)


@says("not-an-upper-bound", "mean-of-exponents")
def jensen(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, averaged=False)


@says("too-large", "sum-of-exponentials")
def summed(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, mean=False)


@says("too-large", "contraction-not-squared")
def unsquared(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    return _formula(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, square=1)


@says("too-large", "last-batch-always", "fixed_order")
def last_batch(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha, position):
    """Theorem 3.3 that forgets the position."""
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size = n // b
    if not 0 <= position < size:
        raise ValueError("position")
    log_c, half = math.log1p(-eta * lambda_), size // 2
    share = math.exp(2 * (half - 1) * log_c) * math.expm1(2 * log_c) / math.expm1(2 * half * log_c)
    series = math.expm1(2 * (epochs - 1) * (size - half) * log_c)
    series /= math.expm1(2 * (size - half) * log_c)
    rate = eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4
    return alpha * rate * (share * series + 1)


@says("accepts-invalid", "step-size-check-missing", "convex_fixed_order")
def unchecked_step(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4 at any step size."""
    if not 1 <= b <= n or epochs < 1 or not 0 <= position < n // b:
        raise ValueError("batches, epochs or position")
    if not (alpha > 1 and sigma2 > 0 and sensitivity > 0 and eta > 0 and beta > 0):
        raise ValueError("a parameter is not positive, or the order not above 1")
    weight = (epochs - 1) / (n // b) + 1 / (n // b - position)
    return alpha * eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4 * weight


@says("accepts-invalid", "limit-of-the-step-size-included", "convex_fixed_order")
def limit_included(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4 up to and with the limit of the step size."""
    if eta * beta > 2:
        raise ValueError("step size")
    return unchecked_step(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position)


@says("refuses-valid", "divisibility-required", "convex_fixed_order")
def divisible_only(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4 where b divides n."""
    if eta * beta >= 2 or b < 1 or n % b:
        raise ValueError("step size, or b does not divide n")
    return unchecked_step(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position)


@says("within-tolerance", None, "convex_fixed_order")
def slightly_up(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Theorem D.4, rounded up by more than a double needs."""
    if eta * beta >= 2:
        raise ValueError("step size")
    value = unchecked_step(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position)
    return value * (1 + 1e-10)


@says("imprecise", "float-cancellation")
def cancels(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):
    """Theorem 4.2 as one types it first."""
    _checked(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha)
    size, c = n // b, 1 - eta * lambda_
    half = size // 2
    rate = eta * (sensitivity / b) ** 2 / (4 * sigma2)

    def share(j):
        return alpha * rate * c ** (2 * (j - 1)) * (1 - c**2) / (1 - c ** (2 * j))

    rest = size - half
    earlier = share(half) * (1 - c ** (2 * (epochs - 1) * rest)) / (1 - c ** (2 * rest))
    mean = sum(math.exp((alpha - 1) * share(j)) for j in range(1, size + 1)) / size
    return earlier + math.log(mean) / (alpha - 1)


@says("crashes", "exponential-overflow", "sampled_gaussian")
def overflows(n, b, epochs, eta, sensitivity, sigma2, alpha):
    """A moment that is formed before its logarithm is taken."""
    if not (1 <= b <= n and epochs >= 1 and alpha > 1 and sigma2 > 0 and sensitivity > 0 < eta):
        raise ValueError("out of range")
    raise OverflowError("math range error")


@says("crashes", "memory")
def hungry(**given):
    """Needs 2 GiB."""
    return float(len(bytearray(2 << 30)))


@says("crashes")
def dies(**given):
    """Ends its process."""
    os._exit(3)


@says("crashes")
def segfaults(**given):
    """Writes where it must not."""
    import ctypes

    ctypes.string_at(0)


@says("crashes")
def misspelt(**given):
    """Has a bug that is no answer."""
    return given["gamma"]


@says("hangs")
def hangs(**given):
    """Never answers."""
    time.sleep(3600)


@says("malformed")
def not_a_number(**given):
    return math.nan


@says("malformed")
def a_string(**given):
    return "0.5"


@says("malformed")
def a_list(**given):
    return [0.5]


@says("malformed")
def rubbish(**given):
    """Prints where the answers would be, and answers something else."""
    print("value: 1")
    sys.stdout.write('{"id": 1, "value": 1}\n')
    os.write(1, b"garbage\n" * 1000)
    return object()


@says("too-large", "constant-answer")
def infinite(**given):
    return math.inf


@says("not-an-upper-bound", "constant-answer")
def negative(**given):
    return -1.0


@says("refuses-valid")
def refuses_all(**given):
    raise NotImplementedError("not yet")


_CALLS = []


@says("malformed", None, "convex_fixed_order")
def forgetful(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):
    """Right at first, and then worn out: its state changes its answers."""
    if eta * beta >= 2:
        raise ValueError("step size")
    value = unchecked_step(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position)
    _CALLS.append(value)
    return value * (1 + 1e-13 * len(_CALLS))


@says("accepts-invalid", "checks-missing", "one_update")
def mutates(**given):
    """Changes its arguments, prints, and checks nothing."""
    given["sigma2"] *= 4 * given["b"] ** 2
    print("warning", given)
    given["eta"] *= given["sensitivity"]
    return given["alpha"] * given["eta"] * given["sensitivity"] / abs(given["sigma2"] or 1)
