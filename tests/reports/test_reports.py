from __future__ import annotations

import ast
import io
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import reports
from reports import jsonfile, markdown, terminal, wording
from reports.records import (
    SEVERITIES,
    VERDICTS,
    Audit,
    Curve,
    Evidence,
    Link,
    Mutants,
    Series,
)  # fmt: skip
from tests.reports import samples

NASTY = "<script>alert(1)</script> | **bold** `code` [x](y) & \\ _u_ ~"


BOXES = Evidence(
    "valid", "a.b", "balls", "holds", "box", "0 < x < 1", "fine",
    {"kind": "boxes", "boxes": 3}, 0.25, whole=True,
)  # fmt: skip
LINKS = (
    Link("=", "*first*", "holds", "symbolic"), Link("", "second", "fails", "point"),
)  # fmt: skip
record = partial(samples.record, evidence=(BOXES,))


def audit(*records, **changes):
    curve = Curve("c", "fixed_order", {"n": "4"}, ("1.5", "2"), ("1", "2"), ("2", "2"))
    values = {
        "versions": {"python": "3.11"}, "effort": "quick", "seed": 0, "statements": records,
        "series": (Series("figure", "fig-1a", "A figure", "epochs", ("1", "2"), (curve,)),),
    }  # fmt: skip
    return Audit(**(values | changes))


REFUTED = record(
    "fn-4", "refuted", severity="misprint", finding="A factor is missing.", impact=("thm-4.2",),
    correction={"statement": "with the factor", "verdict": "proved"},
)  # fmt: skip


def test_mutants_are_reported_with_the_survivors():
    made = audit(record(mutants=Mutants(3, ("check: K for K-1",))), record("thm-4.2"))
    text = markdown.render(made)
    assert "on 3 wrong forms of 1 statements, and rejected 2 (66.7%) of them." in text
    assert "Wrong forms rejected: 2 of 3; passed: check: K for K-1." in text
    assert "wrong forms" not in markdown.render(audit(record()))
    assert "and rejected all of them." in markdown.render(audit(record(mutants=Mutants(3))))


def test_json_round_trip(tmp_path):
    linked = replace(BOXES, relation="=, <=", reason="by (4)", links=LINKS)
    made = audit(record(mutants=Mutants(3, ("check: K for K-1",)), evidence=(linked,)), REFUTED)
    path = tmp_path / "deep" / "audit.json"
    jsonfile.write(made, path)
    assert jsonfile.read(path) == made
    assert list(path.parent.iterdir()) == [path]


def test_an_audit_from_before_links_had_reasons_is_read(tmp_path):
    data = jsonfile.to_json(audit(record()))
    for key in ("relation", "reason", "links"):
        del data["statements"][0]["evidence"][0][key]
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(data))
    assert jsonfile.read(path) == audit(record())


def test_markdown_shows_an_argument_link_by_link():
    item = replace(BOXES, relation="<=", reason="by (4)", links=LINKS)
    row = next(
        line for line in markdown.render(audit(record(evidence=(item,)))).splitlines()
        if line.startswith("| printed |")
    )  # fmt: skip
    assert "| valid: \\<= |" in row
    assert "| by (4) | 1. \\*first\\* (=, holds, symbolic)<br>2. second (fails, point) |" in row
    assert BOXES.detail not in row


