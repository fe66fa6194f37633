"""The shape that every bound file has, and the registry that finds them.

A bound file is a module of `bounds.paper` or `bounds.prior` that defines

    SOURCE        where the bound is printed
    SCHEME        which batch scheme it is about
    ASSUMPTIONS   the labelled conditions under which it holds
    epsilon(p, ctx)   the formula, over any number system
    printed(p, ctx)   the formula letter for letter as printed

and, where the defaults do not fit, DIRECTION, QUANTITY, STANDING, NOTES, FULL_BATCH.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from types import ModuleType
from typing import Any

from bounds.arith import TooCostly
from bounds.setting import (
    BATCH_SIZE,
    DATA_SIZE,
    ORDER,
    PARAMETERS,
    Assumption,
    AssumptionViolated,
    InvalidInput,
    Setting,
    require,
    show,
)

DIGITS = 40
MOST_BITS = 1 << 14
MOST_DIGITS = 4900
"""What MOST_BITS hold."""


@dataclass(frozen=True)
class Source:
    """Where a bound is printed: `statement` is its id in the inventory, or its own short name."""

    paper: str
    statement: str
    number: str
    equation: str = ""
    section: str = ""

    def __str__(self) -> str:
        where = f", equation {self.equation}" if self.equation else ""
        return f"{self.paper}, {self.number}{where}"


@dataclass(frozen=True)
class Parameters:
    """A setting in one number system, as formulas see it.

    Counts (`n b batches half epochs position steps`) are exact in every system; `alpha` may be
    an array in float64. `given` is the exact setting, for arithmetic done before rounding;
    `order` is the exact order, or the tuple of them where `alpha` is an array. What is not given
    is None.

    `bind` makes one in which a number is converted when a formula first reads it, at the precision
    that holds then; `dataclasses.replace` reads them all.
    """

    given: Any
    n: Any
    b: Any
    batches: Any
    half: Any
    epochs: Any
    position: Any
    steps: Any
    alpha: Any
    alpha_minus_one: Any
    order: Any
    eta: Any
    lambda_: Any
    beta: Any
    sensitivity: Any
    sigma2: Any
    eta_lambda: Any
    contraction: Any
    rate: Any

    @classmethod
    def lazy(cls, **known: Any) -> Parameters:
        """One that holds these, and converts the others by its `ctx`."""
        made = object.__new__(cls)
        made.__dict__.update(known)
        return made

    def at_orders(self, alpha: Any, alpha_minus_one: Any, order: Any) -> Parameters:
        """The same at other orders, of which all three forms are known."""
        known = {"alpha": alpha, "alpha_minus_one": alpha_minus_one, "order": order}
        return self.lazy(**self.__dict__ | known)

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        if name not in _CONVERTED or "ctx" not in held:
            raise AttributeError(name)
        value = held[name] = _CONVERTED[name](held["given"], held["ctx"])
        return value


def _number(name: str) -> Callable[[Any, Any], Any]:
    def convert(given: Any, ctx: Any) -> Any:
        value = getattr(given, name)
        return None if value is None else ctx.number(value)

    return convert


def _less(given: Any, ctx: Any) -> Any:
    return None if given.alpha is None else ctx.number(given.alpha - 1)


def _eta_lambda(given: Any, ctx: Any) -> Any:
    return None if given.eta is None or given.lambda_ is None else ctx.number(given.eta_lambda)


def _contraction(given: Any, ctx: Any) -> Any:
    if given.eta is None or given.lambda_ is None:
        return None
    # eta lambda is above 1 only where convexity is enough, and there nothing reads 1 - eta lambda.
    beyond = isinstance(given.eta_lambda, Fraction) and given.eta_lambda > 1
    return None if beyond else ctx.complement(given.eta_lambda)


def _rate(given: Any, ctx: Any) -> Any:
    known = given.eta is not None and given.sigma2 is not None and given.sensitivity is not None
    return ctx.number(given.rate) if known else None


_CONVERTED: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: _number(name) for name in ("alpha", "eta", "lambda_", "beta", "sensitivity", "sigma2")
    },
    "n": lambda given, ctx: given.n,
    "b": lambda given, ctx: given.b,
    "batches": lambda given, ctx: given.batches,
    "half": lambda given, ctx: given.batches // 2,
    "epochs": lambda given, ctx: given.epochs,
    "position": lambda given, ctx: given.place,
    "steps": lambda given, ctx: given.steps,
    "order": lambda given, ctx: given.alpha,
    "alpha_minus_one": _less,
    "eta_lambda": _eta_lambda,
    "contraction": _contraction,
    "rate": _rate,
}


def over_orders(p: Parameters, f: Callable[[Any], Any]) -> Any:
    """f of the exact order, or the tuple of its values over many orders."""
    return tuple(map(f, p.order)) if isinstance(p.order, tuple) else f(p.order)


@dataclass(frozen=True)
class Answer:
    """What a bound says at one setting.

    `lower` and `upper` are decimal strings with lower <= true value of the formula <= upper;
    `epsilon` is the float64 answer, rounded outward. When not applicable, `reason` says why and
    the numbers are None.
    """

    bound: str
    statement: str
    direction: str
    setting: Setting
    applicable: bool
    reason: str = ""
    epsilon: float | None = None
    lower: str | None = None
    upper: str | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The contract of `hiddenstate bound --json`."""
        return {
            "bound": self.bound,
            "statement": self.statement,
            "direction": self.direction,
            "alpha": None if self.setting.alpha is None else show(self.setting.alpha),
            "setting": self.setting.as_strings(),
            "applicable": self.applicable,
            "reason": self.reason or None,
            "epsilon": None if self.epsilon is None else repr(float(self.epsilon)),
            "lower": self.lower,
            "upper": self.upper,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Bound:
    """One bound: a formula with its source, direction and assumptions.

    direction: "upper", "lower", or "estimate". standing: "theorem", or "claim" when the bound is
    quoted from a source whose proof is disputed, or "estimate"; only theorems are compared as
    valid. quantity: "renyi-divergence" or "lsi-constant".
    """

    name: str
    source: Source
    scheme: str
    assumptions: tuple[Assumption, ...]
    epsilon: Callable[[Parameters, Any], Any]
    printed: Callable[[Parameters, Any], Any]
    direction: str = "upper"
    quantity: str = "renyi-divergence"
    standing: str = "theorem"
    notes: Callable[[Setting], list[str]] | None = None
    full_batch: str | None = None
    summary: str = ""
    doc: str = field(default="", repr=False)

    @property
    def statement(self) -> str:
        """The inventory id, or the name where the bound is not the paper's."""
        return self.source.statement

    @cached_property
    def _wants_full_batch(self) -> bool:
        return any(assumption.label == "full-batch" for assumption in self.assumptions)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Names of the parameters that must be given (the position has a default)."""
        names = ["n", "b", "epochs"]
        for assumption in self.assumptions:
            names.extend(assumption.needs)
        return tuple(dict.fromkeys(name for name in names if name != "position"))

    def check(self, setting: Setting) -> Setting:
        """Raise unless the bound applies; return the setting with what it implies filled in.

        Raises:
            MissingParameter: a needed parameter is not given.
            AssumptionViolated: naming the assumption.
        """
        if setting.b is None and setting.n is not None and self._wants_full_batch:
            setting = replace(setting, b=setting.n)
        require(setting, self.needs, self.name)
        for assumption in (DATA_SIZE, BATCH_SIZE, *self.assumptions):
            try:
                assumption.check(setting)
            except AssumptionViolated as error:
                if error.label == "at-least-two-batches" and setting.n == setting.b:
                    other = self.full_batch or "full_batch"
                    raise AssumptionViolated(
                        error.label, error.condition, error.values,
                        f"b = n is the full-batch case, which {other} serves",
                    ) from None  # fmt: skip
                raise
        return setting

    def remarks(self, setting: Setting) -> tuple[str, ...]:
        """What an answer at this setting should say beside the number."""
        said: list[str] = []
        if not setting.divides:
            dropped = self.scheme not in ("without replacement", "Poisson")
            said.append(
                f"b does not divide n: n/b = {setting.n}/{setting.b} is replaced by "
                f"{setting.batches} "
                + (
                    "(footnote 3: the last records of each epoch are dropped)"
                    if dropped
                    else "updates an epoch; the sampling probability stays b/n"
                )
            )
        if self.notes:
            said.extend(self.notes(setting))
        return tuple(said)

    def in_system(self, setting: Setting, ctx: Any, *, printed: bool = False) -> Any:
        """The formula at one checked setting, in one number system.

        Raises:
            MissingParameter, AssumptionViolated: see `check`.
            NotRational, TooCostly: from the number system.
        """
        p = bind(self.check(setting), ctx)
        return (self.printed if printed else self.epsilon)(p, ctx)

    def raw(self, setting: Setting, orders: Sequence[Fraction] | None = None) -> Any:
        """The float64 formula before outward rounding, over the setting's order or many.

        Raises:
            MissingParameter, AssumptionViolated: see `check`.
            InvalidInput: where doubles cannot hold what the formula needs.
        """
        import numpy as np

        from bounds.arith.float64 import Float64

        checked = self.check(setting if orders is None else replace(setting, alpha=orders[0]))
        p = bind(checked, Float64, orders)
        # The other orders differ from the first one only in what looks at alpha.
        for assumption in self.assumptions if orders is not None else ():
            # That each is above 1 shows in the exact differences, which were rounded once.
            settled = assumption is ORDER and np.min(p.alpha_minus_one) > 0
            for order in orders or () if "alpha" in assumption.needs and not settled else ():
                assumption.check(replace(checked, alpha=order))
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                value = self.epsilon(p, Float64)
        except OverflowError:
            value = np.nan
        if np.any(np.isnan(value)):
            raise InvalidInput(
                f"{self.name} at this setting needs numbers beyond the range of double precision; "
                "use balls"
            )
        return value

    def float64(self, setting: Setting, orders: Sequence[Fraction] | None = None) -> Any:
        """The float64 answer, rounded outward: a float, or an array [orders].

        Raises:
            MissingParameter, AssumptionViolated, InvalidInput: see `raw`.
        """
        from bounds.arith.float64 import outward

        return outward(self.raw(setting, orders), self.direction)

    def columns(self, values: Any) -> Any:
        """The float64 answers at many settings, rounded outward: `bounds.arith.columns.Answers`.

        values: by the names of `Setting`, one exact number where all settings agree and an array or
        a sequence [settings] where they differ; or `bounds.arith.columns.Settings`.

        Raises:
            MissingParameter: a needed parameter is not given.
            InvalidInput, NotExact: columns of unequal length, or no numbers.

        >>> import numpy as np
        >>> made = find("thm-3.3").columns(dict(
        ...     n=50, b=2, epochs=np.array([1, 10]), eta="0.02", lambda_=1, beta=4, sensitivity=4,
        ...     sigma2=4, alpha=["2", "1"]))
        >>> made.epsilon.round(6).tolist(), made.label.tolist()
        ([0.01, inf], ['', 'order'])
        """
        from bounds.arith import columns

        chosen = values if isinstance(values, columns.Settings) else columns.Settings.of(values)
        return columns.evaluate(self, chosen)

    def enclose(self, setting: Setting, digits: int = DIGITS) -> Any:
        """An Arb ball around the exact value, to `digits` digits where that can be reached.

        Precision is raised until the ball is narrow; a ball that stays wide is returned wide.

        Growth: time ~ digits^1.5 for a formula of few operations; the words of `bounds.arith` that
        sum or solve state their own.

        Raises:
            MissingParameter, AssumptionViolated: see `check`.
            TooCostly: more than MOST_DIGITS digits; and from the number system.
        """
        from bounds.arith.ball import Ball, accuracy, precision

        if digits > MOST_DIGITS:
            raise TooCostly(
                f"{digits} digits are asked for, and time grows at least like digits^1.5; at most "
                f"{MOST_DIGITS} are tried, and {DIGITS} decide all but ties"
            )
        checked = self.check(setting)
        wanted = int(digits * 3.33) + 4
        bits, last, value = wanted + 40, -1, None
        while True:
            with precision(bits):
                ctx = Ball(bits)
                value = self.epsilon(bind(checked, ctx), ctx)
                reached = accuracy(value)
            if reached >= wanted or bits >= MOST_BITS or (last > 0 and reached <= last + 8):
                return value
            last, bits = reached, bits * 2

    def answer(self, setting: Setting, digits: int = DIGITS) -> Answer:
        """The bound at one setting, by the contract; a violated assumption becomes the reason."""
        try:
            checked = self.check(setting)
        except AssumptionViolated as error:
            return Answer(self.name, self.statement, self.direction, setting, False, str(error))
        from bounds.arith.ball import decimal_bounds

        lower, upper = decimal_bounds(self.enclose(checked, digits), digits)
        notes = self.remarks(checked)
        try:
            double = float(self.float64(checked))
        except InvalidInput as error:
            # Balls reach further than doubles: their end, rounded outward, is the double then.
            double = _outer_double(upper if self.direction == "upper" else lower, self.direction)
            notes = (*notes, f"epsilon is taken from the enclosure ({error})")
        return Answer(
            self.name, self.statement, self.direction, checked, True,
            epsilon=double if math.isfinite(double) else None, lower=lower, upper=upper,
            notes=notes,
        )  # fmt: skip


def _outer_double(end: str, direction: str) -> float:
    """The double next to a decimal, away from the enclosure."""
    value = float(end)
    if direction == "upper":
        return math.nextafter(value, math.inf)
    return math.nextafter(value, 0.0) if direction == "lower" else value


def bind(setting: Setting, ctx: Any, orders: Sequence[Fraction] | None = None) -> Parameters:
    """Put a checked setting into a number system; `orders` makes alpha an array (float64)."""
    made = Parameters.lazy(given=setting, ctx=ctx)
    if orders is None:
        return made
    alpha, less = ctx.orders(orders)
    return made.at_orders(alpha, less, tuple(orders))


def symbolic_parameters(*, batches: Any = None, **values: Any) -> Parameters:
    """Parameters in sympy: what `values` gives, and the paper's symbols for everything else.

    Values are ints, Fractions, exact strings or sympy expressions, by the names of `Setting`.
    `batches` sets n/b (an int or an integer symbol) by taking n = b * batches. The position is the
    last batch unless given. Assumptions are not checked. Loops and powers are written out where
    n, b and K are ints; with symbols in their place only the closed forms can be had.

    >>> p = symbolic_parameters(n=4, b=1, epochs=2)
    >>> p.half, p.steps, p.rate
    (2, 8, S_g**2*eta/(4*sigma^2))
    """
    import sympy as sp

    from bounds.arith.symbolic import Symbolic

    unknown = sorted(set(values) - set(PARAMETERS))
    if unknown:
        raise InvalidInput(f"{unknown[0]!r} is not a parameter")
    chosen: dict[str, Any] = {}
    for name, parameter in PARAMETERS.items():
        value = values.get(name)
        if value is None:
            if name != "position":
                whole = parameter.kind == "integer" or None
                chosen[name] = sp.Symbol(parameter.symbol, positive=True, integer=whole)
        elif isinstance(value, sp.Basic):
            chosen[name] = value
        else:
            read = parameter.read(value)
            chosen[name] = sp.Rational(read.numerator, read.denominator)
    if batches is not None:
        chosen["n"] = chosen["b"] * batches
    return bind(Setting(**chosen), Symbolic)


@cache
def registry() -> dict[str, Bound]:
    """Every bound file of the sub-packages of `bounds`, by name, in order of discovery.

    A module is a bound file when it has a SOURCE.
    """
    root = importlib.import_module("bounds")
    found: dict[str, Bound] = {}
    packages = {info.name for info in pkgutil.iter_modules(root.__path__) if info.ispkg}
    # The number systems hold no bound, and the symbolic one takes half a second to import.
    for package in sorted(packages - {"arith"}):
        home = importlib.import_module(f"bounds.{package}")
        for info in sorted(pkgutil.iter_modules(home.__path__), key=lambda item: item.name):
            module = importlib.import_module(f"bounds.{package}.{info.name}")
            if hasattr(module, "SOURCE"):
                if info.name in found:
                    raise RuntimeError(f"two bound files are called {info.name}")
                found[info.name] = _read(info.name, module)
    return found


def _read(name: str, module: ModuleType) -> Bound:
    doc = module.__doc__ or ""
    return Bound(
        name=name, source=module.SOURCE, scheme=module.SCHEME,
        assumptions=tuple(module.ASSUMPTIONS), epsilon=module.epsilon, printed=module.printed,
        direction=getattr(module, "DIRECTION", "upper"),
        quantity=getattr(module, "QUANTITY", "renyi-divergence"),
        standing=getattr(module, "STANDING", "theorem"),
        notes=getattr(module, "NOTES", None),
        full_batch=getattr(module, "FULL_BATCH", None),
        summary=doc.strip().splitlines()[0] if doc.strip() else "", doc=doc,
    )  # fmt: skip


def find(name: str) -> Bound:
    """A bound by file name or by statement id.

    Raises:
        InvalidInput: there is none of that name.
    """
    bounds = registry()
    if name in bounds:
        return bounds[name]
    for bound in bounds.values():
        if name.lower() == bound.statement:
            return bound
    raise InvalidInput(
        f"there is no bound called {name!r}; `hiddenstate bounds` lists them: "
        + ", ".join(sorted(bounds))
    )
