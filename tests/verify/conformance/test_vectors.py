"""The golden vectors: well formed, true, reproducible, and confirmed by definitions.

The confirmation uses `tests/golden/oracle.py`, which imports no bound and computes from the printed
definitions at 160 digits; by default on a sample, whole when slow.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import mpmath
import pytest
from click.testing import CliRunner

from bounds.arith.multiprecision import Multiprecision
from bounds.bound import Bound, Source, find, registry
from bounds.paper import fixed_order
from bounds.setting import InvalidInput
from verify.cli import cli
from verify.conformance import answers, generate
from verify.conformance.answers import IN_DOUBLES
from verify.conformance.design import DESIGN, depends, fitted, limits, ordinary, reads
from verify.conformance.flags import FLAGS, Case
from verify.conformance.vectors import (
    DIGITS,
    FOLDER,
    OTHERS,
    SCHEMA,
    Vector,
    as_json,
    load,
    load_file,
    names,
    read,
    text_of,
    vector_id,
)

ORACLE = Path(__file__).parents[2] / "golden" / "oracle.py"
FILES = (*names(), *OTHERS)
EVERY = {name: load(name) for name in FILES}
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
MOST_STEPS = 200_000

# Ids that were published: none may disappear from under a user, or change its question.
PUBLISHED_IDS = {
    "fixed_order-26e859387b": (
        "alpha=10 b=2 beta=4 epochs=1 eta=0.02 lambda=1 n=50 position=0 sensitivity=4 sigma2=4 "
    ),
    "fixed_order-279947d9e7": (
        "alpha=3 b=7 beta=4 epochs=8 eta=0.02 lambda=1 n=28 position=0 sensitivity=4 sigma2=0.25 "
    ),
    "conversion-f221c7f0f6": ("delta=0.00001 epsilons=1 orders=2 rule=classical "),
}


def document(name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return made


# Form


def test_there_is_a_file_for_every_bound() -> None:
    assert set(names()) == set(registry())
    assert {path.stem for path in FOLDER.glob("*.json")} == set(FILES)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("name", FILES)
def test_form(name: str) -> None:
    made = document(name)
    VALIDATOR.validate(made)
    assert made["name"] == name
    assert made["count"] == len(made["vectors"])
    assert set(made["flags"]) == {flag for item in made["vectors"] for flag in item["flags"]}
    assert all(made["flags"][flag] == FLAGS[flag].as_json() for flag in made["flags"])
    keys = {key for item in made["vectors"] for key in item["input"]}
    assert keys <= set(made["conventions"])
    labels = {item["assumption"] for item in made["vectors"] if "assumption" in item}
    assert labels <= set(made["assumptions"])
    assert read(made).vectors == EVERY[name]
    assert text_of(as_json(load_file(name))) == (FOLDER / f"{name}.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda item: item.pop("upper"), "an answer without an end"),
        (lambda item: item.update(assumption="order"), "an answer and a refusal"),
        (lambda item: item.update(flags=[]), "no reason"),
        (lambda item: item.update(lower="nan"), "no number"),
        (lambda item: item["input"].update(learning_rate="0.02"), "an unknown parameter"),
        (lambda item: item["input"].update(eta=0.02), "a number that is not text"),
        (lambda item: item.update(id="fixed_order-17"), "an id of another scheme"),
    ],
)
def test_the_schema_refuses(change: Any, what: str) -> None:
    made = document("fixed_order")
    change(made["vectors"][0])
    assert not VALIDATOR.is_valid(made), what


def test_ids() -> None:
    """Unique, and the same for the same question for ever."""
    seen = Counter(vector.id for vectors in EVERY.values() for vector in vectors)
    assert max(seen.values()) == 1
    for name, vectors in EVERY.items():
        assert all(vector.id == vector_id(name, vector.input) for vector in vectors)
    for known, text in PUBLISHED_IDS.items():
        given = dict(item.split("=") for item in text.split())
        found = [v for v in EVERY[known.rpartition("-")[0]] if v.id == known]
        assert [dict(v.input) for v in found] == [given]
    backwards = dict(reversed(EVERY["fixed_order"][0].input.items()))
    assert vector_id("fixed_order", backwards) == EVERY["fixed_order"][0].id


@pytest.mark.parametrize("name", FILES)
def test_numbers_of_vectors(name: str) -> None:
    vectors = EVERY[name]
    assert 60 <= len(vectors) <= 200
    assert sum(not vector.valid for vector in vectors) >= 20
    assert sum(vector.valid for vector in vectors) >= 50
    assert len({json.dumps(dict(vector.input), sort_keys=True) for vector in vectors}) == len(
        vectors
    )


def test_every_flag_is_used_and_says_what_it_catches() -> None:
    used = {flag for vectors in EVERY.values() for vector in vectors for flag in vector.flags}
    assert used == set(FLAGS)
    assert all(flag.says and flag.catches for flag in FLAGS.values())
    assert len({flag.says for flag in FLAGS.values()}) == len(FLAGS)


def case_of(name: str, vector: Vector) -> Case:
    bound = find(vector.input.get("bound", name)) if name not in ("conversion",) else None
    try:
        setting = vector.setting()
    except InvalidInput:
        setting = None
    return Case(vector.input, bound, setting, vector.assumption, vector.lower, vector.upper)


def ill_flagged(name: str, vectors: tuple[Vector, ...], whole: bool) -> list[str]:
    """Flags that do not hold of their vectors."""
    found = []
    for i, vector in enumerate(vectors):
        case = case_of(name, vector)
        for flag in vector.flags:
            if not whole and FLAGS[flag].mistaken is not None and i % 3:
                continue
            kind = name if name in OTHERS else "bound"
            if not FLAGS[flag].fits(case) or kind not in FLAGS[flag].kinds:
                found.append(f"{vector.id}: {flag}")
    return found


@pytest.mark.parametrize("name", FILES)
def test_flags_hold(name: str) -> None:
    assert ill_flagged(name, EVERY[name], name == "fixed_order") == []


def test_a_wrong_flag_is_seen() -> None:
    first = EVERY["fixed_order"][0]
    settled = next(v for v in EVERY["fixed_order"] if "huge-epochs" in v.flags)
    refused = next(v for v in EVERY["fixed_order"] if not v.valid)
    for vector, flag in (
        (first, "two-batches"), (first, "last-batch"), (first, "order-at-most-one"),
        (settled, "epochs-as-updates"), (refused, "first-batch"), (first, "unreachable"),
    ):  # fmt: skip
        assert ill_flagged("fixed_order", (replace(vector, flags=(flag,)),), True), flag


@pytest.mark.parametrize("name", names())
def test_what_the_issue_lists_is_there(name: str) -> None:
    """The cases that were asked for, wherever the bound can have them."""
    bound, flags = registry()[name], {flag for v in EVERY[name] for flag in v.flags}
    labels = {item.label for item in bound.assumptions}
    known = depends(bound)
    wanted = {"figure", "ordinary", "tiny-answer", "small-noise", "noise-not-positive"}
    wanted |= {"noise-halved", "count-not-positive", "batch-beyond-data", "not-a-number"}
    if "n" in known and "full-batch" not in labels:
        wanted |= {"odd-batches", "two-batches", "three-batches", "indivisible", "full-batch"}
    if "epochs" in known:
        wanted |= {"one-epoch", "huge-epochs"}
        if "full-batch" not in labels:
            wanted |= {"epochs-as-updates"} if name != "optimal_without_replacement" else set()
    if "alpha" in known:
        wanted |= {"order-near-one", "large-order", "overflow", "fractional-order"}
        wanted |= {"order-at-most-one", "integer-order"}
    if "position" in known:
        wanted |= {"first-batch", "middle-batch", "last-batch", "position-out-of-range"}
        wanted |= {"position-from-one", "position-from-the-end"}
    if "lambda" in known:
        wanted |= {"lambda-zero", "below-one-ulp", "cancellation", "contraction-near-zero"}
        wanted |= {"lambda-beyond-beta", "lambda-negative"}
    if "sensitivity" in known:
        wanted |= {"add-or-remove", "sensitivity-not-positive"}
    if "b" in known:
        wanted |= {"noise-on-the-sum"}
    if any(item.label == "step-size" and item.needs != ("eta",) for item in bound.assumptions):
        wanted |= {"step-at-limit", "step-near-limit", "step-beyond-limit"}
    if "one-epoch" in labels:
        wanted |= {"several-epochs"}
    if "full-batch" in labels:
        wanted |= {"not-full-batch"}
    assert wanted <= flags, wanted - flags


def test_edges_are_exact_in_double_precision() -> None:
    """So that a subject that reads doubles is not blamed for how its input was rounded."""
    keys = {
        "contraction-near-zero": ("eta",),
        "step-near-limit": ("eta", "lambda", "beta"),
        "step-beyond-limit": ("eta", "lambda", "beta"),
        "order-near-one": ("alpha",),
    }
    for name in names():
        for vector in EVERY[name]:
            for flag in set(vector.flags) & set(keys):
                for key in keys[flag]:
                    value = Fraction(vector.input.get(key, "1"))
                    assert Fraction(float(value)) == value, (vector.id, key)


# Truth, by the library


@pytest.mark.parametrize("name", FILES)
def test_enclosures_are_narrow(name: str) -> None:
    for vector in EVERY[name]:
        if not vector.valid:
            assert vector.lower is vector.upper is None
            continue
        low, high = Fraction(vector.lower or ""), Fraction(vector.upper or "")
        assert 0 <= low <= high, vector.id
        assert not vector.wide or high > 0
        digits = DIGITS - 2
        if vector.wide:
            digits = IN_DOUBLES[name][0] - 2 if name in IN_DOUBLES else answers.SEARCH_DIGITS - 2
        assert high - low <= high / 10**digits, vector.id


@pytest.mark.parametrize("name", names())
def test_the_library_accepts_and_refuses(name: str) -> None:
    bound = registry()[name]
    for vector in EVERY[name]:
        assert set(vector.input) == set(reads(bound))
        reason: str | None = None
        try:
            bound.check(vector.setting())
        except InvalidInput as error:
            reason = getattr(error, "label", answers.unreadable(vector.input))
        assert reason == vector.assumption, vector.id
        if vector.valid or reason in ("not-a-number", "whole-number"):
            continue
        broken = (
            {item.label for item in bound.assumptions if not item.holds(vector.setting())}
            if (vector.setting().n or 0) > 0 and (vector.setting().b or 0) > 0
            else {reason}
        )
        counts = {"batch-size", "position", "at-least-two-batches", "full-batch"}
        assert broken <= {reason} | counts, f"{vector.id} violates {broken}"


SAMPLE = (
    "fixed_order", "shuffle_partition", "first_epoch", "lsi_convex", "full_batch",
    "sampled_gaussian", "feldman_2018_one_epoch", "conversion", "calibration",
)  # fmt: skip


def regenerates(name: str) -> bool:
    return generate.text(name).encode("ascii") == (FOLDER / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", SAMPLE)
def test_the_generator_gives_the_committed_bytes(name: str) -> None:
    assert regenerates(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_generator_gives_all_the_committed_bytes(name: str) -> None:
    assert regenerates(name)


def test_total_size() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.json")) < 4_000_000


def test_ordinary_settings_do_not_depend_on_their_number() -> None:
    assert list(ordinary(30))[:10] == list(ordinary(10))


def test_a_new_bound_gets_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """No list of bounds is kept: a bound that nobody has heard of is asked the same questions."""
    new = Bound(
        name="new", source=Source("here", "new", "new"), scheme="fixed order",
        assumptions=registry()["fixed_order"].assumptions,
        epsilon=lambda p, ctx: 2 * fixed_order.epsilon(p, ctx), printed=fixed_order.printed,
        summary="Twice Theorem 3.3.",
    )  # fmt: skip
    with_new = {**registry(), "new": new}
    monkeypatch.setattr(generate, "registry", lambda: with_new)
    monkeypatch.setattr(answers, "find", lambda name: with_new[name])
    made = json.loads(generate.text("new"))
    VALIDATOR.validate(made)
    twice = {
        json.dumps(item["input"]): item["lower"] for item in made["vectors"] if "lower" in item
    }
    once = {json.dumps(dict(v.input), sort_keys=True): v.lower for v in EVERY["fixed_order"]}
    shared = set(twice) & {key for key, value in once.items() if value}
    assert len(shared) > 100
    for key in shared:
        ratio = Fraction(twice[key]) / Fraction(once[key] or "")
        assert abs(ratio - 2) < Fraction(1, 10**37)


def test_rows_are_not_written_in_vain() -> None:
    """Every designed row is kept for some bound, with every flag that it names."""
    kept = {
        (vector.id, flag) for name in names() for vector in EVERY[name] for flag in vector.flags
    }
    for item in DESIGN:
        for flag in item.flags:
            assert any(
                (vector_id(name, fitted(bound, item.changes, item.after)), flag) in kept
                for name, bound in registry().items()
            ), (item, flag)
    for name, bound in registry().items():
        rows = list(limits(bound))
        assert not rows or len(rows) >= 8, name


# Truth, by definition


@pytest.fixture(scope="module")
def loaded() -> Iterator[ModuleType]:
    """The definitions."""
    spec = importlib.util.spec_from_file_location("vector_oracle", ORACLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["vector_oracle"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["vector_oracle"]


@pytest.fixture
def oracle(loaded: ModuleType) -> Iterator[ModuleType]:
    """The same, at its working precision, which is mpmath's global one."""
    with mpmath.workdps(loaded.WORKING_DIGITS):
        yield loaded


