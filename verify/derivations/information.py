"""Equations (14) to (31): the definitions of Appendix B, and Lemma D.1 with its proof.

Throughout p stands for the density of mu and q for that of nu, h = p/q, r = rho/nu = h^alpha/E.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain as joined
from itertools import combinations
from typing import Any

import sympy as sp

from verify.derivations.chain import Chain
from verify.derivations.ratio import (
    ALPHA,
    FIRST,
    GAUSSIAN,
    INTEGRALS,
    LINE,
    LOG_MOMENT,
    LOG_PRECISION,
    LSI,
    MEAN,
    MOMENT,
    PAIRS,
    SECOND,
    SHIFT,
    SPREAD,
    TILTED,
    Link,
    Pair,
    ask_link,
    gaussian_mean,
    gaussian_slack,
)
from verify.methods.elementary import exponential_above_tangent
from verify.methods.symbolic import all_hold, identity
from verify.statement import Finding, Run
from verify.statements import additive_noise as noise

CHAIN = Chain(
    __name__, "smooth positive densities on R^d with E_alpha finite near alpha, alpha >= 1"
)
ORDER_ONE = (
    "alpha = 1 is covered: E_1 = 1 and R_1 is the KL divergence; derivatives by alpha need E_alpha "
    "finite near alpha"
)

# --- (14) to (16): definitions -------------------------------------------------------------------

CHAIN.declare(
    "eq-014", "P(A(D) in S) <= e^eps P(A(D') in S) + delta", definition=True, rests_on=("def-b1",),
    reading="for every event S and every ordered pair of neighbours",
)  # fmt: skip


def one_inequality_decides(form: Callable[..., bool], run: Run) -> Finding:
    """Over all events it says delta >= sum of (p - e^eps q)_+, on laws on three points, exactly.

    The threshold itself satisfies (14) and anything below it does not.
    """
    p = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    q = (Fraction(1, 5), Fraction(2, 5), Fraction(2, 5))
    events = list(joined.from_iterable(combinations(range(3), size) for size in range(4)))
    domain = "two laws on three points, both orders, three values of e^eps"
    for one, two in ((p, q), (q, p)):
        for growth in (Fraction(1), Fraction(5, 4), Fraction(2)):
            least = sum(
                (max(a - growth * b, Fraction(0)) for a, b in zip(one, two, strict=True)),
                start=Fraction(0),
            )
            for delta, expected in ((least, True), (least - Fraction(1, 10**6), False)):
                said = all(
                    form(sum((one[i] for i in event), start=Fraction(0)),
                         sum((two[i] for i in event), start=Fraction(0)), growth, delta)
                    for event in events
                )  # fmt: skip
                if said != expected:
                    return Finding(
                        "fails", "point", domain,
                        f"e^eps = {growth}, delta = {delta}: said {said}, least delta {least}",
                        certificate={
                            "kind": "point",
                            "parameters": {"growth": str(growth), "delta": str(delta)},
                            "left": [str(delta)] * 2, "right": [str(least)] * 2, "relation": "<=",
                        },
                    )  # fmt: skip
    return Finding(
        "holds", "point", domain, "the least delta is the sum of the positive parts",
        certificate={"kind": "points", "count": 12},
    )  # fmt: skip


CHAIN.ask(
    "eq-014", "well-posed", "exact, all events", one_inequality_decides,
    form=lambda p, q, growth, delta: p <= growth * q + delta,
    mutants={
        "growth on the other side": lambda p, q, growth, delta: growth * p <= q + delta,
        "delta lost": lambda p, q, growth, delta: p <= growth * q,
        "delta scaled by the growth": lambda p, q, growth, delta: p <= growth * (q + delta),
        "eps for e^eps, roughly": lambda p, q, growth, delta: p <= (growth - 1) * q + delta,
    },
)  # fmt: skip


@dataclass(frozen=True)
class Divergence:
    """R = front log int p^over q^under."""

    over: Any
    under: Any
    front: Any


PRINTED = Divergence(over=ALPHA, under=1 - ALPHA, front=1 / (ALPHA - 1))
LOST = {
    "q to the power alpha": replace(PRINTED, under=-ALPHA),
    "alpha in front": replace(PRINTED, front=ALPHA / (ALPHA - 1)),
    "p to the power alpha - 1": replace(PRINTED, over=ALPHA - 1),
    "1/alpha in front": replace(PRINTED, front=1 / ALPHA),
}


def value_for_gaussians(form: Divergence, run: Run) -> Finding:
    """The integrand for Gaussians is e^((alpha-1) R) times the density of a Gaussian.

    p = N(m, S), q = N(0, V): a log p + b log q = log N(MEAN, SPREAD) + log E, for every point of
    the line; log E is the closed form. For S = V, R = alpha m^2/(2 V); the integrand is
    (p/q)^alpha q.
    """
    x = LINE.xs[0]

    def log_density(mean: Any, variance: Any, log_variance: Any) -> Any:
        return -((x - mean) ** 2) / (2 * variance) - log_variance / 2 - sp.Symbol("log_2pi") / 2

    log_p = log_density(SHIFT, FIRST, sp.log(FIRST))
    log_q = log_density(0, SECOND, sp.log(SECOND))
    log_spread = sp.log(FIRST) + sp.log(SECOND) - sp.log(TILTED.blend)
    blended = log_density(MEAN, SPREAD, log_spread)
    same = LOG_MOMENT.subs(FIRST, SECOND).subs(sp.log(ALPHA * SECOND + (1 - ALPHA) * SECOND),
                                               sp.log(SECOND))  # fmt: skip
    return all_hold([
        identity(
            LINE.power(ALPHA) * LINE.q, LINE.p**form.over * LINE.q**form.under, CHAIN.domain,
            "(p/q)^alpha q = p^alpha q^(1-alpha)", seed=run.seed),
        identity(
            form.over * log_p + form.under * log_q - blended, LOG_MOMENT, GAUSSIAN,
            "completing the square", whole=False, seed=run.seed),
        identity(
            form.front * same, ALPHA * SHIFT**2 / (2 * SECOND), GAUSSIAN,
            "alpha m^2/(2 V) for one variance", whole=False, seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-015", "R_alpha(mu||nu) = log E_nu[(mu/nu)^alpha]/(alpha - 1), at most eps", definition=True,
    rests_on=("def-b2",), reading="both densities exist and mu << nu; else R_alpha is infinite",
)  # fmt: skip
CHAIN.ask(
    "eq-015", "well-posed", "closed forms for Gaussians, symbolic", value_for_gaussians,
    form=PRINTED, mutants=LOST,
)  # fmt: skip


@dataclass(frozen=True)
class LogSobolev:
    """deficit(A, log A, B, G, c): right side of (16) minus left side.

    A = E[g^2], B = E[g^2 log g^2], G = E[|grad g|^2].
    """

    deficit: Callable[[Any, Any, Any, Any, Any], Any]


def scales_and_is_attained(form: LogSobolev, run: Run) -> Finding:
    """Homogeneous of degree two in g, zero on constants, and attained by N(0, v), g = e^(s x/2).

    There E[g^2] = Z = e^(s^2 v/2), E[g^2 log g^2] = s^2 v Z, E[|grad g|^2] = s^2 Z/4 and c = 1/v.
    """
    a, b, g, s, v, log_a, log_s = sp.symbols("A B G s v log_A log_s", positive=True)
    scaled = form.deficit(
        s**2 * a, log_a + 2 * log_s, s**2 * (b + 2 * log_s * a), s**2 * g, LSI
    )  # fmt: skip
    return all_hold([
        identity(
            scaled, s**2 * form.deficit(a, log_a, b, g, LSI), "every g, c and scale",
            "homogeneous of degree two", seed=run.seed),
        identity(lambda: form.deficit(a, log_a, a * log_a, 0, LSI), 0, "every c",
                 "equality for constants", seed=run.seed),
        identity(
            lambda: form.deficit(a, s**2 * v / 2, s**2 * v * a, s**2 * a / 4, 1 / v), 0,
            "every s and v", "equality for N(0, v) and exponentials", seed=run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-016", "E[g^2 log g^2] - E[g^2] log E[g^2] <= (2/c) E[|grad g|^2]", definition=True,
    rests_on=("def-b3",),
)  # fmt: skip
CHAIN.ask(
    "eq-016", "well-posed", "symbolic", scales_and_is_attained,
    form=LogSobolev(lambda a, log_a, b, g, c: 2 / c * g - b + a * log_a),
    mutants={
        "1/c": LogSobolev(lambda a, log_a, b, g, c: g / c - b + a * log_a),
        "4/c": LogSobolev(lambda a, log_a, b, g, c: 4 * g / c - b + a * log_a),
        "E[g^2] lost before its logarithm": LogSobolev(
            lambda a, log_a, b, g, c: 2 / c * g - b + log_a
        ),
        "2c": LogSobolev(lambda a, log_a, b, g, c: 2 * c * g - b + a * log_a),
    },
)  # fmt: skip

# --- (17): the lemma -----------------------------------------------------------------------------

CHAIN.declare(
    "eq-017", "I/E >= (2c/alpha^2) R + (2c/alpha^2) alpha (alpha-1) dR/dalpha",
    rests_on=("eq-023", "eq-031"),
    reading="nu satisfies the inequality and has the density nu(theta), mu the density mu(theta), "
    f"as in the symbol table; see Lemma D.1. {ORDER_ONE}",
)  # fmt: skip
CHAIN.ask(
    "eq-017", "derived", "symbolic, undefined functions",
    noise.follows_from_the_log_sobolev_inequality, form=noise.INFORMATION,
    mutants={
        "alpha in place of alpha^2": replace(noise.INFORMATION, power=lambda a: 1 / a),
        "alpha for alpha - 1": replace(
            noise.INFORMATION, right=lambda a, c, r, s: 2 * c / a**2 * (r + a * a * s)
        ),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-017", "valid", "closed forms for Gaussians, symbolic, and balls at points",
    noise.gaussians_obey_it, form=noise.SYMBOL_TABLE,
    mutants={
        "one alpha in the denominator": replace(
            noise.SYMBOL_TABLE,
            right=lambda a, c, r, s: 2 * c / a * (r + a * (a - 1) * s),
        ),
        "twice as much": replace(
            noise.SYMBOL_TABLE,
            right=lambda a, c, r, s: 4 * c / a**2 * (r + a * (a - 1) * s),
        ),
    },
)  # fmt: skip

# --- (18) to (22): relative Fisher information ---------------------------------------------------


RHO = sp.Symbol("rho", positive=True)


def _ratio(d: Pair) -> Any:
    """rho/nu."""
    return d.power(ALPHA) / MOMENT


def _information(d: Pair) -> Any:
    """The integrand of I/E, without the logarithm: h^(alpha-2) |grad h|^2 q/E."""
    return d.power(ALPHA - 2) * d.square(d.h) * d.q / MOMENT


def _log_power(d: Pair) -> Any:
    return ALPHA * d.log_h


def _log_ratio(d: Pair) -> Any:
    """log(rho/nu)."""
    return ALPHA * d.log_h - sp.log(MOMENT)


FISHER = {
    "eq-018": Link(
        _information, lambda d: d.power(ALPHA) * d.square(d.log_h) / MOMENT * d.q
    ),
    "eq-019": Link(
        lambda d: d.power(ALPHA) * d.square(d.log_h) / MOMENT * d.q,
        lambda d: d.put(RHO / d.q * d.square(d.log_h) * d.q, [RHO], [_ratio(d) * d.q]),
    ),
    "eq-020": Link(
        lambda d: _ratio(d) * d.square(d.log_h) * d.q,
        lambda d: _ratio(d) * d.square(sp.log(d.power(ALPHA))) * d.q / ALPHA**2,
    ),
    "eq-021": Link(
        lambda d: _ratio(d) * d.square(_log_power(d)) * d.q / ALPHA**2,
        lambda d: _ratio(d) * d.q / ALPHA**2 * sum(
            (a - b) ** 2
            for a, b in zip(d.grad(_log_power(d)), d.grad(sp.log(MOMENT)), strict=True)
        ),
    ),
    "eq-022": Link(
        _information, lambda d: _ratio(d) * d.square(sp.log(_ratio(d))) * d.q / ALPHA**2
    ),
}  # fmt: skip
SAYS = {
    "eq-018": ("I/E = E_nu[h^alpha |grad log h|^2]/E",
               "I by its definition, grad log h = grad h/h"),
    "eq-019": ("= E_nu[(rho/nu) |grad log h|^2]", "rho/nu = h^alpha/E"),
    "eq-020": ("= E_nu[(rho/nu) |grad log h^alpha|^2]/alpha^2", "log h^alpha = alpha log h"),
    "eq-021": ("= E_nu[(rho/nu) |grad log h^alpha - grad log E|^2]/alpha^2",
               "E does not depend on theta"),
    "eq-022": ("= E_nu[(rho/nu) |grad log(rho/nu)|^2]/alpha^2",
               "log(rho/nu) = log h^alpha - log E"),
}  # fmt: skip


for _id, _link in FISHER.items():
    _printed, _reason = SAYS[_id]
    _before = f"eq-{int(_id[3:]) - 1:03d}"
    CHAIN.declare(
        _id, _printed, rests_on=() if _id == "eq-018" else (_before,),
        reading="on the right of (18), I in terms of grad h, as below (51), is put for I"
        if _id == "eq-018" else "",
    )  # fmt: skip
    ask_link(
        CHAIN, _id, _link,
        {
            "alpha for alpha^2": _link.scaled(ALPHA),
            "E lost": _link.scaled(MOMENT * ALPHA),
            "half": _link.scaled(sp.Rational(1, 2)),
            "grad log nu added": _link.shifted(
                lambda d: d.weight / MOMENT * d.square(sp.log(d.q))
            ),
        },
        _reason, TILTED.information(),
    )  # fmt: skip

# --- (23): log-Sobolev inequality for densities --------------------------------------------------

CHAIN.declare(
    "eq-023", "KL(rho||nu) <= J(rho||nu)/(2c) for all rho, if and only if nu satisfies (16)",
    rests_on=("eq-016",),
    reading="rho has a smooth positive density relative to nu. The paper cites the equivalence "
    "(Vempala and Wibisono 2019, Section 2.2); both directions are derived here",
)  # fmt: skip


def equivalent_to_the_inequality(form: Callable[[Any], Any], run: Run) -> Finding:
    """(16) for g is (23) for r = g^2/E[g^2], both ways, for an undefined positive g.

    With A = E[g^2]: (right - left of (16))/A is the mean of (2/(c A)) |grad g|^2 - r log r, since
    g^2 log g^2 = A r (log r + log A) and r has mean 1; and (2/A) |grad g|^2 = r |grad log r|^2/2.
    A smooth g with zeros is the limit of sqrt(g^2 + e), whose gradient is no longer than that of g;
    x log x is bounded below, so that the entropy of the limit is at most the limit (Fatou).
    """
    mean = sp.Symbol("A", positive=True)
    findings = []
    for pair in PAIRS:
        g = pair.p
        log_r = 2 * sp.log(g) - sp.log(mean)
        r = g**2 / mean
        findings.append(identity(
            lambda g=g, pair=pair: 2 / (LSI * mean) * pair.square(g), lambda log_r=log_r,
            pair=pair, r=r: form(LSI) * r * pair.square(log_r),
            "every smooth positive g", "gradients: (16) over E[g^2] is (23)", seed=run.seed,
        ))  # fmt: skip
        findings.append(identity(
            lambda g=g: g**2 * 2 * sp.log(g) / mean, lambda log_r=log_r,
            r=r: r * (log_r + sp.log(mean)),
            "every smooth positive g", "entropies: (16) over E[g^2] is (23)", seed=run.seed,
        ))  # fmt: skip
    return all_hold(findings)


def gaussians_obey_23(form: Callable[[Any], Any], run: Run) -> Finding:
    """rho = N(m, S), nu = N(0, V), c = 1/V: J/(2c) - KL = (u - 1 - log u)/2, u = V/S."""
    logs = sp.log(FIRST) - sp.log(SECOND)
    kl = (FIRST / SECOND + SHIFT**2 / SECOND - 1 - logs) / 2
    fisher = FIRST * (1 / SECOND - 1 / FIRST) ** 2 + SHIFT**2 / SECOND**2
    excess = SECOND / FIRST - 1 + logs
    return all_hold([
        identity(form(1 / SECOND) * fisher - kl, excess / 2, GAUSSIAN,
                 "the slack is (u - 1 - log u)/2", whole=False, seed=run.seed),
        exponential_above_tangent(GAUSSIAN, seed=run.seed),
    ])  # fmt: skip


_FACTORS = {
    "1/c": lambda c: 1 / c,
    "1/(4c)": lambda c: 1 / (4 * c),
    "c/2": lambda c: c / 2,
}
CHAIN.ask(
    "eq-023", "derived", "symbolic, undefined functions", equivalent_to_the_inequality,
    form=lambda c: 1 / (2 * c), mutants=_FACTORS,
)  # fmt: skip
CHAIN.ask(
    "eq-023", "valid", "closed forms for Gaussians, symbolic", gaussians_obey_23,
    form=lambda c: 1 / (2 * c), mutants=_FACTORS,
)  # fmt: skip

# --- (24) to (31): the inequality and what KL(rho||nu) is ----------------------------------------

Right = Callable[[Any, Any, Any, Any], Any]


def _ask_inequality(
    statement: str, right: Right, before: Right, mutants: dict[str, Right], reason: str
) -> None:
    """An inequality I/E >= right(alpha, c, log E, d/dalpha log E), equal to the link before it."""

    def same_as_before(form: Right, run: Run) -> Finding:
        """Equal to the link before it, with log E an undefined function of alpha."""
        log_e = sp.Function("log_E", real=True)(ALPHA)
        at = (ALPHA, LSI, log_e, sp.diff(log_e, ALPHA))
        return identity(lambda: form(*at), lambda: before(*at), CHAIN.domain, reason, seed=run.seed)

    def gaussians(form: Right, run: Run) -> Finding:
        """Below I/E for all pairs of Gaussians, c = 1/V, by a multiple of u - 1 - log u >= 0."""
        return all_hold([
            *gaussian_slack(form, run.seed), exponential_above_tangent(GAUSSIAN, seed=run.seed),
        ])  # fmt: skip

    CHAIN.ask(
        statement, "derived", "symbolic, undefined functions", same_as_before, form=right,
        mutants=mutants,
    )  # fmt: skip
    CHAIN.ask(
        statement, "valid", "closed forms for Gaussians, symbolic", gaussians, form=right,
        mutants=mutants,
    )  # fmt: skip


def _plugged(a: Any, c: Any, log_e: Any, slope: Any) -> Any:
    """(22) with (23): I/E = J/alpha^2, J >= 2c KL, KL = alpha dlog E/dalpha - log E."""
    return 2 * c * (a * slope - log_e) / a**2


CHAIN.declare(
    "eq-024", "I/E >= (2c/alpha^2) KL(rho||nu)", rests_on=("eq-022", "eq-023"), reading=ORDER_ONE
)
_ask_inequality(
    "eq-024", lambda a, c, log_e, slope: 2 * c / a**2 * (a * slope - log_e), _plugged,
    {
        "2c/alpha": lambda a, c, log_e, slope: 2 * c / a * (a * slope - log_e),
        "c/alpha^2": lambda a, c, log_e, slope: c / a**2 * (a * slope - log_e),
        "4c/alpha^2": lambda a, c, log_e, slope: 4 * c / a**2 * (a * slope - log_e),
    },
    "(23) put into (22)",
)  # fmt: skip


def _entropy(d: Pair) -> Any:
    """The integrand of KL(rho||nu): nu r log r."""
    return d.q * _ratio(d) * _log_ratio(d)


def _expanded(d: Pair) -> Any:
    return d.power(ALPHA) / MOMENT * (ALPHA * d.log_h - sp.log(MOMENT)) * d.q


def _entropy_of_moment(d: Pair) -> Any:
    """log E times rho."""
    return sp.log(MOMENT) * d.weight / MOMENT


def _slope_of_power(d: Pair) -> Any:
    """d/dalpha h^alpha, by differentiation of an undefined positive ratio."""
    ratio = sp.Symbol("h_", positive=True)
    return sp.diff(ratio**ALPHA, ALPHA).subs({sp.log(ratio): d.log_h, ratio**ALPHA: d.power(ALPHA)})


def _two_terms(d: Pair) -> Any:
    first = 2 * LSI / ALPHA / MOMENT * _slope_of_power(d)
    second = 2 * LSI / ALPHA**2 * sp.log(MOMENT) / MOMENT * d.power(ALPHA)
    return (first - second) * d.q


def _last_term(d: Pair) -> Any:
    """(28): the mean of h^alpha/E under nu is 1, and rho integrates to 1 besides."""
    first = 2 * LSI / ALPHA / MOMENT * _slope_of_power(d) * d.q
    return first - 2 * LSI / ALPHA**2 * sp.log(MOMENT) * d.weight / MOMENT


FRONT = 2 * LSI / ALPHA**2
# rho = N(MEAN, SPREAD) against nu = N(0, V).
KL = (SPREAD / SECOND + MEAN**2 / SECOND - 1 + LOG_PRECISION) / 2
ENTROPY = {
    "eq-025": (
        Link(lambda d: FRONT * _entropy(d), lambda d: FRONT * d.weight / MOMENT * _log_ratio(d)),
        "= (2c/alpha^2) int rho log(rho/nu)", "rho = nu r, r = h^alpha/E",
        "R^n is R^d: the integral is over the parameters, and n is elsewhere the number of records",
    ),
    "eq-026": (
        Link(lambda d: FRONT * d.weight / MOMENT * _log_ratio(d), lambda d: FRONT * _expanded(d)),
        "= (2c/alpha^2) E_nu[(h^alpha/E)(alpha log h - log E)]",
        "log(rho/nu) = alpha log h - log E", "",
    ),
    "eq-027": (
        Link(lambda d: FRONT * _expanded(d), _two_terms),
        "= (2c/alpha)(1/E) E_nu[d/dalpha h^alpha] - (2c/alpha^2)(log E/E) E_nu[h^alpha]",
        "d/dalpha h^alpha = h^alpha log h", "",
    ),
    "eq-028": (
        Link(_two_terms, _last_term),
        "= (2c/alpha)(1/E) E_nu[d/dalpha h^alpha] - (2c/alpha^2) log E",
        "E_nu[h^alpha] = E, so that log E/E times it is log E times the integral 1 of rho", "",
    ),
}  # fmt: skip
for _id, (_link, _printed, _reason, _reading) in ENTROPY.items():
    CHAIN.declare(
        _id, _printed, rests_on=(f"eq-{int(_id[3:]) - 1:03d}",), reading=_reading
    )  # fmt: skip
    ask_link(
        CHAIN, _id, _link,
        {
            "alpha for alpha^2 throughout": _link.scaled(ALPHA),
            "sign of log E": _link.shifted(lambda d: 2 * FRONT * _entropy_of_moment(d)),
            "log E lost": _link.shifted(lambda d: FRONT * _entropy_of_moment(d)),
            "alpha lost before log h": _link.shifted(
                lambda d: -FRONT * (ALPHA - 1) * d.weight / MOMENT * d.log_h
            ),
        },
        _reason, FRONT * KL,
    )  # fmt: skip

CHAIN.declare(
    "eq-029", "I/E >= (2c/alpha) d/dalpha log E - (2c/alpha^2) log E",
    rests_on=("eq-024", "eq-028"),
    reading="the first E_alpha, printed as an expectation sign, is the moment of Lemma D.1. E is "
    "the moment generating function of log h, analytic inside the interval of orders where it is "
    "finite; that, rather than the smoothness of the densities, lets the derivative pass under the "
    "expectation. Where the derivative exists, E is finite near alpha",
)  # fmt: skip


def derivative_of_the_moment(form: Callable[[Any, Any], Any], run: Run) -> Finding:
    """d/dalpha log E = E_nu[d/dalpha h^alpha]/E: the mean of log h under rho, for Gaussians.

    In general E(a) = E_nu[e^(a log h)] is finite on an interval of orders, and inside it the
    difference quotients of e^(a log h) are dominated by e^(a' log h) + e^(a'' log h), up to a
    factor, with a' < a < a''; at a = 1 this needs E finite for some a'' > 1.
    """
    big = sp.Function("E", positive=True)(ALPHA)
    slope = form(big, sp.diff(big, ALPHA))
    mean = gaussian_mean(_slope_of_power(LINE) * LINE.q)
    return all_hold([
        identity(sp.Derivative(sp.log(big), ALPHA), slope, CHAIN.domain,
                 "d/dalpha log E = (dE/dalpha)/E", seed=run.seed),
        identity(
            sp.Derivative(LOG_MOMENT, ALPHA), form(1, mean), GAUSSIAN,
            "derivative and expectation exchanged, for Gaussians", whole=False, seed=run.seed,
            rests_on=INTEGRALS),
    ])  # fmt: skip


CHAIN.ask(
    "eq-029", "valid", "symbolic, and closed forms for Gaussians", derivative_of_the_moment,
    form=lambda moment, slope: slope / moment,
    mutants={
        "E lost": lambda moment, slope: slope,
        "sign": lambda moment, slope: -slope / moment,
        "alpha too many": lambda moment, slope: ALPHA * slope / moment,
    },
)  # fmt: skip
_ask_inequality(
    "eq-029", lambda a, c, log_e, slope: 2 * c / a * slope - 2 * c / a**2 * log_e, _plugged,
    {
        "alpha for alpha^2": lambda a, c, log_e, slope: 2 * c / a * (slope - log_e),
        "sign": lambda a, c, log_e, slope: 2 * c / a * slope + 2 * c / a**2 * log_e,
        "alpha^2 for alpha": lambda a, c, log_e, slope: 2 * c / a**2 * (slope - log_e),
    },
    "(28) is the KL divergence of (24)",
)  # fmt: skip

_MOMENTS: dict[str, Right] = {
    "2c/alpha^2 before both": lambda a, c, r, s: 2 * c / a**2 * (r + (a - 1) * s),
    "alpha for alpha - 1": lambda a, c, r, s: 2 * c / a**2 * r + 2 * c * s,
    "R lost": lambda a, c, r, s: 2 * c / a * (a - 1) * s,
}


def _of_moment(right: Right) -> Right:
    """A right side in R and dR/dalpha as one in log E = (alpha-1) R and its slope."""

    def made(a: Any, c: Any, log_e: Any, slope: Any) -> Any:
        divergence = log_e / (a - 1)
        return right(a, c, divergence, (slope - divergence) / (a - 1))

    return made


def _with_product_rule(a: Any, c: Any, r: Any, s: Any) -> Any:
    """(30)."""
    return 2 * c / a * (r + (a - 1) * s) - 2 * c / a**2 * (a - 1) * r


def _collected(a: Any, c: Any, r: Any, s: Any) -> Any:
    """(31)."""
    return 2 * c / a**2 * r + 2 * c / a**2 * a * (a - 1) * s


for _id, _formula, _printed, _reason in (
    ("eq-030", _with_product_rule,
     "I/E >= (2c/alpha)(R + (alpha-1) dR/dalpha) - (2c/alpha^2)(alpha-1) R",
     "log E = (alpha-1) R and the product rule"),
    ("eq-031", _collected, "= (2c/alpha^2) R + (2c/alpha^2) alpha (alpha-1) dR/dalpha",
     "alpha - (alpha - 1) = 1"),
):  # fmt: skip
    CHAIN.declare(
        _id, _printed, rests_on=(f"eq-{int(_id[3:]) - 1:03d}",), reading=ORDER_ONE
    )  # fmt: skip
    _ask_inequality(
        _id, _of_moment(_formula),
        _plugged, {title: _of_moment(mutant) for title, mutant in _MOMENTS.items()}, _reason,
    )  # fmt: skip
