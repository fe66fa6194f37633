"""The explorer in a real headless browser: its numbers against the library's, and its manners."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bounds.bound import registry
from bounds.setting import AssumptionViolated, InvalidInput, MissingParameter, Setting
from reports import explorer, html, jsonfile
from tests.reports.chromium import DESKTOP, PHONE, executable
from tests.reports.test_browser import PUBLISHED

pytestmark = pytest.mark.browser

BASE = {
    "n": "50", "b": "2", "eta": "0.02", "lambda": "1", "beta": "4", "sensitivity": "4",
    "sigma2": "4", "alpha": "10", "position": "",
}  # fmt: skip
EPOCHS = ["1", "2", "50", "1000000000"]
CHANGES: list[dict[str, str]] = [
    {},
    {"position": "0"},
    {"position": "12", "n": "51"},
    {"position": "3", "lambda": "1e-13"},
    {"lambda": "1e-6"},
    {"lambda": "0.0001", "beta": "50", "position": "9"},
    {"n": "2", "b": "1"},
    {"n": "3", "b": "1", "position": "1"},
    {"b": "50"},
    {"b": "50", "eta": "1/4"},
    {"n": "4", "b": "3"},
    {"n": "2000", "b": "1", "lambda": "1e-9", "position": "77"},
    {"n": "1000", "b": "10", "alpha": "64", "sigma2": "0.002"},
    {"sigma2": "0.01"},
    # The critical point of Theorem 4.3: (b/n) exp((alpha-1) alpha A) is 1 to six digits.
    {"n": "2", "b": "1", "alpha": "2", "sensitivity": "1", "eta": "1", "lambda": "1e-3",
     "beta": "1", "sigma2": "0.721348"},
    {"sigma2": "0.0001", "alpha": "300"},
    {"alpha": "1.0000001"},
    {"alpha": "7/3"},
    {"alpha": "2"},
    {"alpha": "5000"},
    {"eta": "1/4", "lambda": "4", "beta": "4"},
    {"eta": "1e-12", "lambda": "1e-3"},
    # Outside what some bound assumes.
    {"lambda": "0"},
    {"lambda": ""},
    {"beta": "", "lambda": ""},
    {"lambda": "5"},
    {"beta": "99"},
    {"beta": "200"},
    {"eta": "0.5"},
    {"eta": "1/3", "beta": "5"},
    {"alpha": "1"},
    {"alpha": "0.0000001"},
    {"position": "25"},
    {"b": "60"},
    {"b": "0"},
    {"eta": "-1/7"},
    # Outside double precision.
    {"sensitivity": "1e200"},
]  # fmt: skip

RENYI = {name: b for name, b in registry().items() if b.quantity == "renyi-divergence"}
IN_PAGE = "names => window.hiddenstateExplorer.evaluate(names)"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    executable()
    whole = jsonfile.read(PUBLISHED)
    few = tuple(s for s in whole.statements if s.id in ("thm-3.3", "thm-4.2"))
    path = tmp_path_factory.mktemp("explorer") / "audit.html"
    path.write_text(html.render(replace(whole, statements=few, series=())), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    made = browser.new_context(viewport=DESKTOP)
    yield made
    made.close()


@pytest.fixture
def visit(context: Any, address: str) -> Iterator[Any]:
    """Opens the page; wants a silent console and no request but the page itself."""
    said: list[str] = []
    asked: list[str] = []
    pages = []

    def opened(fragment: str = "", viewport: dict[str, int] = DESKTOP) -> Any:
        page = context.new_page()
        pages.append(page)
        page.set_viewport_size(viewport)
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address + fragment)
        page.wait_for_selector(".hsx-svg")
        return page

    yield opened
    for page in pages:
        page.close()
    assert said == []
    assert {url.partition("#")[0] for url in asked if not url.startswith("data:")} <= {address}


def library(name: str, texts: dict[str, str], epochs: str) -> tuple[str, Any]:
    """Kind of answer, and its number or its label and sentence."""
    given = {key.replace("lambda", "lambda_"): text for key, text in texts.items() if text}
    setting = Setting.of(**given, epochs=epochs)
    try:
        return "value", float(RENYI[name].float64(setting))
    except AssumptionViolated as error:
        return "not-applicable", (error.label, str(error))
    except MissingParameter as error:
        return "not-applicable", ("missing-parameter", str(error))
    except InvalidInput:
        return "beyond-double", None


def left_to_the_library(name: str, texts: dict[str, str]) -> bool:
    """What the page says it does not compute."""
    if name == "optimal_without_replacement":
        return texts["n"] != texts["b"]
    return name == "sampled_gaussian" and texts["n"] != texts["b"] and not texts["alpha"].isdigit()


def test_numbers_and_reasons_are_those_of_the_library(visit):
    settings = [BASE | change for change in CHANGES]
    page = visit()
    answers = page.evaluate(
        f"settings => settings.map({IN_PAGE})", [s | {"epochs": EPOCHS} for s in settings]
    )
    compared = refused = 0
    for texts, answer in zip(settings, answers, strict=True):
        assert answer["epochs"] == [float(K) for K in EPOCHS]
        for bound in answer["bounds"]:
            for epochs, point in zip(EPOCHS, bound["points"], strict=True):
                case = (bound["name"], texts, epochs, point)
                if point["status"] == "not-computed" and point["label"] == "not-in-the-page":
                    assert left_to_the_library(bound["name"], texts), case
                    assert point["reason"], case
                    continue
                kind, said = library(bound["name"], texts, epochs)
                if kind == "value":
                    assert point["status"] == "value", case
                    assert point["value"] == pytest.approx(said, rel=1e-9, abs=1e-300), case
                    compared += 1
                elif kind == "not-applicable":
                    assert point["status"] == kind, case
                    assert (point["label"], point["reason"]) == said, case
                    refused += 1
                else:
                    assert point["status"] == "not-computed", case
                    assert point["label"] == kind, case
    assert compared > 1000
    assert refused > 1000


def test_the_comparison_can_fail(visit):
    value = visit().evaluate(IN_PAGE, BASE | {"epochs": "50"})["bounds"][0]["points"][0]["value"]
    other = library("optimal_fixed_order", BASE | {"sigma2": "4.00000001"}, "50")[1]
    assert value != pytest.approx(other, rel=1e-9)


def test_every_bound_is_there_or_left_out_by_name(visit):
    page = visit()
    told = {b["name"]: b for b in page.evaluate("window.hiddenstateExplorer.bounds")}
    left = {b["name"] for b in page.evaluate("window.hiddenstateExplorer.leftOut")}
    say = "each bound is an entry of BOUNDS, or of LEFT_OUT, in reports/templates/explorer.js"
    assert set(told) == set(RENYI), say
    assert left == set(registry()) - set(RENYI), say
    text = page.inner_text("[data-explorer]")
    assert all(name in text for name in left)
    for name, bound in RENYI.items():
        mine = told[name]
        assert mine["source"] == str(bound.source)
        for key in ("statement", "scheme", "direction", "standing"):
            assert mine[key] == getattr(bound, key), (name, key)
        assert [(a["label"], a["condition"]) for a in mine["assumptions"]] == [
            (a.label, a.condition) for a in bound.assumptions
        ], name
    assert {b.scheme for b in RENYI.values()} == set(explorer.SCHEMES)


def test_it_is_quick(visit):
    page = visit()
    grid = [str(round(10 ** (9 * i / 59))) for i in range(60)]
    times = page.evaluate(
        """([texts, rounds]) => Array.from({length: rounds}, () => {
            const start = performance.now();
            window.hiddenstateExplorer.evaluate(texts);
            return performance.now() - start;
        })""",
        [BASE | {"n": "10000", "b": "1", "epochs": grid}, 6],
    )
    # About 20 ms on a quiet machine; other work on it is no reason to fail.
    assert min(times) < 150


def test_a_field_moves_the_chart_the_table_the_command_and_the_link(visit):
    page = visit()
    curve = '[data-bound="fixed_order"] path >> nth=0'
    before = page.get_attribute(curve, "d"), page.inner_text("[data-part=chosen]")
    page.fill("#explorer-sigma2", "2/5")
    after = page.get_attribute(curve, "d"), page.inner_text("[data-part=chosen]")
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert "--sigma2 2/5 " in page.inner_text("[data-part=command]")
    assert "--lambda 1 " in page.inner_text("[data-part=command]")
    page.wait_for_url(re.compile("#explorer:.*sigma2=2%2F5"))
    again = visit(page.evaluate("location.hash"))
    assert again.input_value("#explorer-sigma2") == "2/5"
    assert again.inner_text("[data-part=chosen]") == after[1]


def test_values_at_k_are_sorted_and_those_of_the_table(visit):
    page = visit()
    page.fill("#explorer-epochs", "1000")
    cells = page.eval_on_selector_all(
        "[data-part=chosen] tr",
        "rows => rows.map(r => [r.querySelector('code').textContent, "
        "r.querySelector('.hsx-num').textContent])",
    )
    values = [float(value) for _, value in cells]
    assert values == sorted(values)
    assert len(values) > 15
    page.click("details.hsx-data summary")
    page.wait_for_selector("[data-part=data-body] tr")
    head = page.locator("[data-part=data-head] th").all_inner_texts()
    last = page.locator("[data-part=data-body] tr:last-child > *").all_inner_texts()
    table = dict(zip(head, last, strict=True))
    assert table["K"] == "1000"
    assert {name: table[name] for name, _ in cells} == dict(cells)
    reasons = page.inner_text("[data-part=excluded]")
    assert "first_epoch – one-epoch: K = 1 is required, found K = 1000" in reasons


BAD = [
    ("eta", "0,02", "cannot be read"),
    ("eta", "", "A value is wanted"),
    ("eta", "0", "above 0"),
    ("n", "2.5", "no integer"),
    ("b", "51", "at most n = 50"),
    ("lambda", "-1", "at least 0"),
    ("sigma2", "1/0", "divides by zero"),
    ("sensitivity", "1e999", "double precision"),
    ("alpha", "1", "above 1"),
    ("position", "25", "from 0 to 24"),
    ("epochs", "0", "At least 1 epoch"),
    ("to", "1", "above where it begins"),
    ("beta", "<b>4</b>", "<b>4</b>"),
    ("alpha", "NaN", "cannot be read"),
]  # fmt: skip


def test_bad_input_gets_a_sentence_beside_its_field(visit):
    page = visit()
    before = page.inner_html("[data-part=chart]")
    for name, text, says in BAD:
        field = f"#explorer-{name}"
        good = page.input_value(field)
        page.fill(field, text)
        assert says in page.inner_text(f"{field}-error")
        assert page.get_attribute(field, "aria-invalid") == "true"
        assert f"explorer-{name}-error" in page.get_attribute(field, "aria-describedby").split()
        assert page.get_attribute(f"{field}-error", "role") == "status"
        assert page.inner_html("[data-part=chart]") == before
        page.fill(field, good)
        assert page.inner_text(f"{field}-error") == ""
        assert page.get_attribute(field, "aria-invalid") is None
        assert "NaN" not in page.inner_text("[data-explorer]")


def test_curves_can_be_left_out_and_chosen_by_keyboard(visit):
    page = visit()
    page.focus("#explorer-draw-naive_extension")
    page.keyboard.press("Space")
    assert page.locator('[data-bound="naive_extension"]').count() == 0
    assert page.evaluate("document.activeElement.id") == "explorer-draw-naive_extension"
    page.uncheck('[data-scheme="Poisson"]')
    assert page.locator('[data-bound="sampled_gaussian"]').count() == 0
    assert page.locator('[data-bound="fixed_order"]').count() == 1
    before = page.input_value("#explorer-epochs")
    page.focus("#explorer-slider")
    page.keyboard.press("ArrowRight")
    assert int(page.input_value("#explorer-epochs")) > int(before)
    page.wait_for_url(re.compile("hide=naive_extension"))
    again = visit(page.evaluate("location.hash"))
    assert again.locator('[data-bound="naive_extension"], [data-bound="one_update"]').count() == 1


def test_fits_a_phone_and_is_accessible(visit):
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    page = visit(viewport=PHONE)
    # A short table: the checker looks at every cell.
    page.fill("#explorer-to", "3")
    page.click("details.hsx-data summary")
    page.fill("#explorer-eta", "x")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.evaluate(axe)
    found = page.evaluate("axe.run('[data-explorer]', {resultTypes: ['violations']})")
    assert len(found["passes"]) > 10
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"]] == []


def test_without_scripts_a_sentence_stands_in_its_place(context, address):
    still = context.browser.new_context(java_script_enabled=False)
    page = still.new_page()
    page.goto(address)
    assert page.locator("[data-explorer]").is_hidden()
    assert "needs scripts" in page.inner_text("noscript")
    still.close()
