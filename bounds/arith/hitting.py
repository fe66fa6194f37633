"""The moment of the optimal shift bound over random hits, in double precision, rounded upward.

Setting
    At every step, independently, a record is hit with probability p. V(H) is the optimum of
    `bounds.optimal` for c_t = c, s_t = H_t, v_t = 1, where H in {0,1}^T says which steps are hit.

Statement
    `log_moment` returns a double that is at least log E exp(gamma V(H)).

Symbols
    gamma, p, c [-]; T [steps]; V [-]; O_t = 1 + c^2 + ... + c^(2(t-1)) [-].

Proof
    1. One gap. Let V, P, O be value, P_t and Omega_t after t steps; then hit step t + 1 and miss
       the tau - 1 steps after it. Keep the fraction x of the old multipliers, and absorb what is
       left, (1-x) c^tau P + c^(tau-1), in the tau new steps: feasible, at the cost
       x^2 V + ((1-x) c^tau P + c^(tau-1))^2/O_tau. By Cauchy and Schwarz P^2 <= V O_t, so the new
       value is at most the minimum over x in [0, 1] with P = sqrt(V O_t), which is
           F(V) = [(c^tau sqrt(V O_t) + c^(tau-1))^2
                   + max(0, c^(2 tau - 1) sqrt(O_t)/O_tau - sqrt(V))^2 O_tau]/O_(t+tau).
       Without the hit, tau missed steps give at most V c^(2 tau) O_t/O_(t+tau).
       F grows with V and t and falls with tau.
    2. F is concave in V with slope at most 1 (slope 1 up to the point where the maximum vanishes,
       continuous there, falling after). So F is a minimum of lines, mu + a V with 0 <= a <= 1, and
       exp(gamma F) is a minimum of e^(gamma mu) Y^a: concave and increasing in Y = exp(gamma V).
    3. So atoms of the law of V may be replaced by one atom at their mean of exp(gamma V): the mean
       of every concave increasing function of Y only grows, and step 1 takes such functions to
       such functions. Merging all atoms into one is the recursion of Theorem 4.3 with the sharper
       F (see `bounds.derived.optimal_without_replacement`); here atoms are merged bin by bin.
    4. From the start: the law after T steps is the mixture, over the age of the last hit, of F
       applied to the law before that hit, or the missed steps where there was none. Ages between
       two of the listed ones are rounded down: F falls with tau, and the laws grow with time.
    5. From the top: the point min(W_T, log(S_T)/gamma), with W_T the value when every step is hit
       and S_T Theorem 4.3's bound of the mean of exp(gamma V), is above the laws of V at all
       t <= T, in the order of step 3. If a law is above them all, then so is its image under step
       4 with O_T for O_t, cut at W_T. This serves runs too long for 4, and long runs besides.
    6. Rounding. Values, weights and sums are positive and each is found to relative accuracy; a
       relative error of V passes through F undiminished at worst. `_allowance` counts the
       operations. Masses
       are kept as logarithms, so that none is lost.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.arith.resampling import log_moment_float

Array = NDArray[np.float64]

BINS = 64
SINGLE_AGES = 64
AGES_PER_DOUBLING = 16
WORK = 2_000_000
SHORT = 100
LEAST_ROUNDS = 64
MOST_ROUNDS = 2_000
_SETTLED = 1e-9


def log_moment(gamma: float, p: Fraction, eta_lambda: Fraction, steps: int) -> float:
    """An upper bound of log E exp(gamma V(H)) after `steps` steps, c = 1 - eta lambda in (0, 1).

    `gamma` is first raised to a number of 40 bits (the moment grows with it), so that callers who
    round it differently get one answer.

    Growth: time ~ steps^0, by the limits of steps 4 and 5 of the module.
    """
    mantissa, exponent = math.frexp(gamma)
    raised = math.ldexp(round(math.ldexp(mantissa, 40)) + 1, exponent - 40)
    return _log_moment(raised, p, eta_lambda, steps)


@lru_cache(maxsize=512)
def _log_moment(gamma: float, p: Fraction, eta_lambda: Fraction, steps: int) -> float:
    """The same; the smaller result of steps 4 and 5 where both were run.

    Cost is bounded for any number of steps: at most about WORK atoms from the start, at most
    MOST_ROUNDS rounds from the top.
    """
    log_c = math.log1p(-eta_lambda) if 2 * eta_lambda < 1 else math.log(1 - eta_lambda)
    top = _all_hit(log_c, steps)
    if p == 1 or steps == 1 or gamma * top == 0:
        plain = gamma * top if p == 1 else _single(gamma * top, float(p))
        return plain * (1 + 2**-40)
    ages = _ages(p, steps)
    with np.errstate(under="ignore", divide="ignore"):
        grid = _Grid(gamma, float(p), log_c, top, ages)
        found = []
        terms = (len(ages) + 1) * BINS
        direct = steps * len(ages) * BINS <= WORK
        if direct:
            mass, value = _from_start(grid, steps)
            found.append((grid.log_mean(mass, value), steps))
        if steps > SHORT or not direct:
            start = min(top, _recursion(gamma, p, eta_lambda, steps) / gamma)
            found.append(_from_top(grid, steps, start))
    raised = [out * (1 + _allowance(rounds, terms, gamma * top)) for out, rounds in found]
    return min(*raised, gamma * top * (1 + 2**-40))


def _recursion(gamma: float, p: Fraction, eta_lambda: Fraction, steps: int) -> float:
    """log S_T of Theorem 4.3, raised by more than its error."""
    lost = float(eta_lambda * (2 - eta_lambda))
    out = log_moment_float(np.array([gamma]), float(p), float(1 - p), lost, steps)
    return float(out[0]) * (1 + 2**-36)


def _all_hit(log_c: float, steps: int) -> float:
    """W_T = (1 - c^T)(1 + c)/((1 + c^T)(1 - c))."""
    return math.tanh(-steps * log_c / 2) / math.tanh(-log_c / 2)


def _single(x: float, p: float) -> float:
    """log(1 + p (e^x - 1))."""
    return math.log1p(p * math.expm1(x)) if x < 30 else x + math.log(p + (1 - p) * math.exp(-x))


def _allowance(rounds: int, terms: int, scale: float) -> float:
    """Relative error of the answer: what a round does to V and to masses, times their weight.

    A sum of m terms loses at most m ulp, a power (see `bounds.arith.float64.MARGIN`) at most 2250.
    An error d of V is gamma V d of exp(gamma V), at most `scale` d. A mass kept as a logarithm x
    loses |x| ulp, which matters for |x| up to about `scale`, or a few dozen: beyond, it is nothing.
    """
    return (rounds + 2) * (terms + 4096) * 2.0**-52 * (64 + scale)


def _ages(p: Fraction, steps: int) -> Array:
    """1, 2, 3, ..., then in equal ratios up to about eight mean gaps."""
    last = min(steps, 8 * math.ceil(1 / p))
    ages = [1]
    while ages[-1] < last:
        following = ages[-1] + 1
        if following > SINGLE_AGES:
            following = max(following, ages[-1] + ages[-1] // AGES_PER_DOUBLING)
        ages.append(min(last, following))
    return np.array(ages, dtype=np.float64)


def _noise(log_c: float, steps: Any) -> Any:
    """O_t."""
    return np.expm1(2 * steps * log_c) / np.expm1(2 * log_c)


class _Grid:
    """What does not change from round to round."""

    def __init__(self, gamma: float, p: float, log_c: float, top: float, ages: Array) -> None:
        self.gamma, self.p, self.log_c, self.top, self.ages = gamma, p, log_c, top, ages
        self.edges = np.geomspace(min(p * p / 16, top / 2), top, BINS)
        self.edges[-1] = top
        widths = np.diff(self.edges, prepend=0.0)
        self.wide = gamma * widths > 1
        miss = math.log1p(-p)
        self.reached = (ages - 1) * miss
        self.missed = ages * miss
        self.classes = self.reached[:-1] + np.log(-np.expm1(np.diff(ages) * miss))
        self.decay = np.exp(ages * log_c)[:, None]
        self.fresh = np.exp((ages - 1) * log_c)[:, None]
        self.recent = _noise(log_c, ages)[:, None]

    def weights(self, count: int) -> Array:
        """Log probabilities of the first `count` age classes; the last holds one age."""
        return np.append(self.classes[: count - 1], self.reached[count - 1] + math.log(self.p))

    def advance(self, value: Array, noise: Any, total: Any) -> Array:
        """F [ages, bins] for values before the hit."""
        count = len(value)
        decay, fresh, recent = self.decay[:count], self.fresh[:count], self.recent[:count]
        root, scale = np.sqrt(value), np.sqrt(noise)
        bend = np.maximum(0.0, decay * fresh * scale / recent - root)
        moved = decay * root * scale + fresh
        out: Array = (moved * moved + bend * bend * recent) / total
        return out

    def merge(self, log_mass: Array, value: Array) -> tuple[Array, Array]:
        """One atom a bin, at the mean of exp(gamma V); masses as logarithms, so none is lost."""
        live = log_mass > -math.inf
        log_mass, value = log_mass[live], np.minimum(value[live], self.top)
        place = np.searchsorted(self.edges, value)
        peak = np.full(BINS, -math.inf)
        np.maximum.at(peak, place, log_mass)
        share = np.exp(log_mass - peak[place])
        below = self.gamma * (value - self.edges[place])
        term = np.where(self.wide[place], np.exp(below), np.expm1(below))
        whole = np.bincount(place, share, BINS)
        held = whole > 0
        whole[~held] = 1
        mean = np.bincount(place, share * term, BINS) / whole
        shift = np.where(
            self.wide, np.log(np.maximum(mean, 1e-300)), np.log1p(np.maximum(mean, -0.9))
        )
        merged = np.clip(self.edges + shift / self.gamma, 0.0, self.edges)
        return np.where(held, peak + np.log(whole), -math.inf), merged

    def log_mean(self, log_mass: Array, value: Array) -> float:
        """log of the mean of exp(gamma V); the masses add up to 1."""
        exponent = self.gamma * value
        logs = log_mass + exponent
        peak = float(np.max(logs))
        if peak > 1:
            return peak + float(np.log(np.sum(np.exp(logs - peak))))
        small = exponent <= 1
        mass = np.exp(log_mass)
        grown = np.where(small, mass * np.expm1(np.minimum(exponent, 1.0)), np.exp(logs) - mass)
        return float(np.log1p(np.sum(grown)))


def _from_start(grid: _Grid, steps: int) -> tuple[Array, Array]:
    """Step 4 of the module."""
    mass, value = np.full((steps + 1, BINS), -math.inf), np.zeros((steps + 1, BINS))
    mass[0, 0] = 0
    noise = _noise(grid.log_c, np.arange(steps + 1, dtype=np.float64))
    ages = grid.ages.astype(np.intp)
    for t in range(1, steps + 1):
        count = int(np.searchsorted(ages, t, side="right"))
        before = t - ages[:count]
        moved = grid.advance(value[before], noise[before][:, None], noise[t])
        oldest = int(before[-1])
        faded = value[oldest] * (grid.decay[count - 1, 0] ** 2 * noise[oldest] / noise[t])
        weights = (grid.weights(count)[:, None] + mass[before]).ravel()
        mass[t], value[t] = grid.merge(
            np.append(weights, grid.missed[count - 1] + mass[oldest]),
            np.append(moved.ravel(), faded),
        )
    return mass[steps], value[steps]


def _from_top(grid: _Grid, steps: int, start: float) -> tuple[float, int]:
    """Step 5 of the module: the smallest log mean met, and the rounds it took."""
    mass, value = np.full(BINS, -math.inf), grid.edges.copy()
    place = int(np.searchsorted(grid.edges, start))
    mass[place], value[place] = 0, start
    noise = _noise(grid.log_c, float(steps))
    count = len(grid.ages)
    total = grid.recent + grid.decay**2 * noise
    fade = float(grid.decay[-1, 0] ** 2 * noise / total[-1, 0])
    weights = grid.weights(count)[:, None]
    best = last = grid.log_mean(mass, value)
    for rounds in range(1, MOST_ROUNDS + 1):
        moved = grid.advance(np.broadcast_to(value, (count, BINS)), noise, total)
        mass, value = grid.merge(
            np.append((weights + mass).ravel(), grid.missed[-1] + mass),
            np.append(moved.ravel(), value * fade),
        )
        now = grid.log_mean(mass, value)
        best = min(best, now)
        if last - now < _SETTLED * now and rounds > LEAST_ROUNDS:
            break
        last = now
    return best, rounds
