r"""The recursion of Theorem 4.3, `S <- p e^s S + (1-p) S^q`, after any number of steps.

Setting
    With `y = log S` and `h = 1-q` the recursion reads `y_0 = 0`, `y_{t+1} = y_t + G(y_t)`,

        G(y) = log(a + b e^{-h y}),    a = p e^s,  b = 1-p,  alpha = log a = s + log p.

    Wanted is `y_T` for `T` far beyond what can be iterated, in float64 and as an enclosure.

Symbols (all are pure numbers, [-])
    p      probability that a step uses the record, in (0, 1)
    s      exponent of the factor of such a step, s >= 0
    h, q   loss of exponent in the other steps, h in (0, 1], and q = 1-h
    T      `steps`, a Python integer of any size
    G_t    the gain `y_{t+1} - y_t = G(y_t)`; `d_t = G_t - alpha = log1p((b/a) e^{-h y_t})`
    v, A   `A = |alpha|`; `v = G` where `alpha <= 0` and `v = d` where `alpha > 0`, so that in both
           cases `G d = v (v+A)`. `v_t` falls to 0, and `v_t <= v_0 <= log 2`, as `v_0` is
           `log(a+b)` with `a <= 1` or `log(1 + b/a)` with `a > 1`.

Mathematics
    (1) The gain obeys a map of its own. From `e^d - 1 = (b/a) e^{-h y}` one has
        `e^{d'} - 1 = (e^d - 1) e^{-h G}`, hence `e^{d'-d} = 1 - X` and

            v - v' = D = -log1p(-X),    X = (1 - e^{-h G}) (1 - e^{-d}) > 0.

        Nothing cancels: `D` is accurate relatively, whatever the sizes of `h`, `s`, `alpha`.

    (2) A time. `theta(v) = (1/A) log(1 + A/v)` has `d theta = -dv / (v (v+A))` and grows along the
        orbit by about `h` a step. From `v_m` on, with `W = theta(v_t) - theta(v_m)` and
        `psi = (1 - e^{-A W}) / A` (which is `W` at `A = 0`),

            v_t = v_m e^{-A W} / (1 + v_m psi),    v_t + A = (v_m + A) / (1 + v_m psi),
            v_m - v_t = v_m (v_m+A) psi / (1 + v_m psi),

        and `h (y_t - y_m) = log((e^{d_m} - 1) / (e^{d_t} - 1))` becomes, with
        `phi(x) = (e^x - 1)/x`, `td(x) = x / (1 - e^{-x})` and `D = v_m - v_t`,

            alpha <= 0:  log1p(v_m psi phi(D) td(v_t + A)),
            alpha > 0:   A W + log1p(psi (v_m + (v_m + A) (phi(D) td(v_t) - 1))).

        These hold through `alpha = 0`: near the critical point nothing is singular.

    (3) A density. Let `beta` be any function of `v` and `R(v) = (1/h) int_{v'}^{v} beta dv /
        (v (v+A)) - 1`, its failure to count one step as one. If `|R| <= r` on `(0, v_m]` then
        `int_{v_T}^{v_m} beta dv / (v (v+A)) = h n (1 + r')` with `n = T - m` and `|r'| <= r`, since
        the orbit stays in `(0, v_m]`: sum over its steps. With

            beta(v) = r_0 + r_1 v + v (v+A) sum_k q_k xi^k,    xi = (v - v_m/2) / (v_m/2)

        the integral is `r_0 W + r_1 log1p(v_m psi) + sum_k q_k int xi^k dv`, again free of
        singularities, and the coefficients follow from the linear equations `R(v_j) = 0` at
        Chebyshev points. As `h -> 0`, `beta -> td(d)`, which is analytic up to `|Im d| = 2 pi`
        while `v` runs over less than log 2: few coefficients suffice. For `h` of order one `beta`
        is smooth once `D/v` is small, so steps are first taken one by one until `D/v <= eta`. That
        takes O(1/eta) steps, or else `v` falls at least as fast as `(1-eta)^t` and the orbit has
        settled after O(log(1/accuracy)/eta) steps. Hence the cost does not depend on `T`.

    (4) Errors in time are harmless: the gain decreases, so `y_t` is concave in `t`, and a relative
        error `r` of the time is a relative error of at most `r` of `y_T - y_m`.

    (5) Monotonicity. `F(y) = y + G(y)` increases in `y`, `s` and `p` (`s + y > q y`) and decreases
        in `h`; by induction so does `y_T`. `0 <= F' <= 1`, so errors of `y` never grow.

Enclosure
    `log_moment_ball` turns this into a proof; the steps are listed there.

Source
    Ye and Shokri, Differentially Private Learning Needs Hidden State (Or Much Faster Convergence),
    NeurIPS 2022, Theorem 4.3 and equations (148)-(150).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FLOAT_ETA = 1 / 16
_FLOAT_TERMS = 16
_FLOAT_NEWTON = 40
_FLOAT_DIRECT = 128  # a run this short is cheaper step by step
_BALL_DIRECT = 512
_MP_DIRECT = 10**5


# ---------------------------------------------------------------------------------------------
# float64


def log_moment_float(
    s: NDArray[np.float64], p: float, one_minus_p: float, h: float, steps: int
) -> NDArray[np.float64]:
    """`y_T` in float64 for an array of `s`, relative error at most 2e-13.

    Setting: see the module. `s` [-], any shape; `p`, `one_minus_p` [-], the smaller of which is
    taken as exact, since the other may have been rounded; `h` [-]; `steps` [-], below 1e300.

    Statement: returns the array of `y_T`, of the shape of `s`.

    Why it is right: (1)-(4) of the module, with 16 coefficients and `eta = 1/16`. `alpha` is
    needed to full relative accuracy however close to 0 it is, because the orbit grows by `alpha` a
    step in the end; `log p` is therefore taken as an unevaluated sum of three numbers. Rounding
    does not build up: the steps done one by one are few, contract errors, and are summed with
    compensation; the rest is a formula.

    Growth: time ~ steps^0, by (3) of the module.

    Raises: ValueError where a parameter is outside its range or not finite.

    Source: Theorem 4.3, equations (148)-(150).
    """
    shape = np.shape(s)
    flat = np.array(s, dtype=np.float64).reshape(-1)
    _check_float(flat, p, one_minus_p, h, steps)
    out = np.zeros_like(flat)
    live = np.flatnonzero(flat > 0)
    if steps == 0 or live.size == 0:
        return out.reshape(shape)
    # e^{-A W} and (b/a) e^{-z} may vanish, which is what they then do in the result.
    with np.errstate(over="ignore", under="ignore"):
        par = _FloatOrbit.start(flat[live], p, one_minus_p, h)
        out[live] = _advance_float(par, steps)
    return out.reshape(shape)


def _check_float(s: Array, p: float, b: float, h: float, steps: int) -> None:
    if not (0 < p <= 1 and 0 < b <= 1 and abs((p - 1) + b) <= 4e-16):
        raise ValueError(f"p and 1-p must lie in (0, 1) and add up to 1: {p}, {b}")
    if not 0 < h <= 1:
        raise ValueError(f"h must lie in (0, 1]: {h}")
    if steps < 0:
        raise ValueError(f"steps must not be negative: {steps}")
    if not np.all(np.isfinite(s) & (s >= 0)):
        raise ValueError("s must be finite and not negative")


@dataclass(frozen=True, slots=True)
class _FloatOrbit:
    """Parameters of the orbits, one entry for each `s`."""

    h: float
    b: float
    alpha: Array
    first: Array  # p (e^s - 1), used where alpha <= 0
    up: NDArray[np.bool_]  # alpha > 0

    @classmethod
    def start(cls, s: Array, p: float, b: float, h: float) -> _FloatOrbit:
        high, mid, low = _log_in_three(p, b)
        # The sum s + high without its rounding error, which is where nearly all may cancel.
        total = s + high
        part = total - s
        rest = (s - (total - part)) + (high - part)
        alpha = total + (rest + (mid + low))
        up = alpha > 0
        first = p * np.expm1(np.where(up, 0.0, s))
        return cls(h, b, alpha, first, up)

    def take(self, index: NDArray[np.intp]) -> _FloatOrbit:
        return _FloatOrbit(self.h, self.b, self.alpha[index], self.first[index], self.up[index])

    def gain(self, y: Array) -> tuple[Array, Array]:
        """The gain `G` and `v` at `y`."""
        z = self.h * y
        # Either form is free of cancellation where it is used, up to the size of the first gain.
        excess = np.log1p(self.b * np.exp(-z - np.maximum(self.alpha, 0.0)))
        below = np.log1p(self.first + self.b * np.expm1(-z))
        return np.where(self.up, self.alpha + excess, below), np.where(self.up, excess, below)

    def fall(self, v: Array) -> Array:
        """`D = v - v'`, the fall of `v` in one step, at `v` (one row for each orbit)."""
        tall = np.abs(self.alpha).reshape(-1, *([1] * (v.ndim - 1))) + v
        up = self.up.reshape(-1, *([1] * (v.ndim - 1)))
        gain, excess = np.where(up, tall, v), np.where(up, v, tall)
        drop: Array = -np.log1p(-np.expm1(-self.h * gain) * np.expm1(-excess))
        return drop


def _log_in_three(p: float, b: float) -> tuple[float, float, float]:
    """`log p` as a sum of three floats; the smaller of `p` and `b = 1-p` is exact."""
    with _precision(300):
        rest = flint.arb(p).log() if p <= b else (-flint.arb(b)).log1p()
        parts = []
        for _ in range(3):
            parts.append(float(rest.mid()))
            rest = rest - flint.arb(parts[-1])
    return parts[0], parts[1], parts[2]


def _short_float(par: _FloatOrbit, steps: int) -> Array:
    """All steps one by one, with compensated sums, the orbits of each form together."""
    out = np.empty_like(par.alpha)
    for form in (True, False):
        rows = np.flatnonzero(par.up == form)
        if rows.size == 0:
            continue
        alpha, first = par.alpha[rows], par.first[rows]
        y, lost = np.zeros(rows.size), np.zeros(rows.size)
        for _ in range(steps):
            if form:
                gain = alpha + np.log1p(par.b * np.exp(-par.h * y - alpha))
            else:
                gain = np.log1p(first + par.b * np.expm1(-par.h * y))
            term = gain - lost
            total = y + term
            lost = (total - y) - term
            y = total
        out[rows] = y
    return out


def _advance_float(par: _FloatOrbit, steps: int) -> Array:
    """Step by step while the gain changes quickly, then by the density."""
    if steps <= _FLOAT_DIRECT:
        return _short_float(par, steps)
    count = par.alpha.size
    y, lost = np.zeros(count), np.zeros(count)
    done = np.zeros(count, dtype=np.intp)
    index = np.arange(count)
    settled = np.zeros(count, dtype=np.bool_)
    # While D/v > eta, v falls like (1-eta)^t: after this many steps it no longer shows.
    most = math.ceil(40 / _FLOAT_ETA)
    for step in range(min(steps, most) + 1):
        sub = par.take(index)
        gain, v = sub.gain(y[index])
        left = float(steps - step)
        with np.errstate(divide="ignore", invalid="ignore"):
            linear = np.minimum(left, 1 / -np.expm1(-par.h * sub.alpha))
        flat = sub.up & (v * linear <= 1e-18 * (y[index] + left * sub.alpha))
        # v at or below 0 is rounding noise at the fixed point.
        flat |= (v <= 0) | (step == most)
        smooth = sub.fall(v) <= _FLOAT_ETA * v
        settled[index[flat]] = True
        stay = ~(flat | smooth) & (step < steps)
        done[index] = step
        index, gain = index[stay], gain[stay]
        if index.size == 0:
            break
        term = gain - lost[index]
        total = y[index] + term
        lost[index] = (total - y[index]) - term
        y[index] = total
    rest = np.array([float(steps - int(m)) for m in done])
    grow = settled & par.up
    y[grow] += rest[grow] * par.alpha[grow]
    far = np.flatnonzero(~settled & (rest > 0))
    if far.size:
        sub = par.take(far)
        y[far] += _density_float(sub, sub.gain(y[far])[1], rest[far]) / par.h
    return y


def _ratio_exp(x: Array) -> Array:
    """`(e^x - 1) / x`, 1 at 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.expm1(safe) / safe)


