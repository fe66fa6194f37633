"""The formats beside the page: JUnit XML, CSV, PDF and the schema of the JSON."""

from __future__ import annotations

import csv
import io
import json
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pypdf
import pytest

from reports import csvdata, jsonfile, junit, pdf
from reports.records import Audit, Curve, Evidence, Link, Mutants, Series, StatementRecord
from tests.reports.samples import record

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "audit.json"
NASTY = "<x> & ]]> \x00\x1b\ufffe \"' =1+1"


def audit(*records: StatementRecord, series: tuple[Series, ...] = ()) -> Audit:
    return Audit({"python": "3"}, "quick", 7, records, series, seconds=2.5)


BROKEN = Evidence("valid", "a.c", "balls", "error", "sampled", "none", NASTY)
FOUND = audit(
    record("a", "proved"), record("b", "refuted", severity="step", finding=NASTY),
    record("c", "open", tried=NASTY), record("d", "proved", evidence=(BROKEN,)),
)  # fmt: skip


@pytest.fixture(scope="module")
def published() -> Audit:
    return jsonfile.read(PUBLISHED)


def test_junit_has_a_case_for_each_statement_and_survives_any_text():
    suite = ElementTree.fromstring(junit.render(FOUND)).find("testsuite")
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    cases = suite.findall("testcase")
    assert [case.get("name").split(":")[0] for case in cases] == ["a", "b", "c", "d"]
    assert cases[1].find("failure").get("type") == "step"
    assert "<x> & ]]>" in cases[1].find("failure").get("message")
    assert cases[0].get("time") == "0.250"
    assert "--only a --effort quick --seed 7" in cases[0].find("system-out").text


def test_junit_of_the_published_audit_counts_its_refutations(published):
    suite = ElementTree.fromstring(junit.render(published)).find("testsuite")
    refuted = sum(item.verdict == "refuted" for item in published.statements)
    assert int(suite.get("failures")) == refuted > 0


def test_csv_holds_every_point_and_starts_no_formula():
    curve = Curve("=2+2", "thm", {}, ("1", "-2"), ("0.5", "-3"), ("1", "-1"))
    made = audit(series=(Series("s", "fig", "@title", "epochs", ("1", "2"), (curve,)),))
    rows = list(csv.DictReader(io.StringIO(csvdata.render(made))))
    assert [row["x"] for row in rows] == ["1", "2"]
    assert [row["lower"] for row in rows] == ["0.5", "-3"]
    assert {row["curve"] for row in rows} == {"'=2+2"}
    assert {row["title"] for row in rows} == {"'@title"}


def test_the_published_audit_is_of_the_published_schema(published):
    text = resources.files("reports").joinpath("schema/audit.schema.json").read_text("utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(PUBLISHED.read_text("utf-8")), schema)
    item = Evidence("derived", "c", "m", "holds", "box", "d", "x", relation="<=", reason="by (4)",
                    links=(Link("=", "first", "holds", "box"),))  # fmt: skip
    full = audit(record("a", "proved", mutants=Mutants(2, ("x",)), evidence=(item,)))
    jsonschema.validate(jsonfile.to_json(full), schema)
    wrong = jsonfile.to_json(full)
    wrong["statements"][0]["verdict"] = "true"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


def test_the_pdf_is_one_page_that_counts_what_it_leaves_out(published):
    made = pdf.render(published)
    assert made == pdf.render(published)
    pages = pypdf.PdfReader(io.BytesIO(made)).pages
    assert len(pages) == 1
    text = " ".join(pages[0].extract_text().split())
    refuted = sum(item.verdict == "refuted" for item in published.statements)
    assert f"refuted {refuted}" in text
    assert "more are in the full report." in text
    assert "%PDF" in pdf.render(FOUND)[:8].decode("latin-1")
    assert pdf.render(audit())[:4] == b"%PDF"
