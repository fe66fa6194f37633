"""Columns: the formulas over many settings at once, one NumPy array per parameter.

Setting
    A table of settings. A real parameter is a `Column`: the nearest double of each exact value, and
    the rest of it where there is one. Counts are integers, common or in arrays.

What is exact
    Assumptions are decided as `Bound.check` decides them. A comparison of doubles settles all but
    the settings near the limit, and these are decided in Fractions. eta lambda and 1 - eta lambda
    are formed from twofold numbers, so that both have full relative accuracy.

Which formulas run
    Those that can: it is found out by running them. A formula that branches on a count is run for
    the settings that share n and b, or all their counts; one that needs more than this number
    system has, and every setting whose numbers are extreme, goes setting by setting through
    `Bound.float64`. What way a setting takes depends on itself alone, and so does its result.

Accuracy
    As in `float64`, with one rounding more in the exponents; `MARGIN` covers it.

Growth
    Time and memory are proportional to the settings; for averages over batches, time to settings
    times n/b, up to `MOST_TERMS` terms.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.arith import TooCostly
from bounds.arith.float64 import NumPyWords
from bounds.setting import (
    BATCH_SIZE,
    DATA_SIZE,
    PARAMETERS,
    AssumptionViolated,
    InvalidInput,
    MissingParameter,
    Setting,
    exact,
    exact_integer,
)

MARGIN = 6e-13
"""Relative width added outward: 745 times four roundings of 2^-53, and those of a formula."""
BLOCK = 1 << 15
"""Settings run at once: few enough for a cache, enough to make the work between arrays small."""
MOST_TERMS = 4096
MOST_EPOCHS = 256
SMALLEST, LARGEST = 1e-60, 1e60
MOST_RECORDS, MOST_STEPS = 2.0**31, 2.0**60
DOUBT = 1e-14
"""Relative error of what an assumption compares: at most some twenty roundings."""
LEAST = 2.0**-45
_PARTIAL = 64
_ELEMENTARY = 30.0

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class NotOnColumns(Exception):
    """A formula that this number system cannot run, or not for counts that differ."""


# --- twofold numbers ---------------------------------------------------------------------------


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


def _two_sum(x: Any, y: Any) -> tuple[Any, Any]:
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


class Twofold:
    """high + low, two doubles that stand for one number of some 100 bits (Dekker 1971)."""

    __slots__ = ("high", "low")
    # So that array * Twofold is not taken apart by NumPy.
    __array_ufunc__ = None

    def __init__(self, high: Any, low: Any = 0.0) -> None:
        self.high, self.low = high, low

    @classmethod
    def of(cls, x: Any) -> Twofold:
        """Any number; integers up to 2^53."""
        return x if isinstance(x, Twofold) else cls(np.asarray(x, dtype=np.float64)[()])

    def __add__(self, other: Any) -> Twofold:
        y = Twofold.of(other)
        total, error = _two_sum(self.high, y.high)
        return _renormalised(total, error + (self.low + y.low))

    def __neg__(self) -> Twofold:
        return Twofold(-self.high, -self.low)

    def __sub__(self, other: Any) -> Twofold:
        return self + -Twofold.of(other)

    def __rsub__(self, other: Any) -> Twofold:
        return Twofold.of(other) + -self

    def __mul__(self, other: Any) -> Twofold:
        y = Twofold.of(other)
        product, error = two_product(self.high, y.high)
        for one, rest in ((self.high, y.low), (y.high, self.low)):
            if not _zero(rest):
                error = error + one * rest
        return _renormalised(product, error)

    def __truediv__(self, other: Any) -> Twofold:
        y = Twofold.of(other)
        first = self.high / y.high
        product, error = two_product(first, y.high)
        rest = ((self.high - product) - error) + (self.low - first * y.low)
        return _renormalised(first, rest / y.high)

    __radd__, __rmul__ = __add__, __mul__


def _zero(rest: Any) -> bool:
    """Whether there is no rest at all, in any setting."""
    return isinstance(rest, float) and rest == 0


def _renormalised(high: Any, low: Any) -> Twofold:
    total = high + low
    return Twofold(total, low - (total - high))


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
        high = _nearest(number)
        low = float(number - Fraction(high)) if np.isfinite(high) else 0.0
        return cls(high, low if low else None, lambda i: number)

    @classmethod
    def doubles(cls, values: Array) -> Column:
        """Entry i is the double values[i], exactly. Raises `InvalidInput` unless all are finite."""
        if not np.all(np.isfinite(values)):
            raise InvalidInput("a column holds a value that is not a finite number")
        return cls(values, None, lambda i: Fraction(float(values[i])))

    @classmethod
    def table(cls, values: tuple[Fraction, ...], at: NDArray[np.intp]) -> Column:
        """Entry i is values[at[i]]."""
        each = [cls.constant(value) for value in values]
        low = [item.low or 0.0 for item in each]
        return cls(
            np.array([item.high for item in each])[at],
            np.array(low)[at] if any(low) else None,
            lambda i: values[at[i]],
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

    def negative(self) -> Column:
        """The numbers with their signs changed."""
        return Column(-self.high, None if self.low is None else -self.low, lambda i: -self.exact(i))

    def take(self, rows: Any) -> Column:
        """The settings of a slice or of an array of indices."""
        if np.ndim(self.high) == 0:
            return self
        low = self.low if np.ndim(self.low) == 0 else self.low[rows]
        if isinstance(rows, slice):
            return Column(self.high[rows], low, lambda i: self.exact(i + (rows.start or 0)))
        return Column(self.high[rows], low, lambda i: self.exact(int(rows[i])))

    @property
    def twofold(self) -> Twofold:
        """The numbers for arithmetic."""
        return Twofold(self.high, 0.0 if self.low is None else self.low)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


# --- a table of settings -----------------------------------------------------------------------


class Settings:
    """Settings as columns, by the names of the fields of `Setting`.

    size: how many. reals: a `Column` each. counts: an int, or an array [settings] of int64, each.
    """

    def __init__(self, size: int, reals: Mapping[str, Column], counts: Mapping[str, Any]) -> None:
        self.size, self.reals, self.counts = size, dict(reals), dict(counts)
        self._ranges: dict[str, tuple[Any, Any]] = {}

    def only(self, names: set[str]) -> Settings:
        """The columns of these names."""
        return Settings(
            self.size,
            {name: value for name, value in self.reals.items() if name in names},
            {name: value for name, value in self.counts.items() if name in names},
        )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Read columns: what is common is one exact number, what differs an array or a sequence.

        Arrays of floats stand for the doubles they hold, arrays of integers for themselves,
        sequences hold exact numbers, and a `Column` is taken as it is.

        Raises:
            InvalidInput, NotExact: an unknown name, columns of unequal length, or no number.
        """
        sizes: dict[str, int] = {}
        reals: dict[str, Column] = {}
        counts: dict[str, Any] = {}
        for key, value in values.items():
            name = "lambda_" if key == "lambda" else key
            if name not in PARAMETERS:
                raise InvalidInput(f"{key!r} is not a parameter")
            whole = PARAMETERS[name].kind == "integer"
            if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) != 1:
                raise InvalidInput(f"the column of {key} is not one-dimensional")
            if isinstance(value, list | tuple | np.ndarray):
                sizes[key] = len(value)
            elif isinstance(value, Column) and np.ndim(value.high):
                sizes[key] = len(value.high)
            if whole:
                counts[name] = _count(value, key)
            else:
                reals[name] = _real(value, key)
        if len(set(sizes.values())) > 1:
            raise InvalidInput(f"columns of unequal length: {sizes}")
        return cls(next(iter(sizes.values()), 1), reals, counts)

    def take(self, rows: Any) -> Settings:
        """The settings of a slice or of an array of indices."""
        size = len(range(*rows.indices(self.size))) if isinstance(rows, slice) else len(rows)
        return Settings(
            size,
            {name: column.take(rows) for name, column in self.reals.items()},
            {name: v[rows] if np.ndim(v) else v for name, v in self.counts.items()},
        )

    def setting(self, i: int) -> Setting:
        """One setting, exactly."""
        counts = {name: int(v[i]) if np.ndim(v) else int(v) for name, v in self.counts.items()}
        reals = {name: column.exact(i) for name, column in self.reals.items()}
        return Setting(**counts, **reals)  # type: ignore[arg-type]

    @cached_property
    def n(self) -> Any:
        """Size of the data set."""
        return self.counts["n"]

    @cached_property
    def b(self) -> Any:
        """Size of a batch; n where none is given."""
        return self.counts.get("b", self.n)

    @cached_property
    def batches(self) -> Any:
        """floor(n/b)."""
        return self.n // np.maximum(self.b, 1) if np.ndim(self.b) else self.n // max(self.b, 1)

    @cached_property
    def epochs(self) -> Any:
        """K."""
        return self.counts["epochs"]

    @cached_property
    def place(self) -> Any:
        """The position; the last batch where none is given."""
        return self.counts.get("position", self.batches - 1)

    @cached_property
    def regular(self) -> Mask:
        """Where neither products of doubles nor of integers can leave their range [settings]."""
        found: Any = True
        for name, column in self.reals.items():
            least, most = self._range(name, column.high)
            if least < SMALLEST or most > LARGEST:
                zero = (column.high == 0) if name == "lambda_" else False
                found &= ((column.high >= SMALLEST) | zero) & (column.high <= LARGEST)
        for value in self.counts.values():
            found &= np.greater_equal(value, 0)
        if "n" in self.counts:
            found &= np.greater_equal(self.b, 1) & np.less_equal(self.b, MOST_RECORDS)
            found &= np.less_equal(self.n, MOST_RECORDS)
            if "epochs" in self.counts:
                found &= np.multiply(self.epochs, self.batches, dtype=np.float64) < MOST_STEPS
        return np.broadcast_to(np.asarray(found), self.size)

    def _range(self, name: str, value: Any) -> tuple[Any, Any]:
        if name not in self._ranges:
            self._ranges[name] = (value, value) if np.ndim(value) == 0 else (
                value.min(), value.max()
            )  # fmt: skip
        return self._ranges[name]

    def ends(self, name: str, value: Any) -> tuple[Any, Any]:
        """A range that holds a parameter, as comparisons use it: endless where one is irregular."""
        if not self._tame:
            return -np.inf, np.inf
        return self._range(name, value)

    @cached_property
    def _tame(self) -> bool:
        return bool(np.all(self.regular))

    @cached_property
    def oracle(self) -> Oracle:
        """Who answers for truths while an assumption is explored."""
        return Oracle()


