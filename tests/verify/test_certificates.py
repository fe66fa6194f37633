"""The checker passes what is right, fails what was tampered with, and shares no code."""

from __future__ import annotations

import ast
import copy
import json
import sys
from pathlib import Path

import pytest
import sympy as sp

from verify.certificates import checker
from verify.certificates.checker import Malformed, Report, certify, check
from verify.methods.symbolic import neutral, rational_identity

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "audit.json"


def test_the_checker_imports_the_standard_library_alone():
    for node in ast.walk(ast.parse(Path(checker.__file__).read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names


def test_the_published_audit_passes():
    report = certify(PUBLISHED)
    assert report.failed == []
    assert report.passed["identity"] > 300
    assert report.passed["point"] > 100
    assert report.alone > 0.75 * report.statements


@pytest.mark.parametrize(
    "text",
    [
        "a - a", "(a + b)**2 - a**2 - 2*a*b - b**2", "1/a - b/(a*b)", "q**(k + 1) - q*q**k",
        "x**(q - 2) - x**q/x**2", "q**(2*k) - q**k*q**k", "f(x, y)*2 - f(x, y) - f(x, y)",
        "(1 - lambda_)**(2*K - 2) - (1 - lambda_)**(2*K)/(1 - lambda_)**2",
    ],
)  # fmt: skip
def test_identities(text):
    report = Report()
    assert check({"kind": "identity", "expression": text}, "holds", report, "here")
    assert not check({"kind": "identity", "expression": f"{text} + 1"}, "holds", report, "here")
    assert len(report.failed) == 1


def test_an_empty_identity_counts_for_nothing():
    report = Report()
    assert not check({"kind": "identity", "expression": "0"}, "holds", report, "here")
    assert report.left["empty identity"] == 1
    assert not report.failed


@pytest.mark.parametrize("text", ["a b", "a if b else c", "a < b", "1.5", "[a]", "a**b**", "__x"])
def test_what_is_not_in_the_grammar_is_refused_or_not_zero(text):
    report = Report()
    assert not check({"kind": "identity", "expression": text}, "holds", report, "here")
    assert report.failed


@pytest.mark.parametrize(
    ("left", "right", "relation", "outcome", "good"),
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
    ],
)
def test_points(left, right, relation, outcome, good):
    made = {"kind": "point", "left": left, "right": right, "relation": relation}
    report = Report()
    assert check(made, outcome, report, "here") is good
    assert bool(report.failed) is not good


def _tampered(certificate):
    """The certificate with one number changed, for each kind."""
    made = copy.deepcopy(certificate)
    if made["kind"] == "links":
        made["links"] = [_tampered(made["links"][0]), *made["links"][1:]]
    elif made["kind"] == "identity":
        made["expression"] = f"{made['expression']} + 1"
    else:
        made["left"], made["right"] = made["right"], made["left"]
    return made


def test_tampering_is_found(tmp_path):
    audit = json.loads(PUBLISHED.read_text())
    kinds = set()
    for statement in audit["statements"]:
        for item in statement["evidence"]:
            made = item["certificate"]
            if not made or made["kind"] in kinds or statement["verdict"] != "refuted":
                continue
            told_apart = made["kind"] != "point" or made.get("left") != made.get("right")
            if made["kind"] in ("identity", "links", "point") and told_apart:
                kinds.add(made["kind"])
                item["certificate"] = _tampered(made)
    assert kinds == {"identity", "links", "point"}
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(audit))
    assert len(certify(path).failed) == 3


def test_files_that_are_no_audit(tmp_path):
    with pytest.raises(Malformed, match="cannot be read"):
        certify(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(Malformed, match="not an audit"):
        certify(tmp_path / "bad.json")


def test_names_become_identifiers():
    odd = sp.Symbol("lambda") * sp.Symbol("sigma^2") - sp.Symbol("lambda") * sp.Symbol("sigma^2")
    assert neutral(odd) == "0"
    assert neutral(sp.Symbol("lambda") + sp.Symbol("sigma^2")) == "lambda_ + sigma_2"
    a, b = sp.symbols("lambda b")
    found = rational_identity((a + b) ** 2 - a**2 - 2 * a * b - b**2, "all", "square")
    assert check(dict(found.certificate or {}), "holds", Report(), "here")
