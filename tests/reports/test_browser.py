"""The published audit's page in a real headless browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from pypdf import PdfReader

from reports import html, jsonfile
from reports.records import Audit
from tests.reports.chromium import DESKTOP, PHONE, executable

pytestmark = pytest.mark.browser

PUBLISHED = Path(__file__).parents[2] / "reports" / "published" / "audit.json"


@pytest.fixture(scope="module")
def part() -> Audit:
    """A part of the audit with something of everything, which loads fast."""
    whole = jsonfile.read(PUBLISHED)
    chosen = [
        s for i, s in enumerate(whole.statements)
        if i % 16 == 0 or s.kind in ("theorem", "footnote")
        or s.id in ("eq-145", "eq-146", "eq-157")
    ]  # fmt: skip
    return replace(whole, statements=tuple(chosen), series=whole.series[:1])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, part: Audit) -> str:
    executable()  # no page is made that no browser would open
    path = tmp_path_factory.mktemp("page") / "audit.html"
    path.write_text(html.render(part), "utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Any]:
    """Opens the page and, when the test is over, wants a silent console and no requests."""
    said: list[str] = []
    asked: list[str] = []
    allowed: set[str] = set()
    contexts = []

    def opened(
        viewport: dict[str, int] = DESKTOP, fragment: str = "", at: str = address, **options: Any
    ) -> Any:
        allowed.add(at)
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(at + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= allowed


def until(page: Any, condition: str) -> None:
    """Wait for a condition; the page's policy forbids the driver's own way, which is eval."""
    for _ in range(200):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(25)
    pytest.fail(f"never came true: {condition}")


def thin(page: Any, **kept: int) -> None:
    """Take away all but the first few of what is alike, for speed."""
    for what, number in (
        ("article.statement", kept.get("statements", 4)), (".finding", kept.get("findings", 3)),
        (".stack tbody tr", kept.get("rows", 15)), ("details.chain", kept.get("chains", 1)),
        ("svg.map a:nth-of-type(n+12)", 0), (".plot > *", 1), ("pre", 20), (".chart table tr", 4),
    ):  # fmt: skip
        page.evaluate(
            "([what, kept]) => document.querySelectorAll(what).forEach("
            "(n, i) => { if (i >= kept) { n.remove(); } })",
            [what, number],
        )


def shown(page: Any) -> list[str]:
    return page.eval_on_selector_all(
        "article.statement", "items => items.filter(i => i.checkVisibility()).map(i => i.id)"
    )


def test_the_whole_audit_is_one_page(visit, tmp_path):
    audit = jsonfile.read(PUBLISHED)
    text = html.render(audit)
    assert len(text.encode()) < html.LIMIT
    path = tmp_path / "audit.html"
    path.write_text(text, "utf-8")
    page = visit(PHONE, "#eq-157", path.as_uri())
    assert shown(page) == [r.id for r in audit.statements]
    top = "document.getElementById('eq-157').getBoundingClientRect().top"
    until(page, f"{top} > -2 && {top} < 200")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_filters_filter(visit, part):
    audit = part
    page = visit()
    assert shown(page) == [r.id for r in audit.statements]

    def wanted(keep):
        return [r.id for r in audit.statements if keep(r)]

    for name, value, keep in (
        ("verdict", "refuted", lambda r: r.verdict == "refuted"),
        ("severity", "step", lambda r: r.severity == "step"),
        ("section", "4.1", lambda r: r.where == "4.1"),
        ("kind", "theorem", lambda r: r.kind == "theorem"),
        ("strength", "sampled", lambda r: "sampled" in html.strengths(r)),
    ):
        page.select_option(f"#page-filter-{name}", value)
        assert shown(page) == wanted(keep)
        assert len(wanted(keep)) not in (0, len(audit.statements)), name
        count = page.inner_text("#page-count")
        assert count.startswith(f"{len(wanted(keep))} of {len(audit.statements)}")
        page.click("#page-filters button")
        until(page, "!document.querySelector('article.statement[hidden]')")
    page.select_option("#page-filter-verdict", "refuted")
    page.select_option("#page-filter-kind", "theorem")
    assert shown(page) == wanted(lambda r: r.verdict == "refuted" and r.kind == "theorem")
    page.click("#page-filters button")
    page.fill("#page-search", "Footnote 4")
    until(page, "document.querySelector('article.statement[hidden]')")
    assert "fn-4" in shown(page)
    page.fill("#page-search", "no such words here")
    until(page, "!document.getElementById('page-none').hidden")
    assert shown(page) == []


def test_anchors_land_even_on_what_a_filter_hides(visit):
    page = visit(fragment="#thm-4.2")
    top = "document.getElementById('thm-4.2').getBoundingClientRect().top"
    assert 0 <= page.evaluate(top) < 200
    page.select_option("#page-filter-verdict", "refuted")
    assert "thm-4.2" not in shown(page)
    page.evaluate("location.hash = '#page-summary'")
    page.evaluate("location.hash = '#thm-4.2'")
    until(page, f"{top} >= 0 && {top} < 200")
    assert "thm-4.2" in shown(page)
    page.evaluate("document.querySelector('svg.map a[href=\"#eq-157\"]').focus()")
    assert page.eval_on_selector_all("svg.map.following a.on", "a => a.length") > 1
    page.keyboard.press("Enter")
    until(page, "location.hash === '#eq-157'")


def test_without_script_everything_is_there(visit, part):
    page = visit(java_script_enabled=False)
    article = page.locator("article.statement")
    assert article.count() == len(part.statements)
    assert article.last.is_visible()
    assert not page.locator("#page-filters").is_visible()
    assert page.locator("math").count() > 100


def test_fits_a_phone(visit):
    page = visit(PHONE)
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= PHONE["width"]
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate(width) <= PHONE["width"]
    # Nothing readable is cut off outside a region that scrolls.
    cut = page.evaluate(
        """() => { const scrolls = n => n && (getComputedStyle(n).overflowX === 'auto'
            || scrolls(n.parentElement));
        return Array.from(document.querySelectorAll('main p, main td, main h3, main summary'))
        .filter(n => n.checkVisibility() && !scrolls(n) 
                && n.getBoundingClientRect().right > innerWidth + 1)
        .map(n => n.textContent.slice(0, 60)); }"""
    )
    assert cut == []


def test_no_formula_leaves_its_place(visit):
    page = visit()
    page.evaluate(
        """() => { document.querySelectorAll('article').forEach(
            a => { a.style.contentVisibility = 'visible'; });
        document.querySelectorAll('details').forEach(d => { d.open = true; }); }"""
    )
    for width in (1280, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        out = page.evaluate(
            """() => Array.from(document.querySelectorAll('math')).filter(m => {
                for (let n = m.parentElement; n.tagName !== 'MAIN'; n = n.parentElement) {
                    const style = getComputedStyle(n);
                    if (style.overflowX === 'auto') { return false; }
                    if (m.getBoundingClientRect().right > n.getBoundingClientRect().right + 3
                        && style.display !== 'inline') { return true; }
                }
                return false;
            }).map(m => m.textContent.slice(0, 60))"""
        )
        assert out == [], width


def test_mathematics_is_drawn(visit):
    page = visit()
    boxes = page.evaluate(
        """() => Array.from(document.querySelectorAll('#thm-4\\\\.2 .formula mfrac'))
        .map(f => [f.children[0], f.children[1]].map(n => n.getBoundingClientRect().top))"""
    )
    assert boxes
    assert all(above < below for above, below in boxes)


def test_keyboard_reaches_every_control_and_leaves(visit):
    page = visit()
    thin(page, statements=2, findings=2, rows=8)
    wanted = page.evaluate(
        """() => { const all = Array.from(document.querySelectorAll(
            'a[href], button, input, select, summary, [tabindex="0"]'))
            .filter(n => n.checkVisibility({visibilityProperty: true}));
            all.forEach((n, i) => { n.dataset.order = i; }); return all.length; }"""
    )
    page.evaluate("document.activeElement.blur()")
    seen = []
    for _ in range(wanted + 3):
        page.keyboard.press("Tab")
        at = page.evaluate("document.activeElement.dataset.order")
        if at is None:
            break
        seen.append(int(at))
        if len(seen) in (1, wanted // 2):
            style = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(style) == "solid"
    assert seen == list(range(wanted))
    page.evaluate("document.activeElement.blur(); document.querySelector('.skip').focus()")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "page-main"


def test_prints_whole_rows(visit, tmp_path):
    page = visit()
    page.emulate_media(media="print")
    for gone in ("nav", "#page-filters", ".certificate"):
        assert not page.locator(gone).first.is_visible()
    assert page.locator(".chain tbody tr").first.is_visible()
    kept = page.eval_on_selector_all(
        "tr, .finding > *", "n => n.every(x => getComputedStyle(x).breakInside === 'avoid')"
    )
    assert kept
    thin(page, statements=20)
    path = tmp_path / "page.pdf"
    page.pdf(
        path=path, format="A4", margin=dict.fromkeys(("top", "bottom", "left", "right"), "1.5cm")
    )
    text = [sheet.extract_text() for sheet in PdfReader(path).pages]
    assert 5 < len(text) < 40
    # No page is nearly empty, which a break in the wrong place would leave.
    assert all(len(sheet) > 80 for sheet in text[:-1])
    assert "Theorem 4.2" in "".join(text)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_accessible(visit, viewport):
    page = visit(viewport)
    # The checker's time grows with the square of the page.
    thin(page)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 20
    said = [
        (v["id"], v["help"], len(v["nodes"]), v["nodes"][0]["html"][:200])
        for v in found["violations"]
        # Links to statements that this test removed.
        if v["id"] != "skip-link"
    ]
    assert said == []