def _ratio_log(x: Array) -> Array:
    """`log(1+x) / x`, 1 at 0."""
    safe = np.where(x == 0, 1.0, x)
    return np.where(x == 0, 1.0, np.log1p(safe) / safe)


def _density_float(par: _FloatOrbit, start: Array, rest: Array) -> Array:
    """`h (y_T - y_m)` from `v_m = start` and `n = rest`, by (2) and (3) of the module."""
    far = np.abs(par.alpha)
    scale = start * (start + far)
    level, slope, powers = _collocate_float(par, start)
    target = par.h * rest

    def at(time: Array) -> tuple[Array, Array, Array, Array]:
        """The integral, the density, `psi` and `v_m - v` at the time `W` since `v_m`."""
        psi = time * _ratio_exp(-far * time)
        below = 1 + start * psi
        drop = scale * psi / below
        last = start * np.exp(-far * time) / below
        xi = 1 - drop / (start / 2)
        power, mean = np.ones_like(xi), np.ones_like(xi)
        total, value = np.zeros_like(xi), np.zeros_like(xi)
        for k in range(powers.shape[1]):
            total += powers[:, k] * mean / (k + 1)
            value += powers[:, k] * power
            mean, power = mean + power * xi, power * xi
        integral = level * time + slope * np.log1p(start * psi) / start
        integral += total * drop / scale
        density = level + slope * last / start
        density += value * last * ((start + far) / below) / scale
        return integral, density, psi, drop

    # beta grows with v as a rule, so that Newton's method comes from below and does not overshoot.
    time = target / (level + slope + powers.sum(axis=1))
    for _ in range(_FLOAT_NEWTON):
        integral, density, _, _ = at(time)
        move = (target - integral) / density
        time = time + move
        if np.all(np.abs(move) <= 2e-16 * time):
            break
    _, _, psi, drop = at(time)
    below = 1 + start * psi
    short = np.where(par.up, start * np.exp(-far * time) / below, (start + far) / below)
    growth = _ratio_exp(drop) / _ratio_exp(-short)
    rise = psi * np.where(par.up, start + (start + far) * (growth - 1), start * growth)
    out: Array = np.where(par.up, far * time, 0.0) + np.log1p(rise)
    return out