def oracle_setting(oracle: ModuleType, given: dict[str, str]) -> Any:
    """The input as the oracle's setting; what a bound does not read is anything."""
    full = {"eta": "1/50", "lambda": "0", "beta": "1", "sensitivity": "1", "sigma2": "1"}
    full |= {"alpha": "2", "position": "0", **given}
    keys = ("n", "b", "epochs", "eta", "lambda", "beta", "sensitivity", "sigma2", "alpha")
    return oracle.Setting(*(full[key] for key in keys), full["position"], "")


BY_STEPS = {"recursion_postprocessing", "recursion_combined", "without_replacement"}
MOST_RECURSION = 20_000
DERIVED = [name for name, b in registry().items() if b.epsilon.__module__.startswith("bounds.der")]
PUBLISHED = [name for name in names() if name not in DERIVED]


def defined(oracle: ModuleType, name: str, given: dict[str, str], quadrature: bool) -> Any:
    """The value by definition, or None where the definition cannot be summed in reasonable time."""
    s = oracle_setting(oracle, given)
    if name == "first_epoch":
        return oracle.epsilon_first_epoch(s, s.batches - s.j0)
    if name in BY_STEPS and s.passes * s.batches > MOST_RECURSION:
        return None
    if name == "sampled_gaussian":
        return defined_sampled(oracle, s, quadrature)
    return oracle.BOUNDS[name].value(s)


