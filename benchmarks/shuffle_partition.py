"""How much faster Theorem 4.2 is in arrays than in a plain loop over orders and batches.

n = 60000, b = 1, K = 1000, 150 orders at once: what a practitioner asks for who wants the best
order of a real data set. Both are timed in processor time, so that a busy machine does not matter.
The loop is run in full, over every order and every batch, in the same
process, and takes some seconds; it is the formula as printed, with the same care against overflow
that a careful author of a script would take, and must agree to ten digits.

    python benchmarks/shuffle_partition.py

Exit status 1 when the ratio is below 100 or the two disagree.
"""

from __future__ import annotations

import math
import sys
import time
from fractions import Fraction

import numpy as np

from bounds.bound import find
from bounds.setting import Setting

WANTED = 100
SETTING = Setting.of(
    n=60000, b=1, epochs=1000, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4
)
ORDERS = [1 + Fraction(k * k, 100) for k in range(1, 151)]
"""From 1.01 to 226, denser near 1."""


def scalar_loop(setting: Setting, orders: list[Fraction]) -> list[float]:
    """Equation (5), one order and one batch after the other."""
    batches, epochs = setting.batches, float(setting.epochs or 0)
    contraction = 1 - float(setting.eta_lambda)
    rate = float(setting.rate)
    half = batches // 2
    rest = batches - half
    answers = []
    for exact_order in orders:
        order = float(exact_order)
        partial_sum, power, exponents = 0.0, 1.0, []
        for _ in range(batches):
            partial_sum += power
            exponents.append((order - 1) * order * rate * power / partial_sum)
            power *= contraction**2
        largest = max(exponents)
        total = 0.0
        for exponent in exponents:
            total += math.expm1(exponent) if largest < 30 else math.exp(exponent - largest)
        small = largest < 30
        mean = math.log1p(total / batches) if small else largest + math.log(total / batches)
        series = (1 - contraction ** (2 * (epochs - 1) * rest)) / (1 - contraction ** (2 * rest))
        first = exponents[half - 1] / (order - 1) * series
        answers.append(first + mean / (order - 1))
    return answers


def main() -> int:
    """Time both and compare."""
    bound = find("shuffle_partition")
    bound.float64(SETTING, ORDERS)  # imports and caches
    best = math.inf
    for _ in range(7):
        start = time.process_time()
        fast = bound.float64(SETTING, ORDERS)
        best = min(best, time.process_time() - start)
    start = time.process_time()
    slow = scalar_loop(SETTING, ORDERS)
    loop = time.process_time() - start
    ratio = loop / best
    apart = float(np.max(np.abs(np.asarray(fast) / np.asarray(slow) - 1)))
    print(f"{len(ORDERS)} orders, {SETTING.batches} batches, K = {SETTING.epochs}")
    print(f"arrays, with outward rounding: {best * 1e3:.1f} ms (best of 7)")
    print(f"scalar loop, every order and batch: {loop:.2f} s")
    print(f"ratio: {ratio:.0f} (at least {WANTED} is wanted)")
    print(f"largest relative difference: {apart:.1e}")
    return 0 if ratio >= WANTED and apart < 1e-10 else 1


if __name__ == "__main__":
    sys.exit(main())
