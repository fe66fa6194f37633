"""Sections 5.1, 5.2, F.1 and F.4: the clipped gradient, its Jacobian, and DP-SGD's notation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.arith.ball import Ball, precision
from bounds.bound import bind, find
from bounds.setting import Setting
from verify.derivations.chain import Chain
from verify.derivations.logistic_proof import P, point
from verify.methods.enclosure import BITS
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.statement import Finding, Run
from verify.statements.logistic import (
    LOWER,
    PRINTED,
    STATEMENTS,
    clipping_keeps_strong_convexity,
    lower_side_mended,
    upper_side,
    variance_bounds_the_hessian,
)
from verify.statements.logistic_conclusion import (
    MENDED,
    above_the_truth_with_three_classes,
    clipped_updates_contract_by_q,
    mended_claim,
    printed_claim,
)

DOMAIN = "any number of classes, any |x| <= L, almost every theta"
CHAIN = Chain(__name__, DOMAIN)
F = Fraction
_PROPOSITION = next(made for made in STATEMENTS if made.id == "prop-5.2")
_COROLLARY = next(made for made in STATEMENTS if made.id == "cor-5.3")
HALF = sp.Rational(1, 2)

# --- (180), (181): the Hessian's order and the Jacobian of the clipped gradient -------------------

CHAIN.declare(
    "eq-180", "0 <= Hessian of ell_0 <= beta I, beta = (L^2 + 1)/2", rests_on=("eq-010",),
    reading="the sentence before it says ell_lambda and grad ell_0 where ell_0 is meant: it is "
    "ell_0 that is beta-smooth by Proposition 5.1, convex and twice continuously differentiable",
)  # fmt: skip
CHAIN.ask(
    "eq-180", "valid", "symbolic, for any number of classes", variance_bounds_the_hessian,
    form=PRINTED,
    mutants={
        "beta = (L^2 + 1)/4": replace(PRINTED, curvature=sp.Rational(1, 4)),
        "beta = 2 (L^2 + 1)/5": replace(PRINTED, curvature=sp.Rational(2, 5)),
    },
)  # fmt: skip


@dataclass(frozen=True)
class Jacobian:
    """Entries of the Jacobian of the clipped gradient, below and above the clip norm.

    With G the gradient, h a column of its Jacobian H, s = |G|^2, m = G'h and half the clip norm:
    both are given the coordinates G_i, h_i and s, m, half.
    """

    below: Callable[..., Any]
    above: Callable[..., Any]


JACOBIAN = Jacobian(
    below=lambda g, h, s, m, half: h,
    above=lambda g, h, s, m, half: half / sp.sqrt(s) * (h - g * m / s),
)


def chain_rule(form: Jacobian, run: Run) -> Finding:
    """The derivative of G min(|G|, Sg/2)/|G| along a coordinate of theta, in any dimension.

    To first order in t, G + t h has coordinates G_i + t h_i and square s + 2 t m, so that only
    these enter. For two or more classes G is not zero, since p_y < 1, and |G| = Sg/2 on a set of
    measure zero, since |G|^2 is real analytic in theta and not constant; for one class G = 0. The
    factor min(|G|, Sg/2)/|G| is continuous where G is not zero.
    """
    g, h, m, t, k = sp.symbols("G_i h_i m t k", real=True)
    length, half = sp.symbols("N C", positive=True)
    s = length**2
    moved = g + t * h
    clipped = sp.diff(half * moved / sp.sqrt(s + 2 * t * m + t**2 * k), t).subs(t, 0)
    free = sp.diff(moved, t)
    return all_hold([
        identity(free, lambda: form.below(g, h, s, m, half), DOMAIN,
                 "below the clip norm: the Hessian", seed=run.seed),
        identity(clipped, form.above(g, h, s, m, half), DOMAIN,
                 "above: (Sg/2)/|G| (I - G G'/|G|^2) H", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-181",
    "grad g_0 is the Hessian H of ell_0 where |grad ell_0| < Sg/2, and (Sg/2)/|grad ell_0| M H "
    "where it is above, M = I - u u', u = grad ell_0/|grad ell_0|",
    reading="M and H do not commute, and where three or more classes are clipped the Jacobian is "
    "not symmetric",
)
CHAIN.ask(
    "eq-181", "valid", "symbolic, by the chain rule in any dimension", chain_rule, form=JACOBIAN,
    mutants={
        "without the projector": replace(
            JACOBIAN, above=lambda g, h, s, m, half: half / sp.sqrt(s) * h
        ),
        "gradient not normalised in M": replace(
            JACOBIAN, above=lambda g, h, s, m, half: half / sp.sqrt(s) * (h - g * m)
        ),
        "factor lost": replace(JACOBIAN, above=lambda g, h, s, m, half: h - g * m / s),
        "clipped below": replace(JACOBIAN, below=JACOBIAN.above),
    },
)  # fmt: skip

# --- (182) and what follows from it: (183), (179), (11) -------------------------------------------

_KAPPA: dict[str, Any] = {
    "form": lambda p: F(0),
    "correction": lambda p: F(0) if len(p) == 2 else F(1, 16),
}


def order_of_a_product(form: Fraction, run: Run) -> Finding:
    """Whether 0 <= M <= I, M a projector, and 0 <= H <= beta give v'M H v >= -k beta |v|^2.

    Put to M = diag(0, 1) and H of ones, beta = 2, at v = (-2, 1): M and H do not commute. That the
    corrected k = 1/8 is enough in general is shown with Proposition F.2.
    """
    v = (F(-2), F(1))
    value = v[1] * (v[0] + v[1])
    least = -form * 2 * (v[0] ** 2 + v[1] ** 2)
    domain = "M = diag(0, 1), H = ((1, 1), (1, 1)), beta = 2"
    if value < least:
        return point(domain, f"v = (-2, 1): v'M H v = {value}, below {least}",
                     {"M": "diag(0, 1)", "H": "1, 1; 1, 1", "v": "-2, 1"}, least, value,
                     "<=")  # fmt: skip
    return Finding("holds", "point", domain, f"v = (-2, 1): v'M H v = {value}, at least {least}",
                   certificate={"kind": "points", "count": 1})  # fmt: skip


def spectrum_is_that_of_m_h_m(form: Callable[[Any], Any], run: Run) -> Finding:
    """M H has the eigenvalues of M H M, which is symmetric with 0 <= M H M <= beta.

    M = I - t G G' is a projector, M (M H) = M H, and XY has the eigenvalues of YX. M^2 =
    I - (2 t - t^2 s) G G' with s = |G|^2, so M^2 = M wants 2 t - t^2 s = t.
    """
    s = sp.Symbol("s", positive=True)
    t = form(s)
    return identity(
        lambda: 2 * t - t**2 * s, t, DOMAIN,
        "M^2 = M: the eigenvalues of the Jacobian, not its quadratic form, are in [0, beta]",
        seed=run.seed,
    )  # fmt: skip


def _ordered(statement: str, printed: str, mended: str, rests_on: tuple[str, ...]) -> None:
    """Declare one of the orderings, all of which stand or fall with (182)."""
    CHAIN.declare(
        statement, printed, rests_on=rests_on, severity="statement",
        reading=_PROPOSITION.reading, finding=_PROPOSITION.finding, correction=mended,
    )  # fmt: skip
    CHAIN.ask(
        statement, "valid", "exact witness", clipping_keeps_strong_convexity, part="lower side",
        mutants={"a hundred-thousandth": lambda p: F(1, 10**5),
                 "a sign": lambda p: F(-1, 16)}, **_KAPPA,
    )  # fmt: skip
    CHAIN.ask(
        statement, "derived", "symbolic, for any number of classes", lower_side_mended,
        part="lower side", correction=LOWER,
        mutants={
            "half of kappa": replace(LOWER, kappa=sp.Rational(1, 32)),
            "eigenvalues of T up to 1": replace(LOWER, twice=sp.Integer(1)),
        },
    )  # fmt: skip
    CHAIN.ask(
        statement, "derived", "symbolic", upper_side, part="upper side", form=HALF,
        correction=HALF, mutants={"eigenvalues to 1/4": HALF / 2},
    )  # fmt: skip


_ordered(
    "eq-182", "0 <= grad g_0 <= beta I wherever |grad ell_0| is not Sg/2",
    "-(beta/8) I <= grad g_0 <= beta I, and for two classes 0 <= grad g_0 <= beta I",
    ("eq-180", "eq-181", "txt-f.4-unit-projection"),
)  # fmt: skip
CHAIN.ask(
    "eq-182", "derived", "exact witness", order_of_a_product, part="lower side",
    form=F(0), correction=F(1, 8), mutants={"a sixteenth": F(1, 16), "a sign": F(-1, 8)},
)  # fmt: skip
CHAIN.ask(
    "eq-182", "valid", "symbolic", spectrum_is_that_of_m_h_m, part="lower side",
    readings={"for eigenvalues in place of the quadratic form": lambda s: 1 / s},
    mutants={"gradient not normalised": lambda s: s / s, "twice": lambda s: 2 / s**2},
)  # fmt: skip
for _id, _rest in (
    ("eq-183", ("eq-182",)),
    ("eq-179", ("eq-183",)),
    ("eq-011", ("eq-179",)),
):
    _ordered(
        _id, "lambda I <= grad g <= (beta + lambda) I for g = g_0 + lambda theta",
        "(lambda - beta/8) I <= grad g <= (beta + lambda) I, and for two classes as printed", _rest,
    )  # fmt: skip


@dataclass(frozen=True)
class Projector:
    """M = I - t(s) G G', s = |G|^2."""

    weight: Callable[[Any], Any]


