"""Which questions the golden vectors ask of a bound: rows of changes to a usual setting.

A row names the flags it is there for. It is offered to every bound, fitted to what the bound is
about (full batch, one epoch), cut down to the parameters that the bound reads, and kept with those
of its flags that hold. So a new bound gets its vectors with no new code.

Numbers at an edge are chosen so that double precision holds them exactly: a subject that reads
doubles is then judged by what it computes, not by how its input was rounded.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache

from bounds.arith.ball import precision
from bounds.bound import Bound
from bounds.setting import PARAMETERS, InvalidInput, Setting, show

USUAL: dict[str, str] = {
    "n": "50", "b": "2", "epochs": "50", "eta": "0.02", "lambda": "1", "beta": "4",
    "sensitivity": "4", "sigma2": "4", "alpha": "10", "position": "last",
}  # fmt: skip
"""The setting of the paper's figures; the position is first, middle, last or a number."""

LEAST_STEP = "0.000000000931322574615478515625"  # 2^-30
NEXT_TO_ONE = "1.000000000931322574615478515625"  # 1 + 2^-30
NEXT_TO_QUARTER = "0.24999999976716935634613037109375"  # 1/4 - 2^-32


@dataclass(frozen=True)
class Row:
    """`changes` are made before a setting is fitted to a bound, `after` when it is.

    only: the one bound that it is offered to, for a case that no other has.
    """

    flags: tuple[str, ...]
    changes: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    only: str = ""


def row(flags: str, changes: str = "", after: str = "", note: str = "", only: str = "") -> Row:
    """A row from words: "odd-batches", "n=35 b=5"."""

    def pairs(text: str) -> dict[str, str]:
        return dict(item.split("=", 1) for item in text.split())

    return Row(tuple(flags.split()), pairs(changes), pairs(after), note, only)


def figures() -> Iterator[Row]:
    """The settings of Figures 1 and 2, at orders 10 and 15."""
    for alpha in ("10", "15"):
        for epochs in ("1", "2", "10", "50", "200"):
            for position in ("first-batch", "last-batch"):
                flags = {"1": " one-epoch", "2": " two-epochs"}.get(epochs, "")
                yield row(
                    f"figure {position} integer-order{flags}",
                    f"alpha={alpha} epochs={epochs} position={position.split('-')[0]}",
                )


