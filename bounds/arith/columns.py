"""Columns: NumPy arrays with one entry per setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def two_product(x: Any, y: Any) -> tuple[Any, Any]:
    """x y as a rounded product and its error, exactly, away from the ends of the range (Dekker)."""
    product = x * y
    a, b = _split(x), _split(y)
    c, d = x - a, y - b
    return product, ((a * b - product) + a * d + c * b) + c * d


def _split(x: Any) -> Any:
    """The upper half of the digits."""
    scaled = x * 134217729.0
    return scaled - (scaled - x)


@dataclass(frozen=True)
class Column:
    """Exact numbers, one per setting: `high` is the nearest double, `low` the rest of the number.

    high, low: arrays [settings], or floats where all are equal; low is None where all are doubles.
    high + low is off by at most 2^-104 of the number. exact: the number of one setting.
    """

    high: Any
    low: Any
    exact: Callable[[int], Fraction]

    @classmethod
    def constant(cls, value: int | Fraction) -> Column:
        """One number for all."""
        number = Fraction(value)
        high = float(number)
        low = float(number - Fraction(high))
        return cls(high, low if low else None, lambda i: number)

    def negative(self) -> Column:
        """The numbers with their signs changed."""
        return Column(-self.high, None if self.low is None else -self.low, lambda i: -self.exact(i))

    @classmethod
    def table(cls, values: tuple[Fraction, ...], at: NDArray[np.intp]) -> Column:
        """Entry i is values[at[i]]."""
        high = [float(value) for value in values]
        low = [float(value - Fraction(h)) for value, h in zip(values, high, strict=True)]
        return cls(
            np.array(high)[at], np.array(low)[at] if any(low) else None, lambda i: values[at[i]]
        )

    @classmethod
    def decimals(cls, mantissa: NDArray[np.int64], exponent: NDArray[np.int64]) -> Column:
        """Entry i is mantissa[i] 10^exponent[i], with |mantissa| < 2^53 and |exponent| <= 22."""
        whole = mantissa.astype(np.float64)
        up, down = 10.0 ** np.maximum(exponent, 0), 10.0 ** np.maximum(-exponent, 0)
        # Powers of ten up to 22 are doubles, so the nearest double takes one rounding.
        high = whole * up / down
        product, error = two_product(whole, up)
        again, lost = two_product(high, down)
        low = ((product - again) + (error - lost)) / down
        return cls(
            high, low if np.any(low) else None,
            lambda i: Fraction(int(mantissa[i])) * Fraction(10) ** int(exponent[i]),
        )  # fmt: skip
