"""The checker passes what is right, fails what was tampered with, and shares no code."""

from __future__ import annotations

import ast
import copy
import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import flint
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from bounds.arith.ball import Ball, precision
from bounds.bound import bind, find
from bounds.paper.fixed_order import earlier_epochs
from bounds.setting import Setting
from verify.certificates import checker, language, linearised
from verify.certificates.checker import SCHEMA, Malformed, Report, certify, check
from verify.certificates.language import Balls, parse, write
from verify.methods import formulas
from verify.methods.enclosure import Formulas, ball, points, positive_on_box, rounded
from verify.methods.neutral import neutral
from verify.methods.slow_direction import BITS, estimate
from verify.methods.symbolic import (
    Equation,
    identity,
    positive_on_interval,
    positive_terms,
    rational_identity,
)
from verify.statement import Run
from verify.statements.logistic_conclusion import (
    WITNESS,
    above_the_truth_with_three_classes,
    certificate,
    printed_claim,
)

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "audit.json"
OWN = {"verify.certificates", "verify.certificates.language"}


def good(made, outcome="holds"):
    """Whether a certificate is re-checked in full."""
    report = Report()
    left = check(json.loads(json.dumps(made)), outcome, report, "here")
    return not left and not report.failed


def refused(made, outcome="holds"):
    """Whether a certificate fails."""
    report = Report()
    check(json.loads(json.dumps(made)), outcome, report, "here")
    return bool(report.failed)


@pytest.mark.parametrize("module", [checker, language, linearised])
def test_the_checker_imports_the_standard_library_and_flint_alone(module):
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found = [str(node.module)]
        for name in found:
            top = name.split(".")[0]
            assert top in sys.stdlib_module_names or top == "flint" or name in OWN
        if isinstance(node, ast.ImportFrom) and node.module == "verify.certificates":
            assert {alias.name for alias in node.names} == {"linearised"}
        assert not (isinstance(node, ast.Name) and node.id in ("eval", "exec", "__import__"))


# The language.

NAMES = st.sampled_from(["a", "b", "lambda", "S_g", "_x1"])


def _trees(children):
    parts = st.lists(st.tuples(st.sampled_from([1, -1]), children), min_size=2, max_size=3)
    plain = st.lists(children, min_size=1, max_size=2).map(tuple)
    return st.one_of(
        parts.map(lambda p: ("sum", tuple(p))),
        children.map(lambda t: ("sum", ((-1, t),))),
        parts.map(lambda p: ("product", ((1, p[0][1]), *p[1:]))),
        st.tuples(st.just("power"), children, children),
        plain.map(lambda args: ("call", "f", args)),
        children.map(lambda t: ("call", "exp", (t,))),
        st.tuples(NAMES, children, children).map(
            lambda a: ("call", "let", (("name", a[0]), a[1], a[2]))
        ),
    )


TREES = st.recursive(
    st.one_of(st.integers(0, 99).map(lambda i: ("num", Fraction(i))),
              NAMES.map(lambda name: ("name", name))),
    _trees, max_leaves=12,
)  # fmt: skip


