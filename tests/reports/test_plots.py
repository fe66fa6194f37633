"""Series as figures: the same text each time, every name and cell in it, nothing else live."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from reports import plots
from reports.records import Curve, Series

NASTY = '<script>alert(1)</script> & "'


def curve(name: str, values: tuple[str, ...], role: str = "bound", labels=()) -> Curve:
    return Curve(name, "b", {}, values, values, values, role, labels)


def series(*curves: Curve, **changes: object) -> Series:
    values = {"id": "s", "statement": "fig-1a", "title": NASTY, "x_name": "epochs",
              "x": ("1", "10", "100"), "curves": curves}  # fmt: skip
    return Series(**(values | changes))


CURVES = series(
    curve("bound", ("1", "2", "300")), curve("truth", ("0.5", "0.6", "0.7"), "exact"),
    curve("paths", ("0.4", "0.6", "0.8"), "band"),
)  # fmt: skip
NUMBERS = series(curve("2", ("1", "2.345", "30")), curve("3", ("1", "1", "1")), form="map",
                 row_name="n/b")  # fmt: skip
WORDS = series(curve("5", ("1", "2", "3"), labels=("one", "two", NASTY)), form="map")


def words(text: str) -> list[str]:
    root = ElementTree.fromstring(text)
    return [str(e.text) for e in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("made", [CURVES, NUMBERS, WORDS], ids=["curves", "numbers", "words"])
def test_a_figure_is_the_same_each_time_and_escapes_its_words(made: Series) -> None:
    text = plots.svg(made)
    assert text == plots.svg(made)
    assert text.startswith("<svg")
    assert "<script" not in text
    assert NASTY in words(text)


def test_curves_are_told_apart_without_colour() -> None:
    said = words(plots.svg(CURVES))
    assert {"bound", "truth", "paths", "epochs", "Renyi divergence"} <= set(said)
    assert "stroke-dasharray" in plots.svg(series(curve("a", ("1", "2", "3")),
                                                  curve("b", ("2", "3", "4"))))  # fmt: skip


def test_cells_say_their_number_or_a_letter_that_the_legend_explains() -> None:
    assert {"2.35", "30", "n/b"} <= set(words(plots.svg(NUMBERS)))
    said = words(plots.svg(WORDS))
    assert {"A", "B", "C", "B  one"} <= set(said) | {line for s in said for line in s.split("\n")}


def test_a_series_refuses_what_it_cannot_show() -> None:
    with pytest.raises(ValueError, match="one value for each of 3 x"):
        series(curve("a", ("1",)))
    with pytest.raises(ValueError, match="none of curves, map"):
        series(form="pie")
    with pytest.raises(ValueError, match="none of bound, exact"):
        series(curve("a", ("1", "2", "3"), "truth"))