def projector_lies_between(form: Projector, run: Run) -> Finding:
    """v'Mv = |Mv|^2 >= 0, and |v|^2 - v'Mv is (G'v)^2/|G|^2 >= 0."""
    square, along = sp.symbols("V m", real=True)
    s = sp.Symbol("s", positive=True)
    t = form.weight(s)
    value = square - t * along**2
    length = square - 2 * t * along**2 + t**2 * along**2 * s
    return all_hold([
        identity(length, value, DOMAIN, "v'Mv is the square of |Mv|", seed=run.seed),
        identity(lambda: square - value, lambda: along**2 / s, DOMAIN,
                 "and |v|^2 exceeds it by (u'v)^2", seed=run.seed),
    ])  # fmt: skip


_UNIT = Projector(lambda s: 1 / s)
CHAIN.declare(
    "txt-f.4-unit-projection",
    "M = I - u u', |u| = 1, is symmetric with 0 <= M <= I; combined with (180) this gives (182)",
    rests_on=("eq-180", "eq-181"),
    severity="statement",
    reading="both halves of the sentence: the property of M, and that M H keeps the order of H "
    "for the Jacobian's quadratic form",
    finding="Where clipping acts, the gradient's Jacobian is a positive factor times M H, for the "
    "projection 0 <= M <= I of the print and the loss's Hessian 0 <= H <= beta I; the two do not "
    "commute, so that their product need not be nonnegative. With three or more classes its "
    "quadratic form takes negative values: (182) itself is false, not only its proof.",
    correction="0 <= M <= I, and -(beta/8)|v|^2 <= v'M H v <= beta |v|^2 for 0 <= H <= beta I; "
    "0 on the left for two classes; the eigenvalues of M H are in [0, beta]",
)
CHAIN.ask(
    "txt-f.4-unit-projection", "valid", "symbolic", projector_lies_between, part="the projector",
    form=_UNIT, correction=_UNIT,
    mutants={
        "gradient not normalised": Projector(lambda s: s / s),
        "a reflection": Projector(lambda s: 2 / s),
    },
)  # fmt: skip
CHAIN.ask(
    "txt-f.4-unit-projection", "valid", "exact witness", clipping_keeps_strong_convexity,
    part="the ordering",
    mutants={"a hundred-thousandth": lambda p: F(1, 10**5), "a sign": lambda p: F(-1, 16)},
    **_KAPPA,
)  # fmt: skip
CHAIN.ask(
    "txt-f.4-unit-projection", "derived", "exact witness", order_of_a_product,
    part="the ordering", form=F(0), correction=F(1, 8),
    mutants={"a sixteenth": F(1, 16), "a sign": F(-1, 8)},
)  # fmt: skip
CHAIN.ask(
    "txt-f.4-unit-projection", "derived", "symbolic, for any number of classes",
    lower_side_mended, part="the ordering", correction=LOWER,
    mutants={"half of kappa": replace(LOWER, kappa=sp.Rational(1, 32))},
)  # fmt: skip

