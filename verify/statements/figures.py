"""Figures 1 and 2: every curve recomputed at the captions' parameters, with enclosures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bounds.arith.ball import decimal_bounds, precision
from bounds.bound import Bound, find
from bounds.setting import Setting
from reports.records import Curve, Series
from verify.methods import formulas
from verify.methods.enclosure import BITS, Formulas, ball, compare, points
from verify.statement import Finding, Run, Statement, check

CAPTION = Setting.of(n=50, b=2, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4)
ORDERS = (Fraction(10), Fraction(15))
EPOCHS = (*range(1, 11), *range(15, 101, 5), *range(110, 201, 10))
FIRST, LAST = 0, 24

STATEMENTS = (
    Statement(
        "fig-1a",
        printed="first batch, alpha in {10, 15}, n = 50, b = 2, eta = 0.02, lambda = 1, beta = 4, "
        "Sg = 4, sigma^2 = 4: Theorem 3.3, Theorem 2.1, Balle et al. composed",
        rests_on=("thm-3.3", "thm-2.1", "txt-d.6-first-batch"),
        reading="the curves as data; the caption writes (q, eps)-RDP for order alpha",
    ),
    Statement(
        "fig-1b",
        printed="last batch, otherwise as Figure 1 (a)",
        rests_on=("thm-3.3", "thm-2.1", "txt-d.6-last-batch"),
        reading="the curves as data",
    ),
    Statement(
        "fig-2a",
        printed="alpha in {10, 15}, otherwise as Figure 1: Theorem 4.2, Theorem 3.3 for the last "
        "batch, composition of the sub-sampled Gaussian, about (b/n) alpha A K",
        rests_on=("thm-4.2", "thm-3.3"),
        reading="composition as Mironov et al. 2019 define it, Poisson rate b/n and shift Sg; the "
        "text of Section 4.2 speaks of orders 10, 15, 20",
    ),
    Statement(
        "fig-2b",
        printed="as Figure 2 (a), with Theorem 4.3 in place of Theorem 4.2",
        rests_on=("thm-4.3", "thm-3.3"),
        reading="as Figure 2 (a)",
    ),
)


@dataclass(frozen=True)
class Panel:
    """One panel: its curves (name, bound, position), and what lies below what where.

    Each claim is (lower curve, upper curve, first epoch, last epoch, factor): the lower curve
    times the factor is at most the upper one throughout.
    """

    curves: tuple[tuple[str, str, int | None], ...]
    claims: tuple[tuple[str, str, int, int, Fraction], ...]
    formula: Callable[[Bound, Setting], Any] = lambda bound, setting: bound.enclose(setting, 25)


DYNAMICS_FIRST = ("Theorem 3.3", "fixed_order", FIRST)
DYNAMICS_LAST = ("Theorem 3.3, last batch", "fixed_order", LAST)
NAIVE = ("Theorem 2.1", "naive_extension", None)
COMPOSITION = ("composition", "sampled_gaussian", None)
ONE = Fraction(1)

FIGURE_1A = Panel(
    (DYNAMICS_FIRST, NAIVE, ("Balle et al. composed", "balle_2019_composed", FIRST)),
    (("Theorem 3.3", "Theorem 2.1", 1, 200, ONE),
     ("Theorem 3.3", "Balle et al. composed", 10, 200, ONE),
     ("Balle et al. composed", "Theorem 2.1", 1, 200, ONE)),
)  # fmt: skip
FIGURE_1B = Panel(
    (DYNAMICS_LAST, NAIVE, ("Balle et al. composed", "balle_2019_composed", LAST)),
    (("Theorem 3.3, last batch", "Theorem 2.1", 1, 200, ONE),
     ("Theorem 3.3, last batch", "Balle et al. composed", 10, 200, ONE)),
)  # fmt: skip
FIGURE_2A = Panel(
    (("Theorem 4.2", "shuffle_partition", None), DYNAMICS_LAST, COMPOSITION),
    (("Theorem 4.2", "Theorem 3.3, last batch", 1, 200, ONE),
     ("Theorem 4.2", "composition", 20, 200, ONE)),
)  # fmt: skip
FIGURE_2B = Panel(
    (("Theorem 4.3", "without_replacement", None), DYNAMICS_LAST, COMPOSITION),
    (("Theorem 4.3", "composition", 50, 200, ONE),),
)  # fmt: skip


def _draw(
    name: str, statement: str, panel: Panel
) -> tuple[Series, dict[tuple[str, Fraction], list[Any]]]:
    curves, values = [], {}
    for title, bound_name, position in panel.curves:
        bound = find(bound_name)
        for order in ORDERS:
            settings = [
                replace(CAPTION, epochs=epochs, alpha=order, position=position) for epochs in EPOCHS
            ]
            balls = [panel.formula(bound, setting) for setting in settings]
            ends = [decimal_bounds(x, 20) for x in balls]
            values[title, order] = balls
            shown = replace(settings[0], epochs=None).as_strings()
            curves.append(
                Curve(
                    f"{title}, order {order}",
                    bound_name,
                    shown,
                    tuple(repr(float(bound.float64(setting))) for setting in settings),
                    tuple(low for low, _ in ends),
                    tuple(high for _, high in ends),
                )
            )
    title = f"Figure {name[-2]} ({name[-1]})"
    series = Series(name, statement, title, "epochs", tuple(map(str, EPOCHS)), tuple(curves))
    return series, values


def _formulas(
    panel: Panel, lower: str, upper: str, factor: Fraction, order: Fraction, epochs: int
) -> Formulas:
    """Two curves as printed, the lower one times its factor, at one point."""
    texts: list[str] = []
    at: dict[str, Fraction] = {}
    for title, bound, position in (
        next(curve for curve in panel.curves if curve[0] == name) for name in (lower, upper)
    ):
        setting = replace(CAPTION, epochs=epochs, alpha=order, position=position)
        text = formulas.printed(bound, setting)
        scaled = title == lower and factor != 1
        texts.append(f"({factor})*({text})" if scaled else text)
        own = formulas.values(setting)
        at |= {x: q for x, q in own.items() if x != "j0" or position is not None}
    return Formulas(texts[0], texts[1], at)


def _judge(name: str, statement: str, panel: Panel) -> Finding:
    series, values = _draw(name, statement, panel)
    domain = f"orders 10 and 15, {len(EPOCHS)} epochs from 1 to 200"
    said, rows = [], []
    with precision(BITS):
        for lower, upper, first, last, factor in panel.claims:
            for order in ORDERS:
                for i, epochs in enumerate(EPOCHS):
                    if not first <= epochs <= last:
                        continue
                    sides = values[lower, order][i] * ball(factor), values[upper, order][i]
                    found = compare(
                        *sides,
                        parameters={"epochs": Fraction(epochs), "alpha": order}, relation="<=",
                        domain=domain, what=f"{lower} below {upper} at K = {epochs}",
                    )  # fmt: skip
                    rows.append((_formulas(panel, lower, upper, factor, order, epochs), *sides))
                    if found.outcome != "holds":
                        return replace(found, series=(series,))
            said.append(f"{lower} below {upper} for K = {first} to {last}")
    ends = {curve.name: f"{Decimal(curve.epsilon[-1]):.4g}" for curve in series.curves}
    return Finding(
        "holds", "point", domain,
        "; ".join(said) + "; at K = 200: " + ", ".join(f"{k} {v}" for k, v in ends.items()),
        False, {"kind": "links", "links": points(rows, "<=")}, (series,),
    )  # fmt: skip


def _scaled(panel: Panel, bound_name: str, factor: Fraction) -> Panel:
    """The panel with one bound's curve multiplied by a factor."""

    def formula(bound: Bound, setting: Setting) -> Any:
        value = panel.formula(bound, setting)
        return value * ball(factor) if bound.name == bound_name else value

    return replace(panel, formula=formula)


