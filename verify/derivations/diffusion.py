"""Equations (1) and (32) to (55): Lemma 3.1 and its proof.

Throughout p and q stand for p_t and p'_t, h = p/q, and w = 2 t sigma^2 is the variance of the noise
in every coordinate.

Integrability, used where derivatives and integrals are exchanged and where a flux vanishes. R_alpha
is finite near (alpha, t): E is finite at some order a > alpha and time t1 < t, and at order a it
does not increase with time. Given the point x after the noise, let y be the point before it. The
jets of log p are moments of y - x (`posterior_moments`), and E[|y-x|^2 | x] is at most
2 w log(1/((2 pi w)^(d/2) p(x))), as the KL divergence of the law of y given x from the law of y is
not negative. And log(1/p(x)) grows at most like |x|^2, locally uniformly in t: p is at least the
mass of a ball before the noise times the least kernel. The same goes for q. Hence
|grad log p|, |grad log q| <= C (1 + |x|) and |Delta p|/p, |Delta q|/q <= C (1 + |x|^2), and every
integrand and field below is h^alpha q times at most C (1 + |x|^2). It is integrable by Hoelder's
inequality with the exponents a/alpha and a/(a-alpha), since q has all moments (a log-Sobolev
inequality gives Gaussian tails), with tails small uniformly in t. So E is continuously
differentiable in t with the derivative under the integral. An integrable field with integrable
divergence has integral of divergence zero: its flux through spheres has a limit, by Gauss's
theorem, and is integrable in the radius, so that the limit is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from verify.derivations.chain import Chain
from verify.derivations.information import LOST, PRINTED, value_for_gaussians
from verify.derivations.ratio import (
    ALPHA,
    FIRST,
    GAUSSIAN,
    INTEGRALS,
    LINE,
    LSI,
    PAIRS,
    RATE,
    RENYI,
    SECOND,
    SIGMA2,
    TILTED,
    TIME,
    Integrand,
    Link,
    Pair,
    ask_link,
    gaussian_mean,
    gaussian_slack,
    pointwise,
)
from verify.methods.elementary import exponential_above_tangent
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.statement import Finding, Run
from verify.statements import additive_noise as noise

CHAIN = Chain(
    __name__,
    "every d, sigma^2 > 0, t > 0 and alpha > 1 near which the divergence is finite",
)
FINITE = "t > 0 and R_alpha finite near (alpha, t), as for Lemma 3.1"
CLOSED = "closed forms for Gaussians, symbolic"
UNDEFINED = "symbolic, undefined densities in one to three coordinates"

# --- (33) and (34): the heat equation ------------------------------------------------------------


def solves_the_heat_equation(form: Callable[[Any], Any], run: Run) -> Finding:
    """The kernel of N(0, 2 t sigma^2 I) solves it, and p_t is a mixture of shifts of the kernel.

    K_t/K = d/dt log K and Delta K/K = Delta log K + |grad log K|^2, at every point in one to three
    coordinates, and by the radius in any number d. The mixture may be differentiated under the
    integral for t > 0, as the derivatives of K are bounded there, locally uniformly in t.
    """
    squares, d = sp.symbols("r2 d", positive=True)
    w = 2 * TIME * SIGMA2
    findings = [
        identity(
            sp.Derivative(-squares / (2 * w) - d / 2 * sp.log(TIME), TIME),
            form(SIGMA2) * (-d / w + squares / w**2),
            CHAIN.domain, "the kernel in any dimension", seed=run.seed)
    ]  # fmt: skip
    for pair in PAIRS:
        centres = sp.symbols(f"y1:{len(pair.xs) + 1}", real=True)
        gap = sum((x - y) ** 2 for x, y in zip(pair.xs, centres, strict=True))
        log_kernel = -gap / (2 * w) - sp.Rational(len(pair.xs), 2) * sp.log(2 * sp.pi * w)
        findings.append(identity(
            sp.Derivative(log_kernel, TIME),
            form(SIGMA2) * (pair.laplacian(log_kernel) + pair.square(log_kernel)),
            CHAIN.domain, f"the kernel in {len(pair.xs)} coordinates", seed=run.seed,
        ))  # fmt: skip
    return all_hold(findings)


def holds_for_gaussians(form: Callable[[Any], Any], run: Run) -> Finding:
    """N(L m, L^2 s + 2 t sigma^2), the image of N(m, s) under x -> L x and the noise."""
    x = LINE.xs[0]
    lipschitz, s, m = sp.symbols("L s m", positive=True)
    variance = lipschitz**2 * s + 2 * TIME * SIGMA2
    log_density = -((x - lipschitz * m) ** 2) / (2 * variance) - sp.log(variance) / 2
    slope = sp.diff(log_density, x)
    return identity(
        sp.Derivative(log_density, TIME), form(SIGMA2) * (sp.Derivative(slope, x) + slope**2),
        GAUSSIAN,
        "linear images of Gaussians on the line", whole=False, seed=run.seed,
    )  # fmt: skip


for _id, _name in (("eq-033", "p_t"), ("eq-034", "p'_t")):
    CHAIN.declare(
        _id, f"d/dt {_name} = sigma^2 Delta {_name}",
        reading="t > 0: at t = 0 there need be no density",
    )  # fmt: skip
    for _obligation, _method, _question in (
        ("derived", "symbolic, one to three coordinates and any number", solves_the_heat_equation),
        ("valid", CLOSED, holds_for_gaussians),
    ):
        CHAIN.ask(
            _id, _obligation, _method, _question, form=lambda s2: s2,
            mutants={
                "2 sigma^2": lambda s2: 2 * s2,
                "sigma^2/2": lambda s2: s2 / 2,
                "sign": lambda s2: -s2,
                "sigma^4": lambda s2: s2**2,
            },
        )  # fmt: skip

# --- (35) to (38): the divergence and the moment -------------------------------------------------

CHAIN.declare(
    "eq-035", "R_alpha = log E/(alpha-1), E = int p^alpha/q^(alpha-1)", rests_on=("eq-015",)
)


def is_the_definition(form: Any, run: Run) -> Finding:
    """p^a q^b is the integrand (p/q)^alpha q of (15), and the factor is that before its log."""
    return all_hold([
        identity(
            LINE.p**form.over * LINE.q**form.under, LINE.power(ALPHA) * LINE.q, CHAIN.domain,
            "E is the mean of h^alpha under q", seed=run.seed),
        identity(lambda: form.front * (ALPHA - 1), 1, CHAIN.domain, "the factor 1/(alpha-1)",
                 seed=run.seed),
    ])  # fmt: skip


CHAIN.ask("eq-035", "derived", "symbolic", is_the_definition, form=PRINTED, mutants=LOST)
CHAIN.ask("eq-035", "valid", CLOSED, value_for_gaussians, form=PRINTED, mutants=LOST)

BIG = sp.Function("E", positive=True)(ALPHA, TIME)
CHAIN.identity(
    "eq-036", "dR/dt = (d/dt log E)/(alpha-1)",
    Equation(sp.Derivative(sp.log(BIG) / (ALPHA - 1), TIME),
             sp.Derivative(sp.log(BIG), TIME) / (ALPHA - 1)),
    mutants={
        "1/alpha": Equation(sp.Derivative(sp.log(BIG) / (ALPHA - 1), TIME),
                            sp.Derivative(sp.log(BIG), TIME) / ALPHA),
        "by alpha": Equation(sp.Derivative(sp.log(BIG) / (ALPHA - 1), ALPHA),
        sp.Derivative(sp.log(BIG), ALPHA) / (ALPHA - 1)),
    },
    reason="(35) at a fixed order", rests_on=("eq-035",), reading=FINITE,
)  # fmt: skip
CHAIN.identity(
    "eq-037", "= (dE/dt)/((alpha-1) E)",
    Equation(sp.Derivative(sp.log(BIG), TIME) / (ALPHA - 1),
             sp.Derivative(BIG, TIME) / ((ALPHA - 1) * BIG)),
    mutants={
        "E lost": Equation(sp.Derivative(sp.log(BIG), TIME) / (ALPHA - 1),
                           sp.Derivative(BIG, TIME) / (ALPHA - 1)),
        "alpha - 1 lost": Equation(sp.Derivative(sp.log(BIG), TIME) / (ALPHA - 1),
                                   sp.Derivative(BIG, TIME) / BIG),
    },
    reason="the derivative of a logarithm", rests_on=("eq-036",), reading=FINITE,
)  # fmt: skip


CHAIN.declare(
    "eq-038", "= (d/dt int p^alpha/q^(alpha-1))/((alpha-1) E)", rests_on=("eq-037",), reading=FINITE
)
ask_link(
    CHAIN, "eq-038",
    Link(lambda d: d.power(ALPHA) * d.q, lambda d: d.p**ALPHA / d.q ** (ALPHA - 1)),
    {
        "q to the power alpha": Link(lambda d: d.power(ALPHA) * d.q,
                                     lambda d: d.p**ALPHA / d.q**ALPHA * (1 + d.log_h)),
        "half": Link(lambda d: d.power(ALPHA) * d.q, lambda d: d.weight / 2),
    },
    "the definition of E", 1,
)  # fmt: skip

# --- (39) to (42): under the integral ------------------------------------------------------------


def posterior_moments(seed: int) -> list[Finding]:
    """grad p/p = E[y-x]/w, Delta p/p = E[|y-x|^2]/w^2 - d/w, given x, by the kernel's own jets.

    And |y-x|^2 = -2 w log((2 pi w)^(d/2) K), whose mean given x is at most -2 w log((2 pi w)^(d/2)
    p), as E[log(K/p)] is the KL divergence of y given x from the law of y.
    """
    x, y = sp.symbols("x y", real=True)
    w, root = sp.symbols("w two_pi_w", positive=True)
    log_kernel = -((x - y) ** 2) / (2 * w) - sp.log(root) / 2
    slope = sp.diff(log_kernel, x)
    what = "jets of the kernel are moments of the way back"
    return [
        identity(slope, (y - x) / w, CHAIN.domain, what, seed=seed),
        identity(
            sp.Derivative(slope, x) + slope**2, (y - x) ** 2 / w**2 - 1 / w, CHAIN.domain, what,
            seed=seed),
        rational_identity(
            (y - x) ** 2 + 2 * w * (log_kernel + sp.log(root) / 2), CHAIN.domain,
            "the mean square way back is at most 2 w log(1/((2 pi w)^(d/2) p))", seed=seed),
    ]  # fmt: skip


def _moment_rate(d: Pair) -> Any:
    """The integrand of (40)."""
    return (
        ALPHA * d.power(ALPHA - 1) * sp.diff(d.p, TIME)
        - (ALPHA - 1) * d.power(ALPHA) * sp.diff(d.q, TIME)
    )  # fmt: skip


def _under_heat(d: Pair) -> Any:
    """The integrand of (42)."""
    return (
        ALPHA * SIGMA2 * d.power(ALPHA - 1) * d.laplacian(d.p)
        - (ALPHA - 1) * SIGMA2 * d.power(ALPHA) * d.laplacian(d.q)
    )  # fmt: skip


def _logarithmic(d: Pair) -> Any:
    """h^alpha q times the rate of its logarithm."""
    rate = ALPHA * sp.diff(d.p, TIME) / d.p - (ALPHA - 1) * sp.diff(d.q, TIME) / d.q
    return d.weight * rate


CHAIN.declare(
    "eq-039", "dR/dt = (int d/dt p^alpha/q^(alpha-1))/((alpha-1) E)", rests_on=("eq-038",),
    reading=f"{FINITE}; the exchange is argued at the head of the module",
)  # fmt: skip
EXCHANGE = {
    "power alpha of q": lambda d: d.p**ALPHA / d.q**ALPHA,
    "power alpha - 1 of p": lambda d: d.p ** (ALPHA - 1) / d.q ** (ALPHA - 1),
    "the ratio turned over": lambda d: d.q**ALPHA / d.p ** (ALPHA - 1),
}


def dominated(form: Integrand, run: Run) -> Finding:
    """The derivative of the integrand is h^alpha q times alpha p_t/p - (alpha-1) q_t/q.

    By the heat equation p_t/p = sigma^2 Delta p/p is a moment of the way back, at most
    C (1 + |x|^2), and the integral converges locally uniformly in t: see the head of the module.
    """
    link = Link(lambda d: sp.diff(form(d), TIME), _logarithmic)
    return all_hold([
        pointwise(link, CHAIN.domain, "the derivative of the integrand", run),
        *posterior_moments(run.seed),
    ])  # fmt: skip


def exchanged_for_gaussians(form: Integrand, run: Run) -> Finding:
    """dR/dt, in closed form, is the integral of the derivative, in closed form."""
    return identity(
        RATE, gaussian_mean(sp.diff(form(LINE), TIME)) / (ALPHA - 1), GAUSSIAN,
        "the derivative of the closed form, and the integral", whole=False, seed=run.seed,
        rests_on=INTEGRALS,
    )  # fmt: skip


for _obligation, _method, _question in (
    ("derived", UNDEFINED, dominated),
    ("valid", CLOSED, exchanged_for_gaussians),
):
    CHAIN.ask(
        "eq-039", _obligation, _method, _question,
        form=lambda d: d.p**ALPHA / d.q ** (ALPHA - 1), mutants=EXCHANGE,
    )  # fmt: skip

_RATE = (ALPHA - 1) * RATE
CHAIN.declare(
    "eq-040", "= int(alpha h^(alpha-1) dp/dt - (alpha-1) h^alpha dq/dt)/((alpha-1) E)",
    rests_on=("eq-039",), reading=FINITE,
)  # fmt: skip
_at40 = Link(lambda d: sp.diff(d.p**ALPHA / d.q ** (ALPHA - 1), TIME), _moment_rate)
ask_link(
    CHAIN, "eq-040", _at40,
    {
        "alpha for alpha - 1": _at40.shifted(lambda d: -d.power(ALPHA) * sp.diff(d.q, TIME)),
        "sign of the second term": _at40.shifted(
            lambda d: 2 * (ALPHA - 1) * d.power(ALPHA) * sp.diff(d.q, TIME)
        ),
        "alpha lost": _at40.scaled(1 / ALPHA),
    },
    "the product rule", _RATE,
)  # fmt: skip


def _heated(integrand: Integrand) -> Integrand:
    """With dp/dt and dq/dt replaced by (33) and (34)."""
    rates = sp.symbols("p_t q_t")

    def made(d: Pair) -> Any:
        named = {sp.diff(f, TIME): rate for f, rate in zip((d.p, d.q), rates, strict=True)}
        heat = [SIGMA2 * d.laplacian(f) for f in (d.p, d.q)]
        return d.put(integrand(d).xreplace(named), rates, heat)

    return made


_at42 = Link(_heated(_moment_rate), _under_heat)
_WRONG42 = {
    "sigma lost in the second term": _at42.shifted(
        lambda d: (ALPHA - 1) * (SIGMA2 - 1) * d.power(ALPHA) * d.laplacian(d.q)
    ),
    "2 sigma^2": _at42.scaled(2),
    "p' for p in the first term": _at42.shifted(
        lambda d: ALPHA * SIGMA2 * d.power(ALPHA - 1) * (d.laplacian(d.q) - d.laplacian(d.p))
    ),
}


def _ask_whole(
    statement: str, printed: str, link: Link, wrong: dict[str, Link], **about: Any
) -> None:
    """A left side d/dt R with the integral that it equals: both put together, and for Gaussians."""
    CHAIN.declare(statement, printed, reading=FINITE, **about)
    reason = "d/dt R from (39) on, with (33) and (34)"
    ask_link(CHAIN, statement, link, wrong, reason, _RATE)


_whole42 = replace(_at42, left=_heated(_at40.left))
_ask_whole(
    "eq-041", "dR/dt, the left side of (42)", _whole42,
    {title: replace(_whole42, right=mutant.right) for title, mutant in _WRONG42.items()},
    rests_on=("eq-040",),
)  # fmt: skip
CHAIN.declare(
    "eq-042", "= int(alpha sigma^2 h^(alpha-1) Delta p - (alpha-1) sigma^2 h^alpha Delta q)/"
    "((alpha-1) E)", rests_on=("eq-033", "eq-034", "eq-040"), reading=FINITE,
)  # fmt: skip
ask_link(CHAIN, "eq-042", _at42, _WRONG42, "(33) and (34) put into (40)", _RATE)

# --- (43) to (46): Green's first identity --------------------------------------------------------


@dataclass(frozen=True)
class Green:
    """psi Delta phi and -grad psi . grad phi, which differ by the divergence of psi grad phi."""

    psi: Integrand
    phi: Integrand
    inner: Any = -1
    boundary: Any = 1

    def link(self) -> Link:
        """The two integrands and the field."""
        return Link(
            lambda d: self.psi(d) * d.laplacian(self.phi(d)),
            lambda d: self.inner * d.dot(self.psi(d), self.phi(d)),
            lambda d: [self.boundary * self.psi(d) * part for part in d.grad(self.phi(d))],
        )


ONE = Green(psi=lambda d: ALPHA * SIGMA2 * d.power(ALPHA - 1), phi=lambda d: d.p)
TWO = Green(psi=lambda d: -(ALPHA - 1) * SIGMA2 * d.power(ALPHA), phi=lambda d: d.q)
GREEN = {
    "sign of the inner integral": 1,
    "half of it": sp.Rational(-1, 2),
    "alpha lost": -1 / ALPHA,
}


def converges(form: Integrand, run: Run) -> Finding:
    """The integrand is h^alpha q times alpha sigma^2 Delta p/p, hence integrable.

    See the head of the module; an integral is then the limit of those over growing balls.
    """
    link = Link(form, lambda d: d.weight * ALPHA * SIGMA2 * d.laplacian(d.p) / d.p)
    return all_hold([
        pointwise(link, CHAIN.domain, "the integrand and its majorant", run),
        *posterior_moments(run.seed),
    ])  # fmt: skip


CHAIN.declare(
    "eq-043", "int alpha sigma^2 h^(alpha-1) Delta p = lim over balls of radius r of the same",
    rests_on=("eq-042",), reading=FINITE,
)  # fmt: skip
CHAIN.ask(
    "eq-043", "valid", UNDEFINED, converges, form=ONE.link().left,
    mutants={
        "one power of h less": lambda d: ALPHA * SIGMA2 * d.power(ALPHA - 2) * d.laplacian(d.p),
        "Delta q": lambda d: ALPHA * SIGMA2 * d.power(ALPHA - 1) * d.laplacian(d.q),
        "alpha lost": lambda d: SIGMA2 * d.power(ALPHA - 1) * d.laplacian(d.p),
    },
)  # fmt: skip

CHAIN.declare(
    "eq-044", "= lim int over spheres of alpha sigma^2 h^(alpha-1) grad p . dS - int "
    "grad(alpha sigma^2 h^(alpha-1)) . grad p", rests_on=("eq-043",),
    reading=f"{FINITE}. B_r, called a unit ball with radius r, is the ball of radius r about the "
    "origin; the second integral is over all of space, the limit of those over B_r",
)  # fmt: skip


def greens_identity(form: Green, run: Run) -> Finding:
    """psi Delta phi + grad psi . grad phi = div(psi grad phi), then Gauss's theorem on the ball.

    The sphere's limit is kept. It exists, since the two other integrals converge.
    """
    return pointwise(form.link(), CHAIN.domain, "Green's first identity before integration", run)


def greens_identity_on_gaussians(form: Green, run: Run) -> Finding:
    """On the interval [-r, r], d = 1, the sphere's integral is the field's difference at the ends.

    The field is h^alpha q = E N(MEAN, SPREAD) times a linear function F, so that the integral of
    div(field) is E times the mean of (field)'/(h^alpha q): F' - F (x-MEAN)/SPREAD, of mean 0.
    """
    link = form.link()
    assert link.field is not None
    flux = gaussian_mean(LINE.divergence(link.field(LINE)))
    inner = gaussian_mean(link.left(LINE)) - gaussian_mean(link.right(LINE))
    return all_hold([
        identity(inner, flux, GAUSSIAN, "the three integrals for Gaussians",
                 whole=False, seed=run.seed, rests_on=INTEGRALS),
        rational_identity(flux, GAUSSIAN, "the flux vanishes in the limit", whole=False,
                          seed=run.seed, rests_on=INTEGRALS),
    ])  # fmt: skip


CHAIN.ask(
    "eq-044", "derived", UNDEFINED, greens_identity, form=ONE,
    mutants={
        **{title: replace(ONE, inner=inner) for title, inner in GREEN.items()},
        "sign of the flux": replace(ONE, boundary=-1),
    },
)  # fmt: skip
CHAIN.ask(
    "eq-044", "valid", CLOSED, greens_identity_on_gaussians, form=ONE,
    mutants={title: replace(ONE, inner=inner) for title, inner in GREEN.items()},
)  # fmt: skip

_VANISHES = (
    f"{FINITE}. The flux vanishes because h^alpha q (1 + |x|^2) is integrable, argued at the head "
    "of the module; that h^alpha q alone is, the reason printed besides smoothness and fast decay, "
    "would not bound the gradients"
)
for _id, _green, _printed, _before in (
    ("eq-045", ONE, "int alpha sigma^2 h^(alpha-1) Delta p = -int grad(alpha sigma^2 h^(alpha-1)) "
     ". grad p", "eq-044"),
    ("eq-046", TWO, "int -(alpha-1) sigma^2 h^alpha Delta q = int grad((alpha-1) sigma^2 h^alpha) "
     ". grad q", "eq-042"),
):  # fmt: skip
    CHAIN.declare(_id, _printed, rests_on=(_before,), reading=_VANISHES)
    _link = _green.link()
    ask_link(
        CHAIN, _id, _link,
        {
            **{title: _link.scaled(-inner) for title, inner in GREEN.items()},
            "sign of the field": replace(_link, field=replace(_green, boundary=-1).link().field),
        },
        "the integrands differ by the divergence of psi grad phi",
    )  # fmt: skip

# --- (47) to (51): relative Fisher information ---------------------------------------------------


def _at48(d: Pair) -> Any:
    first = -ALPHA * d.dot(d.power(ALPHA - 1), d.p)
    return SIGMA2 * (first + (ALPHA - 1) * d.dot(d.power(ALPHA), d.q))


def _at49(d: Pair) -> Any:
    inner = sum(
        a * (-b + d.h * c)
        for a, b, c in zip(d.grad(d.h), d.grad(d.p), d.grad(d.q), strict=True)
    )  # fmt: skip
    return ALPHA * (ALPHA - 1) * SIGMA2 * d.power(ALPHA - 2) * inner


def _at50(d: Pair) -> Any:
    return -ALPHA * (ALPHA - 1) * SIGMA2 * d.power(ALPHA - 2) * d.square(d.h) * d.q


def _at51(d: Pair) -> Any:
    return -ALPHA * (ALPHA - 1) * SIGMA2 * d.power(ALPHA) * d.square(d.log_h) * d.q


def _both_fields(d: Pair) -> list[Any]:
    fields = [green.link().field for green in (ONE, TWO)]
    return [a + b for a, b in zip(*(field(d) for field in fields if field), strict=True)]


def _wrong(link: Link) -> dict[str, Link]:
    return {
        "sign": link.scaled(-1),
        "2 sigma^2": link.scaled(2),
        "alpha lost": link.scaled(1 / ALPHA),
        "alpha for alpha - 1": link.scaled(ALPHA / (ALPHA - 1)),
    }


_whole48 = Link(_heated(_at40.left), _at48, _both_fields)
_ask_whole(
    "eq-047", "dR/dt, the left side of (48)", _whole48, _wrong(_whole48),
    rests_on=("eq-041", "eq-045", "eq-046"),
)  # fmt: skip
for _id, _link, _printed, _reason, _rests, _reading in (
    ("eq-048", Link(_under_heat, _at48, _both_fields),
     "= sigma^2 int(-alpha <grad h^(alpha-1), grad p> + (alpha-1) <grad h^alpha, grad q>)/"
     "((alpha-1) E)", "(45) and (46) put into (42)", ("eq-042", "eq-045", "eq-046"), ""),
    ("eq-049", Link(_at48, _at49),
     "= alpha (alpha-1) sigma^2 int h^(alpha-2) <grad h, -grad p + h grad q>/((alpha-1) E)",
     "grad h^a = a h^(a-1) grad h", ("eq-048",), ""),
    ("eq-050", Link(_at49, _at50),
     "= -alpha sigma^2 int h^(alpha-2) <grad h, grad h> q/E",
     "q grad h = grad p - h grad q", ("eq-049",), ""),
    ("eq-051", Link(_at50, _at51), "= -alpha sigma^2 I/E",
     "h^(alpha-2) |grad h|^2 = h^alpha |grad log h|^2", ("eq-050",),
     "I as in Lemma D.1, which agrees with the formula below (51)"),
):  # fmt: skip
    CHAIN.declare(_id, _printed, rests_on=_rests, reading=f"{FINITE}. {_reading}".strip())
    ask_link(CHAIN, _id, _link, _wrong(_link), _reason, _RATE)


def rate_is_the_information(form: Callable[[Any], Any], run: Run) -> Finding:
    """dR/dt from I/E for Gaussians, I/E in its closed form."""
    return identity(
        RATE, form(TILTED.information()), GAUSSIAN, "the rate against I/E", whole=False,
        seed=run.seed,
    )  # fmt: skip


CHAIN.ask(
    "eq-051", "valid", CLOSED, rate_is_the_information, form=lambda ratio: -ALPHA * SIGMA2 * ratio,
    mutants={
        "alpha - 1": lambda ratio: -(ALPHA - 1) * SIGMA2 * ratio,
        "sigma^2/2": lambda ratio: -ALPHA * SIGMA2 * ratio / 2,
        "sign": lambda ratio: ALPHA * SIGMA2 * ratio,
    },
)  # fmt: skip

# --- (52) to (55), (1) and (32) ------------------------------------------------------------------

Right = Callable[[Any, Any, Any, Any], Any]
RIGHTS: dict[str, Right] = {
    "one alpha in the denominator": lambda a, c, r, s: 2 * c / a * (r + a * (a - 1) * s),
    "alpha lost before the slope": lambda a, c, r, s: 2 * c / a**2 * (r + (a - 1) * s),
    "4c": lambda a, c, r, s: 4 * c / a**2 * (r + a * (a - 1) * s),
}
CHAIN.declare(
    "eq-052", "I/E >= (2 c_t/alpha^2) R + (2 c_t/alpha^2) alpha (alpha-1) dR/dalpha",
    rests_on=("lem-d.1", "eq-053"),
    reading=f"{FINITE}. Lemma D.1 with nu of density q, which alone needs the inequality",
)  # fmt: skip


def is_lemma_d1(form: Right, run: Run) -> Finding:
    """The right side of (17) with c_t for c, from (16) for q: (18) to (31)."""
    return noise.follows_from_the_log_sobolev_inequality(
        replace(noise.INFORMATION, right=form), run
    )


def _of_logs(right: Right) -> Right:
    def made(a: Any, c: Any, log_e: Any, slope: Any) -> Any:
        divergence = log_e / (a - 1)
        return right(a, c, divergence, (slope - divergence) / (a - 1))

    return made


def gaussians_obey_52(form: Right, run: Run) -> Finding:
    """Images of Gaussians: c_t = 1/V with V = L^2 s + 2 t sigma^2, by a multiple of u-1-log u."""
    return all_hold([
        *gaussian_slack(_of_logs(form), run.seed),
        exponential_above_tangent(GAUSSIAN, seed=run.seed),
    ])  # fmt: skip


CHAIN.ask(
    "eq-052", "derived", "symbolic, undefined functions", is_lemma_d1,
    form=noise.INFORMATION.right, mutants=RIGHTS,
)  # fmt: skip
CHAIN.ask(
    "eq-052", "valid", CLOSED, gaussians_obey_52, form=noise.INFORMATION.right, mutants=RIGHTS
)

CHAIN.declare(
    "eq-053", "c_t = 1/(L^2/c + 2 t sigma^2)", cited=True, rests_on=("eq-016",),
    reading="Vempala and Wibisono 2019, Lemma 16 (differentiable Lipschitz maps) and Lemma 17 "
    "(convolution with a Gaussian) give it; a Lipschitz map that is not differentiable everywhere "
    "is a limit of smooth ones with no larger constant. A constant, not in general the best",
)  # fmt: skip
Constant = Callable[[Any, Any, Any], Any]
CONSTANTS: dict[str, Constant] = {
    "L for L^2": lambda lip, c, w: 1 / (lip / c + w),
    "half of the noise": lambda lip, c, w: 1 / (lip**2 / c + w / 2),
    "constants added": lambda lip, c, w: c / lip**2 + 1 / w,
    "L lost": lambda lip, c, w: 1 / (1 / c + w),
}


def from_the_two_lemmas(form: Constant, run: Run) -> Finding:
    """Lemma 16 then Lemma 17, with the steps behind them.

    Map: g(f(x)) has a gradient of length at most L |grad g| at f(x), so that (2/c) becomes
    (2/c) L^2. Noise: the entropy of g(x + z) for independent x, z is at most the sum of the mean
    entropies in x and in z, each at most 2/constant times the mean of |grad g|^2 at x + z; so the
    inverses 1/c' and 2 t sigma^2 (for the Gaussian) add up.
    """
    lipschitz, c, w, energy = sp.symbols("L c w G", positive=True)
    mapped = c / lipschitz**2
    through_map = 2 / c * lipschitz**2 * energy
    summed = 2 / mapped * energy + 2 * w * energy
    return all_hold([
        identity(through_map, lambda: 2 / mapped * energy, "every L, c > 0",
                 "Lemma 16: the constant c/L^2 after the map", seed=run.seed),
        identity(summed, 2 / form(lipschitz, c, w) * energy, "every L, c, w > 0",
                 "Lemma 17: inverses add, the noise adds its variance", seed=run.seed),
    ])  # fmt: skip


def attained_by_gaussians(form: Constant, run: Run) -> Finding:
    """f(x) = L x on N(0, 1/c): the image has variance L^2/c + w, and no better constant.

    For N(0, V) and g = e^(s x/2), entropy over energy is s^2 V/2 over s^2/4, which is 2/c_t.
    """
    lipschitz, c, w, s = sp.symbols("L c w s", positive=True)
    variance = lipschitz**2 * (1 / c) + w
    return identity(
        s**2 * variance / 2, 2 / form(lipschitz, c, w) * s**2 / 4, "linear maps of Gaussians",
        "equality for exponentials", whole=False, seed=run.seed,
    )  # fmt: skip


CHAIN.ask(
    "eq-053", "restated", "symbolic", from_the_two_lemmas, form=noise.HEAT.lsi, mutants=CONSTANTS
)
CHAIN.ask("eq-053", "valid", CLOSED, attained_by_gaussians, form=noise.HEAT.lsi, mutants=CONSTANTS)


def _at54(a: Any, c: Any, s2: Any, r: Any, s: Any) -> Any:
    return -a * s2 * (2 * c / a**2 * r + 2 * c / a**2 * a * (a - 1) * s)


def _at55(a: Any, c: Any, s2: Any, r: Any, s: Any) -> Any:
    return -c * 2 * s2 * (r / a + (a - 1) * s)


FINALS: dict[str, Callable[..., Any]] = {
    "sigma^2 for 2 sigma^2": lambda a, c, s2, r, s: -c * s2 * (r / a + (a - 1) * s),
    "alpha lost below R": lambda a, c, s2, r, s: -2 * c * s2 * (r + (a - 1) * s),
    "alpha for alpha - 1": lambda a, c, s2, r, s: -2 * c * s2 * (r / a + a * s),
    "twice as fast": lambda a, c, s2, r, s: -4 * c * s2 * (r / a + (a - 1) * s),
}


def from_the_information(form: Callable[..., Any], run: Run) -> Finding:
    """(51) with (52): -alpha sigma^2 times the right side of (52); a larger I/E only helps."""
    r, s = sp.symbols("R dR", positive=True)
    least = noise.INFORMATION.right(ALPHA, LSI, r, s)
    return identity(
        lambda: form(ALPHA, LSI, SIGMA2, r, s), -ALPHA * SIGMA2 * least, CHAIN.domain,
        "-alpha sigma^2 times the right side of (52)", seed=run.seed,
    )  # fmt: skip


def gaussians_obey_the_rate(form: Callable[..., Any], run: Run) -> Finding:
    """p = N(m, S), q = N(0, V), S' = V' = 2 sigma^2, c_t = 1/V: the slack is not negative.

    It is a multiple of u - 1 - log u. With V = L^2 s + 2 t sigma^2 this is every linear map of
    Gaussians on the line.
    """
    claimed = form(ALPHA, 1 / SECOND, SIGMA2, RENYI, sp.diff(RENYI, ALPHA))
    u, log_u = TILTED.blend / FIRST, sp.log(TILTED.blend) - sp.log(FIRST)
    return all_hold([
        identity(
            claimed - RATE, SIGMA2 / (ALPHA * SECOND) * (u - 1 - log_u), GAUSSIAN,
            "the slack is (sigma^2/(alpha V)) (u - 1 - log u)", whole=False, seed=run.seed),
        exponential_above_tangent(GAUSSIAN, seed=run.seed),
    ])  # fmt: skip


for _id, _final, _printed, _basis in (
    ("eq-054", _at54, "dR/dt <= -alpha sigma^2 ((2 c_t/alpha^2) R + "
     "(2 c_t/alpha^2) alpha (alpha-1) dR/dalpha)", ("eq-051", "eq-052", "eq-053")),
    ("eq-055", _at55, "= -2 c_t sigma^2 (R/alpha + (alpha-1) dR/dalpha)", ("eq-054",)),
    ("eq-032", _at55, "dR/dt <= -2 c_t sigma^2 (R/alpha + (alpha-1) dR/dalpha)",
     ("eq-055", "lem-3.1")),
    ("eq-001", _at55, "dR/dt <= -2 c_t sigma^2 (R/alpha + (alpha-1) dR/dalpha)",
     ("eq-055", "lem-3.1")),
):  # fmt: skip
    CHAIN.declare(_id, _printed, rests_on=_basis, reading=FINITE)
    CHAIN.ask(
        _id, "derived", "symbolic", from_the_information, form=_final, mutants=FINALS
    )  # fmt: skip
    CHAIN.ask(_id, "valid", CLOSED, gaussians_obey_the_rate, form=_final, mutants=FINALS)