def _collocate_float(par: _FloatOrbit, start: Array) -> tuple[Array, Array, Array]:
    """`r_0`, `r_1 v_m` and `q_k v_m (v_m+A)`, by which all terms of `beta` are of order one.

    Where A is above v_m, v is nearly a combination of the v (v+A) xi^k and the equations are nearly
    singular. Of all solutions up to rounding the shortest is taken: what counts is that R is small,
    and rounding errors of R are proportional to the coefficients.
    """
    terms = _FLOAT_TERMS
    far = np.abs(par.alpha)[:, None]
    angle = (np.arange(terms) + 0.5) * (math.pi / (2 * terms))
    top = start[:, None]
    v = top * np.sin(angle) ** 2
    drop = par.fall(v)
    psi = drop / (v * (v - drop + far))
    time = psi * _ratio_log(-far * psi)
    xi, after = 2 * v / top - 1, 2 * (v - drop) / top - 1
    matrix = np.empty((start.size, terms, terms))
    matrix[:, :, 0] = 1
    matrix[:, :, 1] = np.log1p(v * psi) / (time * top)
    power, mean = np.ones_like(xi), np.ones_like(xi)
    weight = drop / (time * top * (top + far))
    for k in range(terms - 2):
        matrix[:, :, k + 2] = weight * mean / (k + 1)
        power = power * after
        mean = xi * mean + power
    left, size, right = np.linalg.svd(matrix)
    part = np.einsum("ijk,ij->ik", left, par.h / time)
    kept = size > 4e-15 * size[:, :1]
    solution = np.einsum("ijk,ij->ik", right, np.where(kept, part / np.where(kept, size, 1.0), 0.0))
    return solution[:, 0], solution[:, 1], solution[:, 2:]