DESIGN: tuple[Row, ...] = (
    # Batches.
    row("odd-batches last-batch", "n=14 b=2 epochs=7"),
    row("odd-batches first-batch", "n=35 b=5 epochs=10 eta=0.05 lambda=2 beta=3 position=first"),
    row("odd-batches middle-batch", "n=27 b=3 epochs=5 sigma2=0.5 position=middle"),
    row("odd-batches batch-of-one", "n=5 b=1 epochs=12 eta=0.125 lambda=0.5"),
    row("two-batches last-batch", "n=4 b=2 epochs=7 eta=0.1 alpha=3"),
    row("two-batches first-batch", "n=4 b=2 epochs=7 eta=0.1 alpha=3 position=first"),
    row("two-batches one-epoch", "n=20 b=10 epochs=1 sigma2=0.01"),
    row("two-batches batch-of-one", "n=2 b=1 epochs=30 sigma2=25"),
    row("three-batches middle-batch", "n=9 b=3 epochs=5 eta=0.1 position=middle"),
    row("three-batches batch-of-one", "n=3 b=1 epochs=20 sigma2=30 position=first"),
    row("three-batches last-batch", "n=30 b=10 epochs=4 sigma2=0.02"),
    row("indivisible last-batch", "n=5 b=2 epochs=20 eta=0.1"),
    row("indivisible odd-batches middle-batch", "n=15 b=4 epochs=6 position=middle"),
    row("indivisible first-batch", "n=23 b=5 epochs=3 eta=0.125 position=first"),
    row("indivisible", "n=17 b=6 epochs=40 eta=0.25 lambda=0.5 beta=1"),
    row("one-batch-left", "n=53 b=30 epochs=6 position=first"),
    row("one-batch-left", "n=7 b=4 epochs=20 sigma2=0.5 position=first"),
    row("full-batch", "n=50 b=50 epochs=30 position=first sigma2=0.01"),
    row("full-batch batch-of-one", "n=1 b=1 epochs=5 position=first sigma2=50"),
    row("full-batch", "n=7 b=7 epochs=1 position=first sigma2=0.25 alpha=2.5"),
    row("full-batch huge-epochs", "n=100 b=100 epochs=1000000 position=first sigma2=0.01"),
    row("batch-of-one", "n=20 b=1 epochs=10 sigma2=20"),
    row("many-batches first-batch", "n=2000 b=2 epochs=3 position=first"),
    row("many-batches last-batch", "n=1001 b=1 epochs=2 sigma2=16"),
    row("many-batches middle-batch", "n=60000 b=32 epochs=2 sigma2=0.01 position=middle"),
    row("small-rate fractional-order", "n=10000 b=8 epochs=2 alpha=1.5 sigma2=0.0078125"),
    row("small-rate fractional-order", "n=50000 b=4 epochs=1 alpha=12.75 sigma2=0.125"),
    row("small-rate integer-order", "n=20000 b=16 epochs=1 alpha=64 sigma2=0.0078125"),
    row("small-rate overflow", "n=8000 b=8 epochs=1 alpha=256 sigma2=0.0009765625"),
    row("small-rate order-near-one", f"n=4000 b=2 epochs=1 alpha={NEXT_TO_ONE}"),
    row("first-batch", "n=24 b=4 epochs=3 eta=0.1 position=first"),
    row("middle-batch", "n=24 b=4 epochs=3 eta=0.1 position=middle"),
    row("last-batch", "n=24 b=4 epochs=3 eta=0.1"),
    row("middle-batch", "n=63 b=9 epochs=20 sigma2=0.125 position=2"),
    row("middle-batch", "n=50 b=2 epochs=5 position=23"),
    row("position-from-one", "n=32 b=4 epochs=2 position=5"),
    row("position-from-one first-batch", "n=18 b=6 epochs=3 eta=0.1 sigma2=0.5 position=first"),
    row("position-from-the-end", "n=32 b=4 epochs=2 position=1"),
    row("position-from-the-end", "n=40 b=8 epochs=1 sigma2=0.25 position=first"),
    # Epochs.
    row("one-epoch", "n=12 b=3 epochs=1 eta=0.1"),
    row("one-epoch fractional-order", "n=40 b=5 epochs=1 alpha=2.5 sigma2=0.5 position=middle"),
    row("two-epochs", "n=12 b=3 epochs=2 eta=0.1"),
    row("two-epochs", "n=10 b=5 epochs=2 eta=0.25 lambda=0.5 beta=2 sigma2=0.5"),
    row("two-epochs", "n=64 b=8 epochs=2 alpha=4 sigma2=0.125 position=middle"),
    row("huge-epochs", "epochs=1000000000"),
    row("huge-epochs", "n=6 b=2 epochs=1000000000 alpha=2 position=first"),
    row("huge-epochs cancellation", f"n=8 b=2 epochs=1000000 lambda={LEAST_STEP} alpha=2"),
    row("huge-epochs", "n=12 b=3 epochs=1000000 eta=0.125 sigma2=100 position=middle"),
    # Order.
    row("order-near-one", f"epochs=10 alpha={NEXT_TO_ONE}"),
    row("order-near-one large-noise", f"epochs=10 alpha={NEXT_TO_ONE} sigma2=10000000000"),
    row("order-near-one", "n=12 b=3 epochs=20 alpha=1.0009765625 position=middle"),
    row("order-near-one fractional-order", "epochs=1 alpha=1.0001220703125 sigma2=0.25"),
    row("large-order", "n=20 b=2 epochs=10 alpha=1000000"),
    row("large-order overflow", "n=12 b=3 epochs=3 alpha=1000 sigma2=0.25"),
    row("large-order fractional-order", "n=12 b=3 epochs=3 alpha=1000.5 sigma2=1000"),
    row("overflow small-noise", "n=20 b=2 epochs=10 alpha=10 sigma2=0.00000002"),
    row("overflow", "n=20 b=2 epochs=4 alpha=64 sigma2=0.015625"),
    row("overflow fractional-order", "n=24 b=2 epochs=2 alpha=32.5 sigma2=0.0078125"),
    row("integer-order", "n=20 b=2 epochs=10 alpha=2"),
    row("integer-order", "n=20 b=2 epochs=10 alpha=3 sigma2=0.0625"),
    row("integer-order", "n=24 b=4 epochs=10 alpha=32 sigma2=0.5"),
    row("integer-order", "n=20 b=5 epochs=20 alpha=128 sigma2=25"),
    row("fractional-order", "n=20 b=2 epochs=10 alpha=1.5"),
    row("fractional-order", "n=20 b=2 epochs=10 alpha=2.5 sigma2=0.0625"),
    row("fractional-order", "n=24 b=4 epochs=10 alpha=6.25 sigma2=0.5"),
    row("fractional-order", "n=20 b=5 epochs=20 alpha=17.75 sigma2=25"),
    row("fractional-order", "n=1000 b=1 epochs=1 alpha=1.25 sigma2=5 position=middle"),
    # Step size and convexity.
    row("below-one-ulp last-batch", "lambda=5e-17"),
    row("below-one-ulp first-batch", "n=12 b=3 epochs=20 lambda=1e-18 alpha=2 position=first"),
    row("below-one-ulp one-epoch", "n=10 b=2 epochs=1 eta=0.125 lambda=1e-17 position=middle"),
    row("below-one-ulp huge-epochs", "n=8 b=2 epochs=1000000 lambda=1e-17 alpha=2"),
    row("cancellation", f"lambda={LEAST_STEP} epochs=20"),
    row("cancellation", "n=12 b=3 epochs=100 eta=0.125 lambda=0.00006103515625 position=first"),
    row("cancellation", "n=10 b=1 epochs=50 lambda=0.0000000001 beta=1 sigma2=25"),
    row("cancellation two-epochs", "n=24 b=4 epochs=2 lambda=0.000000000001 beta=2"),
    row("lambda-is-beta", "lambda=4 beta=4 epochs=10"),
    row("lambda-is-beta", "n=12 b=3 epochs=10 eta=0.125 lambda=2 beta=2 position=middle"),
    row("lambda-is-beta", "n=6 b=3 epochs=4 eta=0.0625 lambda=0.5 beta=0.5 position=first"),
    row(
        "contraction-near-zero lambda-is-beta step-near-limit",
        f"n=8 b=2 epochs=4 eta={NEXT_TO_QUARTER} lambda=4 beta=4",
    ),
    row(
        "contraction-near-zero first-batch",
        f"n=8 b=2 epochs=4 eta={NEXT_TO_QUARTER} lambda=4 beta=4 position=first",
    ),
    row(
        "below-doubles contraction-near-zero",
        f"n=60 b=2 epochs=4 eta={NEXT_TO_QUARTER} lambda=4 beta=4 position=first",
    ),
    row(
        "below-doubles contraction-near-zero many-batches",
        f"n=4000 b=2 epochs=1 eta={NEXT_TO_QUARTER} lambda=4 beta=4 position=first",
    ),
    row("contraction-zero lambda-is-beta", "n=8 b=2 epochs=4 eta=0.25 lambda=4 beta=4"),
    row("contraction-zero first-batch", "n=8 b=2 epochs=3 eta=0.25 lambda=4 beta=4 position=first"),
    row("contraction-zero one-epoch", "n=6 b=2 epochs=1 eta=0.5 lambda=2 beta=2 position=first"),
    # Size of the answer.
    row("tiny-answer", "n=12 b=3 epochs=10 sensitivity=1e-155 alpha=8"),
    row("tiny-answer", "n=12 b=3 epochs=10 sigma2=1e307 alpha=2"),
    row("tiny-answer", "n=12 b=3 epochs=10 sigma2=2e306 alpha=2.5 position=first"),
    row("tiny-answer", "n=12 b=3 epochs=30 sigma2=1.5e308 alpha=2"),
    row("tiny-answer", "n=8 b=4 epochs=3 eta=0.125 sensitivity=2e-156 alpha=3"),
    row("below-doubles", "n=12 b=3 epochs=10 sensitivity=1e-170 alpha=8"),
    row("small-noise", "n=12 b=3 epochs=10 sigma2=1e-10 alpha=2"),
    row("small-noise", f"n=8 b=4 epochs=3 sigma2={LEAST_STEP} alpha=2.5 position=first"),
    row("large-noise", "epochs=20 sigma2=10000000000"),
    row("large-noise", "n=12 b=3 epochs=10 sigma2=1000000 alpha=2.5 position=middle"),
    row("large-noise", "n=30 b=3 epochs=5 sigma2=2000000000000000 alpha=2"),
    # Conventions.
    row("epochs-as-updates", "n=12 b=2 epochs=5"),
    row("epochs-as-updates", "n=30 b=10 epochs=4 eta=0.125 lambda=0.5 beta=2 sigma2=0.05"),
    row("epochs-as-updates", "n=40 b=4 epochs=3 eta=0.01 alpha=4 position=first"),
    row("add-or-remove", "n=12 b=2 epochs=6 alpha=5"),
    row("add-or-remove", "n=45 b=5 epochs=15 sensitivity=2 sigma2=0.25 position=middle"),
    row("noise-on-the-sum", "n=16 b=4 epochs=6 alpha=5"),
    row("noise-on-the-sum", "n=60 b=12 epochs=25 sigma2=0.125 alpha=3"),
    row("variance-squared", "n=12 b=2 epochs=8 sigma2=9"),
    row("variance-squared", "n=28 b=7 epochs=8 sigma2=0.25 alpha=3 position=first"),
    row("noise-halved", "n=14 b=2 epochs=9 alpha=6"),
    row("noise-halved", "n=36 b=6 epochs=12 sigma2=0.25 alpha=4 position=middle"),
    row("batches-as-batch-size", "n=24 b=3 epochs=5"),
    row("batches-as-batch-size", "n=40 b=10 epochs=5 sigma2=0.125 alpha=3"),
    # No short decimals.
    row(
        "fractions",
        "n=21 b=2 epochs=9 eta=1/3 lambda=1/7 beta=2 sensitivity=5/3 sigma2=7/11 alpha=17/5 "
        "position=4",
    ),
    row(
        "fractions",
        "n=12 b=4 epochs=3 eta=1/6 lambda=2/3 beta=7/3 sensitivity=10/7 sigma2=3/13 alpha=11/9",
    ),
    # What only one bound has: a sum over many batches in three parts, with a corner between them.
    *(
        row("many-batches" + flags, changes, only="optimal_shuffle")
        for flags, changes in (
            (" two-epochs", "n=1000 b=1 epochs=2 eta=0.01 lambda=0.1 sigma2=0.1"),
            (" two-epochs", "n=2002 b=2 epochs=2 eta=0.01 lambda=0.2 sigma2=0.02"),
            ("", "n=1000 b=1 epochs=3 eta=0.01 lambda=0.05 sigma2=0.1"),
            ("", "n=4000 b=2 epochs=5 eta=0.01 lambda=0.01 sigma2=0.02 alpha=4"),
            (" two-epochs", "n=1000 b=1 epochs=2 eta=0.01 lambda=0.001 sigma2=0.1"),
            (" two-epochs", "n=1001 b=1 epochs=2 eta=0.01 lambda=0.0001 sigma2=0.1"),
            ("", "n=1000 b=1 epochs=4 eta=1 lambda=0.001 beta=0.5 sigma2=10 alpha=3"),
            (" two-epochs", "n=1000 b=1 epochs=2 eta=0.01 lambda=0.1 sigma2=0.04 alpha=3"),
            (" two-epochs", "n=1000 b=1 epochs=2 eta=0.25 lambda=3 beta=3 sigma2=1 alpha=3"),
            (" contraction-zero", "n=1000 b=1 epochs=3 eta=0.25 lambda=4 beta=4 alpha=3"),
        )
    ),
    # And runs of one to four updates, of which symbols write out three.
    *(
        row(flags, changes, only="optimal_without_replacement")
        for flags, changes in (
            ("one-batch-left one-epoch", "n=7 b=4 epochs=1 sigma2=0.5"),
            ("one-batch-left two-epochs", "n=5 b=3 epochs=2 eta=0.125 lambda=2"),
            ("one-batch-left", "n=5 b=3 epochs=3 eta=0.125 lambda=2"),
            ("one-batch-left", "n=8 b=5 epochs=4 eta=0.125 lambda=2"),
            ("full-batch", "n=3 b=3 epochs=2 eta=0.125 sensitivity=3 sigma2=1.5 alpha=4"),
        )
    ),
    # What must be refused.
    row("order-at-most-one", after="alpha=1", note="Kullback and Leibler's divergence"),
    row("order-at-most-one", after="alpha=0.5"),
    row("order-at-most-one", after="alpha=0"),
    row("order-at-most-one", after="alpha=-2"),
    row("order-at-most-one", after="alpha=0.999999999068677425384521484375"),
    row("count-not-positive", after="n=0"),
    row("count-not-positive", after="n=-50"),
    row("count-not-positive", after="b=0"),
    row("count-not-positive", after="b=-2"),
    row("count-not-positive", after="epochs=0"),
    row("count-not-positive", after="epochs=-3"),
    row("count-not-whole", after="epochs=2.5"),
    row("count-not-whole", after="n=50.5"),
    row("count-not-whole", after="b=2.5"),
    row("count-not-whole", after="position=0.5"),
    row("batch-beyond-data", after="n=50 b=51 position=0"),
    row("batch-beyond-data", after="n=50 b=100 position=0"),
    row("noise-not-positive", after="sigma2=0"),
    row("noise-not-positive", after="sigma2=-4"),
    row("sensitivity-not-positive", after="sensitivity=0"),
    row("sensitivity-not-positive", after="sensitivity=-4"),
    row("step-not-positive", after="eta=0"),
    row("step-not-positive", after="eta=-0.02"),
    row("lambda-zero", after="lambda=0"),
    row("lambda-zero", "n=12 b=3 epochs=3 alpha=2.5", after="lambda=0 beta=1"),
    row("lambda-negative", after="lambda=-1"),
    row("lambda-beyond-beta", after="lambda=4 beta=1"),
    row("lambda-beyond-beta", after="lambda=1 beta=0.999755859375"),
    row("beta-not-positive", after="beta=0"),
    row("beta-not-positive", after="beta=-4"),
    row("position-out-of-range", after="n=50 b=2 position=25"),
    row("position-out-of-range", after="n=50 b=2 position=-1"),
    row("position-out-of-range", after="n=53 b=2 position=26", note="floor(53/2) = 26 batches"),
    row("position-out-of-range", after="n=12 b=3 position=12"),
    row("several-epochs", after="epochs=2"),
    row("several-epochs", after="epochs=50"),
    row("not-full-batch", after="n=50 b=25"),
    row("not-full-batch", after="n=50 b=49"),
    row("not-full-batch", after="n=50 b=1"),
    row("not-a-number", after="eta=nan"),
    row("not-a-number", after="sigma2=nan"),
    row("not-a-number", after="alpha=nan"),
    row("not-a-number", after="sensitivity=nan"),
    row("not-a-number", after="lambda=nan"),
)


