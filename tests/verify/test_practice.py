"""Training configurations: keys, conventions, and the rules that warn."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.bound import Bound, find, registry
from bounds.conversion import best_order, calibrate
from bounds.setting import InvalidInput, MissingParameter, Setting
from empirical import schemes
from verify import practice
from verify.comparison import compare_run
from verify.practice import Case, load, read, read_orders, rules, warnings

SANE: dict[str, Any] = {
    "n": 60000, "b": 2000, "epochs": 1199, "eta": Decimal("0.75"), "lambda": Decimal("0.08"),
    "feature-clip-norm": 2, "noise-multiplier": Decimal("3.08"), "scheme": "shuffle-once",
    "delta": Decimal("1e-5"), "rule": "classical",
    "orders": "1 + x/10 for x in 1..99 and 12..63",
    "normalisation": {"noise-multiplier": 8, "queries": 2},
}  # fmt: skip
RECIPE = {**SANE, "b": 2048, "epochs": 1200}
DROP = object()


def changed(**changes: Any) -> dict[str, Any]:
    """SANE with keys changed (`_` for `-`, a last one dropped), or left out."""
    made = dict(SANE)
    for key, value in changes.items():
        name = key.rstrip("_").replace("_", "-")
        made.pop(name, None)
        if value is not DROP:
            made[name] = value
    return made


def in_play(*names: str) -> list[Bound]:
    every = [b for b in registry().values() if b.quantity == "renyi-divergence"]
    return [find(name) for name in names] if names else every


def said_by(name: str, data: dict[str, Any], *bounds: str, convert: bool = False) -> list[str]:
    run = read(data)
    found = []
    if convert:
        found = [
            best_order(b, run.setting, run.delta, run.rule, orders=run.orders, extra=run.extra)
            for b in in_play(*bounds)
        ]
    return list(rules()[name](Case(run, tuple(in_play(*bounds)), tuple(found))))


# The published recipe


def test_the_published_recipe_gives_2_995() -> None:
    run = read(RECIPE)
    assert run.setting.beta == Fraction("2.58")
    made = best_order(
        "shuffle_partition", run.setting, run.delta, run.rule, orders=run.orders, extra=run.extra
    )
    assert f"{made.epsilon:.3f}" == "2.995"
    assert made.order == 7
    assert run.delta is not None
    assert run.orders is not None
    assert len(run.orders) == 151


def test_the_clip_norm_cancels_against_a_noise_multiplier() -> None:
    rates = {
        read({**RECIPE, **more}).setting.rate
        for more in ({}, {"clip-norm": 1}, {"clip-norm": "7/3"}, {"sensitivity": 4})
    }
    assert rates == {2 / Fraction("3.08") ** 2}


def test_a_noise_multiplier_is_recovered() -> None:
    run = read({**RECIPE, "clip-norm": 2, "target-epsilon": "2.995"})
    found = calibrate(
        "shuffle_partition", run.setting, run.target_epsilon, run.delta, run.rule,
        orders=run.orders, extra=run.extra,
    )  # fmt: skip
    assert found.noise_multiplier_lower.startswith("3.080")


def test_each_part_of_the_recipe_matters() -> None:
    def epsilon(data: dict[str, Any], **less: Any) -> str:
        run = read(data)
        kept = {"orders": run.orders, "extra": run.extra, **less}
        made = best_order("shuffle_partition", run.setting, run.delta, run.rule, **kept)
        return f"{made.epsilon:.3f}"

    assert epsilon(RECIPE) == "2.995"
    assert epsilon(RECIPE, extra=None) != "2.995"
    assert epsilon({**RECIPE, "rule": "canonne_kamath_steinke_2020"}) != "2.995"
    assert epsilon({**RECIPE, "normalisation": {"noise-multiplier": 8, "queries": 1}}) != "2.995"
    assert epsilon({**RECIPE, "feature-clip-norm": "1.9"}) == "2.995"  # beta only decides whether


# Conventions


def test_conventions_are_translated_exactly() -> None:
    s = read(changed(clip_norm=3)).setting
    assert (s.sensitivity, s.beta) == (6, Fraction("2.58"))
    bare = read(changed()).setting.sensitivity
    assert bare is not None
    # 2 sqrt(2 (L^2 + 1)) = 2 sqrt(10), from above
    assert 0 <= bare**2 - 40 < Fraction(1, 10**10)
    assert read(changed(beta=3, sensitivity=5)).setting.beta == 3
    assert read(changed(epochs=DROP, updates=30 * 17)).setting.epochs == 17
    assert read(changed(noise_multiplier=DROP, sigma2="1/3")).setting.sigma2 == Fraction(1, 3)
    # A perfect square stays exact: L = 1 gives 2 sqrt(4) = 4.
    assert Setting.of(beta=3, feature_clip_norm=1).sensitivity == 4


@settings(max_examples=50, deadline=None)
@given(st.fractions(Fraction(1, 100), 100, max_denominator=1000))
def test_the_implied_sensitivity_is_rounded_up(radius: Fraction) -> None:
    got = Setting.of(beta=1, feature_clip_norm=radius).sensitivity
    assert got is not None
    true = 8 * (radius**2 + 1)
    assert got**2 >= true
    assert (got - Fraction(1, 10**12)) ** 2 < true


def test_flags_override_the_file_whatever_its_convention() -> None:
    assert read(SANE, {"sigma2": "3"}).setting.sigma2 == 3
    assert read(changed(clip_norm=1), {"sensitivity": "5"}).setting.sensitivity == 5
    assert read(changed(epochs=DROP, updates=30), {"epochs": "7"}).setting.epochs == 7
    assert read(SANE, {"delta": "1e-6"}).delta == Fraction(1, 10**6)
    assert read(SANE, {"orders": "2..4"}).orders == (2, 3, 4)
    with pytest.raises(InvalidInput, match="give one"):
        read(SANE, {"sigma2": "3", "noise-multiplier": "2"})


def test_a_curve_is_a_table() -> None:
    run = read(changed(normalisation={"curve": [[2, Decimal("0.1")], [7, "1/5"]]}, orders=DROP))
    assert run.extra == {Fraction(2): Fraction(1, 10), Fraction(7): Fraction(1, 5)}
    made = best_order("shuffle_partition", run.setting, run.delta, run.rule, extra=run.extra)
    assert made.order == 7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12..14", ["12", "13", "14"]),
        ("1.1..1.35 step 0.1", ["1.1", "1.2", "1.3"]),
        ("1 + x/4 for x in 1..3", ["1.25", "1.5", "1.75"]),
        ("x for x in 2..3 and 9", ["2", "3", "9"]),
        ("5/2, 2, 2.0", ["2", "2.5"]),
        ([2, "3..4", Decimal("1.5")], ["1.5", "2", "3", "4"]),
        (8, ["8"]),
    ],
)
def test_orders_are_read_exactly(text: object, expected: list[str]) -> None:
    assert read_orders(text) == tuple(map(Fraction, expected))


# Refusals


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (changed(epoch=5), "'epoch' is no key; did you mean 'epochs'"),
        (changed(lr=1), "did you mean 'eta' (step size)"),
        (changed(max_grad_norm=1), "did you mean 'clip-norm'"),
        (changed(frobnicate=1), "'frobnicate' is no key; there are: n, b, epochs"),
        ({**SANE, "noise_multiplier": 3}, "'noise-multiplier' is given twice"),
        (changed(n="many"), "run.toml: n is 'many'; an integer"),
        (changed(n=Decimal("1.5")), "run.toml: n is 1.5; an integer is wanted"),
        (changed(n=True), "run.toml: n is True"),
        (changed(eta=[1]), "run.toml: eta is a list; one number"),
        (changed(eta=Decimal("nan")), "run.toml: eta is"),
        (changed(sigma2=4), "give one"),
        (changed(updates=30), "give one"),
        (changed(epochs=DROP, updates=31), "30 or 60 would do"),
        (changed(clip_norm=0), "clip norm > 0"),
        (changed(feature_clip_norm=-1), "feature clip norm > 0"),
        (changed(feature_clip_norm=DROP), "clip-norm or feature-clip-norm would do"),
        (changed(scheme="shuffle"), "one of these is wanted: fixed-order"),
        (changed(scheme="reshufle"), "did you mean 'reshuffle'"),
        (changed(scheme=3), "run.toml: scheme is 3"),
        (changed(rule="best"), "run.toml: rule is 'best'"),
        (changed(adjacency="add"), "replace-one"),
        (changed(delta=2), "run.toml: delta is 2; a number between 0 and 1"),
        (changed(target_epsilon=0), "target-epsilon is 0; a positive number"),
        (changed(classes=1), "classes is 1; 2 or more"),
        (changed(orders=[]), "orders is empty"),
        (changed(orders=[1, 2]), "orders holds 1; orders above 1"),
        (changed(orders="2..1"), "a range without orders"),
        (changed(orders="2..9 step 0"), "a range without orders"),
        (changed(orders="2..1e9"), "more than 10000"),
        (changed(orders="x/0 for x in 2..3"), "a range without orders"),
        (changed(orders="two"), "orders holds 'two'; a list such as"),
        (changed(orders=[[2]]), "orders holds a list"),
        (changed(orders=True), "orders is true"),
        (changed(normalisation=8), "normalisation is 8; a table"),
        (changed(normalisation={"noise-multiplier": 8}), "lacks queries"),
        (changed(normalisation={"queries": 2}), "lacks noise-multiplier"),
        (changed(normalisation={"noise-multiplier": 0, "queries": 2}), "a positive number"),
        (changed(normalisation={"noise-multiplier": 8, "queries": "1.5"}), "an integer"),
        (changed(normalisation={"noise-mult": 8}), "[normalisation] 'noise-mult' is no key; did"),
        (changed(normalisation={"curve": [2, 3]}), "pairs of an order and an epsilon"),
        (changed(normalisation={"curve": [[1, 3]]}), "an order above 1"),
        (changed(normalisation={"curve": [[2, 3], ["2.0", 3]]}), "order 2 twice"),
        (changed(normalisation={"curve": [[2, 3]], "queries": 2}), "one of the two"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(data, where="run.toml")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_smoothness_cannot_be_implied_without_lambda() -> None:
    with pytest.raises(MissingParameter, match="--lambda"):
        Setting.of(feature_clip_norm=2)


def test_files_that_are_no_toml_say_so(tmp_path: Any) -> None:
    path = tmp_path / "run.toml"
    path.write_text("n = 5\neta = 2/5\n")
    with pytest.raises(InvalidInput, match="stands in quotes"):
        load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="not TOML"):
        load(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        load(tmp_path / "none.toml")
    path.write_text("eta = 0.1\n")
    assert load(path) == {"eta": Decimal("0.1")}


def test_vocabularies_agree() -> None:
    assert set(practice.SCHEMES) == {*schemes.SCHEMES, "full-batch"}
    from bounds.conversion import DEFAULT_RULE, RULES

    assert set(practice.RULES) == set(RULES)
    assert practice.DEFAULT_RULE == DEFAULT_RULE
    assert set(practice.ELSEWHERE.values()) <= set(practice.KEYS)
    assert not set(practice.ELSEWHERE) & set(practice.KEYS)
    titles = {read({"scheme": name}).title for name in practice.SCHEMES}
    assert {b.scheme for b in registry().values()} - {"one update"} <= titles


# Rules

SMALL: dict[str, Any] = {
    "n": 50, "b": 2, "epochs": 50, "eta": Decimal("0.02"), "lambda": 1, "beta": 4,
    "sensitivity": 4, "sigma2": 4, "alpha": 10,
}  # fmt: skip
FULL = {**SMALL, "b": 50, "eta": Decimal("0.1")}


@pytest.mark.parametrize("data", [SANE, SMALL, changed(delta=DROP, normalisation=DROP)])
def test_every_rule_is_silent_on_sane_runs(data: dict[str, Any]) -> None:
    for name in rules():
        assert said_by(name, data) == [], name
    if "delta" in data:
        assert said_by("order_at_edge", data, "shuffle_partition", convert=True) == []


# The rule; a run at which it fires and words that it says; a run beside it at which it is silent;
# the bounds in play (all, where none is named).
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any], tuple[str, ...]]] = [
    ("epochs_look_like_updates", changed(epochs=36000), "1200 epochs", changed(epochs=36001), ()),
    ("epochs_look_like_updates", {**RECIPE, "epochs": 34800}, "1200 epochs", RECIPE, ()),
    ("epochs_look_like_updates", {**RECIPE, "epochs": 35156}, "1200 epochs",
     {**RECIPE, "epochs": 10**12}, ()),
    ("epochs_look_like_updates", changed(epochs=36000), "epochs = 1200 is right",
     changed(epochs=DROP, updates=36000 * 30), ()),
    ("clip_norm_as_sensitivity", changed(sensitivity=1, clip_norm=1), "S_g = 2 is right",
     changed(sensitivity=2, clip_norm=1), ()),
    ("clip_norm_as_sensitivity", changed(sensitivity="1/1000", clip_norm=1), "average gradient",
     changed(clip_norm=1), ()),
    ("clip_norm_as_sensitivity", changed(sensitivity=3, clip_norm=1), "disagree",
     changed(sensitivity=3), ()),
    ("clip_norm_as_sensitivity", changed(sensitivity=2), "feature-clip norm",
     changed(sensitivity=4), ()),
    ("clip_norm_as_sensitivity", changed(sensitivity="3.1623"), "Lipschitz constant",
     changed(sensitivity="6.3246"), ()),
    ("smoothness_without_regulariser", changed(beta="2.5"), "without its regulariser",
     changed(beta="2.58"), ()),
    ("smoothness_without_regulariser", changed(beta=2), "too small", changed(beta=3), ()),
    ("clipping_loses_convexity", changed(clip_norm=1), "classes is not given",
     changed(clip_norm=1, classes=2), ()),
    ("clipping_loses_convexity", changed(clip_norm=1, classes=10), "classes = 10",
     changed(clip_norm=4, classes=10), ()),
    ("step_size_beyond_limit", changed(eta="0.76"), "eta < 2/(lambda + beta)", SANE, ()),
    ("step_size_beyond_limit", changed(eta="0.78"), "convex_fixed_order", changed(eta="0.7"), ()),
    ("step_size_beyond_limit", FULL | {"eta": "0.3"}, "eta < 0.25", FULL, ("full_batch",)),
    ("delta_above_one_over_n", changed(delta="1e-4"), "above 1/n", changed(delta="1/60000"), ()),
    ("reshuffled", changed(scheme="reshuffle"), "one partition", SANE, ()),
    ("reshuffled", changed(scheme="reshuffle"), "shuffle_partition",
     changed(scheme="poisson"), ("shuffle_partition",)),
    ("another_scheme", changed(scheme="poisson"), "'shuffle once'", SANE, ("shuffle_partition",)),
    ("another_scheme", changed(scheme="fixed-order"), "'shuffle once'",
     changed(scheme=DROP), ("shuffle_partition",)),
    ("another_scheme", changed(scheme="without-replacement"), "'fixed order'", SANE,
     ("fixed_order",)),
    ("records_dropped", RECIPE, "608 records", SANE, ()),
    ("records_dropped", {**RECIPE, "scheme": "poisson"}, "sampling probability", SANE, ()),
    ("full_batch", FULL, "full_batch", SMALL, ("shuffle_partition",)),
    ("full_batch", {**FULL, "b": 30}, "leaves out 20 records", {**FULL, "b": 25},
     ("shuffle_partition",)),
    ("full_batch", FULL, "full batch", FULL | {"b": 10}, ()),
    ("convergence_beyond_the_run", {**SMALL, "lambda": "1e-6"}, "beyond K = 50", SMALL, ()),
    ("convergence_beyond_the_run", {**SMALL, "lambda": "1e-300"}, "beyond K = 50",
     {**SMALL, "lambda": 0}, ()),
    ("noise_out_of_range", {**SMALL, "sigma2": "1e9"}, "about 3.2e+05", SMALL, ()),
    ("noise_out_of_range", {**SMALL, "sigma2": "1e-12"}, "noise multiplier", SANE, ()),
    ("other_adjacency", changed(adjacency="add-or-remove"), "one record is replaced",
     changed(adjacency="replace-one"), ()),
    ("normalisation_left_out", changed(delta=DROP), "no number", SANE, ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "odd", "words", "sane", "bounds"), CASES,
    ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)],
)  # fmt: skip
def test_a_rule_fires_where_it_should_and_only_there(
    name: str, odd: dict[str, Any], words: str, sane: dict[str, Any], bounds: tuple[str, ...]
) -> None:
    said = said_by(name, odd, *bounds)
    assert said
    assert any(words in sentence for sentence in said)
    assert all("\n" not in sentence for sentence in said)
    assert said_by(name, sane, *bounds) == []


@pytest.mark.parametrize(
    ("orders", "words"),
    [("8..20", "the least of the grid, 8"), ("2..6", "the largest of the grid, 6"),
     ([7], "the only order")],
)  # fmt: skip
def test_the_edge_of_a_grid_is_seen(orders: object, words: str) -> None:
    said = said_by("order_at_edge", changed(orders=orders), "shuffle_partition", convert=True)
    assert len(said) == 1
    assert words in said[0]
    free = changed(orders=DROP)
    assert said_by("order_at_edge", free, "shuffle_partition", convert=True) == []


def test_every_rule_has_a_case() -> None:
    assert set(rules()) == {case[0] for case in CASES} | {"order_at_edge"}
    assert all(function.__doc__ for function in rules().values())


def test_a_rule_is_found_by_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    @practice.rule
    def extra(case: Case) -> list[str]:
        return [f"n is {case.setting.n}"]

    monkeypatch.setattr(practice, "extra", extra, raising=False)
    assert warnings(read(SMALL), in_play()) == ("n is 50",)


keys = st.sampled_from(["n", "b", "epochs", "eta", "lambda", "beta", "sensitivity", "sigma2"])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(keys, st.sampled_from(["1", "2", "7", "0", "-1", "1e-300", "1e300"])),
       st.sets(keys))  # fmt: skip
def test_rules_do_not_fail_on_odd_or_missing_parameters(
    changes: dict[str, str], missing: set[str]
) -> None:
    data = {k: v for k, v in ({**SMALL, "delta": "0.5"} | changes).items() if k not in missing}
    try:
        run = read(data)
    except InvalidInput:
        return
    for said in warnings(run, in_play()):
        assert "nan" not in said.lower().split()


# Comparisons


def test_warnings_change_no_number() -> None:
    plain = compare_run(read({**SMALL, "scheme": "shuffle-once"}))
    odd = compare_run(read({**SMALL, "scheme": "reshuffle", "adjacency": "add-or-remove"}))
    assert len(odd.warnings) == 2
    assert not plain.warnings
    assert [dataclasses.astuple(r.answer) for r in plain.rows] == [
        dataclasses.astuple(r.answer) for r in odd.rows
    ]


def test_the_order_is_the_best_one_where_none_is_given() -> None:
    data = {k: v for k, v in SMALL.items() if k != "alpha"}
    made = compare_run(
        read({**data, "delta": "1e-5", "scheme": "shuffle-once", "orders": "20..80 step 10"})
    )
    assert made.order_from == "optimal_shuffle"
    assert made.answer is not None
    assert made.answer.bound.name == "optimal_shuffle"
    assert made.setting.alpha == made.answer.converted.order
    assert made.as_json()["order_from"] == "optimal_shuffle"
    with pytest.raises(InvalidInput, match="no order is given"):
        compare_run(read(data))


def test_a_list_with_an_order_at_the_wall_of_theorem_4_3_is_converted() -> None:
    # (b/n) exp((alpha - 1) alpha A) passes 1 between orders 24 and 26: doubles lose digits there.
    run = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4)
    orders = [Fraction(k) for k in range(2, 61, 2)]
    made = best_order("without_replacement", run, "0.1", orders=orders)
    each = [best_order("without_replacement", run, "0.1", orders=[k]).epsilon for k in orders]
    assert made.epsilon == min(each)
