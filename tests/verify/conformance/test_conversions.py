"""Conversions and calibrations as subjects: drawn properties, the smallest input, the mistake."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy.stats import norm

from bounds.arith.ball import Ball, precision
from bounds.setting import InvalidInput, show
from verify.cli import cli
from verify.conformance import inquiries, judge
from verify.conformance.inquiries import Conversion, Inquiry
from verify.conformance.properties import all_properties, attempt
from verify.conformance.subjects import InProcess
from verify.conformance.vectors import OTHERS

Changed = Callable[[dict[str, Any], Callable[..., Any]], Any]


def asked(name: str) -> Callable[..., Any]:
    """The library's own answers as a function of exact numbers."""

    def answer(**given: Any) -> Any:
        texts = {
            key: ",".join(map(show, value)) if isinstance(value, (list, tuple)) else show(value)
            for key, value in given.items() if value is not None
        }  # fmt: skip
        case = Conversion(name).case(texts)
        if case.lower is None:
            raise ValueError(case.assumption)
        return Decimal(case.lower)

    return answer


def subject(name: str, change: Changed | None = None) -> InProcess:
    f = asked(name)
    wanted = judge.wanted_inputs(judge.cases_of(name))

    def answer(**given: Any) -> Any:
        return f(**given) if change is None else change(given, f)

    made = InProcess(answer, name)
    made.parameters = [[key, "KEYWORD_ONLY", True] for key in wanted]
    return made


def checked(name: str, change: Changed | None = None, **options: Any) -> judge.Report:
    tested, cases = subject(name, change), judge.cases_of(name)
    fixed = options.pop("fixed", {})
    terms = judge.terms_for(tested.parameters, name, cases, {}, fixed, "fraction", name)
    return judge.run(tested, name, terms, cases, **options)


@pytest.mark.parametrize("name", OTHERS)
def test_our_own_answers_have_every_property(name: str) -> None:
    report = checked(name)
    assert [item.name for item in report.properties if item.broken] == []
    assert report.verdict == "conforms", (report.smallest, report.failures)
    assert all(item.examples >= 4 for item in report.properties)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_our_own_answers_have_every_property_at_many_inputs(name: str) -> None:
    report = checked(name, effort="full", seed=1)
    assert [item.name for item in report.properties if item.broken] == []


def halves(value: Any) -> Any:
    return [Fraction(1) / (1 + x) for x in value]


def alone(given: dict[str, Any], f: Callable[..., Any]) -> list[Any]:
    """The answers for each order by itself."""
    values = given.get("epsilons") or [None] * len(given["orders"])
    out = []
    for order, value in zip(given["orders"], values, strict=True):
        epsilons = None if value is None else [value]
        out.append(f(**{**given, "orders": [order], "epsilons": epsilons}))
    return out


def lenient(given: dict[str, Any], f: Callable[..., Any]) -> Any:
    try:
        return f(**given)
    except (ValueError, InvalidInput):
        return 1.0


def by(**new: Callable[[dict[str, Any]], Any]) -> Changed:
    """Another number in place of one that is given."""
    return lambda given, f: f(
        **{**given, **{name: make(given) for name, make in new.items() if given[name] is not None}}
    )


def worst(given: dict[str, Any], f: Callable[..., Any]) -> Any:
    return max(alone(given, f)) if given["orders"] else f(**given)