@given(TREES)
def test_what_is_written_is_read_again(tree):
    text = write(tree)
    again = parse(text)
    assert parse(write(again)) == again
    point = language.Residues(1)
    try:
        value = point.value(tree)
    except (language.Redraw, Malformed):
        return
    assert point.value(again) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2**2", -4), ("2**3**2", 512), ("8/2*2", 8), ("2**-1", Fraction(1, 2)), ("--3", 3),
        ("0.02", Fraction(1, 50)), ("1.5e-3", Fraction(3, 2000)), ("1 - 2 - 3", -4),
        ("sum(j, 1, 4, j**2)", 30), ("sum(j, 1, 0, j)", 0), ("let(x, 3, x*x)", 9),
        ("iterate(u, k, 1, 4, u*(k + 1))", 24), ("binomial(5, 2)", 10), ("floor(-1/2)", -1),
        ("ceil(7/2)", 4), ("min(2, 3) + max(2, 3)", 5), ("abs(-3)", 3),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("exp(0) + log(1) + expm1(0) + log1p(0)", 1), ("0**0", 1), ("4**(1/2)", 2),
        ("diff(x**3, x)*0 + 1", 1),
    ],
)  # fmt: skip
def test_values(text, value):
    at = {"x": flint.fmpq(1)}
    assert Balls(128).value(parse(text), at) == flint.fmpq(Fraction(value).numerator,
                                                         Fraction(value).denominator)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x.y", "not in the grammar"), ("[x for x in y]", "not in the grammar"),
        ("lambda x: x", "not in the grammar"), ("x[0]", "not in the grammar"),
        ("x < y", "not in the grammar"),
        ("'x'", "not in the grammar"), ("a b", "left over"), ("f(x", "wanted"), ("", "wanted"),
        ("a**b**", "wanted"), ("1..2", "not in the grammar"), ("f()", "wanted"), ("+x", "wanted"),
        ("exp(1, 2)", "takes 1 arguments, not 2"), ("sum(2, 1, 3, x)", "binds names"),
        ("diff(x, 2)", "binds names"), ("(" * 61 + "x" + ")" * 61, "more than 60 nested"),
        ("-" * 5000 + "x", "more than 60 nested"), ("x" * 100_001, "at most 100000"),
        ("9" * 2001, "at most 2000"), ("1e999999999999", "exponents go up to 2000"),
        ("1e99999", "exponents go up to 2000"), ("x; y", "not in the grammar"), ("é", "not in"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_grammar_is_refused(text, says):
    with pytest.raises(Malformed, match=says):
        parse(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1/0", "division by zero"), ("0**(-1)", "division by zero"), ("log(0)", "not positive"),
        ("sqrt(-1)", "not positive"), ("(-1)**(1/2)", "not positive"), ("log1p(-2)", "not posi"),
        ("f(1)", "no function with a value"), ("y", "has no value"), ("sum(j, 1, 1/2, j)", "whole"),
        ("binomial(2, 3)", "0 <= k <= n"), ("sum(j, 1, 10**7, j)", "whole numbers up to"),
        ("sum(j, 1, 2999999, sum(k, 1, 2999999, 1))", "more than 3000000 operations"),
        ("diff(floor(1*x), x)", "not differentiated"),
    ],
)  # fmt: skip
def test_outside_a_domain_or_a_limit(text, says):
    with pytest.raises(Malformed, match=says):
        Balls(64).value(parse(text), {"x": flint.fmpq(1)})


def test_huge_powers_stay_small():
    x = Balls(64).value(parse("2**(10**8)*2**-(10**8)"), {})
    assert not isinstance(x, flint.fmpq) and x.contains(1)
    made = {"kind": "identity", "left": "x**(10**12)", "right": "x"}
    assert refused(made)


# Identities.


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("(a + b)**2", "a**2 + 2*a*b + b**2"), ("q**(k + 1)", "q*q**k"), ("q**(2*k)", "q**k*q**k"),
        ("x**(q - 2)", "x**q/x**2"), ("sqrt(a + b)**2", "a + b"), ("exp(a + b)", "exp(b)*exp(a)"),
        ("f(x + y)*2", "f(y + x) + f(x + y)"), ("(a*b)**k", "a**k*b**k"), ("exp(log(x)*k)", "x**k"),
        ("log(a*b**2/c)", "log(a) + 2*log(b) - log(c)"), ("sum(j, 1, 3, j*x)", "6*x"),
        ("sum(i, 1, n, q**i)", "sum(j, 1, n, q**j)"),
        ("diff(exp(-x**2/v), x)", "-2*x/v/exp(x**2/v)"),
        ("diff(f(x, y)*g(x), x)", "diff(f(x, y), x)*g(x) + f(x, y)*diff(g(x), x)"),
        ("diff(diff(f(x, y), y), x)", "diff(diff(f(x, y), x), y)"),
        ("(1 - l)**(2*K - 2)", "(1 - l)**(2*K)/(1 - l)**2"),
        ("let(s, x + 1, s**2)", "x**2 + 2*x + 1"),
        ("diff(x**k, x)", "k*x**(k - 1)"),
        ("diff(sum(j, 1, n, x**j), x)", "sum(j, 1, n, j*x**(j-1))"),
    ],
)  # fmt: skip
def test_identities(left, right):
    assert good({"kind": "identity", "left": left, "right": right})
    assert refused({"kind": "identity", "left": f"{left} + 1", "right": right})
    assert refused({"kind": "identity", "left": left, "right": f"2*({right})"})
    assert refused({"kind": "identity", "left": left, "right": right}, "fails")