def defined_sampled(oracle: ModuleType, s: Any, quadrature: bool) -> Any:
    """For whole orders the binomial sum, for others the integral in both directions, which is slow.

    That the sum's direction is the larger one is Theorem 5 of Mironov et al. 2019.
    """
    order, p = Fraction(s.alpha), Fraction(s.b) / Fraction(s.n)
    a = Fraction(s.eta) * Fraction(s.sensitivity) ** 2
    a /= 4 * Fraction(s.sigma2) * Fraction(s.b) ** 2
    if order.denominator == 1 and order <= 1000:
        return s.passes * s.batches * oracle.sampled_gaussian_binomial(p, a, order.numerator)
    # An integral of 1 + 1e-20 and less keeps too few of its digits.
    if quadrature and oracle.quadrature_trusted(s) and a > Fraction(1, 10**15):
        return oracle.sampled_gaussian(s)
    return None


def digits_for(vector: Vector) -> int:
    """Enough digits for a value that is the logarithm of something next to 1."""
    return 160 + max(0, min(-Decimal(vector.upper or "1").adjusted(), 1000))


def misses(vector: Vector, value: Any) -> bool:
    """Whether a value by definition, good to 60 digits and more, is outside the enclosure."""
    low, high = mpmath.mpf(vector.lower), mpmath.mpf(vector.upper)
    slack = abs(value) * mpmath.mpf(10) ** -60
    return not low - slack <= value <= high + slack


