"""Lemma 3.2: what one update does to the Renyi divergence, with and without the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.bound import find
from bounds.paper.one_update import shrinking, without_record
from verify.methods.enclosure import Formulas, exact_point
from verify.methods.neutral import neutral
from verify.methods.properties import small_settings
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.methods.transcription import same_formula
from verify.statement import Finding, Run, Statement, check

STATEMENTS = (
    Statement(
        "lem-3.2",
        printed="theta_k^j and theta'_k^j with LSI constant c, f(theta) = theta - (eta/b) "
        "sum_(i in B) ell(theta; x_i) L-Lipschitz, F = 1 + 2 c eta sigma^2/L^2, alpha' = 1 + "
        "(alpha-1)/F: after the update R_alpha/alpha is at most R_alpha'/alpha' / F if i0 is not "
        "in B, and R_alpha/alpha + eta Sg^2/(4 sigma^2 b^2) if it is",
        rests_on=("lem-3.1", "alg-1", "def-b2", "def-b3"),
        reading="judged as printed in one coordinate, where the printed f maps parameters to "
        "parameters, and in any dimension as corrected; L > 0 (for L = 0 both laws coincide after "
        "the update). Cited: adaptive composition of Renyi divergences (Mironov 2017, "
        "Proposition 1)",
        severity="misprint",
        finding="The printed mapping subtracts the losses and not their gradients: for the linear "
        "losses x theta it contracts, by |1 - eta x|, while the update only translates, and the "
        "printed bound falls below the exact divergence. The proof (D.2) and all that follows "
        "have the gradient.",
        correction="the same with f(theta) = theta - (eta/b) sum_(i in B) grad ell(theta; x_i)",
    ),
)

BOUND = find("one_update")
ALL = "every L > 0, c > 0, eta > 0, sigma^2 > 0 and alpha > 1"


@dataclass(frozen=True)
class Loss:
    """curvature/2 theta^2 + x theta in one coordinate.

    value, slope: coefficients (constant, linear, quadratic) of the loss and of its derivative.
    """

    curvature: Fraction
    x: Fraction

    @property
    def value(self) -> tuple[Fraction, Fraction, Fraction]:
        """Coefficients of the loss."""
        return Fraction(0), self.x, self.curvature / 2

    @property
    def slope(self) -> tuple[Fraction, Fraction, Fraction]:
        """Coefficients of its derivative."""
        return self.x, self.curvature, Fraction(0)


@dataclass(frozen=True)
class OneStep:
    """The parts of the lemma.

    subtracted(loss): coefficients of what f subtracts, eta times it.
    growth(c, L, noise): F, with noise = 2 eta sigma^2.
    kept(ratio, F): R_alpha/alpha after an update without the record, from R_alpha'/alpha'.
    order(alpha, F): alpha'.
    gain(eta, Sg, s2, b): what an update with the record adds to R_alpha/alpha.
    """

    subtracted: Callable[[Loss], tuple[Fraction, Fraction, Fraction]]
    growth: Callable[[Any, Any, Any], Any] = lambda c, lip, noise: 1 + c * noise / lip**2
    kept: Callable[[Any, Any], Any] = lambda ratio, growth: ratio / growth
    order: Callable[[Any, Any], Any] = lambda alpha, growth: (alpha - 1) / growth + 1
    gain: Callable[[Any, Any, Any, Any], Any] = lambda eta, sens, s2, b: (
        eta * sens**2 / (4 * s2 * b**2)
    )


PRINTED = OneStep(subtracted=lambda loss: loss.value)
GRADIENT = OneStep(subtracted=lambda loss: loss.slope)
ETA = Fraction(1, 2)
# Records x = 1 and -1 of the neighbours, then one shared record; simplest first.
SHARED = tuple(
    Loss(Fraction(curvature), Fraction(x))
    for curvature, x in (
        ("0", "1"), ("0", "3"), ("0", "-1/2"), ("1", "0"), ("1/3", "2"), ("3", "1"),
    )
)  # fmt: skip


def _second_update(form: OneStep) -> tuple[str, str]:
    """R_alpha/alpha after the second update and what is claimed for it, as formulas.

    The means are `gap` apart before it and the variance is 1/c; its loss is x_2 theta + h/2
    theta^2.
    """
    eta, s2, c, gap, x, h = sp.symbols("eta sigma2 c gap x_2 h", real=True)
    turn, noise = 1 - eta * h, 2 * eta * s2
    lipschitz = sp.Abs(1 - eta * form.subtracted(Loss(h, x))[1])
    truth = (turn * gap) ** 2 / (2 * (turn**2 / c + noise))
    claimed = form.kept(c * gap**2 / 2, form.growth(c, lipschitz, noise))
    left, right = neutral(truth, claimed)
    return left, right


@check(
    "lem-3.2", "valid", "exact law of a run of two updates",
    form=PRINTED,
    correction=GRADIENT,
    part="without the record",
    mutants={
        "twice the step": replace(
            GRADIENT,
            subtracted=lambda loss: (2 * loss.x, 2 * loss.curvature, Fraction(0)),
        ),
        "L^4 for L^2": replace(GRADIENT, growth=lambda c, lip, noise: 1 + c * noise / lip**4),
        "noise 4 eta sigma^2": replace(
            GRADIENT, growth=lambda c, lip, noise: 1 + 2 * c * noise / lip**2
        ),
        "factor applied twice": replace(GRADIENT, kept=lambda ratio, growth: ratio / growth**2),
    },
)  # fmt: skip
def bounds_the_exact_divergence_of_a_run(form: OneStep, run: Run) -> Finding:
    """n = 2, b = 1, eta = 1/2, sigma^2 = 1, theta_0 = 0; first record 1 theta or -1 theta.

    After the first update the laws are N(-1/2, 1) and N(1/2, 1): c = 1 and R_alpha/alpha = 1/2 for
    every order. The second update uses a shared record; its law is Gaussian too. The lemma speaks
    where the form's f is Lipschitz, i.e. affine. With the gradient it is attained each time.
    """
    domain = "runs of two updates with one quadratic or linear shared loss, exact"
    sigma2, c = Fraction(1), Fraction(1)
    noise = 2 * ETA * sigma2
    gap, before = Fraction(1), Fraction(1, 2)
    tried = 0
    for loss in SHARED:
        _, linear, quadratic = form.subtracted(loss)
        lipschitz = abs(1 - ETA * linear)
        if quadratic or not lipschitz:
            continue
        tried += 1
        turn = 1 - ETA * loss.curvature
        truth = (turn * gap) ** 2 / (2 * (turn**2 / c + noise))
        claimed = form.kept(before, form.growth(c, lipschitz, noise))
        if truth > claimed:
            return Finding(
                "fails", "point", domain,
                f"shared loss {loss.x} theta + {loss.curvature} theta^2/2: R_alpha/alpha = {truth} "
                f"after the second update, stated at most {claimed} (L = {lipschitz}, c = 1, "
                "2 eta sigma^2 = 1)",
                certificate=exact_point(
                    Formulas(*_second_update(form), {
                        "eta": ETA, "sigma2": sigma2, "c": c, "gap": gap, "x_2": loss.x,
                        "h": loss.curvature,
                    }), truth, claimed, "<="),
            )  # fmt: skip
    return Finding("holds", "point", domain, f"not exceeded in {tried} runs, all orders at once")


@check(
    "lem-3.2", "derived", "symbolic, along characteristics",
    form=PRINTED,
    correction=GRADIENT,
    part="without the record",
    mutants={
        "L for L^2": replace(GRADIENT, growth=lambda c, lip, noise: 1 + c * noise / lip),
        "noise eta sigma^2": replace(
            GRADIENT, growth=lambda c, lip, noise: 1 + c * noise / (2 * lip**2)
        ),
        "order kept": replace(GRADIENT, order=lambda alpha, growth: alpha),
        "order divided": replace(GRADIENT, order=lambda alpha, growth: alpha / growth),
        "factor lost": replace(GRADIENT, kept=lambda ratio, growth: ratio),
        "factor applied twice": replace(GRADIENT, kept=lambda ratio, growth: ratio / growth**2),
    },
)  # fmt: skip
def solves_the_differential_inequality(form: OneStep, run: Run) -> Finding:
    """(57) to (68): substitutions, characteristics, and the solution put back with any start.

    Along alpha(t) - 1 = (alpha' - 1) F(t) the inequality says that (alpha - 1) u, u = R/alpha, does
    not increase: (68) in one line. For h = p/p' it reads |h_t|_alpha(t) <= |h_0|_alpha', norms
    under p'_t and p'_0. For bounded h_0 everything is finite, and |h_t|_a <= |h_0|_a gives the
    start at t = 0; Lemma D.1 does not ask that h have mean 1, so h_0 may be cut off at a level that
    then grows. That R(alpha, 0) is at most the divergence before f is data processing. (62) takes
    the logarithm of u; u = 0 is trivial.
    """
    alpha, y, t, c, lip, s2, big = sp.symbols("alpha y t c L sigma2 eta", positive=True)
    pull = 2 * s2 / (lip**2 / c + 2 * t * s2)
    growth = form.growth(c, lip, 2 * t * s2)
    u = sp.Function("u")(alpha, t)
    divergence = alpha * u
    slope_t, slope_a = sp.symbols("u_t u_alpha", real=True)
    value = sp.Symbol("u", positive=True)
    start = sp.Function("U")
    low = sp.Symbol("beta", positive=True)  # alpha' - 1
    order = form.order(alpha, growth)
    # The claimed solution B = U(alpha')/F and its derivatives by the chain rule.
    inner, inner_slope = start(order), sp.Symbol("U_prime", real=True)
    made = form.kept(inner, growth)
    by_inner = sp.diff(form.kept(sp.Symbol("v"), growth), sp.Symbol("v"))
    by_growth = sp.diff(form.kept(inner, sp.Symbol("F")), sp.Symbol("F")).subs("F", growth)
    made_t = by_inner * inner_slope * sp.diff(order, t) + by_growth * sp.diff(growth, t)
    made_a = by_inner * inner_slope * sp.diff(order, alpha)
    path = 1 + low * growth
    links = [
        (Equation(sp.Derivative(divergence, t) + pull * (divergence / alpha
                                          + (alpha - 1) * sp.Derivative(divergence, alpha)),
         alpha * (sp.Derivative(u, t) + pull * (u + (alpha - 1) * sp.Derivative(u, alpha)))),
         "(57)-(58): u = R/alpha"),
        (Equation((sp.exp(y) + 1 - 1) / sp.Derivative(sp.exp(y) + 1, y), 1),
         "(59): (alpha - 1) d/dalpha = d/dy for alpha = 1 + e^y"),
        (Equation(sp.Derivative(sp.log(growth), t), pull), "(60)-(62): d/dt log F = 2 sigma^2 c_t"),
        (Equation(lambda: growth.subs(t, 0), 1), "F = 1 at t = 0"),
        (Equation(lambda: growth.subs(t, big), lambda: form.growth(c, lip, 2 * big * s2)),
         "(63): F at t = eta"),
        (Equation(lambda: order.subs(t, 0), alpha), "(64): alpha' = alpha at t = 0"),
        (Equation(lambda: made.subs(t, 0), lambda: inner.subs(t, 0)), "(64): the start is met"),
        (made_t + pull * (made + (alpha - 1) * made_a),
         "(64)-(67): U(alpha')/F solves (58) with equality for every U"),
        (Equation(lambda: form.order(path, growth) - 1, low),
         "(66): alpha' is constant along the path"),
        (Equation(sp.Derivative(path,
                                t) * value + (path - 1) * (slope_t + slope_a * sp.Derivative(path,
                                                                                             t)),
         (path - 1) * (slope_t + pull * (value + (path - 1) * slope_a))),
         "along it the derivative of (alpha - 1) u is (alpha - 1) times the left side of (58)"),
    ]  # fmt: skip
    return all_hold([rational_identity(d, ALL, what, seed=run.seed) for d, what in links])


@check(
    "lem-3.2", "derived", "symbolic, with composition cited",
    form=PRINTED,
    correction=GRADIENT,
    part="with the record",
    mutants={
        "variance eta sigma^2": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: eta * sens**2 / (2 * s2 * b**2)
        ),
        "batch size not squared": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: eta * sens**2 / (4 * s2 * b)
        ),
        "Lipschitz constant for sensitivity": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: eta * sens**2 / (s2 * b**2)
        ),
        "noise divided by the step": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: sens**2 / (4 * s2 * b**2)
        ),
    },
)  # fmt: skip
def composes_with_the_gaussian_mechanism(form: OneStep, run: Run) -> Finding:
    """(69), (70): shift eta Sg/b against variance 2 eta sigma^2, added by adaptive composition."""
    eta, sens, s2, b, alpha = sp.symbols("eta S_g sigma2 b alpha", positive=True)
    return identity(
        lambda: alpha * form.gain(eta, sens, s2, b),
        lambda: alpha * (eta * sens / b) ** 2 / (2 * (2 * eta * s2)),
        "every eta, Sg, sigma^2, b and alpha > 1",
        "(70) with its factor alpha: the Gaussian mechanism", seed=run.seed,
    )  # fmt: skip


@check(
    "lem-3.2", "valid", "exact laws of Gaussians, symbolic",
    form=PRINTED,
    correction=GRADIENT,
    part="with the record",
    mutants={
        "half of the gain": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: eta * sens**2 / (8 * s2 * b**2)
        ),
        "no gain": replace(GRADIENT, gain=lambda eta, sens, s2, b: 0 * eta),
    },
)  # fmt: skip
def gaussians_obey_the_second_row(form: OneStep, run: Run) -> Finding:
    """N(0, V), N(g, V) under affine updates of slope L whose shifts differ by s <= eta Sg/b.

    R_alpha/alpha goes from g^2/(2V) to (L g + s)^2/(2 (L^2 V + w)), w = 2 eta sigma^2. The bound
    exceeds that by a square over a positive number, plus the gain unused when s < eta Sg/b.
    """
    g, v, lip, eta, s2, sens, b = sp.symbols("g V L eta sigma2 S_g b", positive=True)
    noise, shift = 2 * eta * s2, eta * sens / b
    after = (lip * g + shift) ** 2 / (2 * (lip**2 * v + noise))
    square = (lip * g * noise - shift * lip**2 * v) ** 2
    bound = g**2 / (2 * v) + form.gain(eta, sens, s2, b)
    return identity(
        bound - after, square / (2 * lip**2 * v * noise * (lip**2 * v + noise)),
        "Gaussian laws of one variance, affine updates",
        "the second row exceeds the exact value by a square", whole=False, seed=run.seed,
    )  # fmt: skip


@check(
    "lem-3.2", "transcribed", "symbolic, exact rational arithmetic, Hypothesis",
    form=PRINTED,
    mutants={
        "L for L^2": replace(GRADIENT, growth=lambda c, lip, noise: 1 + c * noise / lip),
        "factor lost": replace(GRADIENT, kept=lambda ratio, growth: ratio),
        "gain doubled": replace(
            GRADIENT, gain=lambda eta, sens, s2, b: eta * sens**2 / (2 * s2 * b**2)
        ),
    },
)  # fmt: skip
def library_has_both_rows(form: OneStep, run: Run) -> Finding:
    """The library's formula for one update holds both rows of (2)."""
    c, lip, noise, ratio = sp.symbols("c L w v", positive=True)
    rows = all_hold([
        identity(
            lambda: form.growth(c, lip, noise), lambda: shrinking(c, lip, noise), ALL, "F",
            seed=run.seed),
        identity(
            lambda: form.kept(ratio, form.growth(c, lip, noise)),
            lambda: without_record(ratio, c, lip, noise),
            ALL, "first row of (2)", seed=run.seed),
    ])  # fmt: skip
    if rows.outcome != "holds":
        return rows
    return same_formula(
        BOUND, lambda p, ctx: p.alpha * form.gain(p.eta, p.sensitivity, p.sigma2, p.b), run,
        strategy=small_settings(most_batches=3, most_epochs=2),
        what="both rows of (2) against the library",
    )  # fmt: skip
