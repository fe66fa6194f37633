"""The paper's formulas as a careful user writes them who has no library.

One order and one term after the other, over floats, with `math`, in the stable form that avoids
overflow; without any check. These are the baselines of several benchmarks.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bounds.setting import Setting


def _share(front: float, q: float, j: int) -> float:
    return front * q ** (j - 1) * (1 - q) / (1 - q**j)


def _earlier(rate: float, q: float, batches: int, epochs: int) -> float:
    half = batches // 2
    rest = batches - half
    return _share(rate, q, half) * (1 - q ** ((epochs - 1) * rest)) / (1 - q**rest)


def fixed_order(
    batches: int, epochs: int, position: int, eta_lambda: float, rate: float, order: float
) -> float:
    """Theorem 3.3 [-]; rate: A [-]."""
    q = (1 - eta_lambda) ** 2
    last = _share(rate, q, batches - position)
    return order * (_earlier(rate, q, batches, epochs) + last)


def shuffle_once(batches: int, epochs: int, eta_lambda: float, rate: float, order: float) -> float:
    """Theorem 4.2 [-]; rate: A [-]."""
    q = (1 - eta_lambda) ** 2
    partial_sum, power, exponents = 0.0, 1.0, []
    for _ in range(batches):
        partial_sum += power
        exponents.append((order - 1) * order * rate * power / partial_sum)
        power *= q
    largest, total = exponents[0], 0.0
    for exponent in exponents:
        total += math.expm1(exponent) if largest < 30 else math.exp(exponent - largest)
    mean = math.log1p(total / batches) if largest < 30 else largest + math.log(total / batches)
    return order * _earlier(rate, q, batches, epochs) + mean / (order - 1)


def without_replacement(
    sampling: float, steps: int, eta_lambda: float, rate: float, order: float
) -> float:
    """Theorem 4.3 [-]; sampling: b/n; rate: A [-]. The recursion runs on log S."""
    gain, kept = (order - 1) * order * rate + math.log(sampling), (1 - eta_lambda) ** 2
    rest, log_s = math.log1p(-sampling), 0.0
    for _ in range(steps):
        held, missed = gain + log_s, rest + kept * log_s
        larger, smaller = max(held, missed), min(held, missed)
        log_s = larger + math.log1p(math.exp(smaller - larger))
    return log_s / (order - 1)


def at(name: str, setting: Setting) -> Callable[[float], float]:
    """Theorem 4.2 or 4.3 at a setting, as a function of the order."""
    eta_lambda, rate = float(setting.eta_lambda), float(setting.rate)
    assert setting.epochs is not None and setting.b is not None and setting.n is not None
    batches, epochs, steps = setting.batches, setting.epochs, setting.steps
    if name == "thm-4.2":
        return lambda order: shuffle_once(batches, epochs, eta_lambda, rate, order)
    sampling = setting.b / setting.n
    return lambda order: without_replacement(sampling, steps, eta_lambda, rate, order)