def confirmed(
    oracle: ModuleType, name: str, vectors: list[Vector], quadrature: bool = False
) -> tuple[int, list[str]]:
    """How many vectors the definition reaches, and which it contradicts."""
    done, wrong = 0, []
    for vector in vectors:
        with mpmath.workdps(digits_for(vector)):
            value = defined(oracle, name, dict(vector.input), quadrature)
        if value is None:
            continue
        done += 1
        if misses(vector, value):
            wrong.append(f"{vector.id}: {mpmath.nstr(value, 20)} is not {vector.lower}")
    return done, wrong


def valid(name: str) -> list[Vector]:
    return [vector for vector in EVERY[name] if vector.valid]


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_sample_agrees_with_the_definitions(oracle: ModuleType, name: str) -> None:
    sample = valid(name)[::6]
    done, wrong = confirmed(oracle, name, sample)
    assert wrong == []
    assert done >= len(sample) // 2


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", PUBLISHED)
def test_all_agree_with_the_definitions(oracle: ModuleType, name: str) -> None:
    done, wrong = confirmed(oracle, name, valid(name), quadrature=True)
    assert wrong == []
    # Integrals are not trusted at large orders, nor recursions summed over very long runs.
    assert done >= 0.85 * len(valid(name))


def test_fractional_orders_of_the_baseline_agree_with_the_integral(oracle: ModuleType) -> None:
    """Where accountants differ: fractional orders and small rates, from the definition."""
    found = [v for v in valid("sampled_gaussian") if "fractional-order" in v.flags]
    small = [v for v in found if "small-rate" in v.flags][:1]
    assert confirmed(oracle, "sampled_gaussian", small, quadrature=True) == (1, [])