# --- Section F.1: DP-SGD in the notation of Algorithm 1 -------------------------------------------


def sigma_of_the_multiplier(form: Callable[..., Any], run: Run) -> Finding:
    """2 eta sigma^2 of Algorithm 1 is the variance (eta sigma_mul Sg/(2b))^2 of Algorithm 2."""
    eta, b, mul, s = sp.symbols("eta b M S_g", positive=True)
    return identity(
        lambda: 2 * eta * form(eta, b, mul, s) ** 2, lambda: (eta / b * mul * s / 2) ** 2,
        "all parameters",
        "variance of the noise of one update", seed=run.seed,
    )  # fmt: skip


def _sigma(eta: Any, b: Any, mul: Any, s: Any) -> Any:
    return sp.sqrt(eta / 2) / b * mul * s / 2


CHAIN.declare(
    "txt-f.1-sigma", "a noise multiplier sigma_mul is sigma = sqrt(eta/2) sigma_mul Sg/(2b)",
    rests_on=("alg-1", "alg-2"),
    reading="the updates have the same noise; Algorithm 2's N(0, I_d) has the dimension of theta",
)  # fmt: skip
CHAIN.ask(
    "txt-f.1-sigma", "valid", "symbolic", sigma_of_the_multiplier, form=_sigma,
    mutants={
        "not averaged": lambda eta, b, mul, s: _sigma(eta, 1, mul, s),
        "relative to Sg": lambda eta, b, mul, s: 2 * _sigma(eta, b, mul, s),
        "sqrt(2 eta)": lambda eta, b, mul, s: 2 * _sigma(eta, b, mul, s) * sp.sqrt(eta),
    },
)  # fmt: skip


