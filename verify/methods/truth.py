"""Bounds against the exact divergence of the last iterate on 1-D quadratics.

Two questions are put to every upper bound of Renyi divergence. `at_designed_settings`: at corners
where a wrong bound would show. `at_random`: at draws of Hypothesis, a counterexample shrunk. Each
comparison is between two enclosures, in both directions, and each answer names the tightest ratio
of bound to truth and where it is attained. A bound below the truth is refuted by that point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Any

import flint
from hypothesis import strategies as st

from bounds.arith.ball import decimal_bounds, precision
from bounds.bound import Bound
from bounds.setting import AssumptionViolated, Setting, show
from empirical.divergence import DIRECTIONS, Direction, exact_divergence
from empirical.quadratic import Problem
from verify.methods.enclosure import BITS
from verify.methods.properties import try_to_break
from verify.statement import Finding, Run

DIGITS = 18
TOUCH = "1e-15"
ONE_WAY: tuple[Direction, ...] = ("forward",)


@dataclass(frozen=True)
class Truth:
    """One way to find an exact divergence that a bound must not be below.

    centre: where the differing pair sits beside the shared records, in S_g; "far" reveals the
    batches, which is the supremum over centre and the same in both directions. most_steps: updates
    up to which it is affordable, of bounds checked by the hundred.
    """

    scheme: str
    centre: object = 0
    directions: tuple[Direction, ...] = DIRECTIONS
    most_steps: int = 1000


TRUTHS: dict[str, tuple[Truth, ...]] = {
    "fixed order": (Truth("fixed-order"),),
    "full batch": (Truth("fixed-order"),),
    "one update": (Truth("fixed-order"),),
    "shuffle once": (
        Truth("shuffle-once", "far", ONE_WAY), Truth("shuffle-once", "1/2", most_steps=6),
    ),
    "without replacement": (
        Truth("without-replacement", "far", ONE_WAY, 20),
        Truth("without-replacement", "1/2", most_steps=3),
    ),
    "Poisson": (Truth("poisson", "1/2", most_steps=4), Truth("poisson", 0, most_steps=4)),
}  # fmt: skip


def everywhere(setting: Setting) -> bool:
    """No restriction."""
    return True


@dataclass(frozen=True)
class Claim:
    """A bound, with the formula that is put in the place of its own.

    where: the settings of which a statement speaks. truths: by default those of its scheme.
    """

    bound: Bound
    epsilon: Callable[..., Any]
    where: Callable[[Setting], bool] = everywhere
    truths: tuple[Truth, ...] = ()

    @classmethod
    def of(cls, bound: Bound, where: Callable[[Setting], bool] = everywhere) -> Claim:
        """The bound as it is."""
        return cls(bound, bound.epsilon, where)

    def but(self, change: Callable[[Any, Any, Callable[..., Any]], Any]) -> Claim:
        """A mutant: change(p, ctx, epsilon) in place of epsilon(p, ctx)."""
        own = self.epsilon
        return replace(self, epsilon=lambda p, ctx: change(p, ctx, own))

    @property
    def formula(self) -> Bound:
        """The bound with the formula in question."""
        return replace(self.bound, epsilon=self.epsilon)

    @property
    def labels(self) -> set[str]:
        """Labels of what the bound assumes."""
        return {assumption.label for assumption in self.bound.assumptions}

    def faced(self, setting: Setting) -> tuple[Truth, ...]:
        """The truths that are affordable at a setting."""
        asked = self.truths or TRUTHS[self.bound.scheme]
        return tuple(truth for truth in asked if setting.steps <= truth.most_steps)

    def applies(self, setting: Setting) -> bool:
        """Whether the bound speaks of a setting, and a truth is affordable there."""
        try:
            self.bound.check(setting)
        except AssumptionViolated:
            return False
        return self.where(setting) and bool(self.faced(setting))


@dataclass(frozen=True)
class Case:
    """A setting, and a curvature for the batch at each place of an epoch (lambda, if none)."""

    setting: Setting
    curvatures: tuple[Fraction, ...] = ()

    def __str__(self) -> str:
        text = ", ".join(f"{k} = {v}" for k, v in self.setting.as_strings().items())
        if self.curvatures:
            text += f", batch curvatures {' '.join(map(show, self.curvatures))}"
        return text

    def problem(self) -> Setting | Problem:
        """What is run."""
        if not self.curvatures:
            return self.setting
        return Problem.of(self.setting, batch_curvatures=self.curvatures)


@dataclass
class Tally:
    """Comparisons made so far, and the tightest ratio of bound to truth.

    inner: the tightest where n/b >= 2 and K >= 2; many bounds are attained in trivial cases.
    """

    claim: Claim
    domain: str
    count: int = 0
    tightest: tuple[float, str] = (float("inf"), "")
    inner: tuple[float, str] = (float("inf"), "")

    def face(self, case: Case) -> Finding | None:
        """Compare at one case; what is not in order there, or None."""
        setting = case.setting
        claimed = self.claim.formula.enclose(setting, DIGITS)
        for truth in self.claim.faced(setting):
            for direction in truth.directions:
                found = exact_divergence(
                    case.problem(), truth.scheme, setting.alpha, direction, centre=truth.centre,
                    digits=DIGITS,
                )  # fmt: skip
                self.count += 1
                with precision(BITS):
                    low, high = flint.arb(found.lower), flint.arb(found.upper)
                    if claimed < low:
                        return self._below(case, claimed, found, direction)
                    # Where a bound is attained the two enclosures cannot be told apart.
                    touching = bool(abs(claimed - low) < high * flint.arb(TOUCH))
                    if not found.proved or not (touching or claimed >= high):
                        return Finding(
                            "undecided", "point", self.domain,
                            f"{self.claim.bound.name}: bound and exact divergence cannot be told "
                            f"apart at {case}",
                        )  # fmt: skip
                    ratio = float((claimed / high).mid()) if high > 0 else float("inf")
                if ratio < self.tightest[0]:
                    self.tightest = ratio, f"{case} ({truth.scheme}, {direction})"
                if setting.batches > 1 and (setting.epochs or 1) > 1 and ratio < self.inner[0]:
                    self.inner = ratio, f"{case} ({truth.scheme}, {direction})"
        return None

    def _below(self, case: Case, claimed: Any, found: Any, direction: Direction) -> Finding:
        parameters = case.setting.as_strings()
        if case.curvatures:
            parameters["batch curvatures"] = " ".join(map(show, case.curvatures))
        return Finding(
            "fails", "point", self.domain,
            f"{self.claim.bound.name}: below the exact divergence, {direction}, of {found.problem}",
            certificate={
                "kind": "point", "parameters": parameters, "left": [found.lower, found.upper],
                "right": list(decimal_bounds(claimed, DIGITS)), "relation": "<=",
            },
        )  # fmt: skip

    def found(self, strength: str, how: str) -> Finding:
        """The answer when everything was in order."""
        name = self.claim.bound.name
        if self.tightest[0] == float("inf"):
            return Finding(
                "undecided", strength, self.domain,
                f"{name}: compared nowhere with a divergence above 0",
            )  # fmt: skip
        ratio, place = self.tightest
        detail = f"{name}: {how}, {self.count} comparisons; tightest ratio {ratio:.13g} at {place}"
        if ratio < self.inner[0] < float("inf"):
            detail += "; for n/b >= 2 and K >= 2 {:.13g} at {}".format(*self.inner)
        return Finding(
            "holds", strength, self.domain, detail,
            certificate={"kind": "points", "count": self.count, "tightest": show(Fraction(ratio))},
        )  # fmt: skip


# --- designed settings -------------------------------------------------------------------------

SHAPES = ((2, 1), (3, 1), (5, 2), (9, 2), (2, 2))
EPOCHS = (1, 2, 3, 10)
# lambda, beta, eta: eta lambda tiny, middling, just below its limit and at it; beta > lambda at the
# limit of eta; linear losses, up to eta = 2/beta.
LOSSES = (
    ("1", "1", "1/1000000"), ("1", "1", "1/2"), ("1", "1", "999999/1000000"), ("1", "1", "1"),
    ("1", "4", "399999/1000000"), ("1", "4", "2/5"), ("0", "1", "1/2"), ("0", "1", "1999/1000"),
    ("0", "1", "2"),
)  # fmt: skip
ORDERS = ("1.000001", "1.1", "2", "10", "50")
RATES = ("1/10000", "1")
LAST = (False, True)
DESIGNED = (
    "quadratics at designed settings: n/b in {1, 2, 5/2, 3, 9/2}, K in {1, 2, 3, 10}, eta lambda "
    "tiny, 1/2 and up to its limit, lambda = 0 where allowed, order in {1 + 1e-6, 1.1, 2, 10, 50}, "
    "A = eta S_g^2/(4 sigma^2 b^2) in {1e-4, 1}, first and last batch"
)
TOGETHER = {"quick": 2, "standard": 3, "full": 6}


def designed(claim: Claim, run: Run) -> list[Setting]:
    """Settings at corners: every two that can occur together do, at standard effort every three.

    At full effort it is the whole product of the corners. Factors that a bound does not speak of
    (the batch under random orders, K for one epoch) are left out.
    """
    # The formula in question does not matter here, so that mutants share the settings.
    return list(_designed(replace(claim, epsilon=claim.bound.epsilon), run.effort))


@cache
def _designed(claim: Claim, effort: str) -> tuple[Setting, ...]:
    rows = [row for row in product(SHAPES, EPOCHS, LOSSES, ORDERS, RATES, LAST)
            if _distinct(claim, row) and claim.applies(_setting(row))]  # fmt: skip
    if effort != "full":
        rows = covering(rows, TOGETHER[effort])
    return tuple(_setting(row) for row in rows)


def _distinct(claim: Claim, row: Sequence[Any]) -> bool:
    (n, b), epochs, *_, last = row
    labels = claim.labels
    if claim.bound.scheme == "one update":
        return (n, epochs, last) == (b, 1, True)
    if ("full-batch" in labels and n != b) or ("one-epoch" in labels and epochs > 1):
        return False
    fixed = claim.bound.scheme == "fixed order" and n >= 2 * b
    return bool(fixed or last)


@cache
def _setting(row: tuple[Any, ...]) -> Setting:
    (n, b), epochs, (lost, beta, eta), alpha, rate, last = row
    step = Fraction(eta)
    return Setting(
        n=n, b=b, epochs=epochs, eta=step, lambda_=Fraction(lost), beta=Fraction(beta),
        sensitivity=Fraction(1), sigma2=step / (4 * Fraction(rate) * b**2), alpha=Fraction(alpha),
        position=None if last else 0,
    )  # fmt: skip


def covering(rows: Sequence[tuple[Any, ...]], together: int) -> list[tuple[Any, ...]]:
    """A few of the rows in which every `together` values occur together that do so in `rows`.

    Greedy: the row with most combinations that are not there yet, the first among equals.
    """
    numbers: dict[Any, int] = {}
    masks = []
    for row in rows:
        mask = 0
        for chosen in combinations(enumerate(row), together):
            mask |= 1 << numbers.setdefault(chosen, len(numbers))
        masks.append(mask)
    left, taken = (1 << len(numbers)) - 1, []
    while left:
        best = max(range(len(rows)), key=lambda i: (masks[i] & left).bit_count())
        taken.append(rows[best])
        left &= ~masks[best]
    return taken


def at_designed_settings(claim: Claim, run: Run) -> Finding:
    """Whether a claim is at least the exact divergence at every designed setting."""
    return above_the_truth(claim, designed(claim, run), DESIGNED)


def above_the_truth(claim: Claim, settings: Iterable[Setting], domain: str) -> Finding:
    """Whether a claim is at least the exact divergence at the given settings, by enclosures.

    A setting where it is below counts for more than one where the two cannot be told apart.
    """
    tally, chosen = Tally(claim, domain), list(settings)
    unclear: Finding | None = None
    for setting in chosen:
        wrong = tally.face(Case(setting))
        if wrong is not None and wrong.outcome == "fails":
            return wrong
        unclear = unclear or wrong
    return unclear or tally.found("point", f"{len(chosen)} settings")


# --- draws -------------------------------------------------------------------------------------

DRAWN = (
    "random quadratics: n/b to 4, K to 4, eta to its limit, order 1.01 to 50, "
    "A = eta S_g^2/(4 sigma^2 b^2) from 1e-3 to 1; under a fixed order a "
    "curvature of its own for each batch"
)
CORNERS = (Fraction(1), 1 - Fraction(1, 10**6), Fraction(1, 10**6))
SHARE = 6  # of the examples that a check may take, since each takes several exact laws


def _thousandths(low: int, high: int) -> st.SearchStrategy[Fraction]:
    return st.integers(low, high).map(lambda k: Fraction(k, 1000))


# Made once: Hypothesis takes longer to make and validate a strategy than to draw from it.
_SMALL, _BOTH = st.integers(1, 3), st.booleans()
_COUNTS = {least: st.integers(least, 4) for least in (1, 2)}
_SPARE = {b: st.integers(0, b - 1) for b in (1, 2, 3)}
_PLACE = {size: st.integers(0, size - 1) for size in (1, 2, 3, 4)}
_BETA = st.one_of(st.just(Fraction(1)), _thousandths(1000, 20_000))
_CLOSE = st.one_of(st.sampled_from(CORNERS), _thousandths(10, 990))
_RATE = _thousandths(1, 1000)
_ALPHA = st.one_of(st.sampled_from(tuple(map(Fraction, ORDERS[1:]))), _thousandths(1010, 50_000))
_BEND = st.one_of(st.sampled_from((Fraction(0), Fraction(1))), _thousandths(0, 1000))


@st.composite
def cases(draw: Any, claim: Claim) -> Case:
    """Cases to which a claim may apply; simple ones first."""
    labels, scheme = claim.labels, claim.bound.scheme
    whole = "full-batch" in labels or scheme == "one update"
    single = "one-epoch" in labels or scheme == "one update"
    b = draw(_SMALL)
    size = 1 if whole else draw(_COUNTS[2 if "at-least-two-batches" in labels else 1])
    epochs = 1 if single else draw(_COUNTS[1])
    linear = "strong-convexity" not in labels and draw(_BOTH)
    lost, beta = Fraction(0 if linear else 1), draw(_BETA)
    eta = draw(_CLOSE) * 2 / (lost + beta)
    made = Setting(
        n=b * size + (0 if whole else draw(_SPARE[b])), b=b, epochs=epochs, eta=eta, lambda_=lost,
        beta=beta, sensitivity=Fraction(1), sigma2=eta / (4 * draw(_RATE) * b**2),
        alpha=draw(_ALPHA), position=draw(_PLACE[size]) if scheme == "fixed order" else None,
    )  # fmt: skip
    if scheme != "fixed order" or draw(_BOTH):
        return Case(made)
    return Case(made, tuple(lost + draw(_BEND) * (beta - lost) for _ in range(size)))


def at_random(claim: Claim, run: Run) -> Finding:
    """Whether a claim is at least the exact divergence at draws of Hypothesis.

    A counterexample is shrunk and returned as a certified point.
    """
    tally, tried = Tally(claim, DRAWN), 0
    unclear: list[Finding] = []

    def holds(case: Case) -> bool:
        nonlocal tried
        tried += 1
        wrong = tally.face(case)
        if wrong is not None and wrong.outcome == "undecided":
            unclear.append(wrong)
        return wrong is None or wrong.outcome == "undecided"

    def certify(case: Case) -> Finding:
        wrong = Tally(claim, DRAWN).face(case)
        assert wrong is not None
        return wrong

    found = try_to_break(
        cases(claim).filter(lambda case: claim.applies(case.setting)), holds, run, domain=DRAWN,
        what=claim.bound.name, examples=max(10, run.examples // SHARE), certify=certify,
    )  # fmt: skip
    if found.outcome != "holds":
        return found
    return unclear[0] if unclear else tally.found("sampled", f"{tried} draws")