def _real(value: Any, key: str) -> Column:
    if isinstance(value, Column):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return Column.doubles(value.astype(np.float64, copy=False))
    if isinstance(value, list | tuple | np.ndarray):
        items = value.tolist() if isinstance(value, np.ndarray) else value
        numbers = tuple(exact(item, key) for item in items)
        return Column.table(numbers, np.arange(len(numbers)))
    return Column.constant(exact(value, key))


def _count(value: Any, key: str) -> Any:
    if isinstance(value, Column):
        high = np.asarray(value.high)
        if not np.all(np.abs(high) <= 2.0**53):
            raise InvalidInput(f"a column of {key} holds integers up to 2^53")
        return high.astype(np.int64) if high.ndim else int(high)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.astype(np.int64, copy=False)
    if isinstance(value, list | tuple | np.ndarray):
        items = value.tolist() if isinstance(value, np.ndarray) else value
        numbers = [exact_integer(item, key) for item in items]
        if any(abs(number) >= 2**63 for number in numbers):
            raise InvalidInput(f"a column of {key} holds integers below 2^63")
        return np.array(numbers, dtype=np.int64)
    return exact_integer(value, key)


# --- assumptions -------------------------------------------------------------------------------


class Oracle:
    """Answers for the truth of arrays, one path through a condition at a time."""

    def __init__(self) -> None:
        self.script: list[bool] = []
        self.asked: list[tuple[Truth, bool]] = []

    def answer(self, truth: Truth) -> bool:
        """The next answer of the script, or True beyond it; a common truth answers for itself."""
        if isinstance(truth.yes, bool) and truth.near is False:
            return truth.yes
        known = len(self.asked) < len(self.script)
        said = self.script[len(self.asked)] if known else True
        self.asked.append((truth, said))
        return said


