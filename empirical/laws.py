"""The exact law of the last iterate of noisy SGD on a one-dimensional quadratic problem.

Given the batches, every update is affine and the noise Gaussian, so the last iterate is Gaussian;
over random batches it is a Gaussian mixture. Three forms:

    PatternLaw   every pattern of batches that matters, merged, with exact rational numbers
    SumLaw       a sum of independent discrete shifts plus one Gaussian: the form of the law where
                 all batches contract alike, for any number of updates (proved in `SumLaw`)
    GridLaw      a density propagated on a grid in float64, with atoms where iterates are projected

The first two are exact. The third carries an error, and says whether it is a bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from bounds.arith import TooCostly
from bounds.setting import InvalidInput
from empirical.quadratic import Loss, Problem, Side, Update
from empirical.schemes import Scheme, Use, find

MOST_PATTERNS = 20_000
MOST_BITS = 400_000
MOST_NODES = 4000
MOST_WORK = 4 * 10**10
REACH = 9.5

Floats = npt.NDArray[np.float64]


# --- exact Gaussian mixtures -------------------------------------------------------------------


@dataclass(frozen=True)
class Mixture:
    """sum_i weight_i N(mean_i, variance_i); components (weight, mean, variance), all exact.

    weight [-], mean [parameter], variance [parameter^2]. Equal components are merged, and the
    order is by mean.

    Raises:
        InvalidInput: weights that are not positive or do not sum to 1, variances not positive.
    """

    components: tuple[tuple[Fraction, Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        total = sum((weight for weight, _, _ in self.components), Fraction(0))
        if total != 1 or any(weight <= 0 for weight, _, _ in self.components):
            raise InvalidInput(
                f"mixture weights must be positive and sum to 1; they sum to {total}"
            )
        if any(variance <= 0 for _, _, variance in self.components):
            raise InvalidInput("the variances of a mixture must be positive")

    @classmethod
    def of(cls, items: Iterable[tuple[Fraction, Fraction, Fraction]]) -> Mixture:
        """Merge equal (mean, variance) and sort."""
        merged: dict[tuple[Fraction, Fraction], Fraction] = {}
        for weight, mean, variance in items:
            merged[mean, variance] = merged.get((mean, variance), Fraction(0)) + weight
        return cls(
            tuple((weight, *key) for key, weight in sorted(merged.items()) if weight)
        )  # fmt: skip

    @property
    def common_variance(self) -> Fraction | None:
        """The variance of all components, or None when they differ."""
        variances = {variance for _, _, variance in self.components}
        return variances.pop() if len(variances) == 1 else None

    def mean(self) -> Fraction:
        """[parameter]."""
        return sum((w * m for w, m, _ in self.components), Fraction(0))

    def variance(self) -> Fraction:
        """[parameter^2]."""
        centre = self.mean()
        return sum((w * (v + (m - centre) ** 2) for w, m, v in self.components), Fraction(0))


@dataclass(frozen=True)
class Pattern:
    """One pattern of batches: its probability, and the Gaussian law of each data set given it."""

    probability: Fraction
    first_mean: Fraction
    second_mean: Fraction
    first_variance: Fraction
    second_variance: Fraction


@dataclass(frozen=True)
class PatternLaw:
    """Both laws of the last iterate, pattern by pattern; equal patterns are merged."""

    patterns: tuple[Pattern, ...]

    def mixture(self, side: Side) -> Mixture:
        """The law of one data set."""
        if side == "first":
            return Mixture.of(
                (p.probability, p.first_mean, p.first_variance) for p in self.patterns
            )
        return Mixture.of((p.probability, p.second_mean, p.second_variance) for p in self.patterns)


State = tuple[Fraction, Fraction, Fraction, Fraction]
Step = tuple[Update, Update]


def _too_many(found: int, most: int) -> TooCostly:
    return TooCostly(
        f"the law has more than {most} patterns of batches ({found} when counting stopped); fewer "
        "epochs or batches, or alike records, would do"
    )


def bits(problem: Problem) -> int:
    """About how long the exact numbers of the law become, in bits."""
    losses = [problem.first, problem.second, *(loss for _, loss in problem.shared)]
    batch = [
        problem.update(place, loss.curvature * problem.b, loss.gradient).factor
        for place in range(len(problem.ridge))
        for loss in losses
    ]
    longest = max(f.denominator.bit_length() + f.numerator.bit_length() for f in batch)
    return problem.steps * longest


def _unprojected(problem: Problem) -> None:
    if problem.radius is not None:
        raise InvalidInput(
            "projected iterates are no Gaussian mixture; their law is propagated on a grid"
        )


def enumerate_patterns(
    problem: Problem, scheme: str | Scheme, *, most: int = MOST_PATTERNS
) -> PatternLaw:
    """All patterns of batches, by recursion on exact means and variances.

    Any curvatures and records are taken. Records of one kind are interchangeable, so a batch is
    its count of each kind and whether it holds the differing record.

    Raises:
        TooCostly: more than `most` patterns, or numbers too long.
        InvalidInput: iterates are projected.
    """
    _unprojected(problem)
    rule = find(scheme)
    if bits(problem) > MOST_BITS:
        raise TooCostly(
            f"{problem.steps} updates make exact fractions of about {bits(problem)} bits; at "
            f"most {MOST_BITS} are tried"
        )
    start: State = (
        problem.start_mean, problem.start_mean, problem.start_variance, problem.start_variance
    )  # fmt: skip
    states: dict[State, Fraction] = {start: Fraction(1)}
    noise = problem.noise
    if rule.afresh == "never":
        for _ in range(problem.epochs):
            for step in fixed_steps(problem):
                states = {_advance(state, step, noise): w for state, w in states.items()}
    elif rule.afresh == "update":
        for number in range(problem.steps):
            choices = random_batches(problem, rule, number % problem.batches)
            states = _spread(states, choices, noise, most)
    elif rule.afresh == "epoch":
        for _ in range(problem.epochs):
            states = _partition(problem, states, most)
    else:
        final: dict[State, Fraction] = {}
        for weight, sequence in _sequences(problem, most):
            state = start
            for _ in range(problem.epochs):
                for step in sequence:
                    state = _advance(state, step, noise)
            final[state] = final.get(state, Fraction(0)) + weight
        states = final
    return PatternLaw(
        tuple(Pattern(w, m1, m2, v1, v2) for (m1, m2, v1, v2), w in sorted(states.items()))
    )


def _advance(state: State, step: Step, noise: Fraction) -> State:
    (m1, m2, v1, v2), (one, two) = state, step
    return (
        one.factor * m1 + one.drift, two.factor * m2 + two.drift,
        one.factor**2 * v1 + noise, two.factor**2 * v2 + noise,
    )  # fmt: skip


def _spread(
    states: dict[State, Fraction], choices: list[tuple[Fraction, Step]], noise: Fraction, most: int
) -> dict[State, Fraction]:
    out: dict[State, Fraction] = {}
    for state, weight in states.items():
        for probability, step in choices:
            after = _advance(state, step, noise)
            out[after] = out.get(after, Fraction(0)) + weight * probability
        if len(out) > most:
            raise _too_many(len(out), most)
    return out


def _kinds(problem: Problem) -> list[tuple[Loss, int]]:
    counts: Counter[Loss] = Counter()
    for count, loss in problem.shared:
        counts[loss] += count
    return list(counts.items())


def _step(
    problem: Problem, place: int, kinds: list[tuple[Loss, int]], taken: tuple[int, ...], holds: int
) -> Step:
    """The updates of the two data sets for a batch of `taken[k]` records of kind k."""
    bend = sum((c * loss.curvature for c, (loss, _) in zip(taken, kinds, strict=True)), Fraction(0))
    pull = sum((c * loss.gradient for c, (loss, _) in zip(taken, kinds, strict=True)), Fraction(0))
    if not holds:
        update = problem.update(place, bend, pull)
        return update, update
    one, two = problem.first, problem.second
    return (
        problem.update(place, bend + one.curvature, pull + one.gradient),
        problem.update(place, bend + two.curvature, pull + two.gradient),
    )


def fixed_steps(problem: Problem) -> list[Step]:
    """The updates of one epoch under a fixed order, for the two data sets, [floor(n/b)]."""
    runs = list(reversed(problem.shared))
    steps: list[Step] = []
    for place in range(problem.batches):
        holds = int(place == problem.position)
        wanted = problem.b - holds
        batch: list[tuple[Loss, int]] = []
        while wanted:
            there, loss = runs.pop()
            count = min(wanted, there)
            batch.append((loss, count))
            wanted -= count
            if there > count:
                runs.append((there - count, loss))
        steps.append(_step(problem, place, batch, tuple(count for _, count in batch), holds))
    return steps


def random_batches(problem: Problem, rule: Scheme, place: int) -> list[tuple[Fraction, Step]]:
    """What a batch drawn afresh does at this place of an epoch: (probability, updates), merged.

    Raises:
        TooCostly: too many kinds of batches.
    """
    kinds = _kinds(problem)
    n, b = problem.n, problem.b
    ways = math.prod((count if rule.random_size else min(count, b)) + 1 for _, count in kinds)
    if ways > 10 * MOST_PATTERNS:
        raise TooCostly(
            f"there are about {ways} kinds of batches; give the curvature to the batch, or make "
            "the shared records alike"
        )
    out: dict[Step, Fraction] = {}
    if rule.random_size:
        rate = Fraction(b, n)
        tables = [_binomial(count, rate) for _, count in kinds]
        for taken in product(*(range(count + 1) for _, count in kinds)):
            drawn = Fraction(1)
            for table, count in zip(tables, taken, strict=True):
                drawn *= table[count]
            for holds, chance in ((0, 1 - rate), (1, rate)):
                step = _step(problem, place, kinds, taken, holds)
                out[step] = out.get(step, Fraction(0)) + drawn * chance
    else:
        for holds in (0, 1):
            for taken, weight in _choose(tuple(c for _, c in kinds), b - holds):
                step = _step(problem, place, kinds, taken, holds)
                out[step] = out.get(step, Fraction(0)) + Fraction(weight, math.comb(n, b))
    return [(weight, step) for step, weight in out.items() if weight]


def _binomial(count: int, rate: Fraction) -> list[Fraction]:
    return [math.comb(count, c) * rate**c * (1 - rate) ** (count - c) for c in range(count + 1)]


def _choose(left: tuple[int, ...], size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Ways to take `size` of the records left: counts by kind, and the number of such choices."""
    if not left:
        if size == 0:
            yield (), 1
        return
    for c in range(min(left[0], size) + 1):
        for rest, ways in _choose(left[1:], size - c):
            yield (c, *rest), math.comb(left[0], c) * ways