MUCH = Fraction(200)


@check(
    "fig-1a", "constants", "enclosures at the caption's parameters", form=FIGURE_1A,
    mutants={
        "dynamics for the last batch": replace(
            FIGURE_1A, curves=(("Theorem 3.3", "fixed_order", LAST), *FIGURE_1A.curves[1:])
        ),
        "naive bound divided by n": _scaled(FIGURE_1A, "naive_extension", 1 / MUCH),
    },
)  # fmt: skip
def first_batch(form: Panel, run: Run) -> Finding:
    """Figure 1 (a)."""
    return _judge("figure-1a", "fig-1a", form)


@check(
    "fig-1b", "constants", "enclosures at the caption's parameters", form=FIGURE_1B,
    mutants={
        "naive bound divided by n": _scaled(FIGURE_1B, "naive_extension", 1 / MUCH),
        "dynamics without contraction": _scaled(FIGURE_1B, "fixed_order", MUCH),
    },
)  # fmt: skip
def last_batch(form: Panel, run: Run) -> Finding:
    """Figure 1 (b)."""
    return _judge("figure-1b", "fig-1b", form)


@check(
    "fig-2a", "constants", "enclosures at the caption's parameters", form=FIGURE_2A,
    mutants={
        "average replaced by its sum": _scaled(FIGURE_2A, "shuffle_partition", MUCH),
        "composition divided by n": _scaled(FIGURE_2A, "sampled_gaussian", 1 / MUCH),
    },
)  # fmt: skip
def shuffle_and_partition(form: Panel, run: Run) -> Finding:
    """Figure 2 (a)."""
    return _judge("figure-2a", "fig-2a", form)


@check(
    "fig-2b", "constants", "enclosures at the caption's parameters", form=FIGURE_2B,
    mutants={
        "recursion out by a factor": _scaled(FIGURE_2B, "without_replacement", MUCH),
        "composition divided by n": _scaled(FIGURE_2B, "sampled_gaussian", 1 / MUCH),
    },
)  # fmt: skip
def without_replacement(form: Panel, run: Run) -> Finding:
    """Figure 2 (b)."""
    return _judge("figure-2b", "fig-2b", form)
