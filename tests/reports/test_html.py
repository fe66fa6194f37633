from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import graph, html, jsonfile, mathml, plots, wording
from reports.records import Audit, Curve, Evidence, Link, Mutants, Series, StatementRecord
from tests.reports.samples import record
from verify.cli import cli

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "audit.json"
NASTY = (
    "<script>alert(1)</script>\"><img src=x onerror=alert(1)>]]></script><!-- {{ 7*7 }} '` & e^x"
)


@pytest.fixture(scope="module")
def published() -> Audit:
    """A part of the published audit, for speed; the browser's tests open all of it."""
    whole = jsonfile.read(PUBLISHED)
    chosen = [s for i, s in enumerate(whole.statements) if i % 3 == 0 or s.verdict == "refuted"]
    return replace(whole, statements=tuple(chosen), series=whole.series[:2])


@pytest.fixture(scope="module")
def page(published: Audit) -> str:
    return html.render(published)


def parse(text: str):
    made = html5lib.parse(text, namespaceHTMLElements=False)
    for node in made.iter():
        if isinstance(node.tag, str):  # svg and math have namespaces of their own
            node.tag = node.tag.rpartition("}")[2]
    return made


@pytest.fixture(scope="module")
def tree(page: str):
    return parse(page)


def audit(*records, **changes):
    values = {"versions": {"python": "3.11"}, "effort": "quick", "seed": 0, "statements": records}
    return Audit(**(values | changes))


def point(left, right, **parameters):
    certificate = {"kind": "point", "parameters": parameters, "left": left, "right": right,
                   "relation": "<="}  # fmt: skip
    return Evidence("valid", "a.b", "balls", "fails", "point", "x > 0", "too large", certificate)


# Formulas.


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a/b + 1", "<mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        ("x = alpha Sg^2/(2 b)", '<mfrac><mrow><mi>α</mi><mspace width="0.17em"></mspace>'),
        ("theta_k^(j+1) >= 0", '<msubsup><mi>θ</mi><mi>k</mi><mrow class="p">'),
        ("sum_(k=1..K) x^k", "<munder><mo>∑</mo>"),
        ("prod_(j' = 1)^(j-1) W_j", "<munderover><mo>∏</mo>"),
        ("sqrt(x + 1) <= 2", "<msqrt>"),
        ("m = floor(l/2)", "<mo>⌊</mo>"),
        ("|grad g|^2 != 0", "<mo>≠</mo>"),
        ("R_alpha(mu || nu) < infinity", "‖"),
        ("d/dt R = 0", "<mfrac><mi>d</mi><mrow><mi>d</mi><mi>t</mi></mrow></mfrac>"),
        ("T (x) S = 0", "<mo>⊗</mo>"),
        ("<grad h, grad q> = 0", "⟨"),
        ("alpha~ > 1", '<mover accent="true" class="tilde">'),
        ("P(A in S) <= 1", "<mo>∈</mo>"),
    ],
)
def test_mathematics_is_typeset(text, wanted):
    assert wanted in mathml.typeset(text, display=True)


@pytest.mark.parametrize(
    "text",
    [
        "a partition drawn once, for all neighbouring records", "Theorem 4.2 and Figure 2 (b)",
        "the sum over the batch", "and/or", "x - ", "((", "|", "a^^b", "f(x", "x_", "1/",
        "(5), (6)",
        "a well-known log-Sobolev inequality", "log-Sobolev", "", "α ≤ β", "f^(", "x^_y",
    ],
)  # fmt: skip
def test_what_is_not_sure_stays_plain(text):
    made = mathml.typeset(text, display=True)
    if "<math" in made:  # a part may be sure; nothing may be lost
        assert squeezed(read_back(made)) == squeezed(text)
    else:
        assert unescape(made) == text


def test_a_slash_below_which_a_product_follows_divides_one_factor():
    made = mathml.typeset("x = a/b c", display=True)
    assert "<mfrac><mi>a</mi><mi>b</mi></mfrac>" in made
    # The body of a product over j stays in it.
    made = mathml.typeset("A prod_(j=1) c W_j/W_k <= 1", display=True)
    numerator = ElementTree.fromstring(f"<r>{made.replace('<wbr>', '')}</r>").find(".//mfrac")[0]
    assert "∏" not in "".join(numerator.itertext())
    # A function without brackets before a slash could mean two things.
    assert "<mfrac>" not in mathml.typeset("y = log x/z", display=True)