# ---------------------------------------------------------------------------------------------
# balls


@contextmanager
def _precision(bits: int) -> Iterator[None]:
    """Arb's precision belongs to the process: set it, and put it back."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def log_moment_ball(s: flint.arb, p: flint.arb, h: flint.arb, steps: int, prec: int) -> flint.arb:
    r"""A ball that contains `y_T`, of relative width about `2^-prec` where the input is exact.

    Setting: see the module. `s`, `p`, `h` [-], balls; `steps` [-]; `prec` bits of precision
    wanted, to which the result is rounded (outwards). Arb's precision is put back afterwards.

    Statement: for all real `s`, `p`, `h` in the balls (cut to `s >= 0` and `h <= 1`), `y_T` lies in
    the result.

    Why it is right: by (5) of the module `y_T` lies between its values at the two ends of the
    balls, so only exact parameters are left. Growth: time ~ steps^0 * digits^2. For these:

    (a) `m` steps one by one. Each takes the midpoint of the ball before, and the radii are added
        up: `F` does not expand, so this is the whole error of `y_m`.
    (b) If the rest is negligible, it is bounded by a closed form. For `alpha > 0` it is
        `n alpha + sum d_t` with `0 <= d_t <= k_t := (b/a) e^{-h y_t}` and
        `k_{t+1} <= k_t e^{-h alpha}`, so the sum is at most `k_m min(n, 1/(1 - e^{-h alpha}))`.
        For `alpha < 0` it is at most `y* - y_m`, and `G >= h (1-a) (y* - y)` (as
        `G = log(a + (1-a) e^{h(y*-y)})` is convex in `y* - y` with that slope at 0), so at most
        `v_m / (h (1-a))`.
    (c) Otherwise the coefficients of `beta` are found, by any means; they are exact numbers from
        then on. `R` is bounded on `[0, V]`, `V >= v_m`: with `f` the Chebyshev interpolant of
        degree `N` at the `N+1` zeros of `T_{N+1}`, `|f| <= (1 + (2/pi) log(N+1)) max |R(v_j)|` and
        `|R - f| <= 4 M / (rho^N (rho - 1))`, if `R` is analytic and `|R| <= M` in the ellipse with
        foci 0, `V` and sum of semi-axes `rho V/2` (at those points `T_k`, `k > N`, agrees with
        0 or some `+-T_j`, `j <= N`; and the coefficients of `R` are at most `2 M rho^-k`).
        Analyticity is read off the boundary: `X` is entire, vanishes at `v = 0` and `v = -A`, and
        `|X| < 1` inside if on the boundary; so `D = -log1p(-X)` and `D/(v (v+A))` are analytic;
        then `|D/(v+A)| < 1` on the boundary holds inside as well and
        `psi = D / (v (v+A-D))` is analytic; then `|A psi| < 1` and `|v psi| < 1` likewise give the
        logarithms. `M` is then a maximum over the boundary, by boxes of complex balls (the upper
        half: `R` is real on the real axis).
    (d) By (3), `I(W) = h n (1 + r')` at the true `W`, where `I' = beta`. With `beta` in
        `[beta_1, beta_2]`, `beta_1 > 0`, on `[0, V]` and any `W_c`, the mean value theorem puts `W`
        into `W_c + (h n (1 + r') - I(W_c)) / [beta_1, beta_2]`; (2) gives `y_T`.

    If `alpha` is so close to 0 that its sign is not decided, the formulas for `alpha <= 0` are used
    with `A = -alpha`: they hold for either sign (`v = G > 0` and `v + A = d > 0`).

    Should a bound in (c) or (d) fail, the closed forms of `log_moment_upper_ball` and their
    counterparts from below are returned: wider, but no less true. That is not known to happen.

    Cost: of the order of 0.1 s at 128 to 200 bits, 1 s at 600 bits, 20 s at 1500 bits, whatever the
    parameters and `T`; twice that where the input is not exact.

    Raises: ValueError where the balls are not inside the range of the parameters.

    Source: Theorem 4.3, equations (148)-(150).
    """
    with _precision(_working(steps, prec)):
        low, high = _corners(s, p, h, steps)
        out = _point(*low, steps, prec)
        if high is not None:
            out = out.union(_point(*high, steps, prec))
    with _precision(prec):
        rounded: flint.arb = +out
    return rounded


def log_moment_upper_ball(
    s: flint.arb, p: flint.arb, h: flint.arb, steps: int, prec: int
) -> flint.arb:
    """An exact number that is at least `y_T`, from closed forms; cheap, and safe for any `T`.

    Setting: as for `log_moment_ball`.

    Statement: the least, rounded up, of

        T G(0);
        y* (1 - F'(0)^T), where alpha < 0, with y* = log(b/(1-a))/h and F'(0) = 1 - h b/(a+b);
        T alpha + (1/h) log(1 + (h b/a) sum_{j<T} e^{-j h alpha}), which is exact for h = 1.

    Why it is right: `G` decreases. `F` is convex, so `y* - y` shrinks at least by `F'(0)`. With
    `E = e^{h y}`, Bernoulli's inequality gives `E' = E (a + b/E)^h <= a^h (E + h b/a)`, a linear
    recursion. The parameters are taken at the worst end of their balls, by (5) of the module.

    Raises: ValueError as `log_moment_ball`.

    Source: Theorem 4.3, equations (148)-(150).
    """
    with _precision(_working(steps, prec)):
        low, high = _corners(s, p, h, steps)
        upper = _upper(_BallOrbit.start(*(low if high is None else high)), steps)
    with _precision(prec):
        rounded: flint.arb = upper.upper()
    return rounded


def _working(steps: int, prec: int) -> int:
    """Bits for an `alpha` near 0 to keep its accuracy when multiplied by `T`, and guard bits."""
    return int(prec) + max(int(steps), 0).bit_length() + 64


Corner = tuple[Any, Any, Any]


def _corners(s: Any, p: Any, h: Any, steps: int) -> tuple[Corner, Corner | None]:
    """Exact parameters of the least and the greatest `y_T`; None if they are the same."""
    if steps < 0:
        raise ValueError(f"steps must not be negative: {steps}")
    s, p, h = (flint.arb(x) for x in (s, p, h))
    if not (s.is_finite() and p > 0 and p < 1 and h > 0 and h.lower() <= 1 and s.upper() >= 0):
        raise ValueError(f"outside s >= 0, 0 < p < 1, 0 < h <= 1: s = {s}, p = {p}, h = {h}")
    if s.is_exact() and p.is_exact() and h.is_exact():
        return (s, p, h), None
    least, most = s.lower(), h.upper()
    low = (least if least > 0 else flint.arb(0), p.lower(), most if most < 1 else flint.arb(1))
    return low, (s.upper(), p.upper(), h.lower())


@dataclass(frozen=True, slots=True)
class _BallOrbit:
    """Balls around the parameters of one orbit."""

    h: Any
    b: Any
    alpha: Any
    first: Any  # p (e^s - 1), used where alpha <= 0
    up: bool  # alpha > 0 for certain
    far: Any  # A; -alpha where the sign is not decided

    @classmethod
    def start(cls, s: Any, p: Any, h: Any) -> _BallOrbit:
        alpha = s + p.log()
        up = bool(alpha > 0)
        first = flint.arb(0) if up else p * s.expm1()
        return cls(h, 1 - p, alpha, first, up, alpha if up else -alpha)

    def excess(self, z: Any) -> Any:
        """`k = (b/a) e^{-z}`, with `log1p(k) = d`."""
        return self.b * (-z - self.alpha).exp()

    def gain(self, y: Any) -> tuple[Any, Any]:
        """The gain `G` and `v` at `y`."""
        z = self.h * y
        if self.up:
            v = self.excess(z).log1p()
            return self.alpha + v, v
        v = (self.first + self.b * (-z).expm1()).log1p()
        return v, v

    def fall(self, v: Any) -> tuple[Any, Any]:
        """`X` and `D`, for real and complex `v`."""
        tall = v + self.far
        gain, excess = (tall, v) if self.up else (v, tall)
        x = (-self.h * gain).expm1() * (-excess).expm1()
        return x, -(-x).log1p()


def _point(s: Any, p: Any, h: Any, steps: int, prec: int) -> Any:
    """`y_T` for exact parameters, at the precision that is set."""
    if steps == 0 or s == 0:
        return flint.arb(0)
    orbit = _BallOrbit.start(s, p, h)
    y, left, rest = _direct(orbit, steps, prec)
    if left == 0:
        return y
    if rest is not None:
        return y + rest
    out = _density(orbit, y, left, prec)
    if out is None or not out.is_finite():
        return _lower(orbit, steps).union(_upper(orbit, steps))
    return out


def _eta(prec: int) -> int:
    """`1/eta`: what remains of `beta` beyond every polynomial is exponentially small in it."""
    return max(32, prec // 3)


def _direct(orbit: _BallOrbit, steps: int, prec: int) -> tuple[Any, int, Any]:
    """(a) and (b): `y_m`, `T - m`, and the rest of `y_T` if that is known (None if not)."""
    inverse = _eta(prec)
    bits = flint.ctx.prec
    small = flint.arb(2) ** (-(prec + 16))
    # As in float64: v falls like (1 - 1/inverse)^t unless it becomes smooth.
    most = bits * inverse
    mid, error = flint.arb(0), flint.arb(0)
    done = 0
    while done < steps:
        gain, v = orbit.gain(mid)
        if done % 8 == 0:
            left = steps - done
            y = mid + flint.arb(0, error.upper())
            tail = _tail(orbit, y, left)
            size = mid + left * orbit.alpha if orbit.up else mid
            if tail is not None and (tail[1] <= small * size or done >= most):
                return y, left, tail[0] + _between(tail[1])
            if done >= most or (steps > _BALL_DIRECT and orbit.fall(v)[1] * inverse <= v):
                break
        new = mid + gain
        mid = new.mid()
        error = error + new.rad()
        done += 1
    return mid + flint.arb(0, error.upper()), steps - done, None


def _between(top: Any) -> Any:
    """The ball [0, top]."""
    return flint.arb(0).union(top.upper())


def _tail(orbit: _BallOrbit, y: Any, left: int) -> tuple[Any, Any] | None:
    """What the rest is at least, and a bound for what it may be more, by (b)."""
    if orbit.up:
        k = orbit.excess(orbit.h * y)
        geometric = k / -(-orbit.h * orbit.alpha).expm1()
        every = k * left
        return left * orbit.alpha, every if every < geometric else geometric
    if orbit.alpha < 0:
        return flint.arb(0), orbit.gain(y)[1] / (-orbit.h * orbit.alpha.expm1())
    return None


def _small(x: Any) -> int:
    """`k >= 10` with `|x| <= 2^-k`, or 0 if there is none."""
    size = x.abs_upper()
    if size == 0:
        return int(flint.ctx.prec)
    if not size < flint.arb(2) ** -10:
        return 0
    man, exponent = size.man_exp()
    return -(int(exponent) + int(man).bit_length())


def _disc(x: Any, radius: Any) -> Any:
    """A ball around 0 of the type of `x`."""
    ball = flint.arb(0, radius.upper())
    return flint.acb(ball, ball) if isinstance(x, flint.acb) else ball


def _ratio_exp_ball(x: Any) -> Any:
    """`(e^x - 1) / x`, 1 at 0, also where the ball contains 0."""
    k = _small(x)
    if not k:
        return x.expm1() / x
    # sum_{j<J} x^j/(j+1)!; the rest is below |x|^J/(J+1)! (1 + |x| + ...) < 2 |x|^J.
    terms = flint.ctx.prec // k + 2
    total = x * 0
    for j in range(terms, 0, -1):
        total = 1 + x * total / (j + 1)
    return total + _disc(x, 2 * x.abs_upper() ** terms)


def _ratio_log_ball(x: Any) -> Any:
    """`log(1+x) / x`, 1 at 0, also where the ball contains 0."""
    k = _small(x)
    if not k:
        return x.log1p() / x
    # sum_{j<J} (-x)^j/(j+1); the rest is below |x|^J (1 + |x| + ...) < 2 |x|^J.
    terms = flint.ctx.prec // k + 2
    total = x * 0
    for j in range(terms, 0, -1):
        total = flint.arb(flint.fmpq(1, j)) - x * total
    return total + _disc(x, 2 * x.abs_upper() ** terms)


@dataclass(frozen=True, slots=True)
class _Density:
    """`beta` on `[0, top]`: exact `r_0`, `r_1`, `q_k` and exact `top`."""

    orbit: _BallOrbit
    top: Any
    level: Any
    slope: Any
    coef: list[Any]

    def xi(self, v: Any) -> Any:
        return 2 * v / self.top - 1

    def value(self, v: Any) -> Any:
        xi, total = self.xi(v), v * 0
        for q in reversed(self.coef):
            total = total * xi + q
        return self.level + v * (self.slope + (v + self.orbit.far) * total)

    def integral(self, time: Any, bend: Any, v: Any, drop: Any) -> Any:
        """`int beta dv/(v (v+A))` from `v - drop` to `v`; `bend = log1p(v psi)`."""
        xi, after = self.xi(v), self.xi(v - drop)
        # mean = (xi^{k+1} - after^{k+1}) / (xi - after), so that a short way stays accurate.
        power, mean, total = v * 0 + 1, v * 0 + 1, v * 0
        for k, q in enumerate(self.coef):
            total = total + q * mean / (k + 1)
            power = power * after
            mean = xi * mean + power
        return self.level * time + self.slope * bend + drop * total

    def failure(self, v: Any) -> tuple[Any, bool]:
        """`R(v)`, and whether the conditions of (c) for a boundary hold at `v`."""
        far = self.orbit.far
        x, drop = self.orbit.fall(v)
        psi = drop / (v * (v + far - drop))
        tests = (x, drop / (v + far), far * psi, v * psi)
        fine = all(bool(test.abs_upper() < 1) for test in tests)
        time = psi * _ratio_log_ball(-far * psi)
        bend = (v * psi).log1p()
        return self.integral(time, bend, v, drop) / self.orbit.h - 1, fine


def _collocate_ball(orbit: _BallOrbit, top: Any, terms: int) -> _Density:
    """Coefficients with `R = 0` at `terms` points, nearly; which ones they are proves nothing."""
    # The powers of xi are ill conditioned by (1 + sqrt 2)^terms at the most.
    with _precision(flint.ctx.prec + 2 * terms):
        far = orbit.far
        rows, right = [], []
        for node in _nodes(top, terms):
            v = node.mid()
            drop = orbit.fall(v)[1]
            psi = drop / (v * (v + far - drop))
            time = psi * _ratio_log_ball(-far * psi)
            xi, after = 2 * v / top - 1, 2 * (v - drop) / top - 1
            row = [flint.arb(1), (v * psi).log1p() / (time * top)]
            power = mean = flint.arb(1)
            weight = drop / (time * top * (top + far))
            for k in range(terms - 2):
                row.append(weight * mean / (k + 1))
                power = power * after
                mean = xi * mean + power
            rows.append([entry.mid() for entry in row])
            right.append([(orbit.h / time).mid()])
        solution = flint.arb_mat(rows).solve(flint.arb_mat(right), algorithm="approx")
        scale = top * (top + far)
        coef = [(solution[k, 0] / scale).mid() for k in range(2, terms)]
        return _Density(orbit, top, solution[0, 0].mid(), (solution[1, 0] / top).mid(), coef)


def _nodes(top: Any, count: int) -> list[Any]:
    """Balls around the zeros of `T_count`, carried to `[0, top]`."""
    out = []
    for j in range(count):
        sine = flint.arb.sin_pi_fmpq(flint.fmpq(2 * j + 1, 4 * count))
        out.append(top * sine * sine)
    return out


def _worst(density: _Density, prec: int) -> Any:
    """An upper bound of `|R|` on `[0, top]` by (c); None if a condition fails."""
    for rho in (8, 4, 2):
        reach = _boundary(density, rho)
        if reach is None:
            continue
        count = (prec + 16) // (rho.bit_length() - 1) + 2
        most = flint.arb(0)
        for v in _nodes(density.top, count):
            size = density.failure(v)[0].abs_upper()
            if not size.is_finite():
                return None
            most = most if size <= most else size
        lebesgue = 1 + 2 * flint.arb(count).log() / flint.arb.pi()
        return (lebesgue * most + 4 * reach / (flint.arb(rho) ** (count - 1) * (rho - 1))).upper()
    return None


def _boundary(density: _Density, rho: int) -> Any:
    """`M` of (c), or None if a condition fails somewhere on the ellipse."""
    boxes = 64
    most = flint.arb(0)
    for j in range(boxes):
        angle = flint.arb(flint.fmpq(2 * j + 1, 2 * boxes), flint.fmpq(1, 2 * boxes))
        turn = flint.acb(0, angle * flint.arb.pi()).exp()
        back = flint.acb(0, -angle * flint.arb.pi()).exp()
        v = density.top / 2 * (1 + (turn * rho + back / rho) / 2)
        value, fine = density.failure(v)
        size = value.abs_upper()
        if not (fine and size.is_finite()):
            return None
        most = most if size <= most else size
    return most


def _density(orbit: _BallOrbit, y: Any, left: int, prec: int) -> Any:
    """(c) and (d): `y_T` from `y_m` and `n = left`; None if a bound fails."""
    start = orbit.gain(y)[1]
    if not start > 0:
        return None
    top = start.upper()
    density = _collocate_ball(orbit, top, prec // 4 + 12)
    worst = _worst(density, prec)
    if worst is None or not worst < flint.fmpq(1, 2):
        return None
    pieces = 32
    least: Any = None
    most: Any = None
    for j in range(pieces):
        middle, radius = flint.fmpq(2 * j + 1, 2 * pieces), flint.fmpq(1, 2 * pieces)
        value = density.value(top * flint.arb(middle, radius))
        least = value.lower() if least is None or value.lower() < least else least
        most = value.upper() if most is None or value.upper() > most else most
    if not (least > 0 and most.is_finite()):
        return None
    target = orbit.h * left
    time = _newton(density, start, target)
    if not time > 0:
        return None
    miss = target * flint.arb(1, worst) - _at(density, start, time)[0]
    time = time + miss / least.union(most)
    if not time > 0:
        return None
    _, psi, drop, last = _at(density, start, time)
    far = orbit.far
    if orbit.up:
        growth = _ratio_exp_ball(drop) / _ratio_exp_ball(-last)
        rise = far * time + (psi * (start + (start + far) * (growth - 1))).log1p()
    else:
        growth = _ratio_exp_ball(drop) / _ratio_exp_ball(-(start + far) / (1 + start * psi))
        rise = (start * psi * growth).log1p()
    return y + rise / orbit.h


def _at(density: _Density, start: Any, time: Any) -> tuple[Any, Any, Any, Any]:
    """`I(W)`, `psi`, `v_m - v` and `v` at the time `W` after `v_m = start`."""
    far = density.orbit.far
    psi = time * _ratio_exp_ball(-far * time)
    below = 1 + start * psi
    drop = start * (start + far) * psi / below
    last = start * (-far * time).exp() / below
    return density.integral(time, (start * psi).log1p(), start, drop), psi, drop, last


def _newton(density: _Density, start: Any, target: Any) -> Any:
    """An exact `W` with `I(W)` near `target`; nothing is proved about it."""
    start, target = start.mid(), target.mid()
    time = (target / density.value(density.top)).mid()
    close = flint.arb(2) ** (24 - flint.ctx.prec)
    for _ in range(60):
        integral, _, _, last = _at(density, start, time)
        move = ((target - integral) / density.value(last)).mid()
        time = (time + move).mid()
        if abs(move) <= close * time:
            break
    return time


def _upper(orbit: _BallOrbit, steps: int) -> Any:
    """The bounds of `log_moment_upper_ball`; the least of them, for exact parameters."""
    h, b, alpha, far = orbit.h, orbit.b, orbit.alpha, orbit.far
    first = orbit.gain(flint.arb(0))[0]
    bounds = [steps * first]
    if alpha < 0:
        slope = h * b / (1 + orbit.first)
        short = -((-slope).log1p() * steps).expm1()
        bounds.append(_fixed_point(orbit) * short)
        fade, part = (-h * far * steps).expm1(), (-h * far).expm1()
        bounds.append((fade * (1 - h * b / alpha.exp() * (part + 1) / -part)).log1p() / h)
    else:
        geometric = steps * _ratio_exp_ball(-h * alpha * steps) / _ratio_exp_ball(-h * alpha)
        bounds.append(steps * alpha + (h * b / alpha.exp() * geometric).log1p() / h)
    best = bounds[0].upper()
    for bound in bounds[1:]:
        if bound.is_finite() and bound.upper() < best:
            best = bound.upper()
    return best


def _lower(orbit: _BallOrbit, steps: int) -> Any:
    """`y* (1 - F'(y*)^T)` with `F'(y*) = 1 - h(1-a)`, the first gain, or `T alpha`."""
    bounds = [orbit.gain(flint.arb(0))[0], steps * orbit.alpha]
    if orbit.alpha < 0:
        shrink = (orbit.h * orbit.alpha.expm1()).log1p() * steps
        bounds.append(_fixed_point(orbit) * -shrink.expm1())
    best = flint.arb(0)
    for bound in bounds:
        if bound.is_finite() and bound.lower() > best:
            best = bound.lower()
    return best


def _fixed_point(orbit: _BallOrbit) -> Any:
    """`y* = log(b/(1-a))/h` for `alpha < 0`."""
    return -(-orbit.first / orbit.b).log1p() / orbit.h


# ---------------------------------------------------------------------------------------------
# mpmath


def log_moment_mp(mp_context: Any, s: Any, p: Any, h: Any, steps: int) -> Any:
    """`y_T` as a number of an mpmath context.

    Setting: see the module. `s`, `p`, `h` [-] are numbers of `mp_context`, taken as exact.

    Statement: up to 10^5 steps the recursion itself, with guard digits; this is independent of the
    rest of the module. Beyond that the midpoint of `log_moment_ball` at 16 bits more than the
    context has.

    Why it is right: step by step errors do not grow, by (5) of the module, and the guard digits
    outnumber their sum; the midpoint is within the radius of the ball.

    Raises: ValueError where a parameter is outside its range.

    Source: Theorem 4.3, equations (148)-(150).
    """
    if steps < 0 or not (0 < p < 1 and 0 < h <= 1 and 0 <= s < mp_context.inf):
        raise ValueError(f"outside s, steps >= 0, 0 < p < 1, 0 < h <= 1: {s}, {p}, {h}, {steps}")
    if steps > _MP_DIRECT:
        bits = int(mp_context.prec)
        s, p, h = (_from_mp(mp_context, x) for x in (s, p, h))
        mid = log_moment_ball(s, p, h, steps, bits + 16).mid()
        man, exponent = mid.man_exp()
        return mp_context.ldexp(mp_context.mpf(int(man)), int(exponent))
    with mp_context.extradps(10 + len(str(steps))):
        s, p, h = (mp_context.mpf(x) for x in (s, p, h))
        alpha, b = s + mp_context.log(p), 1 - p
        y = mp_context.mpf(0)
        first = p * mp_context.expm1(s) if alpha <= 0 else None
        for _ in range(steps):
            if first is None:
                step = alpha + mp_context.log1p(b * mp_context.exp(-h * y - alpha))
            else:
                step = mp_context.log1p(first + b * mp_context.expm1(-h * y))
            if y + step == y:
                break
            y = y + step
    return +y


def _from_mp(mp_context: Any, x: Any) -> Any:
    """An exact ball."""
    man, exponent = mp_context.mpf(x).man_exp
    return flint.arb((int(man), int(exponent)))