def _partition(problem: Problem, states: dict[State, Fraction], most: int) -> dict[State, Fraction]:
    """One epoch over a new random partition."""
    kinds, b = _kinds(problem), problem.b
    live: dict[tuple[State, tuple[int, ...], int], Fraction] = {
        (state, tuple(c for _, c in kinds), 1): weight for state, weight in states.items()
    }
    for place in range(problem.batches):
        after: dict[tuple[State, tuple[int, ...], int], Fraction] = {}
        for (state, left, unused), weight in live.items():
            for holds, taken, rest, chance in _next_batch(left, unused, b):
                moved = _advance(state, _step(problem, place, kinds, taken, holds), problem.noise)
                key = (moved, rest, unused - holds)
                after[key] = after.get(key, Fraction(0)) + weight * chance
            if len(after) > most:
                raise _too_many(len(after), most)
        live = after
    out: dict[State, Fraction] = {}
    for (state, _, _), weight in live.items():
        out[state] = out.get(state, Fraction(0)) + weight
    return out


def _next_batch(
    left: tuple[int, ...], unused: int, b: int
) -> Iterator[tuple[int, tuple[int, ...], tuple[int, ...], Fraction]]:
    total = math.comb(sum(left) + unused, b)
    for holds in range(unused + 1):
        for taken, ways in _choose(left, b - holds):
            rest = tuple(a - c for a, c in zip(left, taken, strict=True))
            yield holds, taken, rest, Fraction(ways, total)


