"""Renyi divergence of one step of the sampled Gaussian mechanism.

Setting (Mironov, Talwar, Zhang 2019, "Renyi differential privacy of the sampled Gaussian
mechanism", Section 3): mu0 = N(0, nu^2), mu = (1-p) N(0, nu^2) + p N(1, nu^2).

    p [-]                 sampling probability, 0 < p <= 1;  q = 1 - p [-]
    alpha [-]             order, alpha > 1;  beta = alpha - 1 [-]
    a = 1/(2 nu^2) [-]    the divergence at p = 1 is alpha a;  t = sqrt(2 a) [-]
    X [-]                 standard normal with density phi;  Y = exp(t X - a), so E Y = 1
    L = q + p Y [-]       density of mu with respect to mu0

    beta D_alpha(mu || mu0) = log E[L^alpha]      the add side
    beta D_alpha(mu0 || mu) = log E[L^(-beta)]    the remove side

The step costs the larger of the two, which they prove to be the add side.

Identity used in double precision. With l = log L and psi(y) = e^y - 1 - y >= 0,

    E[L^alpha] - 1 = E[L^alpha - 1 - alpha (L - 1)] = E[L (beta psi(-l) + psi(beta l))]

is an integral of positive terms against L phi(x) = q phi(x) + p phi(x - t): nothing cancels.

Lower bound used to choose precisions: D_alpha(mu || mu0) >= p^2 alpha a. With s = 2 a and Y_s a
geometric Brownian motion, Ito's formula gives d log E[L^alpha] / ds = (alpha beta / 2) E*[r^2],
r = p Y / L, where E* weighs by L^alpha. E*[r] >= p, since E[L^beta (Y - L)] =
q E[L^beta (Y - 1)] >= 0: L^beta increases with Y, and E[Y - 1] = 0. So E*[r^2] >= p^2.
On the remove side D >= 2 TV^2 = 2 p^2 erf(t / 8^(1/2))^2 (Pinsker; D increases with the order).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from bounds.arith import TooCostly
from bounds.arith.ball import between, precision
from bounds.setting import InvalidInput

Array = NDArray[np.float64]
Index = NDArray[np.int64]

LONGEST_BINOMIAL = 2000
MOST_POINTS = 1_000_000
"""Points of quadrature, about 5 seconds; fewer where each takes longer at a high precision."""
_FLOAT_NATS = 44.0
_FLOAT_ORDERS = 256
_FLOAT_ERROR = 3e-14
"""What rounding may do to `_Law._tops`, relative to the divergence, unless they are exact."""
_FLOAT_POINTS = 5_000_000
_FLOAT_ALL = 256
_LEAF = 32


# ---------------------------------------------------------------- enclosures


def sampled_gaussian_ball(alpha: Any, p: Any, a: Any, prec: int) -> Any:
    """A ball around D_alpha(mu || mu0), the larger of the two directions.

    `alpha` and `p` are `flint.fmpq`, `a` is a `flint.arb`. Raises `InvalidInput` outside
    alpha > 1, 0 <= p <= 1, a >= 0, and `TooCostly` beyond `MOST_POINTS` evaluations.

    Growth: time ~ order^1 for whole orders up to LONGEST_BINOMIAL; beyond, it hardly changes.
    """
    return _divergence(alpha, p, a, prec, True)


def sampled_gaussian_directions_ball(alpha: Any, p: Any, a: Any, prec: int) -> tuple[Any, Any]:
    """Balls around D_alpha(mu || mu0) and D_alpha(mu0 || mu); errors as for the larger one."""
    return _divergence(alpha, p, a, prec, True), _divergence(alpha, p, a, prec, False)


def _divergence(alpha: Any, p: Any, a: Any, prec: int, add: bool) -> Any:
    alpha, p, a = flint.fmpq(alpha), flint.fmpq(p), flint.arb(a)
    if alpha <= 1 or p < 0 or p > 1 or not (a >= 0 and a.is_finite()):
        raise InvalidInput("the sampled Gaussian needs alpha > 1, 0 <= p <= 1 and a >= 0")
    beta = alpha - 1
    with precision(prec):
        if p == 1:
            return alpha * a
        if p == 0 or a == 0:
            return flint.arb(0)
    if add and alpha.q == 1 and alpha <= LONGEST_BINOMIAL:
        moment = _binomial(int(alpha.p), p, a, prec + 20)
        with precision(prec + 20):
            out = moment.log1p() / beta
    else:
        out = _far_apart(alpha, p, a, prec, add)
        if out is None:
            # Both grow with a: d log E[L^s] / d(2a) = s (s - 1) / 2 times a mean of (p Y / L)^2.
            # Taking the ends apart avoids the cancellation of an inexact a in E[...] - 1.
            ends = [_integral(alpha, p, x, prec, add) for x in _ends(a, prec)]
            with precision(prec + 20):
                out = between(ends[0], ends[-1])
    with precision(prec):
        return +out


def _ends(a: Any, prec: int) -> list[Any]:
    """The smallest and the largest number of the ball, rounded outward."""
    if a.is_exact():
        return [a]
    with precision(2 * prec + 64):
        return [a.lower(), a.upper()]


def _integral(alpha: Any, p: Any, a: Any, prec: int, add: bool) -> Any:
    """The divergence by quadrature, for an exact a."""
    if a == 0:
        return flint.arb(0)
    bits = prec + 10 + _bits_below_one(alpha, p, a, add)
    moment = _quadrature(alpha if add else 1 - alpha, p, a, bits)
    with precision(bits + 20):
        return moment.log() / (alpha - 1)


def _bits_below_one(alpha: Any, p: Any, a: Any, add: bool) -> int:
    """How far E[...] - 1 may lie below 1, in bits, from the lower bounds of the module."""
    with precision(64):
        least = p * p * alpha * a if add else 2 * ((a / 4).sqrt().erf() * p) ** 2
        return _log2(1 / ((alpha - 1) * least)) + 2


def _binomial(n: int, p: Any, a: Any, prec: int) -> Any:
    """E[L^n] - 1 = sum_{k>=2} C(n,k) q^(n-k) p^k (e^(a k (k-1)) - 1) for a whole order n.

    Source: Mironov et al. 2019, Section 3.3; the terms are positive, so nothing cancels.
    """
    with precision(prec + 20 + 2 * n.bit_length()):
        weight, odds, total = flint.arb(1 - p) ** n, flint.arb(p / (1 - p)), flint.arb(0)
        for k in range(1, n + 1):
            weight *= odds * (n - k + 1) / k
            if k > 1:
                total += weight * (a * (k * (k - 1))).expm1()
        return total


def _far_apart(alpha: Any, p: Any, a: Any, prec: int, add: bool) -> Any:
    """The divergence where the two Gaussians hardly meet; None where that is not `prec` bits.

    Let e^z = p Y / q and z = 0 at x0; N is the normal distribution function.
    Add side: R = E[L^alpha] - q^alpha - p^alpha e^(a alpha beta) >= 0. By convexity
    (1 + v)^alpha - 1 <= (2^alpha - 1) v for 0 <= v <= 1; with v = e^z left of x0 and v = e^-z
    right of it, R <= (2^alpha - 1) (q^beta p N(x0 - t) + q p^beta e^(a beta (beta-1))
    N(beta t - x0)).
    Remove side: E[L^-beta] = q^-beta (1 - d), d = E[1 - (1 + e^z)^-beta] <= E[min(1, beta e^z)]
    <= (beta p / q + 1) N(-t/2), splitting at x = t/2.
    """
    if not a > 16:
        return None
    beta = alpha - 1
    with precision(prec + 80 + 2 * int(alpha).bit_length() + _log2(1 / beta)):
        q, t = 1 - p, (2 * a).sqrt()
        log_p, log_q = flint.arb(p).log(), flint.arb(q).log()
        if not add:
            most = (beta * p / q + 1) * _normal(-t / 2)
            if not (most < -log_q * beta * flint.arb(2) ** -prec and most < 1):
                return None
            return -log_q + (-between(0, most)).log1p() / beta
        x0 = (a + log_q - log_p) / t
        most = (log_q * beta + log_p).exp() * _normal(x0 - t) + (
            log_q + beta * log_p + a * beta * (beta - 1)
        ).exp() * _normal(beta * t - x0)
        most *= (flint.arb(2).log() * alpha).exp()
        rise = q * (beta * log_q).expm1() + p * (beta * (log_p + alpha * a)).expm1()
        if not most < rise * flint.arb(2) ** -prec:
            return None
        return (rise + between(0, most)).log1p() / beta


def _quadrature(s: Any, p: Any, a: Any, bits: int) -> Any:
    """E[L^s] for s > 1 or s < 0 to about `bits` bits, by the trapezoidal rule.

    Discretisation. f = L^s phi is analytic for |Im x| < pi/t, where L avoids (-inf, 0], and
    |phi(x+iy)| = e^(y^2/2) phi(x). If K bounds the integral of |f(x+iy)| over x for every
    |y| <= d, the sum T = h sum_j f(j h) has |T - E[L^s]| <= 2 K / (e^(2 pi d / h) - 1)
    (Trefethen and Weideman 2014, Theorem 5.1). For s > 0, |q + p Y e^(i t y)| <= L gives
    K = e^(d^2/2) E[L^s], a relative error kappa, so E[L^s] lies in T / [1 - kappa, 1 + kappa].
    For s < 0 put c = cos(t d) > 0: |q + p Y e^(i t y)| is at least q + c p Y and at least
    c q + p Y. Either way K = e^(d^2/2) times the integral of e^g / (2 pi)^(1/2) with g that of
    a law with p or q shrunk by c; as g'' <= -1, g(x) <= g(m) + g'(m) (x - m) - (x - m)^2 / 2
    for any m, and K = e^(d^2/2 + g(m) + g'(m)^2/2); m near the maximum of g serves best.

    Truncation. g = s log L - x^2/2, and s log L has slopes between 0 and s t and is convex for
    s > 0, concave for s < 0. Let lo <= min(0, s t) and hi >= max(0, s t). Integrating the slope,
    g(lo - w) <= g(lo) - w^2/2 and g(hi + w) <= g(hi) - w^2/2, which leaves Gaussian tails.
    Between, runs of points are left out where g is small on the whole interval: for s > 0,
    g + x^2/2 lies below its chord, so g <= max(g(ends)) + width^2/8; for s < 0, g is concave,
    so it is at most its right (left) end where it still rises (already falls).
    """
    most_points = int(MOST_POINTS / (1 + bits / 256) ** 1.5)
    size = 2 * (int(abs(s)) + 1).bit_length() + _log2(a) + 30
    with precision(bits + size):
        q, t = 1 - p, (2 * a).sqrt()
        nats, width, less, root = bits * math.log(2), float(t), 0.0, (2 * flint.arb.pi()).sqrt()

        def place(x: Any, p: Any, q: Any) -> tuple[Any, Any]:
            """g and its slope at x."""
            far = p * (t * x - a).exp()
            return s * (q + far).log() - x * x / 2, s * t * far / (q + far) - x

        if s > 0:
            d = min(math.sqrt(2 * nats), 0.98 * math.pi / width)
        else:
            offset = float(a + (flint.arb(q) / p).log())
            m, part = _maximum(float(s), width, offset)
            stiff = float(-s) * width**2 * min(part, 1 - part)
            d = min(math.sqrt(2 * nats / (1 + stiff)), 1.2 / width)
            shrink = (t * flint.arb(d)).cos()
            weak_p, weak_q = (shrink * p, q) if 2 * part < 1 else (p, shrink * q)
            moved = _maximum(float(s), width, float(a + (weak_q / flint.arb(weak_p)).log()))[0]
            value, slope = place(flint.arb(moved), weak_p, weak_q)
            strip = value + slope * slope / 2
            less = max(0.0, float(strip - place(flint.arb(m), p, q)[0])) + math.log1p(stiff) / 2
        h, d = flint.arb(2 * math.pi * d / (nats + d * d / 2 + less)), flint.arb(d)
        if not t * d < flint.arb.pi() / (1 if s > 0 else 2):
            raise TooCostly("the Gaussian's rate is known too roughly for any quadrature")
        kappa = 2 * (d * d / 2).exp() / (2 * flint.arb.pi() * d / h).expm1()

        def base(j: int) -> tuple[Any, Any]:
            return place(h * j, p, q)

        def bound(i: int, k: int) -> Any:
            """An upper bound of g on [i h, k h]; None where there is no good one."""
            (left, rise), (right, fall) = base(i), base(k)
            if s > 0:
                return left.max(right) + (h * (k - i)) ** 2 / 8
            return right if fall >= 0 else left if rise <= 0 else None

        ends = 0 * t, s * t / h
        lo = int(min(x.lower().floor().unique_fmpz() for x in ends))
        hi = int(max(x.upper().ceil().unique_fmpz() for x in ends))
        drop = nats + 10 + math.log(hi - lo + 1)
        more = math.ceil(math.sqrt(2 * drop) / float(h))
        tail = (flint.arb.pi() / 2).sqrt() * (h * more / flint.arb(2).sqrt()).erfc()
        outside = (base(lo)[0].exp() + base(hi)[0].exp()) * tail
        total, best = flint.arb(0), max(base(lo)[0], base(hi)[0], base(0)[0], key=float)
        runs, taken = [(lo - more, hi + more)], 0
        while runs:
            halves = []
            for i, k in runs:
                most = bound(i, k)
                if most is not None and most < best - drop:
                    outside += h * (k - i + 1) * most.exp()
                elif k - i < _LEAF:
                    taken += k - i + 1
                    for j in range(i, k + 1):
                        total += base(j)[0].exp()
                else:
                    middle = (i + k) // 2
                    best = max(best, base(middle)[0], key=float)
                    halves += [(i, middle), (middle + 1, k)]
            runs = halves
            if taken + len(runs) * _LEAF > most_points:
                raise TooCostly(
                    f"enclosing the sampled Gaussian at this order takes more than {most_points}"
                    f" points of quadrature at {bits + size} bits; ask for fewer bits"
                )
        total = (h * total + between(0, outside)) / root
        if s > 0:
            return total / (1 + between(-kappa, kappa))
        return total + strip.exp() * between(-kappa, kappa)


def _maximum(s: float, t: float, offset: float) -> tuple[float, float]:
    """About the root of x = s t r(x), r = 1 / (1 + e^(offset - t x)), for s < 0, and r there."""
    low, high = s * t, 0.0
    for _ in range(200):
        x = (low + high) / 2
        part = 1 / (1 + math.exp(min(offset - t * x, 700.0)))
        low, high = (x, high) if x < s * t * part else (low, x)
    return x, part


def _normal(x: Any) -> Any:
    """The normal distribution function."""
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def _log2(x: Any) -> int:
    """About max(0, log2 x)."""
    return max(0, int(float(flint.arb(x).upper().log()) / math.log(2)) + 1)


# ------------------------------------------------------------ multiprecision


def sampled_gaussian_mp(ctx: Any, alpha: Any, alpha_minus_one: Any, p: Any, a: Any) -> Any:
    """The midpoint of `sampled_gaussian_ball` at the precision of the mpmath context `ctx`.

    The arguments are taken as exact; `alpha` is read as 1 + `alpha_minus_one`. Errors as there.
    """
    beta, p, a = (_exact_mpf(ctx.mpf(x)) for x in (alpha_minus_one, p, a))
    prec = int(ctx.prec) + 16
    with precision(prec):
        a = flint.arb(a)
    man, exp = sampled_gaussian_ball(1 + beta, p, a, prec).mid().man_exp()
    return ctx.ldexp(ctx.mpf(int(man)), int(exp))


def _exact_mpf(x: Any) -> Any:
    man, exp = x.man_exp
    return flint.fmpq(int(man)) * flint.fmpq(2) ** int(exp)


# ------------------------------------------------------------------- float64


def sampled_gaussian_float(
    alpha: Array,
    alpha_minus_one: Array,
    p: float | Fraction,
    one_minus_p: float | Fraction,
    a: float | Fraction,
) -> Array:
    """D_alpha(mu || mu0) for an array of orders, as a function of the arguments as they stand.

    Relative error at most 2e-13 for p in [1e-6, 1], a in [1e-12, 1e6] and alpha - 1 in
    [1e-9, 1e6]. The order is read as 1 + `alpha_minus_one`, and the smaller of `p` and
    `one_minus_p` defines both. Where alpha a is close to log(1/p) the divergence itself
    multiplies a relative change of an argument by up to alpha log(1/p); exact `p` and `a` may
    be handed over as `Fraction` there. Raises `InvalidInput` outside alpha > 1, 0 <= p <= 1,
    a >= 0, and `TooCostly` far beyond that range.

    Growth: time ~ order^0: points far from both peaks are left out, with a logarithm of the order.
    """
    orders, less = np.asarray(alpha, dtype=np.float64), np.asarray(alpha_minus_one, np.float64)
    if not (np.all(less > 0) and 0 <= p <= 1 and a >= 0):
        raise InvalidInput("the sampled Gaussian needs alpha > 1, 0 <= p <= 1 and a >= 0")
    if p == 1 or p == 0 or a == 0:
        return orders * float(a) * float(p)
    law = _Law(p, one_minus_p, a)
    out = np.empty_like(less)
    with np.errstate(under="ignore", over="ignore", divide="ignore"):
        for low in range(0, len(less), _FLOAT_ORDERS):
            part = less[low : low + _FLOAT_ORDERS]
            out[low : low + _FLOAT_ORDERS] = law.far_apart(part) if law.apart else law.sum(part)
    return out


class _Law:
    """The pair of laws in double precision, with the logarithms that may cancel kept exact."""

    def __init__(self, p: float | Fraction, rest: float | Fraction, a: float | Fraction) -> None:
        small = Fraction(p if 2 * p <= 1 else rest)
        exact = small if 2 * p <= 1 else 1 - small
        with precision(192):
            self.exact = tuple(
                flint.arb(flint.fmpq(x.numerator, x.denominator))
                for x in (exact, 1 - exact, Fraction(a))
            )
            self.logs = self.exact[0].log(), self.exact[1].log()
            self.logit = float(self.logs[1] - self.logs[0])
        self.p, self.q, self.a = (float(x) for x in self.exact)
        self.log_p, self.log_q = (float(x) for x in self.logs)
        self.t = math.sqrt(2 * self.a)
        # Where both hold, what `far_apart` leaves out is below 1e-18 of the whole.
        lean = self.logit / self.t
        self.apart = self.t / 2 - lean >= 9.3 and self.t / 2 + lean >= 8.3

    def far_apart(self, beta: Array) -> Array:
        """E[L^alpha] = q^alpha + p^alpha e^(a alpha beta), as in `_far_apart`."""
        high = beta * (self.log_p + (1 + beta) * self.a)
        rise = self.q * np.expm1(beta * self.log_q) + self.p * np.expm1(np.minimum(high, 600.0))
        return np.where(high > 600, high + self.log_p, np.log1p(rise)) / beta

    def least(self, beta: Array) -> Array:
        """A lower bound of log(E[L^alpha] - 1), from that of the module."""
        out: Array = np.log(beta * (1 + beta)) + 2 * self.log_p + math.log(self.a)
        return out

    def sum(self, beta: Array) -> Array:
        """The trapezoidal rule of `_quadrature` for the positive integrand of the module.

        The grid of each order holds both x = 0 and x = alpha t, the two places where L^alpha phi
        may peak; around the second, L^alpha phi = e^top exp(-v^2/2) (1 + w (e^(-t v) - 1))^alpha
        with v = x - alpha t, and e^top, which may cancel to any degree, is found exactly.
        """
        alpha = 1 + beta
        top, weight, centre = self._tops(beta)
        d = min(math.sqrt(2 * _FLOAT_NATS), 0.98 * math.pi / self.t)
        step = 2 * math.pi * d / (_FLOAT_NATS + d * d / 2)
        count = np.where(alpha * self.t > step, np.ceil(alpha * self.t / step), 0.0)
        if count.max() > 2**50:
            raise TooCostly(f"the order {alpha.max():.3g} is beyond double precision; use balls")
        h = np.where(count > 0, alpha * self.t / np.maximum(count, 1), step)
        shift = np.where(count > 0, 0.0, alpha * self.t)

        def exponent(i: Index, j: Array) -> tuple[Array, ...]:
            """X, v (NaN where not used), l and log(L^alpha phi) at the points j of orders i."""
            x = j * h[i]
            log_y = self.t * x - self.a
            ell = self._log_ratio(log_y)
            v, g = np.full_like(x, np.nan), alpha[i] * ell - x * x / 2
            right = np.flatnonzero((log_y > self.logit) & (centre[i] > 0))
            if right.size:
                k = i[right]
                aside = (j[right] - count[k]) * h[k] - shift[k]
                fall = -self.t * aside
                tilt = np.where(
                    fall > 600,
                    np.exp(np.minimum(fall - centre[k], 0.0)),
                    weight[k] * np.expm1(np.minimum(fall, 600.0)),
                )
                v[right] = aside
                g[right] = top[k] - aside * aside / 2 + alpha[k] * np.log1p(tilt)
            return x, v, ell, g

        drop = _FLOAT_NATS + np.maximum(0, -self.least(beta))
        more = np.ceil((np.sqrt(2 * drop) + 1) / h)
        # Sorting out a few points costs more than taking them all.
        order, first, last = np.arange(len(beta)), -more, count + more
        long = np.flatnonzero(last - first >= _FLOAT_ALL)
        if long.size:
            runs = _runs(exponent, long, first[long], last[long], h, drop)
            short = np.flatnonzero(last - first < _FLOAT_ALL)
            order, first, last = (
                np.append(part[short], kept)
                for part, kept in zip((order, first, last), runs, strict=True)
            )
        sizes = (last - first + 1).astype(np.int64)
        if sizes.sum() > _FLOAT_POINTS:
            raise TooCostly(f"{sizes.sum()} points of quadrature in double precision; use balls")
        i = np.repeat(order, sizes)
        j = np.arange(len(i)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(first, sizes)
        x, v, ell, g = exponent(i, j)
        peak = np.zeros_like(beta)
        np.maximum.at(peak, i, g)
        y, terms = beta[i] * ell, np.empty_like(x)
        spread = beta[i] * _psi(-ell)
        k = np.flatnonzero(y <= 1)
        aside = np.where(np.isnan(v[k]), x[k] - self.t, v[k] + beta[i[k]] * self.t)
        density = self.q * np.exp(-x[k] * x[k] / 2) + self.p * np.exp(-aside * aside / 2)
        terms[k] = density * (spread[k] + _psi(y[k])) * np.exp(-peak)[i[k]]
        k = np.flatnonzero(y > 1)
        fall = np.exp(-y[k])
        rest = 1 - (1 + y[k]) * fall + spread[k] * fall
        terms[k] = np.exp(g[k] - peak[i[k]]) * rest
        rise = np.bincount(i, terms, len(beta)) * h / math.sqrt(2 * math.pi)
        # Beyond e^40 the 1 added to E[L^alpha] - 1 is lost in rounding.
        small = np.log1p(rise * np.exp(np.minimum(peak, 40.0)))
        return np.where(peak > 40, peak + np.log(rise), small) / beta

    def _log_ratio(self, log_y: Array) -> Array:
        """l = log(q + p Y) without cancellation."""
        u = self.p * np.expm1(np.minimum(log_y, 600.0))
        ell: Array = np.log1p(np.maximum(u, -0.5))
        if self.p > 0.5:
            low = self.q + self.p * np.exp(np.minimum(log_y, 1.0))
            ell = np.where(u < -0.5, np.log(low), ell)
        return np.where(log_y > 600, log_y + self.log_p, ell)

    def _tops(self, beta: Array) -> tuple[Array, Array, Array]:
        """top and w of `sum`, and the logarithm of p Y / q at x = alpha t."""
        alpha = 1 + beta
        centre = (alpha + beta) * self.a - self.logit
        with np.errstate(over="ignore"):
            top = alpha * (self.log_p + self.a * beta + np.log1p(np.exp(-centre)))
            weight = 1 / (1 + np.exp(centre))
        # top is the difference of two numbers of this size; centre also, and moves top by less.
        error = 2.0**-50 * alpha * (self.a * (alpha + beta) - self.log_p)
        # It matters where p Y > q. There L < 2 p Y, so these terms come to less than e^most.
        most = alpha * (math.log(2) + self.log_p + self.a * beta)
        share = np.exp(np.minimum(most - self.least(beta), 0.0))
        vague = ~(error * share <= _FLOAT_ERROR * np.where(top > 40, top, 1.0))
        log_p, log_q = self.logs
        with precision(192):
            for i in np.flatnonzero(vague):
                whole = flint.arb(float(beta[i])) + 1
                middle = (2 * whole - 1) * self.exact[2] + log_p - log_q
                top[i] = float(
                    whole * (log_p + self.exact[2] * (whole - 1) + (-middle).exp().log1p())
                )
                weight[i], centre[i] = float(1 / (1 + middle.exp())), float(middle)
        return top, weight, centre


def _runs(exponent: Any, i: Index, low: Array, high: Array, h: Array, drop: Array) -> Any:
    """Runs of points of orders i: outside, max(L^alpha, 1) phi is below e^-drop of its maximum.

    The integrand is at most alpha times as large; a run is left out as in `_quadrature`.
    """

    def size(i: Index, j: Array) -> Array:
        x, _, _, g = exponent(i, j)
        larger: Array = np.maximum(g, -x * x / 2)
        return larger

    best = np.full(len(h), -np.inf)
    kept = []
    while len(i):
        middle = np.floor((low + high) / 2)
        ends = np.maximum(size(i, low), size(i, high))
        np.maximum.at(best, i, np.maximum(ends, size(i, middle)))
        alive = ends + ((high - low) * h[i]) ** 2 / 8 >= best[i] - drop[i]
        leaf = alive & (high - low < _LEAF)
        kept.append((i[leaf], low[leaf], high[leaf]))
        split = alive & ~leaf
        i, low, middle, high = i[split], low[split], middle[split], high[split]
        i, low, high = np.tile(i, 2), np.append(low, middle + 1), np.append(middle, high)
    return tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))


def _psi(y: Array) -> Array:
    """e^y - 1 - y without cancellation."""
    out: Array = np.expm1(np.minimum(y, 700.0)) - y
    near = np.abs(y) <= 0.5
    small = y[near]
    series = np.full_like(small, _PSI[0])
    for coefficient in _PSI[1:]:
        series *= small
        series += coefficient
    out[near] = series * small * small
    return out


_PSI = [1 / math.factorial(k) for k in range(17, 1, -1)]