PLANTED: dict[str, tuple[str, Changed]] = {
    "agrees-with-the-definition": ("conversion", lambda given, f: f(**given) * Decimal("1.001")),
    "refuses-what-is-outside": ("conversion", lenient),
    "grows-as-delta-falls": ("conversion", by(delta=lambda p: 1 - p["delta"])),
    "fewer-orders-never-help": ("conversion_of_bound", worst),
    "does-not-depend-on-the-order-of-the-list": (
        "conversion", lambda given, f: alone(given, f)[0]
    ),
    "grows-with-the-divergence": ("conversion", by(epsilons=lambda p: halves(p["epsilons"]))),
    "shifts-with-the-divergence": (
        "conversion", by(epsilons=lambda p: [2 * x for x in p["epsilons"]])
    ),
    "vanishes-at-large-orders": ("conversion", lambda given, f: f(**given) + 1),
    "not-below-the-exact-epsilon": ("conversion", lambda given, f: min(given["epsilons"])),
    "not-above-the-classical-rule": ("conversion", by(delta=lambda p: p["delta"] ** 3)),
    "epsilon-falls-with-noise": ("conversion_of_bound", by(sigma2=lambda p: 1 / p["sigma2"])),
    "rises-with-epochs": (
        "calibration", lambda given, f: f(**given) / (given["epochs"] or 1) ** 2
    ),
    "epsilon-depends-on-sensitivity-over-sigma": (
        "conversion_of_bound", by(sigma2=lambda p: p["sigma2"] ** 2)
    ),
    "noise-falls-with-the-target": (
        "calibration", by(target_epsilon=lambda p: 1 / p["target_epsilon"])
    ),
    "noise-scales-with-the-sensitivity": (
        "calibration", lambda given, f: f(**given) * Decimal(float(given["sensitivity"]))
    ),
    "noise-has-its-unit": (
        "calibration", lambda given, f: f(**given) * Decimal(float(given["eta"]))
    ),
    "noise-meets-the-target": ("calibration", lambda given, f: f(**given) * Decimal("0.9999")),
    "less-noise-misses-the-target": (
        "calibration", lambda given, f: f(**given) * Decimal("1.0001")
    ),
}  # fmt: skip
"""A mistake for each property of conversions and calibrations."""


def test_every_property_has_a_mistake_that_breaks_it() -> None:
    declared = {item.name for name in OTHERS for item in all_properties(Conversion(name))}
    assert declared == set(PLANTED)


def tried(name: str, kind: str, change: Changed | None) -> Any:
    tested, cases, about = subject(kind, change), judge.cases_of(kind), Conversion(kind)
    terms = judge.terms_for(tested.parameters, kind, cases, {}, {}, "fraction", kind)
    limit = judge.OTHER_TOLERANCE.get(kind, Decimal("1e-9"))
    which = next(item for item in all_properties(about) if item.name == name)
    ask = judge.Asker(tested, terms, limit)
    return attempt(which, about, ask, lambda point: about.adapted(point, terms), limit)


@pytest.mark.parametrize("name", PLANTED)
def test_each_property_is_broken_by_its_mistake_and_by_no_right_answer(name: str) -> None:
    kind, change = PLANTED[name]
    found = tried(name, kind, change)
    assert isinstance(found.broken, Inquiry)
    assert found.answers
    assert tried(name, kind, None).broken is None


def test_hypothesis_shrinks_a_broken_inquiry() -> None:
    """Two orders are needed to see that only the first counts; the rest is as simple as drawn."""
    broken = tried(*("does-not-depend-on-the-order-of-the-list", "conversion"), first).broken
    assert broken is not None
    assert broken.orders is not None
    assert len(broken.orders) == 2
    assert broken.delta == Fraction(1, 10)


def first(given: dict[str, Any], f: Callable[..., Any]) -> Any:
    """Only the first order is converted."""
    return alone(given, f)[0] if given["orders"] else f(**given)