@dataclass(frozen=True)
class Update:
    """One update of DP-SGD: theta less rate (sum of clipped gradients + deviation N(0, I))."""

    rate: Callable[[Any, Any], Any]
    deviation: Callable[[Any, Any], Any]


def updates_agree(form: Update, run: Run) -> Finding:
    """DP-SGD's update is Algorithm 1's with the clipped gradient for grad ell, and sigma of F.1.

    DP-SGD adds N(0, (sigma_mul C)^2 I) to the sum of the gradients clipped to C = Sg/2, divides by
    b and steps by eta; Algorithm 1 steps by eta times the mean and adds sqrt(2 eta sigma^2) N.
    """
    eta, b, mul, s = sp.symbols("eta b M S_g", positive=True)
    total = sp.Symbol("G", real=True)
    return all_hold([
        identity(lambda: form.rate(eta, b) * total, lambda: eta * (total / b), "all parameters",
                 "the drift of one update", seed=run.seed),
        identity(
            lambda: (form.rate(eta, b) * form.deviation(mul, s / 2)) ** 2,
            lambda: 2 * eta * _sigma(eta, b, mul, s) ** 2, "all parameters",
            "the variance of one update", seed=run.seed),
    ])  # fmt: skip


def clipped_gradient_is_a_gradient(form: int, run: Run) -> Finding:
    """Whether the clipped gradient is the gradient of some loss: its Jacobian must be symmetric.

    For the number of classes that is the form, at p with one class of probability 1/2 and the
    others alike, label 1 and x = 0, where clipping acts: M T for T = diag(p) - p p'. For two
    classes M T = 0 at every p, and the Jacobian is symmetric.
    """
    if form == 2:
        t = [[P[0] * P[1], -P[0] * P[1]], [-P[0] * P[1], P[0] * P[1]]]
        u = (-1, 1)
        product = [
            t[i][j] - sp.Rational(u[i], 2) * (u[0] * t[0][j] + u[1] * t[1][j])
            for i in range(2) for j in range(2)
        ]  # fmt: skip
        return CHAIN.zero(product, "two classes: M T = 0 where clipping acts", run)
    p = [F(1, 2 * (form - 1))] * (form - 1) + [F(1, 2)]
    r = [x - (i == 0) for i, x in enumerate(p)]
    size = sum((x * x for x in r), start=F(0))
    tr = [x * (y - sum((a * b for a, b in zip(p, r, strict=True)), start=F(0)))
          for x, y in zip(p, r, strict=True)]  # fmt: skip

    def entry(i: int, j: int) -> Fraction:
        return p[i] * (i == j) - p[i] * p[j] - r[i] * tr[j] / size

    last = form - 1
    one, other = entry(0, last), entry(last, 0)
    shown = ", ".join(map(str, p))
    if one != other:
        return point(
            f"{form} classes, x = 0, clipping active",
            f"probabilities {shown}, label 1: entries (1, c) and (c, 1) of M T are {one} and "
            f"{other}", {"p": shown, "label": "1"}, one, other, "=",
        )  # fmt: skip
    return Finding("undecided", "point", f"{form} classes", "no asymmetry at the point tried")