@pytest.mark.parametrize(
    ("left", "right"),
    [("sqrt(a)", "a"), ("exp(a*b)", "exp(a)*exp(b)"), ("f(x)", "f(y)"), ("x**k", "x"), ("pi", "3"),
     ("sum(j, 1, n, j)", "n"), ("log(a + b)", "log(a) + log(b)"), ("abs(x)", "abs(y)"),
     (f"x*{language.PRIMES[0]}", "0*x"), ("1/(x - x)", "1/(y - y)"), ("x", "x")],
)  # fmt: skip
def test_what_is_no_identity(left, right):
    assert refused({"kind": "identity", "left": left, "right": right})


def test_the_primes_form_a_chain():
    for p in language.PRIMES:
        assert flint.fmpz(p).is_prime()
    assert all(p == 2 * q + 1 for p, q in zip(language.PRIMES, language.PRIMES[1:], strict=False))


# Tampering: every kind, every number, every operator.

_FIXED = find("fixed_order").enclose
_SETTING = Setting.of(n=51, b=3, epochs=4, eta="3/70", lambda_="3/4", beta=4, sensitivity=5,
                      sigma2=7, alpha=9, position=5)  # fmt: skip
_A = Formulas(
    formulas.printed("fixed_order", _SETTING), formulas.printed("naive_extension", _SETTING),
    formulas.values(_SETTING),
)  # fmt: skip
_ROW = (_A, _FIXED(_SETTING, 25), find("naive_extension").enclose(_SETTING, 25))
SAMPLES = {
    "identity": ({"kind": "identity", "left": "(x + 2)**3/4", "right":
                  "x**3/4 + 6*x**2/4 + 3*x + 2"}, "holds"),
    "definition": ({"kind": "definition", "left": "3*x + 1/7", "right": "3*x + 1/7"}, "holds"),
    "positive": ({"kind": "positive", "polynomial": "(x + 1)**2 - 2*x + y/3",
                  "coefficients": ["1", "1", "1/3"]}, "holds"),
    "sturm": ({"kind": "sturm", "polynomial": "x**2 - 2*x + 101/100", "name": "x",
               "interval": ["0", "3"], "values": ["101/100", "401/100"]}, "holds"),
    "point": ({"kind": "point", "parameters": {"x": "3/2", "k": "3"},
               "formulas": {"left": "exp(x) - 2", "right": "k*x - 1"}, "relation": "<=",
               "where": [["x", "<", "2", ["3/2", "3/2"], ["2", "2"]]],
               "left": ["2.48168907033806", "2.48168907033807"], "right": ["7/2", "7/2"]}, "holds"),
    "points": (points([_ROW], "<")[0], "holds"),
    "boxes": (positive_on_box(lambda x: x.exp() - x, {"x": (Fraction(-1), Fraction(2))},
                              domain="d", what="w", whole=True, formula="exp(x) - x"
                              ).certificate, "holds"),
    "contained": ({"kind": "contained", "part": ["0 < x < 1", "n/b >= 2"],
                   "whole": ["n/b >= 2", "0 < x < 1"]}, "holds"),
}  # fmt: skip
SAMPLES["linearised"] = (
    above_the_truth_with_three_classes(printed_claim, Run()).certificate, "fails",
)  # fmt: skip
SAMPLES["links"] = (
    {"kind": "links", "links": [SAMPLES["identity"][0], SAMPLES["point"][0]]}, "holds",
)  # fmt: skip


def _leaves(made, path=()):
    """Every text in a certificate with its place, the kind and names of things left out."""
    if isinstance(made, str):
        yield path, made
    items = made.items() if isinstance(made, dict) else enumerate(
        made if isinstance(made, list) else ())  # fmt: skip
    for key, inner in items:
        if key not in ("kind", "name", "names"):
            yield from _leaves(inner, (*path, key))


def _with(made, path, text):
    out = copy.deepcopy(made)
    place = out
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = text
    return out


def _spoiled(text):
    """The text with one digit raised, or one operator or relation turned."""
    for i, letter in enumerate(text):
        if letter.isdigit():
            yield text[:i] + str((int(letter) + 1) % 10) + text[i + 1 :]
        elif letter in "+-*/" and "**" not in text[max(i - 1, 0) : i + 2]:
            yield text[:i] + {"+": "-", "-": "+", "*": "/", "/": "*"}[letter] + text[i + 1 :]
    if text in ("<", "<="):
        yield text.replace("<", ">")