class Truth:
    """A condition at every setting: `yes`, except where it is `near` the limit."""

    __slots__ = ("near", "oracle", "yes")

    def __init__(self, yes: Any, near: Any, oracle: Oracle) -> None:
        self.yes, self.near, self.oracle = yes, near, oracle

    def __bool__(self) -> bool:
        return self.oracle.answer(self)


class Quantity:
    """A number of an assumption, at every setting: not negative, within `DOUBT` of the truth.

    ends: a range that holds it in all settings; while it settles a comparison, arrays are not made.
    make: the array [settings], or a common value. low: the rest, where the number is a real
    parameter; then only equal doubles are in doubt. count: an integer, exact.
    """

    __slots__ = ("count", "ends", "low", "make", "oracle", "read")

    def __init__(
        self,
        make: Callable[[], Any],
        ends: tuple[Any, Any],
        oracle: Oracle,
        low: Any = None,
        *,
        count: bool,
        read: bool = False,
    ) -> None:
        self.make, self.ends, self.oracle = make, ends, oracle
        self.low, self.count, self.read = low, count, read

    def _of(self, other: Any) -> Quantity:
        if isinstance(other, Quantity):
            return other
        if not isinstance(other, int):
            raise NotOnColumns(f"a condition with {other!r}")
        return Quantity(lambda: other, (other, other), self.oracle, count=True, read=True)

    def _with(
        self, other: Any, work: Callable[[Any, Any], Any], *, falls: bool = False
    ) -> Quantity:
        y = self._of(other)
        if self.ends[0] < 0 or y.ends[0] < 0:
            # Ends give ends where nothing is negative; what is endless stays so.
            ends = -np.inf, np.inf
        else:
            low, high = y.ends[::-1] if falls else y.ends
            ends = work(self.ends[0], low), work(self.ends[1], high)
        return Quantity(
            lambda: work(self.make(), y.make()), ends, self.oracle, count=self.count and y.count
        )

    def __add__(self, other: Any) -> Quantity:
        return self._with(other, operator.add)

    def __mul__(self, other: Any) -> Quantity:
        return self._with(other, operator.mul)

    def __floordiv__(self, other: Any) -> Quantity:
        if not self.count:
            raise NotOnColumns("a floor of a real number")
        # A batch of no record is refused by an assumption of its own.
        return self._with(other, lambda x, y: x // np.maximum(y, 1), falls=True)

    __radd__, __rmul__ = __add__, __mul__

    def _compare(self, other: Any, relation: Callable[[Any, Any], Any]) -> Truth:
        y = self._of(other)
        (a, b), (c, d) = self.ends, y.ends
        if b * (1 + DOUBT) < c or a > d * (1 + DOUBT):
            return Truth(bool(relation(a, d)), False, self.oracle)
        here, there = self.make(), y.make()
        yes = relation(here, there)
        if self.count and y.count:
            return Truth(yes, False, self.oracle)
        if self.read and y.read:
            # Rounding keeps order, so only equal doubles are in doubt, and not if both are exact.
            exact = self.low is None and y.low is None
            return Truth(yes, False if exact else here == there, self.oracle)
        return Truth(yes, np.abs(here - there) <= DOUBT * np.abs(there), self.oracle)

    def __lt__(self, other: Any) -> Truth:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Truth:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Truth:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Truth:
        return self._compare(other, operator.ge)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override]
        return self._compare(other, operator.ne)

    __hash__ = None  # type: ignore[assignment]