SMALLEST: dict[str, tuple[str, Changed, str, str, dict[str, str]]] = {
    "too small everywhere": (
        "conversion", by(delta=lambda p: p["delta"] * 2),
        "not-an-upper-bound", "", {"orders": "2", "epsilons": "1", "delta": "0.1"},
    ),
    "always the same delta": (
        "calibration", by(delta=lambda p: Fraction(1, 10**5)), "not-an-upper-bound",
        "delta-of-one-in-a-hundred-thousand", {},
    ),
    "half the sensitivity": (
        "calibration", by(sensitivity=lambda p: p["sensitivity"] / 2), "not-an-upper-bound",
        "half-the-sensitivity", {"bound": "one_update", "target_epsilon": "10"},
    ),
    "the first order only": ("conversion", first, "too-large", "first-order-only", {}),
    "the last epoch forgotten": (
        "conversion_of_bound", by(epochs=lambda p: p["epochs"] - 1), "not-an-upper-bound",
        "epochs-minus-one", {"n": "4", "b": "1"},
    ),
    "delta ignored": (
        "conversion", lambda given, f: [f(**given), min(given["epsilons"])][1],
        "not-an-upper-bound", "delta-ignored",
        {"orders": "2", "epsilons": "1", "rule": "classical"},
    ),
    "nothing is checked": ("conversion", lenient, "accepts-invalid", "no-checks", {}),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "always the same delta" else [])
        for name in SMALLEST
    ],
)
def test_the_smallest_input_and_the_mistake(name: str) -> None:
    kind, change, verdict, mistake, part = SMALLEST[name]
    report = checked(kind, change, with_properties=True)
    assert report.verdict == verdict
    assert report.smallest is not None
    given = report.smallest.case.input
    assert {key: given[key] for key in part} == part
    largest = max(judge.size(item.input) for item in judge.cases_of(kind) if item.valid)
    assert judge.size(given)[1] < largest[1] / 3
    assert (report.diagnosis.mistake if report.diagnosis else "") == mistake
    assert report.as_json()["smallest"]
    broken = {item.name for item in report.properties if item.broken}
    if mistake != "delta-of-one-in-a-hundred-thousand":
        assert ("refuses-what-is-outside" in broken) == (verdict == "accepts-invalid")


def test_a_golden_vector_singles_a_mistake_out_before_a_drawn_question() -> None:
    kind, change, *_ = SMALLEST["delta ignored"]
    report = checked(kind, change)
    assert report.diagnosis is not None
    vectors = {item.id: item.input for item in judge.cases_of(kind)}
    assert vectors[report.diagnosis.vector] == report.diagnosis.at
    assert report.below_exact is True
    assert report.says().endswith("even below the exact epsilon of a Gaussian query")
    assert report.as_json()["diagnosis"]["at"] == report.diagnosis.at  # type: ignore[index]


def test_a_number_that_is_wrong_but_not_impossible_is_said_to_be_so() -> None:
    kind, change, *_ = SMALLEST["too small everywhere"]
    report = checked(kind, change)
    assert report.below_exact is False
    assert report.says().endswith("not below the exact epsilon of a Gaussian query")


def test_lists_shrink_one_by_one() -> None:
    """Wrong for six orders or more, so that six are left of fourteen."""
    report = checked(
        "conversion",
        lambda given, f: f(**given) * (2 if len(given["orders"]) > 5 else 1),
        with_properties=False, effort="full",
    )  # fmt: skip
    assert report.smallest is not None
    given = report.smallest.case.input
    assert given["orders"].count(",") == given["epsilons"].count(",") == 5
    assert len(given["orders"] + given["epsilons"]) <= 30


def test_a_bound_shrinks_to_one_update_and_what_that_reads() -> None:
    case = next(
        item for item in judge.cases_of("calibration")
        if item.valid and item.input["bound"] == "fixed_order" and "orders" in item.input
    )  # fmt: skip
    found = judge.smaller(case.input)
    simple = [given for given in found if given["bound"] == "one_update"]
    assert simple
    assert all(not {"lambda", "beta", "position"} & set(given) for given in simple)
    assert {"n", "b", "sensitivity", "delta", "rule", "target_epsilon"} <= set(simple[-1])


def test_what_takes_no_orders_is_asked_about_all_of_them() -> None:
    tested, cases = subject("conversion_of_bound"), judge.cases_of("conversion_of_bound")
    assert tested.parameters is not None
    tested.parameters = [item for item in tested.parameters if item[0] != "orders"]
    terms = judge.terms_for(tested.parameters, "conversion_of_bound", cases, {},
                            {"rule": "classical"}, "fraction", "f")  # fmt: skip
    report = judge.run(tested, "conversion_of_bound", terms, cases)
    assert report.verdict == "conforms"
    drawn = [
        item.case.input for item in report.judged
        if not item.case.golden and item.outcome != "unasked"
    ]  # fmt: skip
    assert len(drawn) > 20
    assert all("orders" not in given and given["rule"] == "classical" for given in drawn)


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(20)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**6)])
def test_the_exact_epsilon_of_a_gaussian_query(rho: Fraction, delta: Fraction) -> None:
    """Balle and Wang's delta, in doubles, is the one asked for."""
    with precision(160):
        epsilon = float(inquiries.gaussian_epsilon(Ball.number(rho), delta))
    mu = math.sqrt(2 * rho)
    spent = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    if epsilon > 0:
        assert math.isclose(spent, delta, rel_tol=1e-9)
    else:
        assert spent < delta