@pytest.mark.parametrize("kind", SAMPLES)
def test_tampering_with_any_number_or_operator_is_found(kind):
    made, outcome = SAMPLES[kind]
    assert good(made, outcome)
    count = 0
    for path, text in _leaves(made):
        for spoiled in _spoiled(text):
            count += 1
            assert refused(_with(made, path, spoiled), outcome), (path, text, spoiled)
    assert count >= 3


def test_an_exact_value_cannot_be_stretched():
    made = {"kind": "point", "parameters": {"x": "3/4"}, "formulas": {"left": "x", "right": "1"},
            "left": ["3/4", "3/4"], "right": ["1", "1"], "relation": "<"}  # fmt: skip
    assert good(made)
    for ends in (["3/4", "0.750000000000001"], ["0.749999999999999", "0.750000000000001"],
                 ["0.749999999999999", "3/4"], ["0.7", "0.8"], ["0.8", "0.7"]):  # fmt: skip
        assert refused({**made, "left": ends})


def test_parameters_are_those_of_the_formulas():
    made = copy.deepcopy(SAMPLES["point"][0])
    for wrong in ({"x": "3/2"}, {"x": "3/2", "k": "3", "y": "1"}):
        assert refused({**made, "parameters": wrong})


@pytest.mark.parametrize(
    ("left", "right", "relation", "outcome", "passes"),
    [
        (["1", "2"], ["3", "4"], "<=", "holds", True),
        (["1", "2"], ["3", "4"], "<=", "fails", False),
        (["3", "4"], ["1", "2"], "<=", "fails", True),
        (["3", "4"], ["1", "3"], "<=", "fails", False),
        (["1/3", "1/3"], ["1/4", "1/4"], "=", "fails", True),
        (["1/3", "1/3"], ["1/3", "1/3"], "=", "fails", False),
        (["1", "1"], ["1", "1"], "<", "fails", True),
        (["1", "1"], ["1", "1"], "<=", "holds", True),
        (["2", "1"], ["3", "4"], "<=", "holds", False),
        (["1", "x"], ["3", "4"], "<=", "holds", False),
        (["1", "2"], ["3", "4"], "is", "fails", False),
    ],
)
def test_enclosures_of_the_prover_are_compared_and_said_to_be(
    left, right, relation, outcome, passes
):
    made = {"kind": "point", "left": left, "right": right, "relation": relation}
    report = Report()
    rest = check(made, outcome, report, "here")
    assert bool(report.failed) is not passes
    left_over = "an enclosure of the prover" if passes else "a point certificate that failed"
    assert rest == [left_over]


@pytest.mark.parametrize(
    ("polynomial", "interval"),
    [("x - 1", ["0", "2"]), ("(x - 1)**2", ["0", "2"]), ("x*y + 1", ["0", "1"]),
     ("1/x", ["1", "2"]), ("-1", ["0", "1"]), ("x", ["2", "1"])],
)  # fmt: skip
def test_polynomials_that_are_not_positive(polynomial, interval):
    made = {"kind": "sturm", "polynomial": polynomial, "name": "x", "interval": interval,
            "values": ["1", "1"]}  # fmt: skip
    assert refused(made)


def test_a_box_where_it_is_not_positive():
    made = copy.deepcopy(SAMPLES["boxes"][0])
    made["formula"], made["box"] = "x**2 - 1/4", {"x": ["-1", "1"]}
    made["corners"] = [["3/4", "3/4"], ["3/4", "3/4"]]
    assert refused(made)


# A run whose divergence exceeds Corollary 5.3.


def _run(proof=None, **parameters):
    """The witness with some parameters replaced, and the numbers it would then have to state."""
    made = copy.deepcopy(SAMPLES["linearised"][0])
    made["parameters"] |= parameters
    made["proof"] |= proof or {}
    return made


def _restated(made):
    with checker.precise(512):
        return {**made, **{name: rounded(x) for name, x in linearised.numbers(made).items()}}


KINDS = SAMPLES["linearised"][0]["parameters"]["shared records"].split("; ")
W = SAMPLES["linearised"][0]["proof"]["W"]
CONTRASTS = [["1", "0", "-1", "0", "0", "0"], ["0", "1", "0", "-1", "0", "0"],
             ["1", "0", "1", "0", "-2", "0"], ["0", "1", "0", "1", "0", "-2"]]  # fmt: skip


def test_the_bound_and_the_divergence_are_those_of_the_prover():
    made = SAMPLES["linearised"][0]
    assert _restated(made) == made
    assert Fraction(made["left"][0]) > Fraction(3, 2) * Fraction(made["right"][1])
    assert refused(made, "holds")


