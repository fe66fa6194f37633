"""What the explorer's template shows: its fields, and the setting that it opens with.

The explorer itself is `templates/explorer.html.j2`, `explorer.js` and `explorer.css`. Its formulas
are written in the script, so that a reader needs nothing but the page; a test compares them with
the library over a grid.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One input: `name` is its key in links and in the script, `hint` says what is accepted."""

    name: str
    symbol: str
    label: str
    hint: str
    value: str
    sub: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Group:
    """Fields under one heading."""

    title: str
    fields: tuple[Field, ...]


# The setting of the README and of the docstrings of the bounds.
GROUPS = (
    Group(
        "Run",
        (
            Field("n", "n", "records", "integer", "50"),
            Field("b", "b", "records in a batch", "integer, at most n", "2"),
            Field("eta", "η", "step size", "above 0", "0.02"),
            Field("position", "j", "batch of the differing record", "from 0; empty: the last", "",
                  sub="0", optional=True),
        ),
    ),
    Group(
        "Loss",
        (
            Field("lambda", "λ", "strong convexity", "at least 0", "1", optional=True),
            Field("beta", "β", "smoothness", "at least λ", "4", optional=True),
            Field("sensitivity", "S", "sensitivity of the total gradient",
                  "above 0; one record replaced", "4", sub="g"),
        ),
    ),
    Group(
        "Noise and order",
        (
            Field("sigma2", "σ²", "noise; an update adds N(0, 2ησ²)", "above 0", "4"),
            Field("alpha", "α", "Rényi order", "above 1", "10"),
        ),
    ),
    Group(
        "Epochs",
        (
            Field("from", "K", "from", "integer", "1"),
            Field("to", "K", "to", "integer, at most 10¹²", "1000"),
            Field("epochs", "K", "for the values below", "integer", "50"),
        ),
    ),
)  # fmt: skip

SCHEMES = (
    "fixed order", "shuffle once", "without replacement", "Poisson", "full batch", "one update",
)  # fmt: skip


def context(audit: object = None) -> dict[str, object]:
    """What `explorer.html.j2` is given as `explorer`; the same for every audit."""
    return {"groups": GROUPS, "schemes": SCHEMES}