def _sequences(problem: Problem, most: int) -> list[tuple[Fraction, list[Step]]]:
    """All partitions, as (probability, updates of one epoch)."""
    kinds = _kinds(problem)
    live: list[tuple[Fraction, list[Step], tuple[int, ...], int]] = [
        (Fraction(1), [], tuple(c for _, c in kinds), 1)
    ]
    for place in range(problem.batches):
        after: list[tuple[Fraction, list[Step], tuple[int, ...], int]] = []
        for weight, done, left, unused in live:
            for holds, taken, rest, chance in _next_batch(left, unused, problem.b):
                step = _step(problem, place, kinds, taken, holds)
                after.append((weight * chance, [*done, step], rest, unused - holds))
            if len(after) > most:
                raise _too_many(len(after), most)
        live = after
    return [(weight, done) for weight, done, _, _ in live]


# --- alike batches: a sum of independent shifts ------------------------------------------------

Number = Callable[[int | Fraction], Any]


def contracts_alike(problem: Problem, scheme: str | Scheme) -> bool:
    """Whether the contraction of each update does not depend on the batch drawn.

    It does not where all records have one curvature and batches one size. A random batch size
    (Poisson) wants records without curvature, and shared records without gradient.
    """
    rule = find(scheme)
    if problem.radius is not None or not problem.alike:
        return False
    if not rule.random_size:
        return True
    flat = problem.first.curvature == 0
    return flat and all(loss.gradient == 0 for _, loss in problem.shared)