def test_a_wrong_value_is_seen(oracle: ModuleType) -> None:
    vector = valid("fixed_order")[0]
    value = defined(oracle, "fixed_order", dict(vector.input), False)
    assert not misses(vector, value)
    assert misses(vector, value * (1 + mpmath.mpf(10) ** -38))
    assert misses(vector, value * (1 - mpmath.mpf(10) ** -38))


@pytest.mark.parametrize("name", [name for name in DERIVED if name not in IN_DOUBLES])
def test_derived_bounds_agree_with_their_sums(name: str) -> None:
    """No source outside: the sums of the proof, term by term at 200 digits."""
    bound, done = find(name), 0
    for vector in valid(name)[::4]:
        setting, ctx = vector.setting(), Multiprecision(digits_for(vector) + 40)
        if setting.steps > 150:
            continue
        value = ctx.mp.mpf(ctx.mp.nstr(bound.in_system(setting, ctx, printed=True), 150))
        with mpmath.workdps(160):
            assert not misses(vector, mpmath.mpf(value)), vector.id
        done += 1
    assert done >= 8


# Conversion and calibration, by definition


def curve_value(oracle: ModuleType, given: dict[str, str], order: Any) -> Any:
    """eps(order) of the bound that is named in an input; the order is exact or real."""
    setting = {key: text for key, text in given.items() if key in answers.SETTING_KEYS}
    if isinstance(order, Fraction):
        value = defined(oracle, given["bound"], {**setting, "alpha": str(order)}, True)
        assert value is not None
        return value
    low = oracle_setting(oracle, {**setting, "alpha": "2"})
    object.__setattr__(low, "alpha", str(Fraction(mpmath.nstr(order, 100))))
    return oracle.BOUNDS[given["bound"]].value(low)


def rule_value(oracle: ModuleType, given: dict[str, str], order: Any, value: Any) -> Any:
    alpha = oracle.exact(order) if isinstance(order, Fraction) else order
    return oracle.CONVERSIONS[given["rule"]](alpha, value, oracle.exact(Fraction(given["delta"])))


def least(oracle: ModuleType, given: dict[str, str]) -> Any:
    """The least epsilon by definition: over the list, or over all real orders."""
    if "epsilons" in given:
        values = [oracle.exact(Fraction(text)) for text in given["epsilons"].split(",")]
        orders = [Fraction(text) for text in given["orders"].split(",")]
        found = [rule_value(oracle, given, *pair) for pair in zip(orders, values, strict=True)]
        return max(min(found), mpmath.mpf(0))
    if "orders" in given:
        orders = [Fraction(text) for text in given["orders"].split(",")]
        found = [rule_value(oracle, given, x, curve_value(oracle, given, x)) for x in orders]
        return max(min(found), mpmath.mpf(0))
    if given["bound"] != "shuffle_partition":
        rho = curve_value(oracle, given, Fraction(2)) / 2
        minimum = oracle.MINIMA[f"gaussian_{given['rule']}_minimum"]
        return max(minimum(rho, oracle.exact(Fraction(given["delta"])))[0], mpmath.mpf(0))
    return least_by_search(oracle, given)


def least_by_search(oracle: ModuleType, given: dict[str, str]) -> Any:
    """By thirds, on log(alpha - 1), where the value has one dip; good to far more than 9 digits."""

    def at(x: Any) -> Any:
        order = 1 + mpmath.exp(x)
        return rule_value(oracle, given, order, curve_value(oracle, given, order))

    low, high = mpmath.mpf(-3), mpmath.mpf(8)
    grid = [at(low + (high - low) * i / 40) for i in range(41)]
    dips = sum(b < a and b < c for (a, b), (_, c) in pairwise(pairwise(grid)))
    assert dips == 1
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if at(left) < at(right):
            high = right
        else:
            low = left
    return at((low + high) / 2)