def test_a_weaker_witness_passes_once_its_numbers_are_its_own():
    weaker = _run(sigma_mul="1E+10")
    assert refused(weaker, "fails")
    assert good(_restated(weaker), "fails")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"sigma_mul": "5.5E+9"}, "is not within"),  # half of the noise: other numbers
        ({"n": str(61 * 10**10 + 1), "shared records": "; ".join(KINDS[1:])}, "push a run out"),
        ({"lambda": "0"}, "lambda, eta, sigma_mul and the radius are positive"),
        ({"lambda": "1E-9"}, "positive first entry"),
        ({"lambda": "0.1"}, "kappa"),
        ({"lambda": "0.00043"}, "push a run out"),
        ({"proof": {"W": CONTRASTS}}, "least on the diagonal"),
        ({"proof": {"W": [W[1], W[0], *W[2:]]}}, "least on the diagonal"),
        ({"proof": {"W": [W[0], W[0], *W[2:]]}}, "independent"),
        ({"proof": {"W": W[:3]}}, "four rows"),
        ({"proof": {"W": [["1", *row[1:]] for row in W]}}, "add up to zero"),
        ({"proof": {"radius": "0.1"}}, "every shared record is clipped"),
        ({"proof": {"radius": "1E-4"}}, "do not push a run out"),
        ({"proof": {"radius": "1E-10"}}, "mean stays inside"),
        ({"proof": {"radius": "1E-8"}}, "exceeds the errors"),
        ({"proof": {"radius": "-2E-7"}}, "positive"),
        ({"S_g": "2", "lambda": "0.0044"}, "every shared record is clipped"),
        ({"eta": "6E-11"}, "h n d < 1"),
        ({"eta": "1.2E-11", "lambda": "0.06"}, "h n kappa"),
        ({"eta": "1"}, "eta <"),
        ({"eta": "1E-25"}, "exceeds the errors"),
        ({"K": "1"}, "exceeds the errors"),
        ({"K": "0"}, "whole number"),
        ({"sigma_mul": "1.9"}, "eps_0"),
        ({"differing record": "(1.8, 1); (1.8, 1)"}, "exceeds the errors"),
        ({"differing record": "(1.8, 1); (3.6, 1)"}, "differing record is clipped"),
        ({"differing record": "(1.8, 1)"}, "two versions"),
        ({"differing record": "(1.8, 1); (1.5, 4)"}, "a label is"),
        ({"shared records": ", ".join(KINDS)}, "a list like"),
        ({"L": "4"}, "largest feature"), ({"n": "7"}, "counts all records"),
        ({"alpha": "3"}, "order 2"), ({"b": "2"}, "one record"), ({"classes": "2"}, "three"),
        ({"start": "(1, 0); (-1, 0); (0, 1)"}, "the start adds up to zero"),
    ],
)  # fmt: skip
def test_wrong_witnesses_are_refused_and_the_condition_is_named(changed, says):
    with pytest.raises(Malformed, match=says):
        checker.check_linearised(_run(**changed), "fails")


def test_where_the_bound_is_larger_nothing_is_refuted():
    # A fifth of the noise: the divergence grows like a logarithm, the bound like its argument.
    made = _restated(_run(sigma_mul="2.2E+9"))
    assert Fraction(made["left"][0]) < Fraction(made["right"][1])
    with pytest.raises(Malformed, match="bound and divergence"):
        checker.check_linearised(made, "fails")


@pytest.mark.parametrize(
    "changed",
    [
        {"epochs": 10**31}, {"radius": Fraction(6, 10**8)}, {"noise": Fraction(10**10)},
        {"step": Fraction(1, 10**39)}, {"decay": Fraction(1, 50)}, {"clip": Fraction(1, 11)},
        {"second": (Fraction(-7, 2), 1)},
    ],
)  # fmt: skip
def test_two_programs_in_two_systems_of_coordinates_agree(changed):
    problem = replace(WITNESS, **changed)
    with checker.precise(BITS):
        found = estimate(problem)
        made = certificate(problem, found, printed_claim(problem))
    assert found.sound
    assert _restated(made) == made