@dataclass(frozen=True)
class SumLaw:
    """Both laws as base + shift * H + N(0, variance), where batches contract alike.

    Theorem. Let update t contract by c_t whatever the batch, and let w_t = prod_(s > t) c_s. Then
    theta_T = m + sum_t w_t (u_t delta) + N(0, V) with u_t = 1 where update t uses the record,
    delta = -eta (g - g_0)/b for the record's gradient g and the shared records' g_0,
    m = w_(-1) m_0 - eta g_0 sum_t w_t, V = 2 eta sigma^2 sum_t w_t^2 + w_(-1)^2 V_0. Hence the law
    is that of delta H, H = sum_t w_t u_t, convolved with N(m, V); H is a sum of independent terms,
    one for each block of the scheme.

    Numbers are asked for in a number system: `Fraction` for exact ones, `Ball.number` for balls
    at the precision in force.

    Raises:
        InvalidInput: batches do not contract alike.
    """

    problem: Problem
    scheme: Scheme

    def __post_init__(self) -> None:
        if not contracts_alike(self.problem, self.scheme):
            raise InvalidInput(
                f"under {self.scheme.title} the batches of this problem do not contract alike"
            )

    def _shared_gradient(self) -> Fraction:
        return self.problem.shared[0][1].gradient if self.problem.shared else Fraction(0)

    def shift(self, side: Side) -> Fraction:
        """delta [parameter]: what one use of the record adds to the iterate."""
        problem = self.problem
        other = self._shared_gradient()
        return -problem.eta * (problem.record(side).gradient - other) / problem.b

    def factors(self) -> list[Fraction]:
        """c at each place of an epoch [-], [floor(n/b)] or, where all are equal, [1]."""
        problem = self.problem
        bend = problem.first.curvature * problem.b
        return [
            problem.update(place, bend, Fraction(0)).factor for place in range(len(problem.ridge))
        ]

    def tails(self, number: Number) -> list[Any]:
        """prod of the factors after each place of an epoch, then before all: [floor(n/b) + 1].

        Entry j is what an epoch leaves of a shift made at place j; the last entry, the product of
        all factors, is what it leaves of the iterate that it started from.
        """
        factors = self.factors() * (self.problem.batches if len(self.problem.ridge) == 1 else 1)
        kept, out = number(1), []
        for factor in reversed(factors):
            out.append(kept)
            kept = kept * number(factor)
        out.reverse()
        return [*out, kept]

    def blocks(self, number: Number) -> Iterator[list[tuple[Fraction, Any]]]:
        """The independent terms of H: lists of (probability, value [-])."""
        problem = self.problem
        tails = self.tails(number)
        whole = tails[-1]
        powers: dict[int, Any] = {}
        sums: dict[int, Any] = {}
        epochs = problem.epochs

        def value(use: Use) -> Any:
            if use.count == 0:
                return number(0)
            after = epochs - use.epoch - use.count
            if use.count not in sums:
                sums[use.count] = geometric(whole, use.count, number)
            if after not in powers:
                powers[after] = whole**after
            return tails[use.place] * powers[after] * sums[use.count]

        for block in self.scheme.blocks(problem.n, problem.b, epochs, problem.position):
            yield [(use.probability, value(use)) for use in block]

    @property
    def factor_count(self) -> int:
        """Number of independent terms of H."""
        counts = {"update": self.problem.steps, "epoch": self.problem.epochs}
        return counts.get(self.scheme.afresh, 1)

    def variance(self, number: Number) -> Any:
        """V [parameter^2]."""
        problem = self.problem
        tails = self.tails(number)
        whole = tails[-1]
        epoch = number(0)
        for tail in tails[:-1]:
            epoch = epoch + tail * tail
        series = geometric(whole * whole, problem.epochs, number)
        out = number(problem.noise) * epoch * series
        return out + number(problem.start_variance) * whole ** (2 * problem.epochs)

    def base(self, number: Number) -> Any:
        """m [parameter], the mean where the record is never used and has the others' gradient."""
        problem = self.problem
        tails = self.tails(number)
        whole = tails[-1]
        epoch = number(0)
        for tail in tails[:-1]:
            epoch = epoch + tail
        pull = number(-problem.eta * self._shared_gradient())
        series = geometric(whole, problem.epochs, number)
        return number(problem.start_mean) * whole**problem.epochs + pull * epoch * series

    def patterns(self, *, most: int = MOST_PATTERNS) -> PatternLaw:
        """Enumerate H exactly.

        Raises:
            TooCostly: more than `most` values of H, or numbers too long.
        """
        if bits(self.problem) > MOST_BITS:
            raise TooCostly(
                f"{self.problem.steps} updates make exact fractions of about "
                f"{bits(self.problem)} bits; at most {MOST_BITS} are tried"
            )
        table: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
        for block in self.blocks(Fraction):
            after: dict[Fraction, Fraction] = {}
            for value, weight in table.items():
                for probability, more in block:
                    total = value + more
                    after[total] = after.get(total, Fraction(0)) + weight * probability
            if len(after) > most:
                raise _too_many(len(after), most)
            table = after
        base, variance = self.base(Fraction), self.variance(Fraction)
        one, two = self.shift("first"), self.shift("second")
        return PatternLaw(
            tuple(
                Pattern(weight, base + one * value, base + two * value, variance, variance)
                for value, weight in sorted(table.items())
            )
        )