def test_the_floor_and_the_ceiling_of_a_conversion() -> None:
    given = {"orders": "2,3", "epsilons": "1,1.5", "delta": "0.001",
             "rule": "canonne_kamath_steinke_2020"}  # fmt: skip
    ceiling, floor = inquiries.ceiling_of(given), inquiries.floor_of(given)
    assert ceiling is not None
    assert floor is not None
    assert math.isclose(ceiling, 1.5 + math.log(1000) / 2, rel_tol=1e-12)
    with precision(160):
        # The curve is alpha/2 at both orders.
        assert floor == inquiries.gaussian_epsilon(Ball.number(Fraction(1, 2)), Fraction(1, 1000))
    true = Conversion("conversion").case(given).lower
    assert true is not None
    assert floor < Decimal(true) < ceiling


MINE = """
import math

def conversion(orders, epsilons, delta, rule):
    if not (0 < delta < 1 and orders and len(orders) == len(epsilons)):
        raise ValueError("delta or lists")
    if min(orders) <= 1 or min(epsilons) < 0:
        raise ValueError("orders or values")
    at = min(range(len(orders)), key=lambda i: epsilons[i])
    return epsilons[at] + math.log(1 / delta) / (orders[at] - 1)

def one(alpha, n, b, eta, sensitivity, sigma2):
    if not (1 <= b <= n and eta > 0 < sensitivity and sigma2 > 0):
        raise ValueError("setting")
    return alpha * eta * (sensitivity / b) ** 2 / (2 * sigma2)

def grid(orders, delta):
    orders = [1 + k / 20 for k in range(1, 2000)] if orders is None else orders
    if not 0 < delta < 1 or not orders or min(orders) <= 1:
        raise ValueError("orders or delta")
    return [(alpha, math.log(1 / delta) / (alpha - 1)) for alpha in orders]

def conversion_of_bound(n, b, eta, sensitivity, sigma2, delta, orders):
    pairs = grid(orders, delta)
    return min(one(alpha, n, b, eta, sensitivity, sigma2) + more for alpha, more in pairs)

def calibration(n, b, eta, sensitivity, target_epsilon, delta, orders):
    pairs = [(alpha, target_epsilon - more) for alpha, more in grid(orders, delta)]
    return min(one(alpha, n, b, eta, sensitivity, 1) / room for alpha, room in pairs if room > 0)
"""


@pytest.mark.parametrize(
    ("name", "verdict", "mistake", "following"),
    [
        ("conversion", "too-large", "", "python -c"),
        ("conversion_of_bound", "too-large", "noise-halved", "hiddenstate compare"),
        ("calibration", "too-large", "noise-halved", "hiddenstate calibrate"),
    ],
)
def test_the_page_ends_with_a_command_that_gives_the_right_number(
    name: str, verdict: str, mistake: str, following: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    words = [f"{tmp_path / 'mine.py'}:{name}", "--bound", name]
    if name != "conversion":
        words += ["--convention", "rule=classical", "--convention", "bound=one_update"]
    result = CliRunner().invoke(cli, ["check", *words])
    assert result.exit_code == 1, result.output
    assert f": {verdict}" in " ".join(result.stdout.split())
    assert mistake in result.stdout
    shell = result.stdout[result.stdout.index("next:") + 5 :].replace("\\\n", " ")
    assert " ".join(shell.split()).startswith(following)
    again = shlex.split(shell)
    program = {"python": [sys.executable], "hiddenstate": [sys.executable, "-m", "verify.cli"]}
    done = subprocess.run(
        [*program[again[0]], *again[1:]], capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = re.search(r"expected  ([0-9.]+)", result.stdout)
    assert expected is not None
    assert expected[1][:6] in done.stdout