CHAIN.declare(
    "txt-5-equivalence",
    "DP-SGD under shuffle and partition is Algorithm 1 after a change of notation",
    rests_on=("alg-1", "alg-2", "txt-f.1-sigma"),
    reading="the updates are the same with the clipped (and regularised) gradient of a record in "
    "the place of grad ell, as Section F.1 has it, and one partition kept for all epochs. Taken "
    "literally, with a loss of which it is the gradient, this needs two classes (other readings)",
)
_DPSGD = Update(rate=lambda eta, b: eta / b, deviation=lambda mul, clip: mul * clip)
CHAIN.ask(
    "txt-5-equivalence", "valid", "symbolic", updates_agree, form=_DPSGD,
    mutants={
        "summed, not averaged": replace(_DPSGD, rate=lambda eta, b: eta),
        "noise relative to the sensitivity": replace(
            _DPSGD, deviation=lambda mul, clip: 2 * mul * clip
        ),
        "noise not relative to the clip norm": replace(_DPSGD, deviation=lambda mul, clip: mul),
    },
)  # fmt: skip
CHAIN.ask(
    "txt-5-equivalence", "valid", "symbolic; exact witness", clipped_gradient_is_a_gradient,
    part="a loss",
    readings={"of a loss, two classes": 2, "of a loss, three classes": 3},
    mutants={"of a loss, four classes": 4},
)  # fmt: skip

# --- Corollary 5.3: (12) and (13) -----------------------------------------------------------------

_OURS, _GENERAL = find("cor-5.3"), find("thm-4.2")


def restates_theorem_4_2(form: Callable[..., Any], run: Run) -> Finding:
    """(12) with (13) has the value of (5) under Section F.1's sigma, at three settings."""
    for n, b, epochs, eta, alpha in ((4, 2, 1, "1/2", 2), (7, 1, 3, "1/10", 5), (50, 2, 9, "1/50",
                                     "3/2")):  # fmt: skip
        setting = Setting.of(n=n, b=b, epochs=epochs, eta=eta, lambda_=1, beta=2, sensitivity=2,
                             sigma2=3, alpha=alpha)  # fmt: skip
        with precision(BITS):
            p = bind(_GENERAL.check(setting), Ball(BITS))
            general, ours = _GENERAL.printed(p, Ball), form(p, Ball)
            if not ours.overlaps(general):
                return point("drawn settings", f"n = {n}, b = {b}: {ours} against {general}",
                             setting.as_strings(), ours, general, "=")  # fmt: skip
    return Finding("holds", "sampled", "three settings, at 128 bits", "(12) agrees with (5)")