class View:
    """Settings as a condition reads them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Quantity:
        found, oracle = self._settings, self._settings.oracle
        if name in found.reals:
            column = found.reals[name]
            low, value, count = column.low, column.high, False
        elif name in ("n", "b", "batches", "epochs", "place"):
            low, value, count = None, getattr(found, name), True
        else:
            raise NotOnColumns(f"a condition on {name}")
        return Quantity(
            lambda: value, found.ends(name, value), oracle, low, count=count, read=True
        )  # fmt: skip


def decide(holds: Callable[[Any], Any], settings: Settings) -> tuple[Any, Any]:
    """Where a condition holds, and where that is in doubt; arrays [settings], or common values.

    `holds` is run once for each way its `and`, `or` and `not` may turn out.
    """
    oracle, view = settings.oracle, View(settings)
    holding: Any = False
    doubt: Any = False
    waiting: list[list[bool]] = [[]]
    while waiting:
        oracle.script, oracle.asked = waiting.pop(), []
        result = holds(view)
        here: Any = True
        for k, (truth, said) in enumerate(oracle.asked):
            doubt = doubt | truth.near
            if k >= len(oracle.script):
                waiting.append([answer for _, answer in oracle.asked[:k]] + [not said])
            here = here & (truth.yes if said else np.logical_not(truth.yes))
        if isinstance(result, Truth):
            doubt = doubt | result.near
            result = result.yes
        if result is not False:
            holding = holding | (here & result)
    return holding, doubt


# --- the number system -------------------------------------------------------------------------


def _in_place(function: Any, fresh: Any) -> Any:
    """The function of an array that nobody else holds, written over it: caches hold one less."""
    return function(fresh, out=fresh) if isinstance(fresh, np.ndarray) else function(fresh)


class Complement:
    """1 - x with its logarithm, both to full relative accuracy."""

    def __init__(self, x: Twofold) -> None:
        self.x = x
        self._kept: dict[int, Any] = {}

    @cached_property
    def value(self) -> Any:
        """1 - x."""
        return (1.0 - self.x.high) - self.x.low

    @cached_property
    def log(self) -> Any:
        """log(1 - x).

        log(u) y/(u - 1), with u the double near 1 + y, is as good as log1p(y) at small y and takes
        one logarithm (Kahan). Below `LEAST` twofold numbers do not give 1 - x well enough: NaN
        then sends the setting to exact arithmetic.
        """
        u, y = self.value, -(self.x.high + self.x.low)
        less = u - 1
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(u) * y / less
        if not np.all(less):
            found = np.where(less == 0, y, found)
        return found if np.all(u >= LEAST) else np.where(u >= LEAST, found, np.nan)

    def one_minus(self, m: Any) -> Any:
        """1 - (1-x)^m; small common m are kept, since formulas ask for them again and again."""
        if not isinstance(m, int) or m > 4:
            return _in_place(np.negative, _in_place(np.expm1, m * self.log))
        if m not in self._kept:
            self._kept[m] = _in_place(np.negative, _in_place(np.expm1, m * self.log))
        return self._kept[m]


class Columns(NumPyWords):
    """The double precision number system over settings."""

    name = "columns"
    symbolic = False
    exact = False

    @staticmethod
    def number(x: Any) -> Any:
        """A count or a Fraction as doubles."""
        return float(x) if isinstance(x, int | Fraction) else np.asarray(x, dtype=np.float64)

    @staticmethod
    def complement(x: Any) -> Complement:
        """1 - x for twofold x."""
        return Complement(Twofold.of(x))

    @staticmethod
    def power(c: Complement, m: Any) -> Any:
        """c**m for counts m >= 0."""
        return _in_place(np.exp, m * c.log)

    @staticmethod
    def one_minus_power(c: Complement, m: Any) -> Any:
        """1 - c**m."""
        return c.one_minus(m)

    @staticmethod
    def geometric(c: Complement, m: Any) -> Any:
        """1 + c + ... + c**(m-1)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(c.log == 0, m, c.one_minus(m) / c.one_minus(1))

    @staticmethod
    def total(f: Callable[[int], Any], first: int, last: int) -> Any:
        """f(first) + ... + f(last)."""
        return sum((f(j) for j in range(first, last + 1)), start=0.0)

    @staticmethod
    def log_mean_exp(scale: Any, profile: Callable[[Any], Any], count: Any) -> Any:
        """log((1/count) sum_j exp(scale profile(j))), j = 1..count; profile decreases from j = 1.

        As in `Float64`, with e^x - 1 in both branches: the sum less `count` loses nothing where
        all is small, and elsewhere its error is relative to a sum of at least 1.
        """
        if np.ndim(count):
            if not np.all(count == count[0]):
                raise NotOnColumns("an average over counts that differ")
            count = int(count[0])
        if count > MOST_TERMS:
            raise NotOnColumns(f"an average over {count} terms")
        top = scale * profile(1)
        shift = np.where(top <= _ELEMENTARY, 0.0, top)
        small = shift == 0
        shifted = not np.all(small)

        def grown(exponent: Any) -> Any:
            return _in_place(np.expm1, exponent - shift if shifted else exponent)

        total = grown(1 * top)
        # In parts, so that roundings do not build up.
        for low in range(2, count + 1, _PARTIAL):
            part = grown(scale * profile(low))
            for j in range(low + 1, min(low + _PARTIAL, count + 1)):
                part += grown(scale * profile(j))
            total = total + part
        mean = total / count
        if not shifted:
            return np.log1p(mean)
        # Where it is shifted, mean + 1 is the mean of exponentials, at least 1/count.
        return np.where(small, np.log1p(mean), shift + np.log((total + count) / count))

    @classmethod
    def attenuated_sum(cls, a: Any, c: Complement, size: int, held: int, count: int) -> Any:
        """u after `count` epochs, one by one; see `bounds.arith.attenuation`."""
        from bounds.arith.attenuation import step_by_step

        if np.ndim(count) or np.ndim(size) or count > MOST_EPOCHS:
            raise NotOnColumns("a recursion over many epochs")
        return step_by_step(cls, a, c, size, held, count)