def test_two_programs_draw_the_same_line():
    # The radius at which errors may push a run out, by halving.
    low, high = Fraction(1, 10**6), Fraction(1, 10**4)
    for _ in range(50):
        middle = (low + high) / 2
        try:
            checker.check_linearised(_run({"radius": str(middle)}), "fails")
        except Malformed as error:
            low, high = (low, middle) if "push a run out" in str(error) else (middle, high)
    assert low > Fraction(1, 10**6) and high < Fraction(1, 10**4)
    with checker.precise(BITS):
        stay = [
            estimate(replace(WITNESS, radius=r)).conditions["runs stay in the neighbourhood"]
            for r in (low, high)
        ]
    assert stay == [True, False]


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("epochs", [1, 2, 5])
def test_the_bound_is_at_least_what_is_printed(n, epochs):
    made = _run(n=str(n), K=str(epochs), eta="1/5", sigma_mul="3",
                **{"shared records": f"(1, 1) x {n - 1}", "differing record": "(1, 1); (-1, 2)",
                   "lambda": "1/4", "L": "1"})  # fmt: skip
    setting = Setting.of(n=n, b=1, epochs=epochs, eta="1/5", lambda_="1/4", beta="5/4",
                         sensitivity="1/5", alpha=2).with_noise_multiplier(Fraction(3))  # fmt: skip
    with precision(256):
        bound = linearised.printed_bound(linearised.read(made))
        p = bind(find("cor-5.3").check(setting), Ball(256))
        first, e = 2 * earlier_epochs(p, Ball), ball(Fraction(4, 9))
        assert bound >= find("cor-5.3").printed(p, Ball)
        assert bound.overlaps(first + e * (1 + e) * (1 + ball(n).log()) / n)


def test_the_power_series_are_the_derivatives():
    with checker.precise(200):
        start, step = [Fraction(i, 7) - Fraction(5, 14) for i in range(6)], Fraction(1, 10**20)
        at = linearised.local((Fraction(-3, 2), 1), start)
        for k in range(6):
            moved = [v + step * (i == k) for i, v in enumerate(start)]
            after = linearised.local((Fraction(-3, 2), 1), moved).u
            for place in range(6):
                slope = (after[place] - at.u[place]) / ball(step)
                assert abs(slope - at.slope[k][place]) < 1e-15
        assert abs(sum(x * x for x in at.u) - 1) < 1e-50


# The prover's side.


def test_both_sides_are_kept_as_they_were_put_together():
    a, b = sp.symbols("lambda sigma^2", positive=True)
    found = identity(lambda: a + a, lambda: 2 * a, "all", "twice")
    assert found.certificate == {
        "kind": "identity", "left": "lambda + lambda", "right": "2*lambda",
    }  # fmt: skip
    same = identity(a * b, a * b, "all", "same")
    assert same.certificate["kind"] == "definition"
    slope = identity(sp.Derivative(sp.exp(-a * b), a), lambda: -b * sp.exp(-a * b), "all", "slope")
    assert slope.certificate["left"].startswith("diff(exp(")
    assert good(found.certificate) and good(same.certificate) and good(slope.certificate)


@pytest.mark.parametrize(
    "side",
    [
        lambda x, y, f: sp.sqrt(x + y) ** 3 / (x * y) - sp.Rational(2, 3) ** x,
        lambda x, y, f: -(-x - y) * sp.Max(x, 1, y) ** -2,
        lambda x, y, f: sp.Sum(y ** sp.Symbol("j"), (sp.Symbol("j"), 1, x)) / sp.floor(x),
        lambda x, y, f: sp.Derivative(f(x, y) * sp.log(x), x, y) - sp.pi * sp.E,
        lambda x, y, f: 1 / (1 / x + 1 / y) ** sp.Rational(5, 2),
    ],
)
def test_sympy_is_written_down_faithfully(side):
    x, y, f = *sp.symbols("x y", positive=True), sp.Function("f")
    plain = side(x, y, f)
    with sp.evaluate(False):
        raw = side(x, y, f)
    left, right = neutral(plain, raw)
    kind = "definition" if parse(left) == parse(right) else "identity"
    assert good({"kind": kind, "left": left, "right": right})


def test_one_name_for_one_symbol():
    x, pi, odd, dummy = sp.Symbol("x"), sp.Symbol("pi"), sp.Symbol("x'"), sp.Dummy("x")
    texts = neutral(x, pi, odd, dummy, sp.pi)
    assert len(set(texts)) == 5
    with pytest.raises(TypeError, match="no place in the language"):
        neutral(sp.Integral(x, x))