CHAIN.declare(
    "eq-012", "eps <= (5) with the terms (13), for Algorithm 2", severity="statement",
    rests_on=("thm-4.2", "eq-005", "eq-011", "eq-013", "txt-f.1-sigma"),
    reading=_COROLLARY.reading, finding=_COROLLARY.finding, correction=_COROLLARY.correction,
)  # fmt: skip
CHAIN.ask(
    "eq-012", "valid", "certified linearisation about a stationary point, balls",
    above_the_truth_with_three_classes, form=printed_claim, correction=mended_claim,
    mutants={
        "half of the bound": lambda problem: printed_claim(problem) / 2,
        "three quarters of it": lambda problem: printed_claim(problem) * 3 / 4,
    },
)  # fmt: skip
CHAIN.ask(
    "eq-012", "derived", "symbolic", clipped_updates_contract_by_q, correction=MENDED,
    mutants={
        "nothing lost": replace(MENDED, square=lambda c, eta, beta: c**2),
        "no projection": replace(MENDED, product=lambda p: p * (1 - p)),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-012", "transcribed", "balls at 128 bits", restates_theorem_4_2, form=_OURS.printed,
    part="formula",
    mutants={
        "one epoch more": lambda p, ctx: _OURS.printed(replace(p, epochs=p.epochs + 1), ctx),
        "half of it": lambda p, ctx: _OURS.printed(p, ctx) / 2,
    },
)  # fmt: skip


@dataclass(frozen=True)
class Share:
    """Front factor of (13) over alpha, exponent of the numerator, and last s of the sum."""

    front: Callable[[Any], Any]
    power: Callable[[Any], Any]
    last: Callable[[Any], Any]


def share_of_an_update(form: Share, run: Run) -> Finding:
    """(13) is Theorem 4.2's alpha eta Sg^2/(4 sigma^2 b^2) q^(j-1)/sum_(s<j) q^s, sigma of F.1.

    Here q = (1 - eta lambda)^2, so that the power of 1 - eta lambda is 2 (j - 1), and j terms are
    summed, from s = 0 to s = j - 1.
    """
    eta, b, mul, s, j = sp.symbols("eta b M S_g j", positive=True)
    share = eta * s**2 / (4 * _sigma(eta, b, mul, s) ** 2 * b**2)
    return all_hold(
        rational_identity(difference, "all parameters", what, seed=run.seed)
        for difference, what in (
            (Equation(lambda: form.front(mul), share), "2/sigma_mul^2 = eta Sg^2/(4 sigma^2 b^2)"),
            (
                Equation(lambda: form.power(j), lambda: 2 * (j - 1)),
                "q^(j-1) is the power 2 (j - 1)",
            ),
            (Equation(lambda: form.last(j) + 1, j), "the sum has j terms"),
        )
    )


_SHARE = Share(lambda mul: 2 / mul**2, lambda j: 2 * (j - 1), lambda j: j - 1)
CHAIN.declare(
    "eq-013",
    "eps_0^j <= (2 alpha/sigma_mul^2) (1 - eta lambda)^(2(j-1))/sum_(s=0..j-1) "
    "(1 - eta lambda)^(2s)",
    definition=True,
    rests_on=("thm-4.2", "txt-f.1-sigma"),
    reading="it says what is put for the terms of (12): those of Theorem 4.2 at Section F.1's "
    "sigma. That the divergence of an epoch is below them is a claim of (12), with K = 1, and "
    "needs the contraction that (11) promises",
)
CHAIN.ask(
    "eq-013", "restated", "symbolic", share_of_an_update, form=_SHARE,
    mutants={
        "noise relative to Sg": replace(_SHARE, front=lambda mul: 1 / (2 * mul**2)),
        "power j": replace(_SHARE, power=lambda j: 2 * j),
        "sum to j": replace(_SHARE, last=lambda j: j),
    },
)  # fmt: skip