class Given:
    """The exact setting, as far as formulas do arithmetic with it before rounding: twofold."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __getattr__(self, name: str) -> Twofold:
        if name not in self._settings.reals:
            raise AttributeError(name)
        found = self._settings.reals[name].twofold
        setattr(self, name, found)
        return found

    @cached_property
    def eta_lambda(self) -> Twofold:
        """eta lambda."""
        return self.eta * self.lambda_


class Parameters:
    """What `bounds.bound.Parameters` is in other systems; each made when it is read."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.given = Given(settings)

    def __getattr__(self, name: str) -> Any:
        settings = self._settings
        if name in settings.reals:
            return settings.reals[name].high
        if name in ("n", "b", "batches", "epochs"):
            return getattr(settings, name)
        raise AttributeError(name)

    @cached_property
    def half(self) -> Any:
        """floor(floor(n/b)/2)."""
        return self.batches // 2

    @cached_property
    def position(self) -> Any:
        """j_0."""
        return self._settings.place

    @cached_property
    def steps(self) -> Any:
        """K floor(n/b)."""
        return self.epochs * self.batches

    @cached_property
    def order(self) -> Twofold:
        """alpha, twofold."""
        return self.given.alpha

    @cached_property
    def alpha_minus_one(self) -> Any:
        """alpha - 1."""
        alpha = self.given.alpha
        return (alpha.high - 1) + alpha.low

    @cached_property
    def eta_lambda(self) -> Any:
        """eta lambda: nothing cancels in a product, so doubles will do."""
        return self.eta * self.lambda_

    @cached_property
    def contraction(self) -> Complement:
        """1 - eta lambda."""
        return Complement(self.given.eta_lambda)

    @cached_property
    def rate(self) -> Any:
        """A = eta S_g^2/(4 sigma^2 b^2)."""
        shift = self.sensitivity / self.b
        return self.eta * (shift * shift) / (4 * self.sigma2)