def test_substitutions_and_cancelled_logarithms_are_shown_as_they_stand():
    x, y, r = sp.symbols("x y r")
    assert Equation(sp.Subs(x**2, x, y), y**2).texts() == ["let(x, y, x**2)", "y**2"]
    assert rational_identity(Equation(sp.Subs(x**2, x, y), y), "d", "w").outcome == "fails"
    made = Equation(lambda: sp.log(sp.exp(r)), r)
    assert made.texts() == ["log(exp(r))", "r"]
    whole = sp.Symbol("k", integer=True)
    # What only sympy knows is not shown: the language has no whole names.
    assert Equation(lambda: sp.floor(2 * whole / 2), whole).texts() == ["k", "k"]
    with pytest.raises(TypeError, match="puts in what it replaces"):
        neutral(sp.Subs(x * y, (x, y), (y, 1)))


def test_a_false_identity_leaves_a_point_that_shows_it():
    x, y = sp.symbols("x y", positive=True)
    found = rational_identity(Equation((x + y) ** 2, x**2 + y**2), "all", "square")
    assert found.outcome == "fails"
    assert good(found.certificate, "fails")
    assert refused(found.certificate, "holds")


def test_positive_polynomials_are_told_from_others():
    x, y = sp.symbols("x y", positive=True)
    zero, two = Fraction(0), Fraction(2)
    terms = positive_terms((x + y) ** 2 + sp.Rational(1, 3), "x, y > 0", "square")
    inside = positive_on_interval(x**2 - 2 * x + 2, x, zero, two, "[0, 2]", "parabola")
    assert good(terms.certificate) and good(inside.certificate)
    assert positive_terms((x - y) ** 2 + 1, "x, y > 0", "square").outcome == "undecided"
    touching = positive_on_interval((x - 1) ** 2, x, zero, two, "[0, 2]", "double zero")
    crossing = positive_on_interval(x**2 - 3 * x + 1, x, zero, two, "[0, 2]", "sign change")
    assert touching.outcome == "undecided" and crossing.outcome == "fails"
    assert good(crossing.certificate, "fails")


@pytest.mark.parametrize(
    ("number", "ends"),
    [(Fraction(1, 4), ["1/4", "1/4"]), (Fraction(1, 3), ["1/3", "1/3"]), (Fraction(0), ["0", "0"])],
)
def test_rounding(number, ends):
    assert rounded(ball(number)) == ends
    low, high = rounded(ball(2).sqrt())
    assert (low, high) == ("1.41421356237309", "1.4142135623731")
    with pytest.raises(ValueError, match="does not give 15 digits"):
        rounded(ball(1).union(ball(2)))


@pytest.mark.parametrize("name", formulas.PRINTED)
@pytest.mark.parametrize("batch", [0, 16])
def test_the_printed_formulas_are_the_library_s(name, batch):
    setting = Setting.of(n=51, b=3, epochs=4, eta="3/70", lambda_="3/4", beta=4, sensitivity=5,
                         sigma2=7, alpha=9, position=batch)  # fmt: skip
    text = formulas.printed(name, setting)
    made = Formulas(text, "0", formulas.values(setting))
    row = (made, find(name).enclose(setting, 25), ball(0))
    assert good(points([row], ">")[0])


# A whole audit.


def _audit(tmp_path, *items, verdict="proved"):
    base = {"check": "m.c", "about": "printed", "outcome": "holds", "strength": "symbolic",
            "obligation": "valid", "whole": True, "part": "", "certificate": None}  # fmt: skip
    path = tmp_path / "audit.json"
    evidence = [{**base, **item} for item in items]
    path.write_text(json.dumps({"schema": SCHEMA, "statements": [
        {"id": "eq-1", "verdict": verdict, "evidence": evidence}]}))  # fmt: skip
    return certify(path)


IDENTITY = {"certificate": SAMPLES["identity"][0]}
BARE = {"certificate": {"kind": "point", "left": ["2", "3"], "right": ["0", "1"], "relation": "<="}}


def test_what_a_statement_rests_on(tmp_path):
    report = _audit(tmp_path, IDENTITY)
    assert (report.certificates_alone, report.sympy_too, report.alone) == (["eq-1"], {}, 1)
    assert not _audit(tmp_path, IDENTITY, {"obligation": "constants"}).certificates_alone
    assert not _audit(tmp_path, IDENTITY, {"part": "b"}).certificates_alone
    # One proof of a part is enough, and what is tight or another form decides nothing.
    assert _audit(tmp_path, IDENTITY, {}, {"obligation": "tight"}).certificates_alone
    assert _audit(tmp_path, IDENTITY, {"about": "correction", "part": "b"}).certificates_alone
    point = {"strength": "point", "certificate": SAMPLES["point"][0], "whole": False}
    assert not _audit(tmp_path, point).certificates_alone
    assert _audit(tmp_path, point, verdict="certified").certificates_alone


