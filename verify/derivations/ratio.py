"""Integrals of likelihood ratios: pointwise links, vector fields, closed forms for Gaussians.

An equality of integrals is a `Link`: the two integrands differ by the divergence of a vector
field. That is a pointwise identity for undefined densities p and q, in one to three coordinates;
every term is a sum over coordinates, so that these stand for all dimensions. That the field's flux
through large spheres vanishes is argued where the link is declared, and seen on Gaussians, where
both integrals are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from verify.derivations.chain import Chain
from verify.methods.symbolic import Equation, all_hold, identity, rational_identity
from verify.statement import Finding, Run
from verify.statements.additive_noise import Tilted

ALPHA, SIGMA2, TIME, LSI, MOMENT = sp.symbols("alpha sigma2 t c E", positive=True)
FIRST, SECOND, SHIFT = sp.symbols("S V m", positive=True)
GAUSSIAN = "all p = N(m, S) and q = N(0, V) on the line, and orders, with finite moment"


@dataclass(frozen=True)
class Pair:
    """Undefined smooth positive densities p and q of the coordinates and of time.

    as_written: derivatives are left to be carried out by whoever reads the certificate.
    """

    xs: tuple[Any, ...]
    p: Any
    q: Any
    as_written: bool = False

    def by(self, f: Any, x: Any) -> Any:
        """The derivative by a coordinate."""
        return sp.Derivative(f, x) if self.as_written else sp.diff(f, x)

    @property
    def h(self) -> Any:
        """The likelihood ratio."""
        return self.p / self.q

    @property
    def weight(self) -> Any:
        """h^alpha q, whose integral is E_alpha."""
        return self.p**ALPHA * self.q ** (1 - ALPHA)

    @property
    def log_h(self) -> Any:
        """The logarithm of h."""
        return sp.log(self.p) - sp.log(self.q)

    def power(self, exponent: Any) -> Any:
        """h to a power."""
        return self.p**exponent * self.q ** (-exponent)

    def grad(self, f: Any) -> list[Any]:
        """The gradient."""
        return [self.by(f, x) for x in self.xs]

    def put(self, f: Any, symbols: Sequence[Any], values: Sequence[Any]) -> Any:
        """f with values for symbols."""
        made = sp.Subs(f, tuple(symbols), tuple(values))
        return made if self.as_written else made.doit()

    def dot(self, f: Any, g: Any) -> Any:
        """The scalar product of two gradients."""
        return sum(a * b for a, b in zip(self.grad(f), self.grad(g), strict=True))

    def square(self, f: Any) -> Any:
        """The squared length of a gradient."""
        return self.dot(f, f)

    def laplacian(self, f: Any) -> Any:
        """The sum of the second derivatives."""
        return sum(self.by(self.by(f, x), x) for x in self.xs)

    def divergence(self, field: Sequence[Any]) -> Any:
        """The divergence of a vector field."""
        return sum(self.by(part, x) for part, x in zip(field, self.xs, strict=True))


def _pair(size: int) -> Pair:
    xs = sp.symbols(f"x1:{size + 1}", real=True)
    return Pair(
        xs,
        sp.Function("p", positive=True)(*xs, TIME),
        sp.Function("q", positive=True)(*xs, TIME),
    )


PAIRS = tuple(_pair(size) for size in (1, 2, 3))
LINE = PAIRS[0]
Integrand = Callable[[Pair], Any]


@dataclass(frozen=True)
class Link:
    """Two integrands, and the vector field of whose divergence left - right consists."""

    left: Integrand
    right: Integrand
    field: Callable[[Pair], Sequence[Any]] | None = None

    def sides(self, pair: Pair) -> tuple[Any, Any]:
        """What must agree at every point: left, and right with the divergence."""
        flux = 0 if self.field is None else pair.divergence(self.field(pair))
        return self.left(pair), self.right(pair) + flux

    def equation(self, pair: Pair) -> Equation:
        """Both sides, shown with their derivatives as they are written."""
        left, right = self.sides(pair)
        return Equation(left, right, self.sides(replace(pair, as_written=True)))

    def scaled(self, factor: Any) -> Link:
        """With the right integrand multiplied."""
        return replace(self, right=lambda d: factor * self.right(d))

    def shifted(self, more: Integrand) -> Link:
        """With something added to the right integrand."""
        return replace(self, right=lambda d: self.right(d) + more(d))


# --- Closed forms for Gaussians ------------------------------------------------------------------

TILTED = Tilted(ALPHA, SECOND, FIRST, SHIFT)
# h^alpha q/E_alpha is the density of N(MEAN, SPREAD).
SPREAD = FIRST * SECOND / TILTED.blend
MEAN = SPREAD * ALPHA * SHIFT / FIRST
LOG_MOMENT = TILTED.log_moment(sp.log)
RENYI = LOG_MOMENT / (ALPHA - 1)
# dS/dt = dV/dt = 2 sigma^2 under the heat equation.
RATE = 2 * SIGMA2 * (sp.diff(RENYI, FIRST) + sp.diff(RENYI, SECOND))
LOG_PRECISION = sp.log(TILTED.blend) - sp.log(FIRST)
# V/SPREAD - 1 - log(V/SPREAD), which is not negative.
EXCESS = TILTED.blend / FIRST - 1 - LOG_PRECISION


def _table() -> dict[Any, Any]:
    """What the jets of two Gaussian densities are, over the densities; both put to 1 besides."""
    x, found = LINE.xs[0], {sp.log(MOMENT): LOG_E, MOMENT: sp.Integer(1)}
    for f, variance, centre in ((LINE.p, FIRST, SHIFT), (LINE.q, SECOND, 0)):
        slope = -(x - centre) / variance
        second = slope**2 - 1 / variance
        found |= {
            sp.diff(f, x, 2): second,
            sp.diff(f, x): slope,
            sp.diff(f, TIME): SIGMA2 * second,
            # The constant -log(2 pi)/2 is common to both, and only differences appear.
            sp.log(f): -((x - centre) ** 2) / (2 * variance) - sp.log(variance) / 2,
            f: sp.Integer(1),
        }
    return found


# Stands for LOG_MOMENT while polynomials are expanded, which would expand inside logarithms too.
LOG_E = sp.Symbol("log_E", real=True)
TABLE = _table()


INTEGRALS = "integrals of Gaussians, done by their moments"


def gaussian_mean(integrand: Any) -> Any:
    """The integral over the line, over E_alpha, for p = N(m, S) and q = N(0, V).

    The integrand must be h^alpha q times a polynomial in derivatives and logarithms; the polynomial
    becomes one in x, and the moments of N(MEAN, SPREAD) are put in.
    """
    x = LINE.xs[0]
    moments = [
        sp.Integer(1), MEAN, MEAN**2 + SPREAD, MEAN**3 + 3 * MEAN * SPREAD,
        MEAN**4 + 6 * MEAN**2 * SPREAD + 3 * SPREAD**2,
    ]  # fmt: skip
    polynomial = sp.Poly(sp.sympify(integrand).xreplace(TABLE), x)
    terms = (part * moments[k] for (k,), part in polynomial.terms())
    return sum(terms, start=sp.Integer(0)).subs(LOG_E, LOG_MOMENT)


# --- Questions -----------------------------------------------------------------------------------


def pointwise(link: Link, domain: str, what: str, run: Run) -> Finding:
    """Whether the integrands agree up to the divergence, in one to three coordinates.

    At quick effort in two, of which one coordinate is the case of no dependence on the other.
    """
    return all_hold(
        rational_identity(
            link.equation(pair), domain, f"{what} ({len(pair.xs)} coordinates)", seed=run.seed
        )
        for pair in (PAIRS[1:2] if run.effort == "quick" else PAIRS)
    )


def ask_link(
    chain: Chain, statement: str, link: Link, mutants: Mapping[str, Link], reason: str,
    value: Any = None,
) -> None:  # fmt: skip
    """Put to a declared equation the pointwise identity and the integrals of Gaussians.

    value: what both integrals over E_alpha are for Gaussians, where that is known otherwise.
    """

    def identical(form: Link, run: Run) -> Finding:
        """The integrands agree at every point, up to the divergence of the field named."""
        return pointwise(form, chain.domain, reason, run)

    def integrals(form: Link, run: Run) -> Finding:
        """Both integrals in closed form for all pairs of Gaussians on the line."""
        left, right = gaussian_mean(form.left(LINE)), gaussian_mean(form.right(LINE))
        found = [
            identity(
                left, right, GAUSSIAN, "the two integrals agree for Gaussians", whole=False,
                seed=run.seed, rests_on=INTEGRALS)
        ]  # fmt: skip
        if value is not None:
            found.append(identity(
                right, value, GAUSSIAN, "and are what the closed form says", whole=False,
                seed=run.seed, rests_on=INTEGRALS))  # fmt: skip
        return all_hold(found)

    chain.ask(
        statement, "derived", "symbolic, undefined densities in one to three coordinates",
        identical, form=link, mutants=mutants,
    )  # fmt: skip
    chain.ask(
        statement, "valid", "closed forms for Gaussians, symbolic", integrals, form=link,
        mutants={
            title: mutant for title, mutant in mutants.items()
            if mutant.left is not link.left or mutant.right is not link.right
        },
    )  # fmt: skip


def gaussian_slack(right: Callable[[Any, Any, Any, Any], Any], seed: int) -> list[Finding]:
    """I/E exceeds a right side by (c/alpha^2)(u - 1 - log u) >= 0, u = V/SPREAD and c = 1/V.

    right: of alpha, c, log E_alpha and d/dalpha log E_alpha.
    """
    claimed = right(ALPHA, 1 / SECOND, LOG_MOMENT, TILTED.slope(sp.log))
    return [
        identity(
            TILTED.information() - claimed, EXCESS / (ALPHA**2 * SECOND), GAUSSIAN,
            "I/E exceeds the right side by (c/alpha^2)(u - 1 - log u)", whole=False, seed=seed)
    ]  # fmt: skip