# --- evaluation --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """A bound at many settings.

    epsilon: rounded outward [settings]; where the bound does not apply, what holds anyway: infinity
    for an upper bound or an estimate, 0 for a lower one. code: 0 where it applies, else the place
    in `labels` of the first assumption that is violated, or of "beyond-double" or "too-costly".
    """

    epsilon: Array
    code: NDArray[np.int8]
    labels: tuple[str, ...]

    @property
    def applicable(self) -> Mask:
        """Where the bound applies."""
        return np.asarray(self.code == 0)

    @property
    def label(self) -> NDArray[np.object_]:
        """The violated assumption's label at every setting, "" where there is none."""
        return np.array(self.labels, dtype=object)[self.code]


CANNOT = (NotOnColumns, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a formula raises that does not run on arrays; `InvalidInput` is a ValueError too."""
Fault = Callable[[int, Exception], None]
LEVELS: tuple[tuple[str, ...], ...] = ((), ("n", "b"), ("n", "b", "epochs", "position"))


def evaluate(bound: Any, settings: Settings, fault: Fault | None = None) -> Answers:
    """A bound over all the settings; see `bounds.bound.Bound.columns`.

    Growth: time ~ settings^1, for an average also times n/b, up to `MOST_TERMS`.

    fault: called with the index where the bound breaks by itself, and what it raised; the setting
    is then labelled "error". Without it, such an exception ends the evaluation.
    """
    names = {*settings.reals, *settings.counts}
    full = any(assumption.label == "full-batch" for assumption in bound.assumptions)
    missing = [name for name in bound.needs if name not in names and not (full and name == "b")]
    if missing:
        raise MissingParameter(missing, bound.name)
    settings = settings.only({*bound.needs, "b", "position"})
    labels = ["", *dict.fromkeys(item.label for item in _conditions(bound))]
    labels += ["beyond-double", "too-costly", "error"]
    out = Answers(np.empty(settings.size), np.zeros(settings.size, np.int8), tuple(labels))
    left: list[Any] = []
    with np.errstate(all="ignore"):
        _level(_Asked(bound), settings, slice(0, settings.size), 0, out, left)
    for rows in left:
        for i in rows:
            try:
                _one(bound, settings.setting(int(i)), int(i), out)
            except Exception as error:
                if fault is None:
                    raise
                out.epsilon[i], out.code[i] = _nothing(bound), labels.index("error")
                fault(int(i), error)
    return out


def _nothing(bound: Any) -> float:
    """What holds where a bound does not apply."""
    return 0.0 if bound.direction == "lower" else np.inf


def _conditions(bound: Any) -> tuple[Any, ...]:
    return (DATA_SIZE, BATCH_SIZE, *bound.assumptions)


def _level(
    asked: _Asked, settings: Settings, rows: Any, level: int, out: Answers, left: list[Any]
) -> None:
    """Run some settings together, or else those that share more; `left` takes what cannot run."""
    for block in _blocks(rows):
        here = settings.take(block)
        try:
            _block(asked, here, block, out, left)
        except CANNOT:
            if level + 1 == len(LEVELS):
                left.append(np.arange(settings.size)[block])
                continue
            for group in _groups(here, LEVELS[level + 1]):
                _level(
                    asked, settings, np.arange(settings.size)[block][group], level + 1, out, left
                )


def _blocks(rows: Any) -> Iterator[Any]:
    if isinstance(rows, slice):
        for start in range(rows.start, rows.stop, BLOCK):
            yield slice(start, min(start + BLOCK, rows.stop))
    else:
        for start in range(0, len(rows), BLOCK):
            yield rows[start : start + BLOCK]


def _groups(settings: Settings, names: tuple[str, ...]) -> Iterator[NDArray[np.intp]]:
    """Indices of the settings that share the counts of these names."""
    keys = [settings.counts[name] for name in names if np.ndim(settings.counts.get(name, 0))]
    if not keys:
        yield np.arange(settings.size)
        return
    order = np.lexsort(keys)
    changes = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    yield from np.split(order, np.flatnonzero(changes) + 1)


def _common(settings: Settings) -> Settings:
    """Counts that agree, as one number: formulas may branch on it."""
    counts = {
        name: int(v[0]) if np.ndim(v) and np.all(v == v[0]) else v
        for name, v in settings.counts.items()
    }
    return Settings(settings.size, settings.reals, counts)


def _block(asked: _Asked, settings: Settings, rows: Any, out: Answers, left: list[Any]) -> None:
    settings, bound = _common(settings), asked.bound
    regular = settings.regular
    code, slow = _labels(asked.open_at(settings), settings, out.labels)
    if not np.all(regular):
        slow |= ~regular
    fits: Any = (code == 0) & ~slow
    value: Any = np.nan
    if np.any(fits):
        value = np.broadcast_to(bound.epsilon(Parameters(settings), Columns), settings.size)
        # Not above that: NaN and underflow are looked at setting by setting.
        good = (value > np.finfo(np.float64).tiny / MARGIN) & (value < np.inf)
        slow |= fits & ~good
        fits &= good
        factor = {"upper": 1 + MARGIN, "lower": 1 - MARGIN}.get(bound.direction, 1.0)
        value = value * factor
    # Each entry is written once, which is half the cost of a formula of few operations.
    out.epsilon[rows] = value if np.all(fits) else np.where(fits, value, _nothing(bound))
    out.code[rows] = code
    if np.any(slow):
        left.append(np.arange(len(out.code))[rows][slow])


class _Unsettled(Exception):
    """A comparison that ranges do not settle."""


class _Range(View):
    """Settings of which only ranges are known, as a condition reads them."""

    def __init__(self, ranges: Mapping[str, tuple[Any, Any]]) -> None:
        self._ranges, self._oracle = ranges, Oracle()

    def __getattr__(self, name: str) -> Quantity:
        if name not in self._ranges:
            raise _Unsettled
        count = name not in _REALS
        return Quantity(self._array, self._ranges[name], self._oracle, count=count, read=True)

    @staticmethod
    def _array() -> Any:
        raise _Unsettled


class _Asked:
    """A bound with the assumptions that a range of parameters settles for all of its blocks."""

    def __init__(self, bound: Any) -> None:
        self.bound, self._all = bound, _conditions(bound)
        self._ranges: dict[str, tuple[Any, Any]] = {}
        self._open = self._all

    def open_at(self, settings: Settings) -> tuple[Any, ...]:
        """The assumptions that are to be decided setting by setting in a block."""
        if not settings._tame:
            return self._all
        here = {name: settings._range(name, column.high) for name, column in settings.reals.items()}
        counts = set(settings.counts)
        counts |= {"batches", "place"} if {"n", "b"} <= counts else set()
        for name in counts - {"position"}:
            here[name] = settings._range(name, getattr(settings, name))
        known = self._ranges
        if any(
            name not in known or not known[name][0] <= low <= high <= known[name][1]
            for name, (low, high) in here.items()
        ):
            # A little wider, so that the next block is likely to lie within.
            self._ranges = {
                name: (low / _WIDER, high * _WIDER) if name in settings.reals else (low, high)
                for name, (low, high) in here.items()
            }
            self._open = tuple(item for item in self._all if not self._settled(item))
        return self._open

    def _settled(self, assumption: Any) -> bool:
        try:
            result = assumption.holds(_Range(self._ranges))
            return bool(result)
        except (_Unsettled, NotOnColumns):
            return False


_REALS = frozenset(name for name, item in PARAMETERS.items() if item.kind == "real")
_WIDER = 1 + 2.0**-5


def _labels(
    conditions: tuple[Any, ...], settings: Settings, labels: tuple[str, ...]
) -> tuple[NDArray[np.int8], Mask]:
    """The first violated assumption of each setting, and where it is left to exact arithmetic."""
    code, slow = np.zeros(settings.size, np.int8), np.zeros(settings.size, dtype=bool)
    for assumption in conditions:
        holding, doubt = decide(assumption.holds, settings)
        if doubt is not False and np.any(doubt):
            slow |= doubt & (code == 0)
        if holding is not True and not np.all(holding):
            code[np.logical_not(holding) & (code == 0)] = labels.index(assumption.label)
    if np.any(slow):
        code[slow] = 0
    return code, slow


def _one(bound: Any, setting: Setting, i: int, out: Answers) -> None:
    """One setting by itself."""
    none, code = _nothing(bound), 0
    try:
        try:
            value = float(bound.float64(setting))
        except (AssumptionViolated, MissingParameter, TooCostly):
            raise
        except InvalidInput:
            # Beyond doubles on the way; the enclosure may be within.
            found = bound.answer(setting, 20).epsilon
            value = none if found is None else float(found)
        if not np.isfinite(value):
            value, code = none, out.labels.index("beyond-double")
    except AssumptionViolated as error:
        value, code = none, out.labels.index(error.label)
    except TooCostly:
        value, code = none, out.labels.index("too-costly")
    out.epsilon[i], out.code[i] = value, code
