"""`hiddenstate check`: verdicts, properties, the smallest input, and the command's contract."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bounds.bound import Bound, find, registry
from bounds.setting import InvalidInput, Setting
from tests.verify.conformance.subjects import right, wrong
from verify.cli import cli
from verify.conformance import judge, plain
from verify.conformance.compare import Case, Judged, difference, enclosed
from verify.conformance.compare import judge as judge_one
from verify.conformance.properties import all_properties, attempt, violations
from verify.conformance.subjects import Answer, InProcess, python_subject

HERE = Path(__file__).parent / "subjects"
EXAMPLES = Path(judge.__file__).parent / "examples"
MISBEHAVE = {"hungry", "dies", "segfaults", "hangs", "rubbish", "forgetful"}
"""Not to be called in the process of the tests."""
TYPICAL = {
    "jensen", "half_up", "last_batch", "limit_included", "divisible_only", "slightly_up",
    "cancels", "overflows", "misspelt", "not_a_number", "a_string", "mutates", "infinite",
    "negative",
}  # fmt: skip
"""Wrong subjects for every run of the tests, one of each kind."""
QUICK = {"shuffle_partition", "lsi_convex", "bok_2024_full_batch", "first_epoch"}
"""The kinds of bounds, for every run of the tests."""
COSTLY = {"optimal_without_replacement"}


def checked(
    function: Callable[..., Any], bound: str, *, properties: bool = True, numbers: Any = "float",
    **options: Any,
) -> judge.Report:  # fmt: skip
    cases = judge.cases_of(bound)
    subject = InProcess(function)
    terms = judge.terms_for(
        subject.parameters, cases[0].bound, cases, options.pop("mapping", {}),
        options.pop("fixed", {}), numbers, subject.name,
    )  # fmt: skip
    return judge.run(subject, cases[0].bound, terms, cases, with_properties=properties, **options)


def ours(bound: Bound) -> Callable[..., Any]:
    """Our own implementation as a subject, at the exact values of the doubles that it is given."""

    def answer(**given: Any) -> Any:
        exact = {k: Fraction(v) if isinstance(v, float) else v for k, v in given.items()}
        return bound.float64(bound.check(Setting.of(**exact)))

    return answer


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
        for name in sorted(set(registry()) - COSTLY)
    ],
)
def test_our_own_bounds_conform(name: str) -> None:
    """Every vector is answered rightly, and every property that is declared true is true."""
    bound = find(name)
    report = checked(ours(bound), name)
    assert [item.name for item in report.properties if item.broken] == []
    assert len(report.properties) >= 3
    assert report.verdict == "conforms", (report.smallest, report.failures)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(registry()) - COSTLY))
def test_our_own_bounds_have_their_properties_at_many_settings(name: str) -> None:
    report = checked(ours(find(name)), name, effort="full", seed=1)
    assert [item.name for item in report.properties if item.broken] == []


@pytest.mark.parametrize(
    ("name", "bound", "mapping", "numbers"),
    [
        ("fixed_order", "thm-3.3", {}, "float"),
        ("shuffle_partition", "thm-4.2", {}, "float"),
        ("exact", "thm-d.4", {}, "fraction"),
        ("conversion", "conversion", {}, "float"),
        (
            "dp_sgd", "thm-4.2",
            {"steps": "updates", "batch": "b", "lr": "eta", "reg": "lambda", "smooth": "beta",
             "clip": "clip-norm", "noise_multiplier": "noise-multiplier", "order": "alpha"},
            "float",
        ),
    ],
)  # fmt: skip
def test_plain_implementations_conform(
    name: str, bound: str, mapping: dict[str, str], numbers: str
) -> None:
    report = checked(getattr(right, name), bound, mapping=mapping, numbers=numbers)
    assert report.verdict == "conforms", (report.smallest, report.failures)
    assert report.vectors_passed > 60
    assert report.smallest is report.diagnosis is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in TYPICAL else [pytest.mark.slow])
        for name in sorted(set(wrong.SAYS) - MISBEHAVE)
    ],
)
def test_each_wrong_subject_gets_its_verdict_and_diagnosis(name: str) -> None:
    verdict, mistake, bound = wrong.SAYS[name]
    report = checked(getattr(wrong, name), bound, properties=False)
    assert report.verdict == verdict
    if mistake is not None:
        assert report.diagnosis is not None
        assert report.diagnosis.mistake == mistake
        assert report.diagnosis.vector
    assert report.passes == (verdict == "within-tolerance")
    if not report.passes:
        assert report.smallest is not None
        assert report.vectors_failed > 0


@pytest.mark.parametrize("name", sorted(MISBEHAVE))
def test_each_misbehaving_subject_gets_its_verdict(name: str) -> None:
    verdict, mistake, bound = wrong.SAYS[name]
    cases = judge.cases_of(bound)
    subject = python_subject(f"{HERE / 'wrong.py'}:{name}", 512, 0.3)
    terms = judge.terms_for(subject.parameters, bound, cases, {}, {}, "float", name)
    report = judge.run(subject, bound, terms, cases)
    subject.close()
    assert report.verdict == verdict
    assert report.smallest is not None
    if mistake:
        assert report.diagnosis is not None
        assert report.diagnosis.mistake == mistake


def test_every_verdict_has_a_subject() -> None:
    seen = {verdict for verdict, _, _ in wrong.SAYS.values()} | {"conforms"}
    assert seen == set(judge.VERDICTS.values())
    assert len(wrong.SAYS) >= 20


def test_the_smallest_input_is_the_simplest_setting() -> None:
    """Wrong everywhere: the default setting shows it. Wrong for odd n/b: n = 3 does."""
    small = checked(wrong.clip_norm, "thm-4.2").smallest
    assert small is not None
    assert small.case.input == {k: v for k, v in judge.DEFAULTS.items() if k in small.case.input}
    small = checked(wrong.half_up, "thm-4.2", properties=False).smallest
    assert small is not None
    assert small.case.input["n"] == "3"
    assert judge.size(small.case.input)[0] == 1


def test_below_the_exact_divergence_is_said() -> None:
    report = checked(wrong.clip_norm, "thm-4.2")
    assert report.below_exact is True
    assert "exact divergence" in report.says()
    assert "not-below-the-exact-divergence" in [x.name for x in report.properties if x.broken]


def test_a_subject_without_beta_cannot_check_the_step_size() -> None:
    def bare(n, b, epochs, eta, sensitivity, sigma2, alpha, position):  # type: ignore[no-untyped-def]
        beta = min(1 / eta if eta > 0 else 1, 1e300)
        return right.convex_fixed_order(
            n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position
        )

    report = checked(bare, "thm-d.4")
    assert report.verdict == "accepts-invalid"
    assert report.diagnosis is not None
    assert report.diagnosis.mistake == "step-size-and-smoothness-check-missing"


def test_a_subject_without_a_position_is_asked_about_the_last_batch() -> None:
    def last(n, b, epochs, eta, beta, sensitivity, sigma2, alpha):  # type: ignore[no-untyped-def]
        return right.convex_fixed_order(
            n, b, epochs, eta, beta, sensitivity, sigma2, alpha, n // b - 1
        )

    report = checked(last, "thm-d.4")
    assert report.verdict == "conforms"
    assert report.vectors_unasked > 20
    assert any("last batch" in note for note in report.notes)


def test_conversions_of_one_rule_and_one_bound() -> None:
    def classical(orders, epsilons, delta):  # type: ignore[no-untyped-def]
        return right.conversion(orders, epsilons, delta, "classical")

    with pytest.raises(InvalidInput, match="--convention rule=VALUE"):
        checked(classical, "conversion")
    report = checked(classical, "conversion", fixed={"rule": "classical"})
    assert report.verdict == "conforms"
    wrong_rule = checked(classical, "conversion", fixed={"rule": "canonne_kamath_steinke_2020"})
    assert wrong_rule.verdict == "too-large"
    assert wrong_rule.diagnosis is not None
    assert wrong_rule.diagnosis.mistake == "classical-rule"


def test_nothing_asked_is_not_a_pass() -> None:
    cases = [case for case in judge.cases_of("thm-4.2") if not case.valid]
    subject = InProcess(right.shuffle_partition)
    terms = judge.terms_for(subject.parameters, "shuffle_partition", cases, {}, {}, "float", "f")
    report = judge.run(subject, "shuffle_partition", terms, cases, with_properties=False)
    assert report.verdict == "malformed"
    assert not report.passes


# --- one answer ---


def case_at(**values: object) -> Case:
    base: dict[str, object] = {"n": 50, "b": 2, "epochs": 5, "eta": "0.25", "sensitivity": 4,
                               "sigma2": 4, "alpha": 10, "beta": 4, "position": 0}  # fmt: skip
    return enclosed(find("thm-d.4"), Setting.of(**(base | values)))


@pytest.mark.parametrize(
    ("factor", "outcome"),
    [("1", "right"), ("1.0000000000001", "right"), ("1.0000000001", "close"),
     ("0.9999999999", "close"), ("1.00000001", "high"), ("0.99999999", "low"),
     ("-1", "low"), ("Infinity", "high"), ("-Infinity", "low")],
)  # fmt: skip
def test_a_number_is_judged_by_its_distance(factor: str, outcome: str) -> None:
    case = case_at()
    assert case.lower is not None
    value = Decimal(case.lower) * Decimal(factor)
    found = judge_one(case, Answer("value", str(value), value), None, Decimal("1e-9"), True)
    assert found.outcome == outcome


def test_a_subject_is_judged_by_the_doubles_that_it_got() -> None:
    """At eta = 2/3, beta = 3 the limit is violated exactly, but not by the double below 2/3."""
    bound = find("thm-d.4")
    at_limit = Case("x", {**case_at().input, "eta": "2/3", "beta": "3"}, False, None, None,
                    "step-size", (), bound.name)  # fmt: skip
    assert at_limit.setting is not None
    received = at_limit.setting.replace(eta=Fraction(2 / 3))
    answer = Answer("value", "1", Decimal(1))
    assert judge_one(at_limit, answer, received, Decimal("1e-9"), True).outcome == "unasked"
    assert (
        judge_one(at_limit, answer, at_limit.setting, Decimal("1e-9"), True).outcome == "accepted"
    )


def test_difference_is_signed_and_relative() -> None:
    assert difference(Decimal(1), Decimal(2), Decimal(3)) == Decimal("-0.5")
    assert difference(Decimal("1e-400"), Decimal("2e-400"), Decimal("3e-400")) == Decimal("-0.5")
    assert difference(Decimal(1), Decimal(0), Decimal(0)) == Decimal("Infinity")
    assert difference(Decimal("2.5"), Decimal(2), Decimal(3)) == 0


def test_what_plain_doubles_lose_is_known() -> None:
    bound = find("thm-3.3")
    easy = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
                      alpha=10)  # fmt: skip
    lost = plain.loss(bound, easy)
    assert lost is not None
    assert lost < Decimal("1e-11")
    lost = plain.loss(bound, easy.replace(**{"lambda": "1e-8"}))
    assert lost is not None
    assert Decimal("1e-10") < lost < Decimal("1e-6")
    lost = plain.loss(bound, easy.replace(**{"lambda": "1e-18"}))
    assert lost == Decimal("Infinity")


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        ("ZeroDivisionError", "ZeroDivisionError: division by zero"),
        ("", "Illegal division by zero at f.pl line 3."), ("", "math domain error"),
    ],
)  # fmt: skip
def test_a_division_by_zero_where_all_digits_are_lost_is_no_crash(raised: str, text: str) -> None:
    """At lambda = 1e-18 plain doubles have 1 - eta lambda = 1: in any language."""
    easy = Setting.of(n=50, b=2, epochs=50, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4,
                      alpha=10)  # fmt: skip
    bound = find("thm-3.3")
    answer = Answer("crashed", text, raised=raised)

    def outcome(setting: Setting) -> str:
        lossy = Judged(enclosed(bound, setting), Answer("value", "0", Decimal(0)), "lossy")
        crashed = Judged(enclosed(bound, setting), answer, "crashed")
        return judge.sorted_out([crashed, lossy])[0].outcome

    assert outcome(easy.replace(**{"lambda": "1e-18"})) == "lossy"
    assert outcome(easy) == "crashed"


# --- properties ---


def broken(function: Callable[..., Any], bound: str) -> set[str]:
    return {item.name for item in checked(function, bound).properties if item.broken}


@pytest.mark.slow
def test_properties_can_fail() -> None:
    """Each property is broken by some subject that it was made for."""
    f = right.convex_fixed_order

    def change(**new: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
        def subject(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):  # type: ignore[no-untyped-def]
            given = {"n": n, "b": b, "epochs": epochs, "eta": eta, "beta": beta,
                     "sensitivity": sensitivity, "sigma2": sigma2, "alpha": alpha,
                     "position": position}  # fmt: skip
            f(**given)
            return new["value"](given)

        return subject

    found = broken(change(value=lambda p: f(**p) / p["epochs"] ** 3), "thm-d.4")
    assert {"grows-with-epochs", "agrees-with-the-bound"} <= found
    found = broken(change(value=lambda p: f(**p) / p["alpha"] ** 2), "thm-d.4")
    assert {"grows-with-the-order", "linear-in-the-order"} <= found
    found = broken(change(value=lambda p: f(**p) * p["sigma2"] ** 2), "thm-d.4")
    assert {"falls-with-noise", "depends-on-sensitivity-over-sigma", "vanishes-with-noise"} <= found
    found = broken(change(value=lambda p: f(**p) / (1 + p["position"]) ** 3), "thm-d.4")
    assert "grows-with-the-position" in found
    found = broken(change(value=lambda p: f(**p) * (1 + p["eta"])), "thm-d.4")
    assert "does-not-depend-on-units" in found
    found = broken(change(value=lambda p: f(**p) * 50), "thm-d.4")
    assert "not-above-composition" in found
    found = broken(change(value=lambda p: f(**p) / 50), "thm-d.4")
    assert "not-below-the-exact-divergence" in found


def test_a_broken_limit_is_seen() -> None:
    def log_growth(n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha):  # type: ignore[no-untyped-def]
        value = right.shuffle_partition(
            n, b, epochs, eta, lambda_, beta, sensitivity, sigma2, alpha
        )
        return value * epochs**0.1

    assert "converges" in broken(log_growth, "thm-4.2")


def test_hypothesis_shrinks_a_broken_property() -> None:
    bound = find("thm-d.4")
    which = next(item for item in all_properties(bound) if item.name == "agrees-with-the-bound")
    asked: list[Setting] = []

    def ask(case: Case) -> Judged:
        assert case.setting is not None
        asked.append(case.setting)
        bad = case.setting.epochs is not None and case.setting.epochs >= 4
        return Judged(case, Answer("value", "1", Decimal(1)), "high" if bad else "right")

    tried = attempt(which, bound, ask, lambda s: s, Decimal("1e-9"), "full")
    assert tried.broken is not None
    assert tried.broken.epochs == 4
    assert tried.broken.b == 1


def test_violations_cover_the_assumptions() -> None:
    for name in ("fixed_order", "full_batch", "first_epoch", "convex_fixed_order"):
        bound = find(name)
        wanted = {assumption.label for assumption in bound.assumptions}
        assert wanted <= {case.assumption for case in violations(bound)} | {"order"}


# --- the command ---


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["check", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_contract_of_json() -> None:
    status, out, _ = run(f"{HERE / 'wrong.py'}:clip_norm", "--bound", "thm-4.2", "--json")
    said = json.loads(out)
    assert status == 1
    assert list(said)[:6] == ["subject", "bound", "verdict", "vectors", "smallest", "diagnosis"]
    assert (said["bound"], said["verdict"]) == ("shuffle_partition", "not-an-upper-bound")
    assert said["vectors"]["failed"] > 60 < said["vectors"]["passed"] + said["vectors"]["failed"]
    assert list(said["smallest"])[:3] == ["setting", "got", "expected"]
    assert set(said["smallest"]["setting"]) <= set(judge.DEFAULTS)
    assert float(said["smallest"]["got"]) < float(said["smallest"]["expected"])
    assert said["diagnosis"]["mistake"] == "half-the-sensitivity"
    assert said["diagnosis"]["says"].endswith(".")


def test_the_page_fits_and_ends_with_what_to_run_next() -> None:
    status, out, _ = run(f"{HERE / 'wrong.py'}:unchecked_step", "--bound", "thm-d.4")
    assert status == 1
    assert max(map(len, out.splitlines())) <= 80
    assert "accepts-invalid" in out.splitlines()[0] + out.splitlines()[1]
    shell = out[out.index("next:") + 5 :].replace("\\\n", " ")
    words = shlex.split(shell)
    assert words[:3] == ["hiddenstate", "bound", "convex_fixed_order"]
    again = CliRunner().invoke(cli, words[1:])
    assert again.exit_code == 2
    assert "step-size" in again.stderr


def test_quiet_and_inferred() -> None:
    status, out, _ = run(f"{HERE / 'right.py'}:convex_fixed_order", "--quiet")
    assert (status, out) == (0, "conforms\n")


@pytest.mark.parametrize("program", [f"{sys.executable} {EXAMPLES / 'subject.py'}",
                                     f"perl {EXAMPLES / 'subject.pl'}"])  # fmt: skip
def test_the_examples_of_the_protocol_conform(program: str) -> None:
    status, out, _ = run("--command", program, "--bound", "thm-d.4", "--json")
    said = json.loads(out)
    assert (status, said["verdict"]) == (0, "conforms"), said["smallest"]
    assert said["vectors"]["passed"] > 100


def test_the_examples_are_short() -> None:
    for name in ("subject.py", "subject.pl"):
        lines = (EXAMPLES / name).read_text("utf-8").splitlines()
        assert sum(bool(line.strip()) for line in lines) <= 27


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give SUBJECT"),
        (["a:b", "--command", "true"], "not both"),
        (["--command", "cat"], "--bound NAME"),
        (["math:sin"], "is not clearly one of the bounds"),
        (["math:sin", "--bound", "nothing"], "no vectors called 'nothing'"),
        (["math:sin", "--bound", "thm-4.2"], "requires|told nothing"),
        (["math:sin", "--bound", "thm-4.2", "--map", "x"], "joined by ="),
        (["math:sin", "--bound", "thm-4.2", "--tolerance", "2"], "--tolerance"),
        (["math:sin", "--bound", "thm-4.2", "--tolerance", "x"], "--tolerance"),
        (["math:sin", "--bound", "thm-4.2", "--vector", "x"], "no vector"),
        (["math:sin", "--bound", "thm-4.2", "--python", "/no/such"], "--python"),
        (["no_such_module:f", "--bound", "thm-4.2"], "cannot be loaded"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_line_and_status_2(words: list[str], said: str) -> None:
    status, out, errors = run(*words)
    assert (status, out) == (2, "")
    assert errors.count("\n") == 1
    assert errors.startswith("hiddenstate: ")
    import re

    assert re.search(said, errors), errors


@pytest.mark.parametrize(
    ("name", "bound"),
    [("m:fixed_order", "fixed_order"), ("a.py:thm_4_2", "shuffle_partition"),
     ("m:shuffle_partitions", "shuffle_partition"),
     ("m:Sub.without_replacement", "without_replacement"),
     ("m:sampled_gaussian", "sampled_gaussian"), ("m:conversion", "conversion")],
)  # fmt: skip
def test_a_bound_is_inferred_from_a_name(name: str, bound: str) -> None:
    assert judge.infer(name) == bound


@pytest.mark.parametrize("name", ["m:epsilon", "m:f", "m:order", "m:bok_2024"])
def test_an_unclear_name_is_asked_about(name: str) -> None:
    with pytest.raises(InvalidInput, match="--bound NAME"):
        judge.infer(name)


def test_an_interrupt_is_status_3(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any, **options: Any) -> None:
        options["heard"]("vectors", 7, 100)
        raise KeyboardInterrupt

    monkeypatch.setattr(judge, "run", interrupt)
    status, out, errors = run(f"{HERE / 'right.py'}:shuffle_partition")
    assert (status, out) == (3, "")
    assert "7 of 100" in errors


def test_one_vector_alone() -> None:
    ident = judge.cases_of("thm-4.2")[0].id
    status, out, _ = run(
        f"{HERE / 'right.py'}:shuffle_partition", "--vector", ident, "--json"
    )  # fmt: skip
    said = json.loads(out)
    assert (status, said["vectors"]) == (0, {"passed": 1, "failed": 0})