def reads(bound: Bound) -> tuple[str, ...]:
    """The keys of the bound's input, in the order of the flags."""
    wanted = set(bound.needs)
    if "position" in {assumption.label for assumption in bound.assumptions}:
        wanted.add("position")
    return tuple(item.flag[2:] for item in PARAMETERS.values() if item.name in wanted)


def fitted(bound: Bound, changes: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The input of a row for a bound: exact text by key."""
    labels = {assumption.label for assumption in bound.assumptions}
    given = {**USUAL, **changes}
    if "full-batch" in labels:
        given["b"] = given["n"]
    if "one-epoch" in labels:
        given["epochs"] = "1"
    given.update(after)
    place = given["position"]
    if place in ("first", "middle", "last"):
        try:
            batches = max(int(given["n"]) // int(given["b"]), 1)
        except (ValueError, ZeroDivisionError):
            batches = 25
        given["position"] = str({"first": 0, "middle": batches // 2, "last": batches - 1}[place])
    return {key: given[key] for key in reads(bound)}


@cache
def depends(bound: Bound) -> frozenset[str]:
    """The parameters on which the bound's value depends, told from values on either side.

    The formula does not declare this: one update does not depend on K, composition not on n.
    """
    base = Setting.of(**fitted(bound, {"epochs": "4", "n": "24", "position": "1"}, {}))
    labels = {assumption.label for assumption in bound.assumptions}
    found = set()
    tries: dict[str, dict[str, str]] = {
        "n": {"n": "30"}, "b": {"b": "3"}, "epochs": {"epochs": "5"}, "eta": {"eta": "0.03"},
        "lambda": {"lambda": "0.9"}, "beta": {"beta": "5"}, "sensitivity": {"sensitivity": "5"},
        "sigma2": {"sigma2": "5"}, "alpha": {"alpha": "11"}, "position": {"position": "3"},
    }  # fmt: skip
    if "full-batch" in labels:
        tries["n"] = tries["b"] = {"n": "30", "b": "30"}
    with precision(200):
        value = bound.enclose(base, 20)
        for key, change in tries.items():
            if key not in reads(bound):
                continue
            try:
                other = bound.enclose(base.replace(**change), 20)
            except InvalidInput:
                continue
            if not other.overlaps(value):
                found.add(key)
    return frozenset(found)


def limits(bound: Bound) -> Iterator[Row]:
    """Rows at the step-size limit of a bound, which is where its own condition changes."""
    rules = [item for item in bound.assumptions if item.label == "step-size"]
    little, ulps = Fraction(1, 10**6), Fraction(1, 2**40)
    for count, (lambda_, beta) in enumerate(_SIZES):
        here = Setting.of(lambda_=lambda_, beta=beta)
        assert here.lambda_ is not None and here.beta is not None
        for limit in (2 / (here.lambda_ + here.beta), 2 / here.beta, 1 / here.beta):
            inside, outside = (
                here.replace(eta=limit * factor) for factor in (1 - little, 1 + little)
            )
            if not all(rule.holds(inside) for rule in rules):
                continue
            if all(rule.holds(outside) for rule in rules) or limit.denominator not in (1, 2, 4):
                continue
            shape = "n=24 b=4 epochs=3" if count % 2 else "n=14 b=2 epochs=5 position=first"
            base = f"lambda={lambda_} beta={beta} {shape}"
            yield row("step-at-limit", f"{base} eta={show(limit)}")
            yield row("step-near-limit", f"{base} eta={show(limit * (1 - ulps))}")
            for beyond in (1 + ulps, Fraction(5, 4) if count % 2 else Fraction(8)):
                yield row("step-beyond-limit", base, f"eta={show(limit * beyond)}")
            break


_SIZES = (
    ("1", "3"), ("1", "7"), ("2", "2"), ("1", "4"), ("0.5", "8"), ("0.25", "1.75"),
)  # fmt: skip
"""Pairs lambda, beta at which a limit 2/(lambda + beta), 2/beta or 1/beta is 1, 1/2 or 1/4."""

_MANTISSAS = ("1", "1.25", "1.5", "2", "2.5", "3", "4", "5", "6", "8")


def ordinary(count: int) -> Iterator[Row]:
    """Usual settings of short decimals; the i-th is the same whatever the count.

    Only `Random.random` is drawn on, whose sequence Python promises to keep.
    """
    for i in range(count):
        source = random.Random(f"ordinary {i}")

        def pick(*choices: str, source: random.Random = source) -> str:
            return choices[int(source.random() * len(choices))]

        def spread(low: int, high: int) -> Decimal:
            mantissa, power = pick(*_MANTISSAS), pick(*map(str, range(low, high)))
            return Decimal(mantissa).scaleb(int(power))

        b = int(pick("2", "3", "4", "5", "6", "8", "10", "16", "20", "32", "50"))
        n = b * int(2 + source.random() ** 2 * 40)
        lambda_ = spread(-2, 1)
        beta = lambda_ * Decimal(pick("1.5", "2", "4", "5", "10", "40"))
        eta = Decimal(1)
        while eta * beta >= Decimal("0.9"):
            eta = spread(-3, 0)
        alpha = pick("1.5", "2", "2.5", "3", "4", "4.5", "6", "8", "10", "12.5", "16", "24", "32")
        place = pick("first", "middle", "last")
        values = {
            "n": n, "b": b, "epochs": int(2 + source.random() ** 2 * 80), "eta": eta,
            "lambda": lambda_, "beta": beta, "sensitivity": pick("0.5", "1", "2", "3", "5", "8"),
            "sigma2": spread(-2, 1), "alpha": alpha, "position": place,
        }  # fmt: skip
        changes = {
            key: show(Fraction(value)) if isinstance(value, Decimal) else str(value)
            for key, value in values.items()
        }
        yield Row(("ordinary",), changes)