def fixed_law(problem: Problem, side: Side, number: Number) -> tuple[Any, Any]:
    """Mean [parameter] and variance [parameter^2] of the last iterate under a fixed order.

    The map of one epoch is affine; its K-th power is taken by doubling, so that K may be large.
    Any records and curvatures are taken.

    Raises:
        InvalidInput: iterates are projected.
    """
    _unprojected(problem)
    factor, drift, noise = number(1), number(0), number(0)
    for step in fixed_steps(problem):
        update = step[0] if side == "first" else step[1]
        by = number(update.factor)
        factor, drift = by * factor, by * drift + number(update.drift)
        noise = by * by * noise + number(problem.noise)
    mean, variance = number(problem.start_mean), number(problem.start_variance)
    count = problem.epochs
    while count:
        if count & 1:
            mean = factor * mean + drift
            variance = factor * factor * variance + noise
        drift = factor * drift + drift
        noise = factor * factor * noise + noise
        factor = factor * factor
        count >>= 1
    return mean, variance


def geometric(ratio: Any, count: int, number: Number) -> Any:
    """1 + ratio + ... + ratio^(count-1), by doubling: no cancellation at ratios near 1."""
    total, power, done = number(0), number(1), ratio
    step = number(1)
    while count:
        if count & 1:
            total, power = total + power * step, power * done
        step = step * (1 + done)
        done = done * done
        count >>= 1
    return total


# --- densities on a grid -----------------------------------------------------------------------


@dataclass(frozen=True)
class GridLaw:
    """A law on a grid: density at nodes and, where iterates are projected, an atom at each end.

    nodes [parameter], weights [parameter]: a quadrature rule, [nodes] each.
    density [1/parameter], [nodes]; atoms [-]: masses at -radius and at +radius.
    error [-]: relative error of density and atoms, wherever the density is not negligible.
    proved: whether `error` is a bound (the line, batches that contract alike) or an estimate (an
    interval, from doubling the nodes; batches that contract differently). width [parameter]:
    standard deviation of the Gaussian part on the line; 0 on an interval.
    """

    nodes: Floats
    weights: Floats
    density: Floats
    atoms: tuple[float, float]
    error: float
    proved: bool
    width: float = 0.0

    def mass(self) -> float:
        """Total mass [-]; 1 up to the error."""
        return float(self.weights @ self.density) + sum(self.atoms)


def _floats(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)


@dataclass(frozen=True)
class Rule:
    """Nodes and weights; on an interval, the two end points carry atoms and are not nodes."""

    nodes: Floats
    weights: Floats
    radius: float | None

    def kernel(self, factor: float, drift: float, noise: float) -> Floats:
        """Mass at every source to density (and atom) at every target, [targets, sources].

        Sources are the nodes and then the two ends; so are the targets. Without projection there
        are no ends.
        """
        scale = math.sqrt(noise)
        if self.radius is None:
            gap = (self.nodes[:, None] - (factor * self.nodes + drift)) / scale
            return _floats(np.exp(-gap * gap / 2) / (scale * math.sqrt(2 * math.pi)))
        ends = np.array([-self.radius, self.radius])
        middle = factor * np.concatenate([self.nodes, ends]) + drift
        gap = (self.nodes[:, None] - middle) / scale
        inside = np.exp(-gap * gap / 2) / (scale * math.sqrt(2 * math.pi))
        low = ndtr((-self.radius - middle) / scale)
        high = ndtr((middle - self.radius) / scale)
        return _floats(np.vstack([inside, low, high]))

    def masses(self, values: Floats) -> Floats:
        """Densities (and atoms) to masses, columns kept."""
        if self.radius is None:
            return values * self.weights[:, None]
        return _floats(values * np.concatenate([self.weights, [1.0, 1.0]])[:, None])


def line_rule(low: float, high: float, step: float) -> Rule:
    """The trapezoidal rule on [low, high], for iterates that are not projected."""
    count = math.ceil((high - low) / step) + 1
    nodes = low + step * np.arange(count)
    return Rule(_floats(nodes), _floats(np.full(count, step)), None)


