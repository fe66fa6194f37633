"""What the figures of the report show beside the paper's own curves.

    overlays     Figures 1 and 2 with the exact divergence, the derived bound and simulations
    tightness    each theorem over the exact divergence, as a map over eta lambda and n/b
    crossover    the epoch at which each theorem falls below composition, against the stated one
    least bound  who wins where, as a map over eta lambda and K

Each is a check of `tight`, which no verdict rests on: every number is enclosed, and the order of
bound, derived bound and truth that the figure shows is asserted at every point of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint

from bounds.arith.ball import decimal_bounds, precision
from bounds.bound import Bound, find, registry
from bounds.setting import AssumptionViolated, Setting
from empirical.divergence import exact_divergence
from empirical.experiments import estimate
from reports.records import Curve, Series
from verify.methods.enclosure import BITS, ball, compare
from verify.methods.truth import TOUCH, Claim
from verify.statement import Finding, Run, check
from verify.statements.figures import (
    CAPTION,
    FIGURE_1A,
    FIGURE_1B,
    FIGURE_2A,
    FIGURE_2B,
    FIRST,
    Panel,
)

ORDER = Fraction(10)
DIGITS = 16
PATHS = {"quick": 20_000, "standard": 100_000, "full": 1_000_000}


def _ball(low: str, high: str) -> Any:
    return flint.arb(low).union(flint.arb(high))


def _truth(setting: Setting, scheme: str) -> Any:
    """The exact divergence of the slowest quadratic, batches revealed where they are random."""
    centre = 0 if scheme == "fixed-order" else "far"
    with precision(BITS):
        found = exact_divergence(setting, scheme, setting.alpha, centre=centre, digits=DIGITS)
        assert found.proved
        return _ball(found.lower, found.upper)


def _curve(
    name: str, bound: str, setting: Setting, balls: Iterable[Any], role: str = "bound"
) -> Curve:
    ends = [decimal_bounds(x, DIGITS) for x in balls]
    lower, upper = tuple(low for low, _ in ends), tuple(high for _, high in ends)
    shown = replace(setting, epochs=None).as_strings()
    # The end that a reader may rely on: an upper bound is never rounded down.
    return Curve(name, bound, shown, upper, lower, upper, role)


def _not_above(low: Any, high: Any, what: str, setting: Setting, domain: str) -> Finding | None:
    """What is wrong with low <= high at a setting; equal values cannot be told apart by balls."""
    with precision(BITS):
        if abs(low - high) < high * flint.arb(TOUCH):
            return None
        found = compare(
            low, high, parameters=setting.as_strings(), relation="<=", domain=domain, what=what
        )
    return None if found.outcome == "holds" else found


# --- overlays ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overlay:
    """A panel of the paper with what is known beneath its first curve."""

    id: str
    statement: str
    title: str
    panel: Panel
    claim: Claim
    derived: str
    scheme: str
    band: str
    position: int | None = None
    epochs: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100)


FIGURES = (
    Overlay(
        "truth-1a", "fig-1a", "Figure 1 (a) and the truth, order 10", FIGURE_1A,
        Claim.of(find("fixed_order")), "optimal_fixed_order", "fixed-order", "gaussian-moments",
        FIRST,
    ),
    Overlay(
        "truth-1b", "fig-1b", "Figure 1 (b) and the truth, order 10", FIGURE_1B,
        Claim.of(find("fixed_order")), "optimal_fixed_order", "fixed-order", "gaussian-moments",
    ),
    Overlay(
        "truth-2a", "fig-2a", "Figure 2 (a) and the truth, order 10", FIGURE_2A,
        Claim.of(find("shuffle_partition")), "optimal_shuffle", "shuffle-once", "tilted-mixture",
    ),
    Overlay(
        "truth-2b", "fig-2b", "Figure 2 (b) and the truth, order 10", FIGURE_2B,
        Claim.of(find("without_replacement")), "optimal_without_replacement",
        "without-replacement", "",
    ),
)  # fmt: skip


def _times(claim: Claim, factor: str) -> Claim:
    """A mutant: the bound times a factor."""
    return claim.but(lambda p, ctx, own: ctx.number(Fraction(factor)) * own(p, ctx))


def overlay(form: Overlay, run: Run) -> Finding:
    """A figure of the paper over the exact divergence, the derived bound and simulations."""
    domain = f"the caption's parameters, order 10, K in {', '.join(map(str, form.epochs))}"
    paper, ours, truths, ratios = [], [], [], []
    band: list[tuple[str, str, str]] = []
    for epochs in form.epochs:
        setting = replace(CAPTION, epochs=epochs, alpha=ORDER, position=form.position)
        claimed = form.claim.formula.enclose(setting, DIGITS)
        derived = find(form.derived).enclose(setting, DIGITS)
        exact = _truth(setting, form.scheme)
        for low, high, what in (
            (exact, derived, "truth below the derived bound"),
            (exact, claimed, "truth below the paper's bound"),
            (derived, claimed, "derived bound below the paper's"),
        ):
            wrong = _not_above(low, high, f"{what} at K = {epochs}", setting, domain)
            if wrong is not None:
                return wrong
        paper.append(claimed)
        ours.append(derived)
        truths.append(exact)
        with precision(BITS):
            ratios.append(float((claimed / exact).mid()))
        if form.band:
            sampled = _sampled(form, setting, run)
            if isinstance(sampled, str):
                return Finding("undecided", "point", domain, f"no interval: {sampled}")
            band.append(sampled)
    base = replace(CAPTION, alpha=ORDER, position=form.position)
    curves = [_curve(form.panel.curves[0][0], form.claim.bound.name, base, paper)]
    for title, name, position in form.panel.curves[1:]:
        there = replace(base, position=position)
        curves.append(_curve(title, name, there, (
            find(name).enclose(replace(there, epochs=epochs), DIGITS) for epochs in form.epochs
        )))  # fmt: skip
    curves += [
        _curve("derived bound", form.derived, base, ours, "derived"),
        _curve("exact, slowest quadratic", "", base, truths, "exact"),
    ]
    if band:
        name = f"Monte Carlo, {form.band}"
        value, low, high = (tuple(item[part] for item in band) for part in range(3))
        curves.append(Curve(name, "", base.as_strings(), value, low, high, "band"))
    note = (
        "The exact divergence is that of the quadratic with the smallest curvature"
        + ("" if form.scheme == "fixed-order" else ", as if the batches were revealed")
        + (
            f"; the band is an interval from {PATHS[run.effort]} simulated paths a side"
            + ("." if form.scheme == "fixed-order" else ", the pair S_g beside the others.")
            if band
            else "; the law has too many patterns of batches for an interval from paths."
        )
        + (
            ""
            if form.scheme == "fixed-order"
            else " Composition is that of Poisson sampling, and no bound on this scheme."
        )
    )
    series = Series(
        form.id, form.statement, form.title, "epochs", tuple(map(str, form.epochs)),
        tuple(curves), note=note,
    )  # fmt: skip
    text = ", ".join(f"{r:.4g} at K = {k}" for k, r in zip(form.epochs, ratios, strict=True))
    return Finding(
        "holds", "point", domain, f"bound over truth: {text}", False,
        {"kind": "series", "id": form.id}, (series,),
    )  # fmt: skip


def _sampled(form: Overlay, setting: Setting, run: Run) -> tuple[str, str, str] | str:
    """An estimate from paths with its interval, as decimal strings, or why there is none."""
    centre = 0 if form.scheme == "fixed-order" else "1"
    found = estimate(
        setting, form.scheme, PATHS[run.effort], run.seed, workers=1, centre=centre,
        names=(form.band,), with_exact=False,
    ).estimates[0]  # fmt: skip
    if found.value is None or found.lower is None or found.upper is None:
        return str(found.undecided)
    return repr(float(found.value)), repr(float(found.lower)), repr(float(found.upper))


for _form in FIGURES:
    check(
        _form.statement, "tight", "exact laws, balls", form=_form,
        mutants={"a twentieth of the bound": replace(_form, claim=_times(_form.claim, "1/20"))},
    )(overlay)  # fmt: skip


# --- tightness ---------------------------------------------------------------------------------

STEPS = ("1/1000", "1/300", "1/100", "1/30", "1/10", "3/10", "3/5", "9/10", "99/100")
BATCHES = (2, 3, 4, 8, 16, 32)
LOSS = Setting.of(b=1, epochs=20, lambda_=1, beta=1, sensitivity=1, alpha=10)
UNIT = Fraction(1, 500)
GRID = (
    "lambda = beta = 1, b = 1, K = 20, order 10, A = eta S_g^2/(4 sigma^2 b^2) = 1/500, "
    f"eta lambda in {{{', '.join(STEPS)}}}, n/b in {{{', '.join(map(str, BATCHES))}}}"
)


def _at(batches: int, step: str, **changes: Any) -> Setting:
    """The setting of a cell: the divergence of one update is the same in all of them."""
    eta = Fraction(step)
    return replace(LOSS, n=batches, eta=eta, sigma2=eta / (4 * UNIT), **changes)


@dataclass(frozen=True)
class Map:
    """A bound over the exact divergence of its scheme, cell by cell."""

    id: str
    title: str
    claim: Claim
    scheme: str


MAPS = {
    "thm-3.3": Map("tightness-fixed-order", "Theorem 3.3 over the exact divergence, last batch",
                   Claim.of(find("fixed_order")), "fixed-order"),
    "thm-4.2": Map("tightness-shuffle", "Theorem 4.2 over the exact divergence",
                   Claim.of(find("shuffle_partition")), "shuffle-once"),
}  # fmt: skip


def tightness(form: Map, run: Run) -> Finding:
    """How many times a theorem exceeds the exact divergence, cell by cell."""
    rows, seen = [], []
    for batches in BATCHES:
        balls = []
        for step in STEPS:
            setting = _at(batches, step)
            claimed, exact = (
                form.claim.formula.enclose(setting, DIGITS),
                _truth(setting, form.scheme),
            )
            wrong = _not_above(exact, claimed, "truth below the bound", setting, GRID)
            if wrong is not None:
                return wrong
            with precision(BITS):
                balls.append(claimed / exact)
            seen.append((float(balls[-1].mid()), batches, step))
        rows.append(_curve(str(batches), form.claim.bound.name, _at(batches, STEPS[0]), balls))
    series = Series(
        form.id, form.claim.bound.statement, form.title, "eta lambda",
        tuple(repr(float(Fraction(s))) for s in STEPS), tuple(rows), "map",
        "bound / exact divergence", "n/b",
        "Each cell is how many times the bound exceeds the divergence of the slowest quadratic; "
        "K = 20, order 10.",
    )  # fmt: skip
    least, most = min(seen), max(seen)
    return Finding(
        "holds", "point", GRID,
        f"bound over truth from {least[0]:.4g} (n/b = {least[1]}, eta lambda = {least[2]}) to "
        f"{most[0]:.4g} (n/b = {most[1]}, eta lambda = {most[2]})",
        False, {"kind": "series", "id": form.id}, (series,),
    )  # fmt: skip


for _id, _map in MAPS.items():
    check(
        _id, "tight", "exact laws, balls", form=_map, part="map",
        mutants={"a hundredth of the bound": replace(_map, claim=_times(_map.claim, "1/100"))},
    )(tightness)  # fmt: skip


# --- crossover ---------------------------------------------------------------------------------

PARTS = (2, 3, 4, 5, 8, 10, 15, 20, 25, 40, 60, 100)
FAR = 400


@dataclass(frozen=True)
class Race:
    """A bound, and the composition of its scheme that it should fall below."""

    name: str
    claim: Claim
    composition: Bound


@dataclass(frozen=True)
class Crossover:
    """When bounds fall below composition at the parameters of Figure 2, whatever n/b.

    stated: the one for which the paper names the epoch.
    """

    stated: Race
    others: tuple[Race, ...]


def _first_below(race: Race, base: Setting) -> int | None:
    """The first epoch at which it is below, after epochs at which it is certainly not."""
    with precision(BITS):
        for epochs in range(1, FAR):
            setting = replace(base, epochs=epochs)
            left = race.claim.formula.enclose(setting, DIGITS)
            right = race.composition.enclose(setting, DIGITS)
            if left < right:
                return epochs
            # Equal values cannot be told apart by balls.
            if not (left > right or abs(left - right) < right * flint.arb(TOUCH)):
                break
    return None


def crossover(form: Crossover, run: Run) -> Finding:
    """The first epoch at which each theorem is below composition, against the stated one."""
    domain = f"Figure 2's parameters, order 10, n/b in {{{', '.join(map(str, PARTS))}}}"
    rate = 1 / (CAPTION.eta * CAPTION.lambda_)  # type: ignore[operator]
    base = replace(CAPTION, alpha=ORDER)
    curves, told = [], []
    for race in (form.stated, *form.others):
        first = []
        for parts in PARTS:
            epochs = _first_below(race, replace(base, n=2 * parts))
            if epochs is None:
                return Finding(
                    "fails", "point", domain, f"{race.name}, n/b = {parts}: not seen below"
                )  # fmt: skip
            if race is form.stated and parts >= 4 and epochs > rate + parts:
                return Finding(
                    "fails", "point", domain, f"n/b = {parts}: below from K = {epochs} only"
                )  # fmt: skip
            first.append(epochs)
        curves.append(_curve(race.name, race.claim.bound.name, base, map(ball, first)))
        told.append(f"{race.name} from K = {', '.join(map(str, first))}")
    late = (ball(rate + parts) for parts in PARTS)
    curves.append(_curve("stated for Theorem 4.2: 1/(lambda eta) + n/b", "", base, late, "stated"))
    series = Series(
        "crossover", "txt-4.1-crossover", "First epoch below composition, order 10", "n/b",
        tuple(map(str, PARTS)), tuple(curves), y_name="epochs",
        note="eta, lambda, sigma^2, S_g and b as in Figure 2; composition of the sub-sampled "
        "Gaussian mechanism, for the fixed order of one Gaussian mechanism an epoch.",
    )  # fmt: skip
    return Finding(
        "holds", "point", domain, f"below composition: {'; '.join(told)}", False,
        {"kind": "series", "id": "crossover"}, (series,),
    )  # fmt: skip


_CROSSOVER = Crossover(
    Race("Theorem 4.2", Claim.of(find("shuffle_partition")), find("sampled_gaussian")),
    (
        Race("Theorem 4.3", Claim.of(find("without_replacement")), find("sampled_gaussian")),
        Race("Theorem 3.3, last batch", Claim.of(find("fixed_order")),
             find("fixed_order_composition")),
    ),
)  # fmt: skip
check(
    "txt-4.1-crossover", "tight", "enclosures at every epoch", form=_CROSSOVER, part="figure",
    mutants={
        "a hundred times the bound": replace(
            _CROSSOVER,
            stated=replace(_CROSSOVER.stated, claim=_times(_CROSSOVER.stated.claim, "100")),
        ),
        "another bound a hundred times": replace(
            _CROSSOVER,
            others=(replace(_CROSSOVER.others[1],
                            claim=_times(_CROSSOVER.others[1].claim, "100")),),
        ),
    },
)(crossover)  # fmt: skip


# --- who wins where ----------------------------------------------------------------------------

LENGTHS = (1, 2, 3, 5, 10, 20, 50, 100, 1000)
PUBLISHED = ("paper", "prior")


@dataclass(frozen=True)
class Winners:
    """Which published bound is least for the last batch of a fixed order, cell by cell.

    best: picks the winner's place from balls.
    """

    best: Callable[[list[Any]], int | None]


def least(balls: list[Any]) -> int | None:
    """The place of the least; None where two cannot be told apart and differ."""
    place = min(range(len(balls)), key=lambda i: float(balls[i].mid()))
    with precision(BITS):
        for other in balls:
            near = abs(other - balls[place]) < balls[place] * flint.arb(TOUCH)
            if not (near or other > balls[place] or other is balls[place]):
                return None
    return place


def _published() -> list[Bound]:
    return [
        bound for bound in registry().values()
        if bound.epsilon.__module__.split(".")[1] in PUBLISHED and bound.direction == "upper"
        and bound.quantity == "renyi-divergence" and bound.standing == "theorem"
        and bound.scheme == "fixed order"
    ]  # fmt: skip


def who_wins(form: Winners, run: Run) -> Finding:
    """The least published bound for the last batch, over eta lambda and K."""
    domain = f"{GRID.replace('K = 20', f'K in {LENGTHS}')}; n/b = 8"
    rows, winners = [], set()
    for epochs in LENGTHS:
        balls, names = [], []
        for step in STEPS:
            setting = _at(8, step, epochs=epochs)
            there, values = [], []
            for bound in _published():
                try:
                    values.append(bound.enclose(setting, DIGITS))
                except AssumptionViolated:
                    continue
                there.append(bound)
            place = form.best(values)
            if place is None:
                return Finding("undecided", "point", domain, f"two bounds as one at {setting}")
            for bound, value in zip(there, values, strict=True):
                wrong = _not_above(
                    values[place], value, f"{there[place].name} above {bound.name}", setting, domain
                )
                if wrong is not None:
                    return wrong
            balls.append(values[place])
            names.append(there[place].name)
        winners |= set(names)
        row = _curve(str(epochs), "", _at(8, STEPS[0]), balls)
        rows.append(replace(row, labels=tuple(names)))
    series = Series(
        "least-bound", "thm-3.3", "The least published bound, last batch of a fixed order, n/b = 8",
        "eta lambda", tuple(repr(float(Fraction(s))) for s in STEPS), tuple(rows), "map",
        "least bound", "K",
        "lambda = beta = 1, order 10, n/b = 8; where two bounds are equal, the first by name.",
    )  # fmt: skip
    return Finding(
        "holds", "point", domain, f"least somewhere: {', '.join(sorted(winners))}", False,
        {"kind": "series", "id": "least-bound"}, (series,),
    )  # fmt: skip


check(
    "thm-3.3",
    "tight",
    "enclosures",
    form=Winners(least),
    part="who wins",
    mutants={"the first in place of the least": Winners(lambda balls: 0)},
)(who_wins)
