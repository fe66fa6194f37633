"""Renyi divergence between the laws of the last iterate on two neighbouring data sets.

R_alpha(P || Q) = log(integral of p^alpha q^(1 - alpha))/(alpha - 1) [-], alpha > 1.

    renyi_gaussian       closed form
    renyi_mixture        Gaussian mixtures: quadrature enclosed by Arb balls, both tails included
    renyi_sum            a sum of independent shifts plus a Gaussian, for any number of updates
    renyi_revealed       the supremum over where the shared records sit: batches revealed
    renyi_mixture_float  float64, for sweeps
    renyi_grid           two densities on a grid, with their error
    exact_divergence     the front door

Quadrature where all components have one variance V. Let p = E N(x; S, V) with S in
[p.low, p.high], q likewise, and f = p^alpha q^(1-alpha). At z = x + iy the terms of p have modulus
exp(y^2/2V) N(x; S, V) and phases within y (p.high - p.low)/V of each other. Hence
|p(z)| <= exp(y^2/2V) p(x), and |q(z)| >= exp(y^2/2V) cos(y (q.high - q.low)/2V) q(x), so p and q
have no zero and |f(z)| <= M f(x), M = exp(y^2/2V) cos(y (q.high - q.low)/2V)^(1-alpha), as long as
y (p.high - p.low) and y (q.high - q.low) are below pi V. By the strip theorem (Trefethen and
Weideman 2014, Theorem 5.1) the infinite trapezoidal sum T of step h has
|T - I| <= 2 M I/(exp(2 pi y/h) - 1): an error relative to the integral I itself.

Tails of the sum. (log f)'(x) = (-x + alpha E_P[S|x] - (alpha - 1) E_Q[S|x])/V, where E_Q[S|x]
increases in x. So for x >= X, with mu = alpha p.high - (alpha - 1) E_Q[S|X],
f(x) <= f(X) exp(-((x - mu)^2 - (X - mu)^2)/2V), and the sum beyond X is below a geometric series
once X > mu; the other tail is its mirror image. E_Q[S|X] is bounded by the difference of log q
between neighbouring nodes, which is a mean of (log q)' over a cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, Protocol

import flint
import numpy as np
from scipy.special import logsumexp

from bounds.arith import TooCostly
from bounds.arith.ball import Ball, accuracy, between, decimal_bounds, precision
from bounds.setting import ORDER, InvalidInput, Setting, exact, show
from empirical.laws import (
    Floats,
    GridLaw,
    Mixture,
    PatternLaw,
    SumLaw,
    bits,
    contracts_alike,
    enumerate_patterns,
    fixed_law,
    grid_pair,
)
from empirical.quadratic import Problem, Side
from empirical.schemes import Scheme, find

Direction = Literal["forward", "backward"]
DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")

DIGITS = 12
FEW_PATTERNS = 128
MOST_EVALUATIONS = 400_000
MOST_FACTORS = 20_000
MOST_BATCHES = {"never": 100_000, "once": 10_000, "epoch": 10_000}
"""Batches an epoch, by when batches are drawn: some 10 seconds, and some minutes."""
EXACT_BITS = 20_000


@dataclass(frozen=True)
class Enclosure:
    """A divergence between two decimal strings: lower <= true value <= upper.

    method says how it was found, problem what was run. `proved` is False where the ends rest on an
    error estimate and not on a bound.
    """

    lower: str
    upper: str
    method: str
    problem: str
    proved: bool = True

    @property
    def value(self) -> float:
        """The middle, in float64 [-]."""
        return (float(self.lower) + float(self.upper)) / 2

    def as_json(self) -> dict[str, object]:
        """The contract of `exact` in `hiddenstate compare --json`."""
        return {
            "epsilon": repr(self.value), "lower": self.lower, "upper": self.upper,
            "problem": self.problem, "method": self.method, "proved": self.proved,
        }  # fmt: skip

    @classmethod
    def of(cls, ball: Any, digits: int, method: str, problem: str) -> Enclosure:
        """From a ball; a divergence is never negative, and may be infinite.

        Raises:
            TooCostly: the ball is not a number: no precision that was tried gave an enclosure.
        """
        if not ball.is_finite() and not ball > 0:
            raise TooCostly("the quadrature reached no enclosure at any precision that was tried")
        lower, upper = decimal_bounds(ball, digits)
        return cls("0" if lower.startswith("-") else lower, upper, method, problem)


def _order(alpha: object) -> Fraction:
    value = exact(alpha, "--alpha")
    ORDER.check(Setting(alpha=value))
    return value


# --- Gaussians ---------------------------------------------------------------------------------


def renyi_gaussian(
    first_mean: Any, first_variance: Any, second_mean: Any, second_variance: Any, alpha: object
) -> Any:
    """R_alpha(N(m1, v1) || N(m2, v2)) [-]; means [parameter], variances [parameter^2].

    Exact (a Fraction) for Fractions with v1 = v2, else a ball at the precision in force; infinite
    where alpha v2 <= (alpha - 1) v1.

    Source: Gil, Alajaji and Linder 2013; for equal variances alpha (m1 - m2)^2/(2 v).

    >>> renyi_gaussian(Fraction(0), Fraction(2), Fraction(1), Fraction(2), 3)
    Fraction(3, 4)
    """
    order = _order(alpha)
    numbers = (first_mean, first_variance, second_mean, second_variance)
    fractions = all(isinstance(item, int | Fraction) for item in numbers)
    if fractions and first_variance == second_variance:
        gap = Fraction(first_mean) - Fraction(second_mean)
        return order * gap**2 / (2 * Fraction(first_variance))
    m1, v1, m2, v2 = (_ball(item) for item in numbers)
    a, less = Ball.number(order), Ball.number(order - 1)
    blend = a * v2 - less * v1
    if blend <= 0:
        return flint.arb("inf")
    logs = ((v2 / v1).log() + (v2 / blend).log() / less) / 2
    return a * (m1 - m2) ** 2 / (2 * blend) + logs


def _ball(x: Any) -> Any:
    return Ball.number(x) if isinstance(x, int | Fraction) else x


# --- densities of one variance -----------------------------------------------------------------


class Density(Protocol):
    """E N(x; S, V), S within [low, high]: what the quadrature of one variance needs."""

    low: Any
    high: Any

    def at(self, points: Sequence[Any]) -> list[Any]:
        """Balls around the density times a constant, at neighbouring points [parameter]."""
        ...


class MixtureDensity:
    """A Gaussian mixture of one variance V, term by term, times sqrt(2 pi V)."""

    def __init__(self, mixture: Mixture) -> None:
        variance = mixture.common_variance
        assert variance is not None
        self.weights = [Ball.number(w) for w, _, _ in mixture.components]
        self.means = [Ball.number(m) for _, m, _ in mixture.components]
        self.low, self.high = self.means[0], self.means[-1]
        self.scale = -1 / (2 * Ball.number(variance))

    def at(self, points: Sequence[Any]) -> list[Any]:
        out = []
        for x in points:
            total = flint.arb(0)
            for weight, mean in zip(self.weights, self.means, strict=True):
                gap = x - mean
                total += weight * (gap * gap * self.scale).exp()
            out.append(total)
        return out


def _afford(law: SumLaw) -> None:
    if law.factor_count > MOST_FACTORS:
        raise TooCostly(
            f"the law is a product of {law.factor_count} factors; at most {MOST_FACTORS} are "
            "tried, so fewer updates would do"
        )


class SumDensity:
    """The density of a `SumLaw` about its base, by Fourier inversion along a shifted line.

    p(x) = (1/2 pi) integral over w of M(s) exp(s^2 V/2 - s x), s = t + i w, M(s) = E exp(s S) a
    product over blocks; t is chosen so that the tilted law has its mean amid the points, which
    keeps the error relative. With step d, period P = 2 pi/d and A = M(t) exp(t^2 V/2):

    - cutting at |w| > N d loses at most (d/pi) A sum_(k > N) exp(-k^2 d^2 V/2);
    - the trapezoidal sum equals sum_m p_t(x + m P), p_t(x) = exp(t x) p(x), exactly (Poisson), and
      p_t(y) <= A/sqrt(2 pi V) exp(-dist(y, [low + t V, high + t V])^2/2V).

    Both are added as radii. Blocks whose shifts sum to less than 2^-bits of sqrt(V) enter as a ball
    around 1.
    """

    def __init__(self, law: SumLaw, side: Side, nats: float) -> None:
        _afford(law)
        self.nats = nats
        number = Ball.number
        self.variance = law.variance(number)
        shift = number(law.shift(side))
        self.blocks: list[list[tuple[Any, Any]]] = []
        self.low, self.high = flint.arb(0), flint.arb(0)
        tables: dict[int, list[tuple[list[float], list[float]]]] = {}
        for block in law.blocks(number):
            items = [(number(chance), shift * value) for chance, value in block]
            least, most = items[0][1], items[0][1]
            for _, value in items[1:]:
                least, most = Ball.minimum(least, value), Ball.maximum(most, value)
            self.low, self.high = self.low + least, self.high + most
            self.blocks.append(items)
            tables.setdefault(len(items), []).append(
                ([float(c) for c, _ in items], [float(v.mid()) for _, v in items])
            )
        self.tables = [
            (np.array([c for c, _ in rows]), np.array([v for _, v in rows]))
            for rows in tables.values()
        ]
        self._split()

    def _split(self) -> None:
        """Set aside the blocks that hardly matter: their shifts sum to at most `self.rest`."""
        floor = self.variance.sqrt() * (flint.arb(-self.nats - 30)).exp()
        sizes = []
        for block in self.blocks:
            size = flint.arb(0)
            for _, value in block:
                size = Ball.maximum(size, abs(value))
            sizes.append(size.upper())
        order = sorted(range(len(sizes)), key=lambda i: sizes[i].mid())
        self.rest, drop = flint.arb(0), set()
        for i in order:
            more = self.rest + sizes[i]
            if not more < floor:
                break
            self.rest = more
            drop.add(i)
        self.kept = [block for i, block in enumerate(self.blocks) if i not in drop]

    def _tilt(self, x: float) -> float:
        """t with tilted mean x, in float64: any value is valid, a good one is accurate."""
        variance = float(self.variance.mid())

        def mean(t: float) -> float:
            total = t * variance
            for chances, values in self.tables:
                logs = np.log(chances) + t * values
                logs -= logs.max(axis=1, keepdims=True)
                odds = np.exp(logs)
                total += float(np.sum((odds * values).sum(axis=1) / odds.sum(axis=1)))
            return total

        low = (x - float(self.high.mid())) / variance - 1.0
        high = (x - float(self.low.mid())) / variance + 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if mean(middle) < x else (low, middle)
        return (low + high) / 2

    def at(self, points: Sequence[Any]) -> list[Any]:
        ends = [float(points[0].mid()), float(points[-1].mid())]
        t = flint.arb(self._tilt(sum(ends) / 2))
        variance = self.variance
        low, high = self.low + t * variance, self.high + t * variance
        # The distance of the points from the far side of the tilted support.
        gap = flint.arb(0)
        for x in (points[0], points[-1]):
            gap = Ball.maximum(gap, Ball.maximum(high - x, x - low)).upper()
        wanted = math.sqrt(2 * (self.nats + 20) * float(variance.mid()))
        period = (gap + flint.arb(1.05 * wanted)).mid()
        step = 2 * flint.arb.pi() / period
        count = math.ceil(1.05 * wanted / float(variance.mid()) / float(step.mid())) + 1
        line = self._line(t, step, count)
        whole = line[0].real
        factor = step / (2 * flint.arb.pi())
        edge = (count + 1) * step * step * variance
        cut = 2 * factor * whole * (-(count + 1) * edge / 2).exp() / (1 - (-edge).exp())
        away = period - gap
        alias = 2 * whole / (2 * flint.arb.pi() * variance).sqrt()
        alias *= (-away * away / (2 * variance)).exp() / (1 - (-away * period / variance).exp())
        slack = between(-(cut + alias), flint.arb(0)).union(cut)
        out = []
        for x in points:
            turn = flint.acb(0, -step * x).exp()
            here, total = flint.acb(1), whole / 2
            for value in line[1:]:
                here *= turn
                total += (value * here).real
            out.append((2 * factor * total + slack) * (-t * x).exp())
        return out

    def _line(self, t: Any, step: Any, count: int) -> list[Any]:
        """M(s) exp(s^2 V/2) at s = t + i k step, k = 0, ..., count."""
        out = []
        for k in range(count + 1):
            s = flint.acb(t, k * step)
            value = (s * s * self.variance / 2).exp()
            if not self.rest.is_zero():
                radius = ((abs(s) * self.rest).exp() - 1).upper()
                ball = between(-radius, radius)
                value *= 1 + flint.acb(ball, ball if k else 0)
            out.append(value)
        for block in self.kept:
            constant = flint.acb(0)
            moving = []
            for chance, value in block:
                if value.is_zero():
                    constant += chance
                else:
                    moving.append(
                        (chance * (t * value).exp(), flint.acb(0, step * value).exp())
                    )  # fmt: skip
            if len(moving) == 1:
                here, turn = flint.acb(moving[0][0]), moving[0][1]
                for k in range(count + 1):
                    out[k] *= constant + here
                    here *= turn
            else:
                heres = [flint.acb(start) for start, _ in moving]
                for k in range(count + 1):
                    total = constant
                    for i, (_, turn) in enumerate(moving):
                        total += heres[i]
                        heres[i] *= turn
                    out[k] *= total
        return out


def _trapezoid(p: Density, q: Density, variance: Any, order: Fraction, nats: float) -> Any:
    """A ball around log of the integral of p^alpha q^(1-alpha), relative error about exp(-nats).

    p and q have one variance and one constant factor; the result is for the densities times that
    factor, over which the caller divides.
    """
    a, less = Ball.number(order), Ball.number(order - 1)
    strip, step = _strip(p, q, variance, order, nats)
    pi = flint.arb.pi()
    grown = (strip * strip / (2 * variance)).exp()
    shrunk = (strip * (q.high - q.low) / (2 * variance)).cos()
    off = 2 * grown * (-less * shrunk.log()).exp() / ((2 * pi * strip / step).exp() - 1)
    small = flint.arb(-nats).exp()
    centre = flint.arb(float(((p.low + p.high) / 2).mid()))
    width = float(variance.mid()) ** 0.5
    size = min(max(4, math.ceil(3 * width / float(step.mid()))), 64)
    total, spent = flint.arb(0), 0
    tails = flint.arb(0)
    for sign in (1, -1):
        index = 0 if sign > 0 else 1
        while True:
            points = [centre + sign * (index + k) * step for k in range(size)]
            ordered = points if sign > 0 else points[::-1]
            values = list(zip(p.at(ordered), q.at(ordered), strict=True))
            if sign < 0:
                values.reverse()
            logs = [(up.log(), down.log()) for up, down in values]
            terms = [(a * up - less * down).exp() for up, down in logs]
            for term in terms:
                total += term
            if not total.is_finite():
                return flint.arb("nan")
            spent += size
            if spent > MOST_EVALUATIONS:
                raise TooCostly(
                    f"the quadrature needs more than {MOST_EVALUATIONS} nodes: the laws are spread "
                    "over too many standard deviations of the noise"
                )
            before = logs[-2][1]
            x, down, term = points[-1], logs[-1][1], terms[-1]
            # In mirrored coordinates for sign < 0: S becomes -S, and so do the ends.
            ends = (p.high, q.low) if sign > 0 else (-p.low, -q.high)
            posterior = Ball.maximum(
                ends[1], variance * (down - before) / step + sign * x - step / 2
            )
            mu = a * ends[0] - less * posterior
            room = sign * x - mu
            if room > 0:
                ratio = (-step * room / variance).exp()
                tail = term * ratio / (1 - ratio)
                if tail < total * small:
                    tails += tail.upper()
                    break
            index += size
    whole = step * (total + between(flint.arb(0), tails))
    if not off < 1:
        return flint.arb("nan")
    off = off.upper()
    return whole.log() - between((1 - off).log(), (1 + off).log())


def _strip(p: Density, q: Density, variance: Any, order: Fraction, nats: float) -> tuple[Any, Any]:
    """Half width of the strip and step, the largest step that reaches exp(-nats)."""
    v = float(variance.mid())
    spread = float((q.high - q.low).upper().mid())
    widest = max(spread, float((p.high - p.low).upper().mid()), 1e-300)
    limit = min(0.98 * math.pi * v / widest, math.sqrt(v) * 4 * math.sqrt(2 * nats))
    best = (0.0, limit)
    for part in np.linspace(0.01, 1.0, 100):
        y = float(part) * limit
        angle = y * spread / (2 * v)
        if angle >= 1.55:
            break
        grown = y * y / (2 * v) - float(order - 1) * math.log(math.cos(angle))
        step = 2 * math.pi * y / (nats + 1.4 + grown)
        best = max(best, (step, y))
    # Few binary digits, so that the nodes are short exact numbers.
    mantissa, power = math.frexp(best[0])
    return flint.arb(best[1]), flint.arb(math.ldexp(math.floor(mantissa * 256) / 256, power))


def _refine(attempt: Callable[[float], Any], order: Fraction, digits: int) -> Any:
    """R = attempt(nats)/(alpha - 1), with `nats` raised until it has the wanted digits."""
    nats = 2.31 * digits + 8.0
    value = flint.arb("nan")
    for _ in range(6):
        value = attempt(nats)
        if value.is_finite():
            reached = accuracy(value) * 0.6931
            lacking = 2.31 * digits + 1.0 - reached
            if lacking <= 0:
                break
            if nats > 400:
                break
            nats += lacking + 4
        else:
            nats = 1.5 * nats + 20
    return value / Ball.number(order - 1)


def _bits_for(nats: float, order: Fraction, scale: float = 1.0) -> int:
    return int(nats * 1.45) + 48 + max(0, int(order).bit_length()) + int(math.log2(1 + scale)) * 2


def renyi_mixture(
    p: Mixture,
    q: Mixture,
    alpha: object,
    direction: Direction = "forward",
    digits: int = DIGITS,
) -> Any:
    """A ball around R_alpha(p || q) [-], or R_alpha(q || p) backward, both tails included.

    digits: relative accuracy wanted; a ball that stays wider is returned as it is.

    Raises:
        AssumptionViolated: alpha <= 1. TooCostly: more than 400 000 nodes.
    """
    order = _order(alpha)
    if direction == "backward":
        p, q = q, p
    if p == q:
        return flint.arb(0)
    v, w = p.common_variance, q.common_variance
    if len(p.components) == len(q.components) == 1:
        with precision(4 * digits + 64):
            return _ball(renyi_gaussian(*p.components[0][1:], *q.components[0][1:], order))
    if v is None or v != w:
        return _renyi_unequal(p, q, order, digits)
    variance = v

    def attempt(nats: float) -> Any:
        span = max(p.components[-1][1], q.components[-1][1]) - min(
            p.components[0][1], q.components[0][1]
        )
        with precision(_bits_for(nats, order, float(span * span / variance))):
            ball = Ball.number(variance)
            log = _trapezoid(MixtureDensity(p), MixtureDensity(q), ball, order, nats)
            return log - (2 * flint.arb.pi() * ball).log() / 2

    with precision(4 * digits + 64):
        return _refine(attempt, order, digits)


def renyi_sum(
    law: SumLaw, alpha: object, direction: Direction = "forward", digits: int = DIGITS
) -> Any:
    """A ball around the divergence of the two laws of a `SumLaw`, without enumeration.

    The cost grows like the number of updates.

    Raises:
        AssumptionViolated, TooCostly.
    """
    order = _order(alpha)
    sides: tuple[Side, Side] = ("first", "second")
    if direction == "backward":
        sides = ("second", "first")

    def attempt(nats: float) -> Any:
        with precision(_bits_for(nats, order, 1e4) + 16):
            p, q = (SumDensity(law, side, nats + 6 + math.log(order)) for side in sides)
            return _trapezoid(p, q, p.variance, order, nats)

    with precision(4 * digits + 64):
        return _refine(attempt, order, digits)


def renyi_revealed(law: SumLaw | PatternLaw, alpha: object, digits: int = DIGITS) -> Any:
    """The divergence where the batches can be read off the iterate: a supremum.

    log(E exp((alpha - 1) alpha d^2/(2 V)))/(alpha - 1) [-], d the distance of the two means given
    the pattern. By joint convexity of exp((alpha - 1) R_alpha) no divergence of the two mixtures is
    larger; it is the limit as the differing record moves away from the others (`centre` to
    infinity), which leaves d as it is and separates the patterns. The way there is not monotone.

    For a `SumLaw`, exp(k d^2) = E exp(sqrt(2 k) d Z) with Z standard normal, so that the value is
    an integral of phi(z) times the moment generating function of d. The integrand is entire and
    |f(x + iy)| <= exp(y^2/2) f(x), so the trapezoidal rule of step h is off by a factor within
    1 +- 2 exp(y^2/2)/(exp(2 pi y/h) - 1), y = 2 pi/h.

    Raises:
        InvalidInput: patterns of differing variances for the two data sets. AssumptionViolated.
    """
    order = _order(alpha)

    def enumerated(nats: float) -> Any:
        assert isinstance(law, PatternLaw)
        with precision(_bits_for(nats, order, 1e3) + 32):
            total = flint.arb(0)
            for item in law.patterns:
                gap = (item.first_mean - item.second_mean) ** 2 / (2 * item.first_variance)
                total += Ball.number(item.probability) * Ball.number(
                    order * (order - 1) * gap
                ).exp()  # fmt: skip
            return total.log()

    def transformed(nats: float) -> Any:
        assert isinstance(law, SumLaw)
        with precision(_bits_for(nats, order, 1e4) + 32):
            return _hubbard(law, order, nats)

    if isinstance(law, PatternLaw):
        if any(item.first_variance != item.second_variance for item in law.patterns):
            raise InvalidInput("given the batches, the two data sets have laws of two variances")
        attempt = enumerated
    else:
        attempt = transformed
    with precision(4 * digits + 64):
        return _refine(attempt, order, digits)


def _hubbard(law: SumLaw, order: Fraction, nats: float) -> Any:
    _afford(law)
    number = Ball.number
    variance = law.variance(number)
    gap = number(abs(law.shift("first") - law.shift("second")))
    rise = (number(order * (order - 1)) / variance).sqrt() * gap
    blocks = []
    high, low = flint.arb(0), flint.arb(0)
    for block in law.blocks(number):
        items = [(number(chance), rise * value) for chance, value in block]
        most, least = items[0][1], items[0][1]
        for _, value in items[1:]:
            most, least = Ball.maximum(most, value), Ball.minimum(least, value)
        high, low = high + most, low + least
        blocks.append(items)
    if len(blocks) == 1:
        return sum((c * (v * v / 2).exp() for c, v in blocks[0]), flint.arb(0)).log()
    step = flint.arb(math.floor(64 * 2 * math.pi / math.sqrt(2 * (nats + 2))) / 64)
    strip = 2 * flint.arb.pi() / step
    off = 2 * (strip * strip / 2).exp() / ((2 * flint.arb.pi() * strip / step).exp() - 1)

    def integrand(z: Any) -> Any:
        out = (-z * z / 2).exp()
        for block in blocks:
            term = flint.arb(0)
            for chance, rate in block:
                term += chance * (rate * z).exp()
            out *= term
        return out

    total, tails = integrand(flint.arb(0)), flint.arb(0)
    small = flint.arb(-nats).exp()
    for sign in (1, -1):
        end = high if sign > 0 else -low
        index = 0
        while True:
            index += 1
            term = integrand(sign * index * step)
            total += term
            # (log f)' <= end - z beyond z, in mirrored coordinates for sign < 0.
            room = index * step - end
            if room > 0:
                ratio = (-step * room).exp()
                tail = term * ratio / (1 - ratio)
                if tail < total * small:
                    tails += tail.upper()
                    break
            if index * len(blocks) > 5 * 10**7:
                raise TooCostly("the quadrature over revealed batches needs too many nodes")
    whole = step * (total + between(flint.arb(0), tails)) / (2 * flint.arb.pi()).sqrt()
    off = off.upper()
    return whole.log() - between((1 - off).log(), (1 + off).log())


# --- mixtures of several variances -------------------------------------------------------------


def _renyi_unequal(p: Mixture, q: Mixture, order: Fraction, digits: int) -> Any:
    """`renyi_mixture` where variances differ: Arb's adaptive integration, with proved tails.

    On each box the logarithm of a mixture is that of its component of largest value at the middle
    plus the principal logarithm of the ratio. The ratio is positive on the real axis; where its
    enclosure keeps off the negative axis, this is the analytic continuation from the real axis,
    and where it does not, "not analytic" is reported and the box is divided.

    Tails: q >= w_r N_r for its component of largest variance, p^alpha <=
    n^(alpha - 1) sum_i (w_i N_i)^alpha for the n components of p, and each term integrates to erfc.
    """
    top_p = max(v for _, _, v in p.components)
    top_q = max(v for _, _, v in q.components)
    if (order - 1) * top_p >= order * top_q:
        return flint.arb("inf")

    def attempt(nats: float) -> Any:
        with precision(_bits_for(nats, order, 1e4) + 64):
            return _integrate(p, q, order, nats)

    with precision(4 * digits + 64):
        return _refine(attempt, order, digits)


class _Logarithm:
    """log of a mixture in a complex neighbourhood of the real axis."""

    def __init__(self, mixture: Mixture) -> None:
        number = Ball.number
        self.means = [number(m) for _, m, _ in mixture.components]
        self.scales = [-1 / (2 * number(v)) for _, _, v in mixture.components]
        self.logs = [
            number(w).log() - (2 * flint.arb.pi() * number(v)).log() / 2
            for w, _, v in mixture.components
        ]
        self.floats = np.array([[float(w), float(m), float(v)] for w, m, v in mixture.components])

    def __call__(self, z: Any, analytic: bool) -> Any:
        x = float(z.real.mid())
        w, m, v = self.floats.T
        lead = int(np.argmax(np.log(w) - np.log(v) / 2 - (x - m) ** 2 / (2 * v)))
        exponents = [
            log + (z - mean) * (z - mean) * scale
            for log, mean, scale in zip(self.logs, self.means, self.scales, strict=True)
        ]
        ratio = flint.acb(0)
        for i, exponent in enumerate(exponents):
            ratio += 1 if i == lead else (exponent - exponents[lead]).exp()
        safe = ratio.is_finite() and (ratio.real > 0 or not ratio.imag.contains(0))
        if analytic and not safe:
            return flint.acb("nan")
        return exponents[lead] + ratio.log()


def _integrate(p: Mixture, q: Mixture, order: Fraction, nats: float) -> Any:
    a, less = Ball.number(order), Ball.number(order - 1)
    log_p, log_q = _Logarithm(p), _Logarithm(q)
    means = [float(m) for _, m, _ in (*p.components, *q.components)]
    widest = math.sqrt(max(float(v) for _, _, v in (*p.components, *q.components)))
    small = flint.arb(-nats).exp()
    ends = []
    for sign in (1, -1):
        x = max(sign * m for m in means) + 4 * widest
        move = 2 * widest
        for _ in range(200):
            tail = _tail(p, q, order, flint.arb(x), sign)
            if tail < small:
                break
            x, move = x + move, 1.2 * move
        else:
            raise TooCostly("the tails of the integral could not be made small")
        ends.append((sign * x, tail.upper()))

    def integrand(z: Any, analytic: bool) -> Any:
        return (a * log_p(z, analytic) - less * log_q(z, analytic)).exp()

    (right, over), (left, under) = ends
    pieces = max(4, min(200, math.ceil((right - left) / (4 * widest))))
    marks = [flint.arb(float(x)) for x in np.linspace(left, right, pieces + 1)]
    total = flint.arb(0)
    for low, high in pairwise(marks):
        part = flint.acb.integral(
            integrand, flint.acb(low), flint.acb(high),
            rel_tol=flint.arb(-nats).exp(), abs_tol=flint.arb(-nats - 3).exp() / pieces,
        )  # fmt: skip
        total += part.real
    return (total + between(flint.arb(0), over + under)).log()


def _tail(p: Mixture, q: Mixture, order: Fraction, x: Any, sign: int) -> Any:
    """Bound on the integral beyond x (mirrored for sign < 0)."""
    number = Ball.number
    a, less = number(order), number(order - 1)
    w_r, m_r, v_r = max(q.components, key=lambda item: (item[2], sign * item[1]))
    two_pi = 2 * flint.arb.pi()
    total = flint.arb(0)
    for w, m, v in p.components:
        sharp = order / v - (order - 1) / v_r
        mu = (order * m / v - (order - 1) * m_r / v_r) / sharp
        level = sharp * mu**2 - order * m**2 / v + (order - 1) * m_r**2 / v_r
        log = (
            a * (number(w).log() - (two_pi * number(v)).log() / 2)
            - less * (number(w_r).log() - (two_pi * number(v_r)).log() / 2)
            + number(level / 2)
        )
        root = (number(sharp) / 2).sqrt()
        total += log.exp() * ((x - number(sign * mu)) * root).erfc() * flint.arb.pi().sqrt() / (
            2 * root
        )  # fmt: skip
    return total * (less * number(len(p.components)).log()).exp()


# --- float64 -----------------------------------------------------------------------------------


def renyi_mixture_float(
    p: Mixture, q: Mixture, alpha: object, direction: Direction = "forward"
) -> float:
    """R_alpha in float64 [-], relative error about 1e-10 for divergences from 1e-8.

    Trapezoidal rule for q g(log(p/q)), g(l) = exp(alpha l) - 1 - alpha (exp(l) - 1), which keeps
    small divergences accurate; for large ones in the log domain. The step is halved until two
    rules agree.

    Raises:
        InvalidInput: several variances. AssumptionViolated. TooCostly: no agreement to 1e-10.
    """
    order = _order(alpha)
    if direction == "backward":
        p, q = q, p
    variance = p.common_variance
    if variance is None or variance != q.common_variance:
        raise InvalidInput("renyi_mixture_float wants components of one variance")
    if p == q:
        return 0.0
    middle, scale = q.mean(), math.sqrt(float(variance))
    tables = [
        (np.array([math.log(w) for w, _, _ in law.components]),
         np.array([float(m - middle) / scale for _, m, _ in law.components]))
        for law in (p, q)
    ]  # fmt: skip
    a = float(order)
    (_, mp), (_, mq) = tables
    low, high = min(mp.min(), mq.min()), max(mp.max(), mq.max())
    ends = (a * mp.min() - (a - 1) * mq.max(), a * mp.max() - (a - 1) * mq.min())
    left, right = min(low, ends[0]) - 12.0, max(high, ends[1]) + 12.0
    spread = max(float(mp.max() - mp.min()), float(mq.max() - mq.min()), 1e-9)
    step = min(0.35, 2.0 / spread / math.sqrt(max(1.0, a / 30)))
    last: float | None = None
    for _ in range(8):
        count = int((right - left) / step) + 1
        if count > 4_000_000:
            break
        value = _float_sum(left + step * np.arange(count), step, tables, order)
        if last is not None and abs(value - last) <= 1e-10 * abs(value):
            return value
        last, step = value, step / 2
    raise TooCostly(
        "two quadratures did not agree to 1e-10 in float64; renyi_mixture encloses the value"
    )


def _float_sum(
    points: Floats, step: float, tables: list[tuple[Floats, Floats]], order: Fraction
) -> float:
    """One trapezoidal sum, in units of the standard deviation and about the mean of q."""
    a, less = float(order), float(order - 1)
    gains, bases = [], []
    for start in range(0, len(points), 4096):
        x = points[start : start + 4096]
        # log of each mixture over N(x; 0, 1): the common factor cancels in log(p/q).
        up, down = (
            logsumexp(logs + np.multiply.outer(x, means) - means**2 / 2, axis=1)
            for logs, means in tables
        )
        gains.append(up - down)
        bases.append(down - x * x / 2)
    gain, base = np.concatenate(gains), np.concatenate(bases)
    constant = math.log(step / math.sqrt(2 * math.pi))
    exponents = a * gain + base
    whole = float(logsumexp(exponents)) + constant
    if whole > 0.5:
        return whole / less
    small = np.abs(a * gain) < 0.5
    out = np.zeros_like(gain)
    tiny = gain[small]
    term, series = np.ones_like(tiny), np.zeros_like(tiny)
    # term is l^k/k!; alpha^k - alpha = alpha (alpha^(k-1) - 1).
    for k in range(1, 26):
        term = term * tiny / k
        if k > 1:
            series += term * a * math.expm1((k - 1) * math.log1p(less))
    out[small] = series * np.exp(base[small])
    rest = ~small
    # g(l) = exp(l) (exp((alpha - 1) l) - 1) - (alpha - 1)(exp(l) - 1): no loss as alpha nears 1.
    out[rest] = np.exp(base[rest] + gain[rest]) * np.expm1(less * gain[rest]) - less * np.exp(
        base[rest]
    ) * np.expm1(gain[rest])
    total = float(np.sum(out)) * step / math.sqrt(2 * math.pi)
    return math.log1p(total) / less


def renyi_grid(first: GridLaw, second: GridLaw, alpha: object) -> tuple[float, float]:
    """R_alpha between two laws on one grid, and the error that theirs imply [-].

    A relative error e of both densities makes (2 alpha - 1) e/(alpha - 1) of R; on the line the
    tails beyond the grid add what the last densities bound.

    Raises:
        InvalidInput: two grids. TooCostly: densities below what float64 can hold.
    """
    order = _order(alpha)
    a, less = float(order), float(order - 1)
    if first.nodes.shape != second.nodes.shape or not np.array_equal(first.nodes, second.nodes):
        raise InvalidInput("the two laws are on different grids")
    values = np.concatenate([first.density, second.density])
    atoms = [m for law in (first, second) for m in law.atoms if law.width == 0]
    if min(float(values.min()), *atoms, 1.0) < 1e-290:
        raise TooCostly(
            "the density falls below 1e-290 where the divergence of this order still looks; a "
            "smaller order or sensitivity would do"
        )
    logs = a * np.log(first.density) - less * np.log(second.density)
    parts = list(logs + np.log(first.weights))
    for up, down in zip(first.atoms, second.atoms, strict=True):
        if up > 0 and down > 0:
            parts.append(a * math.log(up) - less * math.log(down))
    whole = float(logsumexp(np.array(parts)))
    error = (2 * a - 1) * max(first.error, second.error) / less
    error += 1e-15 * (1 + abs(whole)) / less
    if first.width:
        ends = float(logsumexp(logs[[0, -1]])) + math.log(first.width / 9)
        error += math.exp(min(ends - whole, 0.0)) / less
    return whole / less, error


# --- the front door ----------------------------------------------------------------------------


def exact_divergence(
    setting: Setting | Problem,
    scheme: str | Scheme,
    alpha: object = None,
    direction: Direction = "forward",
    *,
    centre: object = 0,
    digits: int = DIGITS,
) -> Enclosure:
    """The Renyi divergence of the last iterate on a 1-D quadratic problem, enclosed.

    setting: a problem, or a setting whose canonical problem is taken (`Problem.of`; under Poisson
        the curvature belongs to the batch). alpha: by default the setting's.
    direction: "forward" is R(first || second).
    centre: where the pair sits beside the shared records, in S_g; "far" takes the supremum over
        centre, where the batches are revealed (`renyi_revealed`).

    Raises:
        InvalidInput, MissingParameter, AssumptionViolated: the request makes no problem.
        TooCostly: nothing with controlled error is affordable; the sentence says what would do.
    """
    how = find(scheme)
    if direction not in DIRECTIONS:
        raise InvalidInput(f"direction is {direction!r}; forward or backward is wanted")
    if alpha is None:
        alpha = setting.alpha if isinstance(setting, Setting) else None
    if alpha is None:
        raise InvalidInput("an exact divergence needs --alpha, which was not given")
    order = _order(alpha)
    far = isinstance(centre, str) and centre.strip().lower() == "far"
    if isinstance(setting, Problem):
        problem = setting
    else:
        problem = Problem.of(
            setting, centre=0 if far else centre, per="batch" if how.random_size else "record"
        )
    _afford_batches(problem, how)
    about = f"{how.title}: {problem.describe()}; alpha = {show(order)}, {direction}"
    if far:
        return _far(problem, how, order, digits, about)
    if problem.radius is not None:
        return _on_grid(problem, how, order, direction, about)
    if how.afresh == "never":
        return Enclosure.of(_fixed(problem, order, direction, digits), digits, "closed form", about)
    patterns: PatternLaw | None = None
    if contracts_alike(problem, how):
        law = SumLaw(problem, how)
        try:
            patterns = law.patterns(most=FEW_PATTERNS)
        except TooCostly:
            ball = renyi_sum(law, order, direction, digits)
            return Enclosure.of(ball, digits, "sum of shifts, enclosed quadrature", about)
    else:
        try:
            patterns = enumerate_patterns(problem, how, most=FEW_PATTERNS)
        except TooCostly:
            if how.afresh == "update":
                return _on_grid(problem, how, order, direction, about)
            patterns = enumerate_patterns(problem, how)
    ball = renyi_mixture(
        patterns.mixture("first"), patterns.mixture("second"), order, direction, digits
    )
    return Enclosure.of(ball, digits, "enumeration, enclosed quadrature", about)


def _afford_batches(problem: Problem, how: Scheme) -> None:
    """Refuse epochs of too many batches before anything is made for each of them."""
    most = MOST_BATCHES.get(how.afresh, problem.batches)
    if problem.batches > most:
        times = problem.batches / most
        seconds = 10 * times if how.afresh == "never" else 120 * times**2
        raise TooCostly(
            f"the exact law of {problem.batches} batches an epoch would take about {seconds:.1g} "
            f"seconds; at most {most} are tried, and larger batches, or a bound in place of the "
            "exact value, would do"
        )


def _fixed(problem: Problem, order: Fraction, direction: Direction, digits: int) -> Any:
    sides: list[Side] = ["first", "second"]
    if direction == "backward":
        sides.reverse()
    if bits(problem) <= EXACT_BITS:
        laws = [fixed_law(problem, side, Fraction) for side in sides]
        with precision(4 * digits + 64):
            return _ball(renyi_gaussian(*laws[0], *laws[1], order))
    work = 4 * digits + 128
    while True:
        with precision(work):
            (m1, v1), (m2, v2) = (fixed_law(problem, side, Ball.number) for side in sides)
            if problem.first.curvature == problem.second.curvature:
                value = Ball.number(order) * (m1 - m2) ** 2 / (2 * v1)
            else:
                value = renyi_gaussian(m1, v1, m2, v2, order)
        if accuracy(value) > 3.4 * digits or work > 1 << 14:
            return value
        work *= 2


def _far(problem: Problem, how: Scheme, order: Fraction, digits: int, about: str) -> Enclosure:
    about += "; supremum over where the shared records sit"
    if contracts_alike(problem, how):
        law: SumLaw | PatternLaw = SumLaw(problem, how)
    else:
        raise InvalidInput("the supremum over the shared records wants batches that contract alike")
    ball = renyi_revealed(law, order, digits)
    return Enclosure.of(ball, digits, "batches revealed, enclosed quadrature", about)


def _on_grid(
    problem: Problem, how: Scheme, order: Fraction, direction: Direction, about: str
) -> Enclosure:
    def run(nodes: int | None) -> tuple[float, float, bool, int]:
        first, second = grid_pair(problem, how, alpha=float(order), nodes=nodes)
        if direction == "backward":
            first, second = second, first
        return *renyi_grid(first, second, order), first.proved, len(first.nodes)

    value, error, proved, count = run(None)
    if problem.radius is not None:
        error += abs(run(count // 4)[0] - value)
    method = "density on a grid, " + ("error bounded" if proved else "error estimated")
    lower = max(0.0, math.nextafter(value - error, -math.inf))
    upper = math.nextafter(value + error, math.inf)
    return Enclosure(repr(lower), repr(upper), method, about, proved)


__all__ = [
    "DIRECTIONS", "Direction", "Enclosure", "exact_divergence", "renyi_gaussian", "renyi_grid",
    "renyi_mixture", "renyi_mixture_float", "renyi_revealed", "renyi_sum",
]  # fmt: skip