def test_json_keys_are_the_contract():
    data = jsonfile.to_json(audit(REFUTED))
    assert {"schema", "versions", "effort", "seed", "statements"} <= set(data)
    assert {
        "id", "verdict", "severity", "printed", "says", "correction", "impact", "rests_on",
        "evidence",
    } <= set(data["statements"][0])  # fmt: skip
    assert {
        "obligation", "check", "method", "outcome", "strength", "domain", "detail", "certificate",
        "seconds",
    } <= set(data["statements"][0]["evidence"][0])  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"), ("[]", "schema"), ('{"schema": "other"}', "schema"),
        ('{"schema": "hiddenstate-audit/1"}', "whole audit"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_a_sentence(tmp_path, text, words):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(jsonfile.NotAnAudit, match=words):
        jsonfile.read(path)
    with pytest.raises(jsonfile.NotAnAudit, match="cannot be read"):
        jsonfile.read(tmp_path / "missing.json")


def test_numbers_that_are_none_are_never_written():
    with pytest.raises(ValueError, match="JSON"):
        jsonfile.dumps(audit(record(), seconds=float("nan")))


def test_records_keep_to_the_vocabulary():
    with pytest.raises(ValueError, match="holds"):
        Evidence("valid", "c", "m", "passes", "point", "d", "x")
    with pytest.raises(ValueError, match="symbolic"):
        Link("=", "by (4)", "holds", "sure")
    assert set(wording.MEANING) == set(VERDICTS)
    assert set(wording.SEVERITY_MEANING) == set(SEVERITIES)
    assert set(terminal.STYLE) == set(VERDICTS)


def test_markdown_shows_everything_and_escapes_it():
    nasty = record(
        label=NASTY, printed=NASTY, says=NASTY, reading=NASTY, finding=NASTY, tried=NASTY,
        evidence=(
            Evidence("valid", NASTY, NASTY, "holds", "box", NASTY, NASTY, about=NASTY),
            replace(BOXES, relation=NASTY, reason=NASTY, detail=NASTY),
            replace(BOXES, links=(Link(NASTY, NASTY, "holds", "box"),)),
        ),
    )  # fmt: skip
    page = markdown.render(audit(nasty, REFUTED))
    assert "<script>" not in page
    assert "| **bold**" not in page
    assert "Correction: with the factor (proved)." in page
    assert "hiddenstate audit --only fn-4" in page
    assert "| 2 | 2 |" in page
    for line in page.splitlines():
        if line.startswith("| printed |"):
            assert line.replace("\\|", "").count("|") == 10


def test_one_finding_is_said_once_and_named_results_come_first():
    mended = {"statement": "x <= 2", "verdict": "proved"}
    alike = {"verdict": "refuted", "severity": "statement", "finding": "One finding."}
    made = audit(
        record("eq-1", kind="equation", label="(1)", correction=mended, impact=("thm-1", "eq-3"),
               **alike),
        record("thm-1", label="Theorem 1", correction={**mended, "statement": "x < 2"}, **alike),
        record("txt-4.1-as-said", kind="prose", label="txt-4.1-as-said", where="4.1", **alike),
        record("eq-3", kind="equation", label="(3)", rests_on=("eq-1",)),
    )  # fmt: skip
    out = io.StringIO()
    terminal.summary(made, out)
    for text in (markdown.render(made).split("## Statements")[0], out.getvalue()):
        plain = " ".join(text.replace("*", "").replace("\\", "").split())
        assert plain.count("One finding.") == 1
        assert "Theorem 1, Section 4.1: as said, Equation (1)" in plain
        assert "orrection of Theorem 1: x < 2 (proved)" in plain
        assert "orrection of Equation (1): x <= 2 (proved)" in plain
    assert "What rests on it: eq-3." in markdown.render(made)


def test_summary_fits_and_is_plain_when_piped():
    out = io.StringIO()
    terminal.summary(audit(record(), REFUTED), out)
    text = out.getvalue()
    assert "\x1b" not in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "Refuted as printed" in text
    assert "A factor is missing." in text


def test_gravest_first():
    order = [
        record("a", "refuted", severity="misprint", impact=("x",) * 5),
        record("b", "refuted", severity="statement"),
        record("c", "refuted", severity="statement", impact=("x",)),
    ]
    assert [item.id for item in wording.by_impact(order)] == ["c", "b", "a"]


def test_reports_know_no_mathematics():
    for path in Path(reports.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            for name in names:
                assert name.split(".")[0] not in ("bounds", "verify", "empirical", "sympy"), path


def test_terminal_json_is_json():
    assert json.loads(jsonfile.dumps(audit(record())))["statements"][0]["id"] == "thm-3.3"


def test_the_page_stands_with_its_figures_beside_it(tmp_path):
    made = markdown.write(audit(record()), tmp_path / "deep" / "audit.md")
    assert [str(path.relative_to(tmp_path)) for path in made] == [
        "deep/audit.md", "deep/figures/figure.svg",
    ]  # fmt: skip
    text = made[0].read_text("utf-8")
    assert "](figures/figure.svg)" in text
    assert made[1].read_text("utf-8").startswith("<svg")
    # A table whose head and rule are apart is no table.
    assert "| epochs | c |\n|---:|---:|\n| 1 |" in text


def test_a_map_of_words_shows_the_words():
    row = Curve("5", "b", {}, ("1",), ("1",), ("1",), labels=("thm_4",))
    made = Series("m", "fig", "t", "eta", ("2",), (row,), "map", row_name="K")
    text = markdown.render(audit(record(), series=(made,)))
    assert "| eta, by K | 5 |\n|---:|---:|\n| 2 | thm\\_4 |" in text