def test_a_refutation_rests_on_its_witness(tmp_path):
    fails = {"outcome": "fails", "strength": "point"}
    report = _audit(tmp_path, {**BARE, **fails}, verdict="refuted")
    assert report.sympy_too == {"eq-1": ["an enclosure of the prover"]}
    shown = {"kind": "point", "parameters": {"x": "2"}, "formulas": {"left": "x", "right": "1"},
             "left": ["2", "2"], "right": ["1", "1"], "relation": "<="}  # fmt: skip
    report = _audit(tmp_path, {**BARE, **fails}, {**fails, "certificate": shown}, verdict="refuted")
    assert report.certificates_alone == ["eq-1"]
    exceeded = {**fails, "certificate": SAMPLES["linearised"][0]}
    assert _audit(tmp_path, exceeded, verdict="refuted").certificates_alone == ["eq-1"]
    derived = {**fails, "certificate": shown, "obligation": "derived"}
    assert _audit(tmp_path, {**BARE, **fails}, derived, verdict="refuted").sympy_too


def test_part_that_is_left_to_the_prover_is_named(tmp_path):
    made = {**SAMPLES["identity"][0], "rests on": "an integral"}
    links = {"kind": "links", "links": [SAMPLES["point"][0], made]}
    assert _audit(tmp_path, {"certificate": links}).sympy_too == {"eq-1": ["an integral"]}
    empty = _audit(tmp_path, {"certificate": {"kind": "links", "links": []}})
    assert empty.failed and not empty.certificates_alone


def test_definitions_alone_show_nothing(tmp_path):
    same = SAMPLES["definition"][0]
    (why,) = _audit(tmp_path, {"certificate": same}).sympy_too["eq-1"]
    assert "one expression" in why
    both = {"kind": "links", "links": [same, SAMPLES["identity"][0]]}
    assert _audit(tmp_path, {"certificate": both}).certificates_alone


@pytest.mark.parametrize("made", [{}, {"kind": "identity"},
                                  {"kind": "identity", "left": 1, "right": []},
                                  {"kind": "points", "formulas": {}}, {"kind": "links"},
                                  {"kind": "boxes", "formula": "x", "box": {}, "corners": []},
                                  {"kind": "point", "left": ["1"], "right": 3}])  # fmt: skip
def test_unreadable_certificates_are_failures_or_left(made):
    report = Report()
    assert check(made, "holds", report, "here")
    assert report.failed or report.left["none"]


def test_files_that_are_no_audit(tmp_path):
    with pytest.raises(Malformed, match="cannot be read"):
        certify(tmp_path / "none.json")
    bad = tmp_path / "bad.json"
    statement = {"id": "x", "verdict": "proved", "evidence": []}
    evidence = {"check": "c", "outcome": "holds", "strength": "symbolic", "obligation": "valid"}
    for text in ("[]", "{", *(json.dumps({"schema": SCHEMA, "statements": made}) for made in (
        3, [3], [{}], [{**statement, "id": 3}], [{**statement, "evidence": 3}],
        [{**statement, "evidence": [3]}], [{**statement, "evidence": [evidence]}],
    ))):  # fmt: skip
        bad.write_text(text)
        with pytest.raises(Malformed, match="not an audit"):
            certify(bad)
    bad.write_text(json.dumps({"schema": SCHEMA, "statements": [
        {**statement, "evidence": [{**evidence, "certificate": None}]}
    ]}))  # fmt: skip
    assert certify(bad).certificates_alone == []


def test_the_published_audit_passes():
    assert PUBLISHED.stat().st_size < 5_000_000
    report = certify(PUBLISHED)
    assert report.failed == []
    assert report.passed["identity"] > 600
    assert report.passed["points"] > 20
    assert report.alone + len(report.sympy_too) == report.statements
    readme = " ".join((PUBLISHED.parents[2] / "README.md").read_text().split())
    assert report.sympy_too == {}
    assert (
        f"(all {report.alone} proved, certified or refuted ones of the published audit)" in readme
    )