def test_a_long_set_can_break_over_lines():
    made = mathml.typeset("x in {1/2, 1/3, 1/4, 1/5, 1/6, 1/7}")
    assert made.count("<math>") == 7
    assert mathml.typeset("{1/2, 1/3}").count("<math>") == 1
    assert mathml.widest("x in {1/2, 1/3, 1/4, 1/5, 1/6, 1/7}") < 4


def read_back(made: str) -> str:
    """The plain text behind typeset HTML."""
    pieces = re.split(r"<math[^>]*>(.*?)</math>", made.replace("<wbr>", ""), flags=re.DOTALL)
    return "".join(
        mathml.source(piece) if i % 2 else unescape(piece) for i, piece in enumerate(pieces)
    )


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_every_printed_formula_reads_back():
    published = jsonfile.read(PUBLISHED)
    texts = [r.printed for r in published.statements]
    texts += [r.correction["statement"] for r in published.statements if r.correction]
    texts += [r.finding for r in published.statements] + [r.reading for r in published.statements]
    plain = 0
    for text in texts:
        for display in (True, False):
            assert squeezed(read_back(mathml.typeset(text, display=display))) == squeezed(text)
        plain += bool(re.search(r"[\^_]", re.sub("<math.*</math>", "", mathml.typeset(text))))
    # Nearly all of it is understood, else this test would say nothing.
    assert plain < len(texts) / 50


@given(st.text(st.sampled_from("ab xK(){}[]|<>=/^_'~+-*,.;:0123 \"&α"), max_size=25), st.booleans())
def test_any_text_reads_back(text, display):
    made = mathml.typeset(text, display=display)
    assert squeezed(read_back(made)) == squeezed(text)
    ElementTree.fromstring(f"<r>{made.replace('<wbr>', '')}</r>")


def test_the_check_of_the_markup_sees_an_altered_symbol():
    made = re.search("<math[^>]*>(.*)</math>", mathml.typeset("x^2/(1 + y)", display=True))[1]
    assert mathml.source(made) == "x^2/(1+y)"
    assert mathml.source(made.replace("<mn>2</mn>", "<mn>3</mn>")) != "x^2/(1+y)"
    assert mathml.source(made.replace(' class="p"', "")) != "x^2/(1+y)"


# The page.


def test_structure(tree, published):
    for tag in ("header", "nav", "main", "footer", "h1"):
        assert len(tree.findall(f".//{tag}")) == 1
    levels = [int(node.tag[1]) for node in tree.iter() if re.fullmatch(r"h[1-6]", str(node.tag))]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(names) == len(set(names))
    targets = [node.get("href") for node in tree.iter("a")]
    assert {t[1:] for t in targets if t.startswith("#")} <= set(names)
    assert {r.id for r in published.statements} <= set(names)
    assert tree.find(".//html[@lang='en']") is not None or tree.get("lang") == "en"


def test_each_statement_has_what_a_reader_wants(tree, published):
    sections = {n.get("id"): n for n in tree.iter("article") if n.get("class") == "statement"}
    for item in published.statements:
        text = " ".join("".join(sections[item.id].itertext()).split())
        assert f"--only {item.id} --effort {published.effort} --seed {published.seed}" in text
        assert item.verdict.capitalize() in text
        rows = sections[item.id].findall(".//tbody/tr")
        assert len(rows) == len(item.evidence)
        proofs = sections[item.id].findall(".//details")
        assert len(proofs) == sum(e.certificate is not None for e in item.evidence)
        for proof, piece in zip(
            proofs, (e for e in item.evidence if e.certificate is not None), strict=True
        ):
            assert json.loads("".join(proof.find("pre").itertext())) == piece.certificate