def unconfirmed(oracle: ModuleType, name: str, vectors: list[Vector]) -> list[str]:
    """The vectors of conversion or calibration that the definitions contradict."""
    wrong = []
    for vector in vectors:
        given = dict(vector.input)
        if name == "calibration":
            target = oracle.exact(Fraction(given["target_epsilon"]))
            ends = [
                least(oracle, {**given, "sigma2": e or ""}) for e in (vector.lower, vector.upper)
            ]
            if not ends[0] >= target >= ends[1]:
                wrong.append(f"{vector.id}: {ends} are not around {target}")
        elif misses(vector, least(oracle, given)):
            wrong.append(f"{vector.id}: {least(oracle, given)} is not {vector.lower}")
    return wrong


def sample_of(name: str) -> list[Vector]:
    """Without the baseline, whose integrals are slow, nor searches; the extremes wholly."""
    quick = [
        vector
        for vector in valid(name)
        if vector.input.get("bound") not in ("sampled_gaussian", "shuffle_partition")
        and len(vector.input.get("orders", "")) < 200
    ]
    extremes = [vector for vector in quick if vector.input.get("n") == "1"]
    return quick if name == "conversion" else [*quick[::5], *extremes]


@pytest.mark.parametrize("name", OTHERS)
def test_a_sample_of_conversions_agrees_with_the_definitions(oracle: ModuleType, name: str) -> None:
    assert len(sample_of(name)) >= 10
    assert unconfirmed(oracle, name, sample_of(name)) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", OTHERS)
def test_all_conversions_agree_with_the_definitions(oracle: ModuleType, name: str) -> None:
    assert unconfirmed(oracle, name, valid(name)) == []


def test_a_wrong_conversion_is_seen(oracle: ModuleType) -> None:
    for name in OTHERS:
        vector = sample_of(name)[0]
        for key, text in (("delta", "0.00002"), ("rule", "classical")):
            if vector.input[key] == text:
                continue
            wrong = replace(vector, input={**vector.input, key: text})
            assert unconfirmed(oracle, name, [wrong])
    extremes = [v for v in valid("conversion_of_bound") if v.input.get("n") == "1"]
    assert len(extremes) >= 40
    for vector in extremes:
        twice = str(2 * Fraction(vector.input["sigma2"]))
        wrong = replace(vector, input={**vector.input, "sigma2": twice})
        assert bool(unconfirmed(oracle, "conversion_of_bound", [wrong])) == (vector.upper != "0")


# Reading and the command


def test_load() -> None:
    assert load("thm-4.2") == load("shuffle_partition")
    assert load_file("cor-5.3").standing == "claim"
    assert load_file("lsi_convex").quantity == "lsi-constant"
    with pytest.raises(InvalidInput, match="no vectors called 'nothing'; there are: balle_2019"):
        load("nothing")


def test_the_command_writes_what_is_committed(tmp_path: Path) -> None:
    out = tmp_path / "made" / "here"
    result = CliRunner().invoke(cli, ["vectors", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert f"Full result: {out}" in " ".join(result.output.split())
    assert {path.name for path in out.iterdir()} == {SCHEMA.name, *(f"{n}.json" for n in FILES)}
    for name in FILES:
        assert (out / f"{name}.json").read_bytes() == (FOLDER / f"{name}.json").read_bytes()
    result = CliRunner().invoke(cli, ["vectors", "--out", str(out), "--quiet"])
    assert result.output == ""
    result = CliRunner().invoke(cli, ["vectors", "--out", str(out), "--json"])
    assert json.loads(result.output)["vectors"]["fixed_order"] == len(EVERY["fixed_order"])


def test_the_command_refuses_a_file_for_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = CliRunner().invoke(cli, ["vectors", "--out", str(tmp_path / "file")])
    assert result.exit_code == 2


def test_check_sees_a_difference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(generate, "names", lambda: ("lsi_convex", "one_update"))
    for name in ("lsi_convex", "one_update"):
        (tmp_path / f"{name}.json").write_bytes((FOLDER / f"{name}.json").read_bytes())
    monkeypatch.setattr("verify.conformance.vectors.FOLDER", tmp_path)
    result = CliRunner().invoke(cli, ["vectors", "--check"])
    assert (result.exit_code, len(result.output.splitlines())) == (0, 1)
    path = tmp_path / "one_update.json"
    path.write_text(path.read_text().replace('"lower": "1', '"lower": "2', 1))
    result = CliRunner().invoke(cli, ["vectors", "--check", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.output) == {"differing": ["one_update.json"]}
    path.unlink()
    (tmp_path / "strange.json").write_text("{}")
    result = CliRunner().invoke(cli, ["vectors", "--check"])
    assert result.exit_code == 1
    assert "one_update.json differs" in result.output
    assert "strange.json differs" in result.output