def interval_rule(radius: float, count: int) -> Rule:
    """Gauss-Legendre with `count` nodes on [-radius, radius]."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return Rule(_floats(radius * nodes), _floats(radius * weights), radius)


def propagate(problem: Problem, scheme: str | Scheme, side: Side, rule: Rule) -> Floats:
    """Push the law of one data set through all updates on a rule: density [nodes (+ 2 atoms)].

    The hidden state beside the iterate is what the scheme remembers: nothing where batches are
    drawn afresh, whether the record was used in this epoch under reshuffling, the record's batch
    where the partition is reused. The kernel is evaluated, never interpolated: the density after
    an update is a quadrature of the density before it against the exact Gaussian kernel.

    Raises:
        TooCostly, InvalidInput: schemes that remember the partition want alike records.
    """
    how = find(scheme)
    first = side == "first"
    noise = float(problem.noise)
    kernels: dict[Update, Floats] = {}

    def kernel(update: Update) -> Floats:
        if update not in kernels:
            if len(kernels) * (len(rule.nodes) + 2) ** 2 > 10**8:
                kernels.clear()
            kernels[update] = rule.kernel(float(update.factor), float(update.drift), noise)
        return kernels[update]

    def pick(step: Step) -> Update:
        return step[0] if first else step[1]

    if how.afresh == "never":
        plan = [[(1.0, pick(step))] for step in fixed_steps(problem)]
        return _run(problem, rule, kernel, plan)
    if how.afresh == "update":
        plan = [
            [(float(weight), pick(step)) for weight, step in random_batches(problem, how, place)]
            for place in range(len(problem.ridge))
        ] * (problem.batches if len(problem.ridge) == 1 else 1)
        return _run(problem, rule, kernel, plan)
    if not problem.alike:
        raise InvalidInput(
            f"{how.title} on a grid wants shared records that are alike; others can only be "
            "enumerated"
        )
    steps = [_record_steps(problem, place) for place in range(problem.batches)]
    if how.afresh == "epoch":
        return _run_reshuffled(problem, rule, kernel, [(pick(a), pick(b)) for a, b in steps])
    total: Floats | None = None
    batches, rate = problem.batches, problem.b / problem.n
    for place in range(-1, batches):
        weight = rate if place >= 0 else 1 - batches * rate
        if place < 0 and problem.n % problem.b == 0:
            continue
        plan = [[(1.0, pick(steps[j][int(j == place)]))] for j in range(batches)]
        part = weight * _run(problem, rule, kernel, plan)
        total = part if total is None else total + part
    assert total is not None
    return total


def _record_steps(problem: Problem, place: int) -> tuple[Step, Step]:
    """Updates of full batches without and with the record, where shared records are alike."""
    kinds = _kinds(problem)
    if not kinds:
        step = _step(problem, place, kinds, (), 1)
        return step, step
    without = _step(problem, place, kinds, (problem.b,), 0)
    return without, _step(problem, place, kinds, (problem.b - 1,), 1)


def _start(problem: Problem, rule: Rule) -> Floats | None:
    """Density (and atoms) of the start; None for a point."""
    mean, variance = float(problem.start_mean), float(problem.start_variance)
    if variance == 0:
        return None
    column = rule.kernel(0.0, mean, variance)[:, 0]
    return np.asarray(column)[:, None]


def _first(problem: Problem, rule: Rule, update: Update) -> Floats:
    """Density (and atoms) after the first update from a point."""
    start = float(problem.start_mean)
    if rule.radius is not None:
        start = min(max(start, -rule.radius), rule.radius)
    drift = float(update.factor) * start + float(update.drift)
    column = rule.kernel(0.0, drift, float(problem.noise))[:, 0]
    return np.asarray(column)[:, None]


def _run(
    problem: Problem,
    rule: Rule,
    kernel: Callable[[Update], Floats],
    plan: list[list[tuple[float, Update]]],
) -> Floats:
    """Run the updates of `plan`, one list of choices for each place of an epoch."""
    distinct = {tuple(choices) for choices in plan}
    matrices = {key: sum(w * kernel(update) for w, update in key) for key in distinct}
    values = _start(problem, rule)
    for _ in range(problem.epochs):
        for choices in plan:
            if values is None:
                values = np.asarray(sum(w * _first(problem, rule, u) for w, u in choices))
                continue
            values = np.asarray(matrices[tuple(choices)] @ rule.masses(values))
    assert values is not None
    return np.asarray(values[:, 0])


def _run_reshuffled(
    problem: Problem,
    rule: Rule,
    kernel: Callable[[Update], Floats],
    steps: list[tuple[Update, Update]],
) -> Floats:
    """Columns: law with the record still unused in this epoch, law with the record used."""
    start = _start(problem, rule)
    point = start is None
    whole = None if start is None else start[:, 0]
    for _ in range(problem.epochs):
        columns: Floats | None = None
        for place, (without, holding) in enumerate(steps):
            left = problem.n - place * problem.b
            chance = problem.b / left
            if point:
                kept = _first(problem, rule, without)[:, 0] * (1 - chance)
                columns = np.stack([kept, chance * _first(problem, rule, holding)[:, 0]], axis=1)
                point = False
                continue
            if columns is None:
                assert whole is not None
                columns = np.stack([whole, np.zeros_like(whole)], axis=1)
            moved = kernel(without) @ rule.masses(columns)
            if chance:
                fresh = kernel(holding) @ rule.masses(columns[:, :1])
                moved[:, 1] += chance * fresh[:, 0]
                moved[:, 0] *= 1 - chance
            columns = moved
        assert columns is not None
        whole = columns.sum(axis=1)
    assert whole is not None
    return np.asarray(whole)


@dataclass(frozen=True)
class Reach:
    """Where the iterates of both data sets can be, over all updates and patterns of batches.

    low, high: least and greatest mean [parameter]; variance: greatest variance of any iterate,
    last: greatest variance of the last iterate [parameter^2].
    """

    low: float
    high: float
    variance: float
    last: float


def reach(problem: Problem, scheme: str | Scheme) -> Reach:
    """The reach of the iterates without projection."""
    how = find(scheme)
    low = high = float(problem.start_mean)
    variance = float(problem.start_variance)
    if how.afresh == "never":
        table = [[step] for step in fixed_steps(problem)]
    elif how.random_size or not problem.alike:
        table = [
            [step for _, step in random_batches(problem, how, place)]
            for place in range(len(problem.ridge))
        ] * (problem.batches if len(problem.ridge) == 1 else 1)
    else:
        table = [list(_record_steps(problem, place)) for place in range(problem.batches)]
    updates = [[(float(u.factor), float(u.drift)) for step in steps for u in step]
               for steps in table]  # fmt: skip
    noise = float(problem.noise)
    lowest, highest, largest = low, high, variance
    for _ in range(problem.epochs):
        before = (low, high, variance)
        for choices in updates:
            ends = [f * x + d for f, d in choices for x in (low, high)]
            low, high = min(ends), max(ends)
            variance = max(f * f for f, _ in choices) * variance + noise
            lowest, highest = min(lowest, low), max(highest, high)
            largest = max(largest, variance)
        if before == (low, high, variance):
            break
    return Reach(lowest, highest, largest, variance)


def grid_pair(
    problem: Problem,
    scheme: str | Scheme,
    *,
    alpha: float = 1.0,
    nodes: int | None = None,
    step: float = 0.5,
) -> tuple[GridLaw, GridLaw]:
    """Both laws on one grid.

    alpha: Renyi order up to which the grid should reach in both directions.
    nodes: number of Gauss-Legendre nodes on an interval; by default chosen, at least 64.
    step: trapezoidal step in units of the noise's standard deviation, on the line.

    Error on the line. For densities that are mixtures of Gaussians of variance >= W > 0 the
    trapezoidal rule of step h in y for f(y) N(x; c y + d, v) is off by a factor within
    1 +- 2 exp(-2 pi^2/(h^2 (1/W + c^2/v))) (the bound |f(y + ia)| <= exp(a^2/2W) f(y) in the strip
    theorem), for every x at once; rounding adds (nodes + 40 + log range) 2^-53 for an update, and
    paths that leave the grid 2 Phi(-9.5). The factors multiply. On an interval the error is
    estimated, by doubling the nodes.

    Raises:
        TooCostly: too many nodes or too much work. InvalidInput: see `propagate`.
    """
    how = find(scheme)
    noise = float(problem.noise)
    scale = math.sqrt(noise)
    columns = problem.batches + 1 if how.afresh == "once" else 2
    there = reach(problem, how)
    width = math.sqrt(there.variance)
    span = there.high - there.low
    # Where the integrand of the divergence lives, then what a path to there may pass through: its
    # mean given the end x is within |x - mean| of its own, its variance no larger.
    used = (max(alpha, 1.0) - 1) * span + REACH * width
    margin = (used + span) * max(1.0, there.variance / there.last) + REACH * width
    left, right = there.low - margin, there.high + margin
    if problem.radius is not None and not -problem.radius < left < right < problem.radius:
        radius = float(problem.radius)
        count = nodes if nodes is not None else max(64, math.ceil(16 + 5 * radius / scale))
        _afford(2 * count, problem.steps, columns)
        coarse, fine = interval_rule(radius, count), interval_rule(radius, 2 * count)
        return _interval_law(problem, how, "first", coarse, fine), _interval_law(
            problem, how, "second", coarse, fine
        )
    rule = line_rule(left, right, step * scale)
    _afford(len(rule.nodes), problem.steps, columns)
    least = min(noise, float(problem.start_variance)) if problem.start_variance else noise
    widest = _largest_factor(problem, how)
    h = step * scale
    exponent = 2 * math.pi**2 / (h * h * (1 / least + widest**2 / noise))
    largest = ((right - left) / scale) ** 2
    rounding = (len(rule.nodes) + 40 + min(largest, 1500.0)) * 2.0**-53
    error = math.expm1(problem.steps * (2 * math.exp(-exponent) + rounding))
    error += problem.steps * 2 * float(ndtr(-REACH))
    keep = (rule.nodes >= there.low - used) & (rule.nodes <= there.high + used)
    sides: tuple[Side, Side] = ("first", "second")
    # An interval that no path to where the divergence looks comes near is as good as none.
    proved = how.afresh == "never" or contracts_alike(problem, how)
    proved = proved and problem.radius is None
    one, two = (
        GridLaw(rule.nodes[keep], rule.weights[keep], propagate(problem, how, side, rule)[keep],
                (0.0, 0.0), error, proved, math.sqrt(there.last))
        for side in sides
    )  # fmt: skip
    return one, two


def _largest_factor(problem: Problem, how: Scheme) -> float:
    bends = [loss.curvature for _, loss in problem.shared]
    bends += [problem.first.curvature, problem.second.curvature]
    most = problem.n if how.random_size else problem.b
    ends = [
        problem.update(place, bend * count, Fraction(0)).factor
        for place in range(len(problem.ridge))
        for bend in bends
        for count in ((0, most) if how.random_size else (most,))
    ]
    return float(max(abs(end) for end in ends))


def _afford(count: int, steps: int, columns: int) -> None:
    if count > MOST_NODES:
        raise TooCostly(f"the grid would need {count} nodes; at most {MOST_NODES} are tried")
    if count**2 * steps * columns > MOST_WORK:
        raise TooCostly(
            f"{steps} updates on {count} nodes are too much work; fewer epochs would do"
        )


def _interval_law(problem: Problem, how: Scheme, side: Side, coarse: Rule, fine: Rule) -> GridLaw:
    """Law on an interval, with the error estimated from half the nodes."""
    rough = propagate(problem, how, side, coarse)
    sharp = propagate(problem, how, side, fine)
    least = coarse.nodes.min()
    # One quadrature update carries both onto common targets.
    shared = np.linspace(least, -least, 101)
    from scipy.interpolate import BarycentricInterpolator

    def at(rule: Rule, values: Floats) -> Floats:
        fit = BarycentricInterpolator(rule.nodes, values[:-2])
        return np.asarray(fit(shared))

    a, b = at(coarse, rough), at(fine, sharp)
    top = max(float(np.max(np.abs(b))), 1e-300)
    gap = float(np.max(np.abs(a - b))) / top
    for low, high in zip(rough[-2:], sharp[-2:], strict=True):
        gap = max(gap, abs(float(low - high)))
    size = len(fine.nodes)
    rounding = math.expm1(problem.steps * (size + 40) * 2.0**-53)
    return GridLaw(
        fine.nodes, fine.weights, sharp[:-2], (float(sharp[-2]), float(sharp[-1])),
        gap + rounding, False,
    )  # fmt: skip


def law(
    problem: Problem, scheme: str | Scheme, *, most: int = MOST_PATTERNS
) -> PatternLaw | SumLaw:
    """The exact law: enumerated while it has at most `most` patterns, else as a sum of shifts.

    Growth: time ~ (n/b)^1.85 * K^1.7 for one partition: n/b patterns, of fractions of K n/b digits.
    Where batches are drawn afresh the patterns grow like (1 + n/b) to the power of the draws.

    Raises:
        TooCostly: neither form can be had. InvalidInput: iterates are projected.
    """
    _unprojected(problem)
    how = find(scheme)
    if contracts_alike(problem, how):
        alike = SumLaw(problem, how)
        try:
            return alike.patterns(most=most)
        except TooCostly:
            return alike
    return enumerate_patterns(problem, how, most=most)


__all__ = [
    "GridLaw", "Mixture", "Pattern", "PatternLaw", "Reach", "Rule", "SumLaw", "bits",
    "contracts_alike", "enumerate_patterns", "fixed_law", "fixed_steps", "geometric", "grid_pair",
    "interval_rule", "law", "line_rule", "propagate", "random_batches", "reach",
]  # fmt: skip