def test_nothing_is_fetched_and_the_policy_holds(page, tree):
    assert len(page.encode()) < html.LIMIT
    for node in tree.iter():
        for key, value in node.attrib.items():
            assert key != "style"
            assert not key.startswith("on")
            if key in ("src", "href") and "license" not in value:
                assert value.startswith(("#", "data:")), value
    policy = tree.find(".//meta[@http-equiv='Content-Security-Policy']").get("content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (node,) = tree.findall(f".//{tag}")
        digest = base64.b64encode(hashlib.sha256(node.text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_findings_come_gravest_first():
    a = record("a", "refuted", severity="misprint", impact=("b", "c"))
    b = record("b", "refuted", severity="statement", finding="One.")
    c = record("c", "refuted", severity="statement", finding="Two.", impact=("a", "d"))
    d, e = record("d"), record("e", "refuted", severity="step", impact=("d",))
    f = record("f", "refuted", severity="statement", finding="One.", impact=())
    made = html.groups(audit(a, b, c, d, e, f))
    assert [[r.id for r in group.records] for group in made] == [["c"], ["b", "f"], ["e"], ["a"]]
    assert [r.id for r in made[0].fallen] == ["a"]
    assert [r.id for r in made[0].standing] == ["d"]


def test_witness_is_for_a_calculator():
    evidence = (
        replace(point(["0", "0"], ["1", "1"], other="1"), obligation="derived"),
        point(["0.12345678901234567", "0.12345678901234568"], ["1/3", "1/3"], n="2", eta="2/3"),
        replace(point(["9", "9"], ["9", "9"], n="9"), about="correction"),
    )
    seen = html.witness(record(verdict="refuted", evidence=evidence))
    assert seen.parameters == (("n", "2"), ("eta", "2/3"))
    assert (seen.left, seen.right, seen.relation) == ("0.1234567890123457", "1/3", "<=")
    deep = replace(evidence[1], certificate={"x": [{"y": evidence[1].certificate}]})
    assert html.witness(record(verdict="refuted", evidence=(deep,))) == seen
    assert seen.formulas is None
    assert html.witness(record()) is None


def test_witness_names_its_letters_and_shows_what_to_evaluate():
    item = point(["1", "1"], ["3/4", "3/4"], sigma2="1", start="9" * 50)
    item = replace(
        item, detail="first term against the last, over alpha A: 1 against 0.75 at K = 2",
        certificate={**item.certificate, "formulas": {"left": "let(x, 2, x)", "right": "3/4"},
                     "eigenvalues": ["1", "2", "3"]},
    )  # fmt: skip
    seen = html.witness(record(verdict="refuted", evidence=(item,)))
    assert seen.short == (("sigma^2", "1"),)
    assert seen.long == (("start", "9" * 50), ("eigenvalues", "1, 2, 3"))
    assert seen.detail == "first term against the last, over alpha A at K = 2"
    page = html.render(audit(record(verdict="refuted", severity="step", evidence=(item,))))
    shown = parse(page).find(".//details[@class='formulas']")
    text = "".join(shown.itertext())
    assert "let(x, 2, x)" in text
    assert "9" * 50 in text
    assert "is e with x for the name v" in text


def test_long_certificates_are_cut_and_say_so():
    long = {"kind": "boxes", "boxes": ["<" * 900] * 1500}
    evidence = tuple(
        Evidence("valid", f"c{i}", "m", "holds", "box", "d", "x", long) for i in range(4)
    )
    small = Evidence("valid", "small", "m", "holds", "box", "d", "x", {"kind": "point"})
    page = html.render(audit(record(evidence=(*evidence, small))))
    assert len(page.encode()) < html.LIMIT
    assert page.count("more characters in audit.json") == 4
    assert "&#34;kind&#34;: &#34;point&#34;\n}</pre>" in page


def test_a_page_too_large_is_refused_in_a_sentence():
    with pytest.raises(html.TooLarge, match="MB"):
        html.render(audit(record(printed="x " * 2_600_000)))


def test_the_map_follows_refuted_statements():
    a = record("a", "refuted", severity="step", label="(1)", impact=("b",))
    b, c = record("b", label="(2)", rests_on=("a",)), record("c", label="(3)")
    made = audit(a, b, c)
    small, whole = (parse(html.paper_map(made, whole=w)) for w in (False, True))
    assert [n.get("href") for n in small.iter("a")] == ["#a", "#b"]
    assert [n.get("href") for n in whole.iter("a")] == ["#a", "#b", "#c"]
    assert [n.get("class") for n in small.iter("a")] == ["box v-refuted", "box touched v-proved"]
    assert len(small.findall(".//path[@class='edge wrong']")) == 1


def test_layers_put_foundations_on_top_and_survive_cycles():
    assert graph.layers({"c": ["b", "?"], "b": ["a"], "a": []}) == [["a"], ["b"], ["c"]]
    looped = graph.layers({"a": ["b"], "b": ["a"], "c": ["c"]})
    assert sorted(name for row in looped for name in row) == ["a", "b", "c"]
    assert graph.layers({}) == []
    chain = {str(i): [str(i + 1)] for i in range(5000)}
    assert len(graph.layers({**chain, "5000": []})) == 5001


def test_figures_have_their_data(published, tree):
    figures = tree.findall(".//figure")
    assert len(figures) == len(published.series)
    for node, series in zip(figures, wording.figures(published), strict=True):
        assert len(node.findall(".//tbody/tr")) == len(series.x)
        kind, _, coded = node.find(".//a[@download]").get("href").partition(",")
        assert kind == "data:text/csv;charset=utf-8;base64"
        lines = base64.b64decode(coded).decode().splitlines()
        assert len(lines) == 1 + len(series.x) * len(series.curves)
        assert series.curves[0].lower[0] in lines[1]
        drawing = "".join(node.find("div/svg").itertext())
        assert all(plots.greek(curve.name) in drawing for curve in series.curves)


def test_figures_of_the_paper_come_first_with_what_is_said_of_them():
    curve = Curve("c", "b", {}, ("1",), ("1",), ("1",))
    series = [
        Series(name, statement, f"title {name}", "epochs", ("1",), (curve,), note=note)
        for name, statement, note in (
            ("map", "thm-3.3", "a note"), ("truth-1", "fig-1", "over it"),
            ("figure-1", "fig-1", ""), ("stray", "", ""),
        )
    ]  # fmt: skip
    figure = record("fig-1", kind="figure", label="Figure 1", printed="two curves")
    prose = record("txt-1", "refuted", kind="prose", label="txt-1", rests_on=("fig-1",))
    made = audit(record(), figure, prose, series=tuple(series))
    shown = parse(html.render(made)).findall(".//figcaption")
    said = [" ".join("".join(node.itertext()).split()) for node in shown]
    assert [text.split(".")[0].split(":")[0] for text in said] == [
        "title figure-1", "title truth-1", "title map", "title stray",
    ]  # fmt: skip
    assert "two curves. See Figure 1 (proved). What the paper says of it: Section 3.2: 1" in said[0]
    assert "over it See Figure 1" in said[1]
    assert not any("What the paper says" in text for text in said[1:])


def test_links_one_by_one():
    links = (Link("=", "first", "holds", "symbolic"), Link("<=", "second", "fails", "point"))
    item = Evidence("derived", "c", "m", "fails", "point", "d", "in short", relation="<=, =",
                    reason="by (4)", links=links)  # fmt: skip
    (row,) = parse(html.render(audit(record(evidence=(item,))))).findall(
        ".//table[@class='stack evidence']/tbody/tr"
    )
    text = " ".join("".join(row.itertext()).split())
    listed = [" ".join("".join(node.itertext()).split()) for node in row.findall(".//li")]
    assert listed == ["first (=) holds symbolic", "second (≤) fails point"]
    assert "Argument: by (4)" in text
    assert "≤, =" in text
    assert "in short" not in text
    alone = html.render(audit(record(evidence=(replace(item, links=()),))))
    assert "in short" in alone


def test_derivations_say_of_each_link_whether_it_is_true_and_follows(published, tree):
    names = [name for name, _ in html.derivations(published)]
    assert "fixed order proof" in names
    item = replace(
        point(["1", "1"], ["0", "0"]), check="verify.derivations.some_proof.eq-1.valid.0"
    )
    follows = replace(item, obligation="derived", outcome="holds", relation="<=", reason="by (4)")
    made = audit(record(evidence=(item, follows), rests_on=("eq-4",)), record("eq-4", label="(4)"))
    ((name, (step,)),) = html.derivations(made)
    assert name == "some proof"
    assert [e.outcome for e in step.true] == ["fails"]
    assert [e.outcome for e in step.follows] == ["holds"]
    row = parse(html.render(made)).find(".//details[@class='chain']//tbody/tr")
    cells = {
        node.get("data-label"): " ".join("".join(node.itertext()).split())
        for node in row.findall("td")
    }
    assert cells == {
        "Relation": "≤", "Printed": "ε≤x1", "Reason": "From Equation (4). by (4)",
        "True": "fails point", "Follows": "holds point",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("true", "follows", "words"),
    [
        ({"whole": True}, None, ("holds symbolic", "proved outright")),
        ({"whole": False}, None, ("holds symbolic", "not asked")),
        (None, {"outcome": "holds"}, ("if it follows", "holds symbolic")),
        (None, {"outcome": "undecided"}, ("not asked", "undecided symbolic")),
    ],
)
def test_a_question_that_was_not_put_says_why(true, follows, words):
    item = Evidence("valid", "verify.derivations.a.b", "m", "holds", "symbolic", "d", "x")
    evidence = [] if true is None else [replace(item, **true)]
    evidence += [] if follows is None else [replace(item, obligation="derived", **follows)]
    row = parse(html.render(audit(record(evidence=tuple(evidence))))).find(
        ".//details[@class='chain']//tbody/tr"
    )
    cells = ["".join(node.itertext()).split() for node in row.findall("td")]
    assert tuple(" ".join(cell) for cell in cells[-2:]) == words


# What comes from outside.


def nasty_audit() -> Audit:
    curve = Curve(NASTY, NASTY, {NASTY: NASTY}, ("1.5", "2"), ("1", "2"), ("2", "2"))
    evidence = (
        Evidence("valid", NASTY, NASTY, "fails", "point", NASTY, NASTY + "; b",
                 {NASTY: NASTY, "parameters": {NASTY: NASTY}, "left": NASTY, "right": [NASTY] * 2,
                  "relation": NASTY, "links": [{"kind": NASTY}, NASTY]}, 0.1, part=NASTY),
        Evidence("derived", "verify.derivations.x.y", NASTY, "holds", "box", NASTY, NASTY,
                 {NASTY: [NASTY]}, about=NASTY, part=NASTY, relation=NASTY, reason=NASTY,
                 links=(Link(NASTY, NASTY, "holds", "box"),)),
    )  # fmt: skip
    values = dict.fromkeys(
        ("id", "kind", "label", "where", "printed", "says", "reading", "finding", "tried"), NASTY
    )
    first = StatementRecord(
        **values, verdict="refuted", severity=NASTY, impact=(NASTY, "other"), rests_on=(NASTY,),
        correction={"statement": NASTY, "verdict": NASTY}, evidence=evidence,
        mutants=Mutants(2, (NASTY,)),
    )  # fmt: skip
    second = record("other", NASTY, kind="prose", label="other", rests_on=(NASTY,))
    third = replace(first, id=NASTY + "2", severity="statement")
    return Audit(
        versions={NASTY: NASTY}, effort=NASTY, seed=0, statements=(first, second, third),
        series=(Series(NASTY, NASTY, NASTY, NASTY, ("1", "2"), (curve,), note=NASTY),),
        only=(NASTY,), complete=False,
    )  # fmt: skip


def test_markup_from_outside_stays_text(monkeypatch):
    # Severities that no audit has are still shown as text.
    monkeypatch.setattr("reports.wording._IMPACT", ("statement", NASTY, None))
    monkeypatch.setattr(html, "SEVERITIES", (NASTY, "statement"))
    page = html.render(nasty_audit())
    tree = parse(page)
    assert len(tree.findall(".//script")) == 1
    assert "alert(1)" not in tree.find(".//script").text
    assert not tree.findall(".//img")
    assert "49" not in "".join(n.text or "" for n in tree.iter("h3"))
    for node in tree.iter():
        assert not any(key.startswith("on") for key in node.attrib), node.attrib
        assert not str(node.get("href", "#")).startswith("javascript")
    comments = [n for n in tree.iter() if not isinstance(n.tag, str)]
    assert not comments
    names = [node.get("id") for node in tree.iter() if node.get("id")]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9._\-]*", name) for name in names)
    # It is shown, not swallowed.
    shown = "".join(tree.itertext())
    assert shown.count("<script>alert(1)</script>") > 20
    assert shlex.quote(NASTY) in shown


def test_data_in_a_script_cannot_end_it():
    text = str(html._embedded({"x": NASTY, "y": "\u2028"}))
    assert "<" not in text
    assert "&" not in text
    assert json.loads(text) == {"x": NASTY, "y": "\u2028"}


def test_pictures_lose_what_could_run():
    made = html.inline_svg(
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'width="9pt"><script>x</script><g id="a" onclick="x" style="fill: #123; cursor: help">'
        '<use xlink:href="#b" clip-path="url(#c)"/></g></svg>',
        "p", "says",
    )  # fmt: skip
    assert "script" not in made
    assert "onclick" not in made
    assert "style" not in made
    assert 'fill="#123"' in made
    assert 'href="#p-b"' in made
    assert "url(#p-c)" in made


# The command.


def run(*arguments):
    from click.testing import CliRunner

    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def test_command_writes_a_page(tmp_path):
    path = tmp_path / "audit.json"
    jsonfile.write(audit(record()), path)
    done = run(path)
    assert done.exit_code == 0, done.output
    assert "<!DOCTYPE html>" in (tmp_path / "audit.html").read_text()
    assert "audit.html" in done.output
    assert run(path, "--quiet", "--format", "md", "--out", tmp_path / "x" / "a.md").output == ""
    assert (tmp_path / "x" / "a.md").read_text().startswith("# Audit")


def test_command_refuses_in_a_sentence(tmp_path):
    path = tmp_path / "audit.json"
    jsonfile.write(audit(record()), path)
    before = path.read_text()
    for arguments, words in (
        ((tmp_path / "none.json",), "cannot be read"),
        ((path, "--format", "json"), "is the audit itself"),
        ((path, "--out", path), "is the audit itself"),
        ((path, "--out", path / "x.html"), "cannot be written"),
        ((path, "--format", "docx"), "docx"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert words in done.output
        assert "Traceback" not in done.output
    assert path.read_text() == before
