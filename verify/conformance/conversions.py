"""Which questions the golden vectors ask about conversion and calibration.

Tables of Renyi divergences, bounds at settings, and targets; each under both rules. As in `design`,
a row names the flags that it is there for, and is kept with those that hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from bounds.conversion import RULES
from bounds.setting import show
from verify.conformance.design import NEXT_TO_ONE

SUMMARY = {
    "conversion": "From a table of Renyi divergences to epsilon at delta: the least over the "
    "table, and 0 where that is negative.",
    "conversion_of_bound": "From a bound at a setting to epsilon at delta: the least over a list "
    "of orders, or over all real orders above 1.",
    "calibration": "The least noise sigma^2 for which a bound's converted epsilon is at most the "
    "target.",
}
KEYS = {
    "bound": "the name of the bound whose Renyi curve is converted",
    "delta": "delta of (epsilon, delta)-differential privacy [-]",
    "epsilons": "Renyi divergence at each order, comma-separated [-]",
    "orders": "Renyi orders, comma-separated [-]; all real orders above 1 where it is not given",
    "rule": "classical: Mironov 2017, Proposition 3; canonne_kamath_steinke_2020: Canonne, Kamath "
    "and Steinke 2020, Proposition 12",
    "target_epsilon": "epsilon not to be exceeded [-]",
}
FLAG_OF_RULE = {"classical": "classical-rule", "canonne_kamath_steinke_2020": "tighter-rule"}

COARSE = "1.25,1.5,2,3,4,6,8,12,16,24,32,64,128,256"
"""A usual grid."""
LOW = "1.125,1.25,1.5,1.75,2"
"""A grid that ends too early for small losses."""
HIGH = "64,128,256,512"
"""A grid that starts too late for large ones."""
PUBLISHED = ",".join(
    [show(1 + Fraction(x, 10)) for x in range(1, 100)] + [str(x) for x in range(12, 64)]
)
"""1 + x/10 for x in 1..99, and 12..63: the grid of several published accountants."""

NEXT_BELOW_ONE = show(1 - Fraction(1, 2**53))
"""The largest double below 1."""


@dataclass(frozen=True)
class Asked:
    """An input with the flags that it is for."""

    flags: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    note: str = ""


def _asked(flags: str, note: str = "", **given: str) -> Iterator[Asked]:
    """The question under both rules."""
    for rule in RULES:
        pairs = (*given.items(), ("rule", rule))
        yield Asked((FLAG_OF_RULE[rule], *flags.split()), pairs, note)


def _gaussian(rho: str, orders: str) -> str:
    """The values rho alpha of a Gaussian query."""
    return ",".join(show(Fraction(rho) * Fraction(order)) for order in orders.split(","))


_SHAPES = "order-inside order-at-edge single-order list-near-one list-very-large"
_DELTAS = "tiny-delta large-delta clipped"

_TABLES: tuple[tuple[str, str, str], ...] = (
    # orders, values, delta
    ("2", "1", "0.00001"),
    ("10", "0.05", "0.00001"),
    ("15", "0.075", "0.00001"),
    ("2.5", "0.3", "0.000001"),
    ("17/5", "7/11", "1/7"),
    (NEXT_TO_ONE, "0.000001", "0.00001"),
    ("1.0009765625", "0.001", "0.1"),
    ("1.1", "0.001", "1e-12"),
    ("64", "1", "1e-12"),
    ("256", "3", "0.00001"),
    ("1000000", "1", "0.00001"),
    ("1000000", "1e-12", "1e-300"),
    ("1e15", "0.5", "1e-10"),
    ("32", "1000000", "0.00001"),
    ("10", "0.1", "0.1"),
    ("5", "0.01", "0.999"),
    ("5", "0.0625", "0.5"),
    ("2", "0.25", "0.75"),
    ("2,4,8,16,32", "0.02,0.04,0.08,0.16,0.32", "0.00001"),
    ("32,2,16,4,8", "0.32,0.02,0.16,0.04,0.08", "0.00001"),
    ("2,4,8,16,32", "1,2,4,8,16", "0.00001"),
    ("2,4,8,16,32", "20,40,80,160,320", "0.00001"),
    ("1.5,2,3", "0.5,0.5,0.5", "0.001"),
    (f"{NEXT_TO_ONE},1.5,2", "0.5,0.75,1", "0.125"),
    ("8,64,1000000", "0.001,0.008,125", "0.0001"),
    ("8,64,1000000", "0.0000001,0.0000008,0.0125", "0.0001"),
    ("16,2,3", "3,0.25,0.5", "1e-9"),
    # Equal orders, and equal values at different orders.
    ("4,4,2,2", "0.5,0.5,0.25,0.25", "0.001"),
    ("3,2,4", "0.75,0.75,0.75", "1e-9"),
    # On both sides of 0.
    ("2", "0.0006103515625", "0.9375"),
    ("2", "1.3", "0.9375"),
    ("1000,2", "0.001,5", "0.0009765625"),
    # The extremes of delta, of the orders and of the values that a double holds.
    ("2,1000", "1,500", "1e-300"),
    ("1.5", "0.25", "1e-300"),
    ("1e15,4", "0.5,0.001", "1e-300"),
    (NEXT_TO_ONE, "0", NEXT_BELOW_ONE),
    ("2,1e15", "0.25,0.001", NEXT_BELOW_ONE),
    (f"{NEXT_TO_ONE},1e15", "0.125,0.125", "0.5"),
    ("1e300", "1e-9", "1e-12"),
    ("2,1e300", "1e-9,1e-9", "0.9"),
    ("2,3", "1e-300,1e-200", "0.00001"),
    ("2,3", "1e300,1e200", "0.00001"),
)


def tables() -> Iterator[Asked]:
    """Questions of the file `conversion`."""
    everything = f"ordinary {_SHAPES} {_DELTAS} unsorted-list no-loss"
    for orders, values, delta in _TABLES:
        yield from _asked(everything, orders=orders, epsilons=values, delta=delta)
    for orders in (COARSE, LOW, HIGH):
        for rho in ("0.0001", "0.01", "0.5", "10"):
            values = _gaussian(rho, orders)
            yield from _asked(everything, orders=orders, epsilons=values, delta="0.00001")
    yield from _asked(
        everything, orders=PUBLISHED, epsilons=_gaussian("0.05", PUBLISHED), delta="0.00001",
        note="the grid of several published accountants",
    )  # fmt: skip
    for orders, delta in (("32", "0.00001"), ("5", "0.5"), ("2,8,32", "0.001")):
        zeros = ",".join("0" for _ in orders.split(","))
        yield from _asked(everything, orders=orders, epsilons=zeros, delta=delta)
    good = {"orders": "2,8,32", "epsilons": "0.1,0.4,1.6", "delta": "0.00001"}
    for delta in ("0", "1", "-0.00001", "2", "1.25"):
        yield from _asked("delta-out-of-range", **{**good, "delta": delta})
    for orders in ("1,8,32", "0.5,8,32", "2,8,-3", "0,8,32"):
        yield from _asked("bad-order-in-list", **{**good, "orders": orders})
    for changes in ({"delta": "nan"}, {"orders": "2,nan,32"}, {"epsilons": "0.1,nan,1.6"}):
        yield from _number(good, changes)
    yield from _asked("unequal-lists", **{**good, "orders": "2,8"})
    yield from _asked("unequal-lists", **{**good, "epsilons": "0.1,0.4"})
    yield from _asked("negative-divergence", **{**good, "epsilons": "0.1,-0.4,1.6"})
    yield from _asked("negative-divergence", **{**good, "epsilons": "-0.0001,0.4,1.6"})
    yield from _asked("empty-list", orders="", epsilons="", delta="0.00001")


def _number(good: dict[str, str], changes: dict[str, str]) -> Iterator[Asked]:
    for rule, flag in FLAG_OF_RULE.items():
        pairs = {**good, **changes, "rule": rule}
        yield Asked((flag, "not-a-number"), tuple(pairs.items()))


_FIGURE = {
    "n": "50", "b": "2", "epochs": "50", "eta": "0.02", "lambda": "1", "beta": "4",
    "sensitivity": "4", "sigma2": "4",
}  # fmt: skip
_SMALL = {
    "n": "12", "b": "3", "epochs": "8", "eta": "0.125", "lambda": "0.5", "beta": "2",
    "sensitivity": "2", "sigma2": "8",
}  # fmt: skip
_LARGE = {
    "n": "60000", "b": "2048", "epochs": "120", "eta": "0.75", "lambda": "0.08", "beta": "2.08",
    "sensitivity": "4", "sigma2": "0.000002",
}  # fmt: skip
NAMED = {
    "one_update": "n b epochs eta sensitivity sigma2",
    "fixed_order": "n b epochs eta lambda beta sensitivity sigma2 position",
    "shuffle_partition": "n b epochs eta lambda beta sensitivity sigma2",
    "sampled_gaussian": "n b epochs eta sensitivity sigma2",
    "bok_2024_cyclic": "n b epochs eta lambda beta sensitivity sigma2",
    "fixed_order_composition": "n b epochs eta sensitivity sigma2",
}
"""The bounds that are converted: linear in the order and not, theorems and the baseline."""
UNIT = {"n": "1", "b": "1", "epochs": "1", "eta": "1", "sensitivity": "1"}
"""A setting at which `one_update` is alpha/(4 sigma2)."""
TIES = ("4,16.350567286626971227", "4,13.895273439457451322", "13.895273439457451321,4")
"""At sigma2 = 1 and delta = 1e-5 these give the same to 18 digits, under one rule or the other."""
CHEAP = ("one_update", "fixed_order", "bok_2024_cyclic", "fixed_order_composition")


def _part(bound: str, setting: dict[str, str], *, noise: bool = True) -> dict[str, str]:
    keys = [key for key in NAMED[bound].split() if noise or key != "sigma2"]
    last = str(int(setting["n"]) // int(setting["b"]) - 1)
    return {"bound": bound, **{key: {**setting, "position": last}[key] for key in keys}}


def settings() -> Iterator[Asked]:
    """Questions of the file `conversion_of_bound`."""
    everything = f"ordinary all-orders {_SHAPES} {_DELTAS} unsorted-list"
    for bound in NAMED:
        for setting in (_FIGURE, _SMALL, _LARGE):
            base = _part(bound, setting)
            yield from _asked(everything, **base, orders=COARSE, delta="0.00001")
        for orders, delta in ((LOW, "0.00001"), (HIGH, "0.00001"), ("8", "0.0001")):
            yield from _asked(everything, **_part(bound, _FIGURE), orders=orders, delta=delta)
    for bound in CHEAP:
        for setting, delta in ((_FIGURE, "0.00001"), (_SMALL, "1e-12"), (_SMALL, "0.125")):
            yield from _asked(everything, **_part(bound, setting), delta=delta)
    for setting, delta in ((_FIGURE, "0.00001"), (_SMALL, "1e-12")):
        yield from _asked(everything, **_part("shuffle_partition", setting), delta=delta)
    quiet = {**_SMALL, "sigma2": "100000"}
    yield from _asked(everything, **_part("one_update", quiet), orders=COARSE, delta="0.5")
    yield from _asked(
        everything, **_part("shuffle_partition", _LARGE), orders=PUBLISHED, delta="0.00001",
        note="the grid of several published accountants",
    )  # fmt: skip
    yield from _extremes(everything)
    base = _part("fixed_order", _SMALL)
    for delta in ("0", "1", "-0.00001", "2"):
        yield from _asked("delta-out-of-range", **base, orders=COARSE, delta=delta)
    for orders in ("1,2,3", "2,0.5", "-4"):
        yield from _asked("bad-order-in-list", **base, orders=orders, delta="0.00001")
    yield from _asked("empty-list", **base, orders="", delta="0.00001")
    for change in ({"eta": "2"}, {"b": "12"}, {"lambda": "0"}, {"sigma2": "0"}, {"position": "4"}):
        yield from _asked("bound-refuses", **{**base, **change}, orders=COARSE, delta="0.00001")
    yield from _number({**base, "orders": COARSE, "delta": "0.00001"}, {"sigma2": "nan"})
    lsi = {"bound": "lsi_strongly_convex", **{k: v for k, v in _SMALL.items() if k[0] != "s"}}
    yield from _asked(
        "no-privacy-promised", **lsi, sigma2="8", orders=COARSE, delta="0.00001"
    )  # fmt: skip


def _extremes(flags: str) -> Iterator[Asked]:
    """Best orders next to 1 and far above, flat curves, ties, and epsilon next to 0."""
    base = {"bound": "one_update", **UNIT}
    for sigma2, delta in (
        # The best order is about 1 + sqrt(4 sigma2 log(1/delta)), and 1/delta where that is less.
        ("0.000001", "0.00001"), ("1e-12", "0.00001"), ("1e-24", "0.5"), ("1e-40", "0.00001"),
        ("1e-80", "1e-30"), ("1e-200", "0.00001"), ("1e8", "1e-30"), ("1e14", "1e-30"),
        ("1e40", "1e-30"), ("1e14", "0.00001"), ("10", "0.5"), ("0.01", NEXT_BELOW_ONE),
        ("0.25", "0.999"), ("1000000", "1e-12"), ("0.0625", "1e-30"),
    ):  # fmt: skip
        yield from _asked(flags, **base, sigma2=sigma2, delta=delta)
    for orders in TIES:
        yield from _asked(flags, **base, sigma2="1", orders=orders, delta="0.00001")
    for orders, sigma2, delta in (
        ("8,8,32", "25", "0.00001"), ("2", "1e-40", "0.5"), ("2,1e300", "1e-100", "0.00001"),
        (f"2,{NEXT_TO_ONE}", "1e-30", "1e-300"), ("1e15,1e6", "1e20", "1e-300"),
        ("3,2,5", "100", NEXT_BELOW_ONE),
    ):  # fmt: skip
        yield from _asked(flags, **base, sigma2=sigma2, orders=orders, delta=delta)


def targets() -> Iterator[Asked]:
    """Questions of the file `calibration`."""
    everything = f"ordinary all-orders {_SHAPES} tiny-delta large-delta unsorted-list"
    for bound in CHEAP:
        for setting in (_FIGURE, _SMALL, _LARGE):
            base = _part(bound, setting, noise=False)
            for target in ("0.5", "3"):
                yield from _asked(
                    everything, **base, orders=COARSE, delta="0.00001", target_epsilon=target
                )
        base = _part(bound, _FIGURE, noise=False)
        for orders, target in ((LOW, "20"), (HIGH, "8"), ("16,4,8,12", "2"), ("8", "4")):
            yield from _asked(
                everything, **base, orders=orders, delta="0.00001", target_epsilon=target
            )
        for delta in ("1e-12", "0.125"):
            yield from _asked(everything, **base, delta=delta, target_epsilon="1")
    for target in ("0.5", "3"):
        for setting in (_FIGURE, _SMALL):
            base = _part("shuffle_partition", setting, noise=False)
            yield from _asked(
                everything, **base, orders=COARSE, delta="0.00001", target_epsilon=target
            )
    base = {"bound": "one_update", **UNIT}
    for target, delta in (
        ("1e-9", "0.00001"), ("1e-100", "0.00001"), ("1000000", "0.00001"), ("1e100", "0.00001"),
        ("0.001", "0.9375"), ("30", "1e-30"), ("1", NEXT_BELOW_ONE),
    ):  # fmt: skip
        yield from _asked(everything, **base, delta=delta, target_epsilon=target)
    for orders, target, delta in (
        # The first leaves next to no room above what the rule adds.
        ("2", "11.51293", "0.00001"), ("2", "10.12664", "0.00001"), ("8,8,32", "1", "0.00001"),
        (f"2,{NEXT_TO_ONE}", "1e12", "0.00001"), ("1e15,1e6", "1e-9", "0.00001"),
        ("2,1e300", "1e9", "1e-300"), (TIES[0], "4.8376418216567428", "0.00001"),
        (TIES[1], "4.087861628854866300", "0.00001"), ("3,2,5", "1e-9", "0.9375"),
    ):  # fmt: skip
        yield from _asked(everything, **base, orders=orders, delta=delta, target_epsilon=target)
    base = _part("fixed_order", _SMALL, noise=False)
    good = {"orders": COARSE, "delta": "0.00001", "target_epsilon": "1"}
    for target in ("0", "-1"):
        yield from _asked("target-not-positive", **base, **{**good, "target_epsilon": target})
    for delta in ("0", "1", "-0.00001"):
        yield from _asked("delta-out-of-range", **base, **{**good, "delta": delta})
    yield from _asked("bad-order-in-list", **base, **{**good, "orders": "1,2,3"})
    yield from _asked("empty-list", **base, **{**good, "orders": ""})
    yield from _asked("unreachable", **base, **{**good, "orders": "2", "target_epsilon": "0.5"})
    yield from _asked("unreachable", **base, **{**good, "orders": LOW})
    for change in ({"eta": "2"}, {"b": "12"}, {"lambda": "0"}):
        yield from _asked("bound-refuses", **{**base, **change}, **good)
    yield from _number({**base, **good}, {"target_epsilon": "nan"})
    estimate = {**_part("fixed_order_composition", _SMALL, noise=False)}
    estimate["bound"] = "composition_per_step"
    yield from _asked("no-privacy-promised", **estimate, **good)
