"""Simulation of Algorithm 1 on one-dimensional quadratic problems, update by update.

Every update draws its batch, takes the batch's gradient and adds Gaussian noise; nothing is skipped
and no law is used. Plans and kernels share no code with the exact laws, which they are to test.

    Plan        float64 constants of one data set's run
    init, step  the kernels: a state of many paths, and one update of all of them
    blocks      any number of paths in blocks of fixed size, on threads, in constant memory
    agreement   Kolmogorov-Smirnov distance between the simulated last iterate and the exact law
    FAULTS      simulators that are broken on purpose, which `agreement` has to tell

Two ways to draw batches, chosen by the problem:

- where the shared records are all alike, a batch is described by whether it holds the differing
  record (and under Poisson sampling by its size); records of one kind are interchangeable, so that
  this is what Algorithm 1 draws, without the names of the other records;
- else, or when asked, `literal`: the n records of every path are permuted or sampled one by one.

Seeds. Block k of data set s draws from SFC64 with SeedSequence(seed, spawn_key=(k, s)). Blocks have
a size that depends on the problem alone, so the numbers depend on the seed and not on the number of
workers, and a longer run begins with the whole blocks of a shorter one.

Arithmetic is float64 throughout, in units of the standard deviation of one update's noise. Noise
is drawn by `empirical.normals`, in less than half the time of NumPy's own normal numbers.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from bounds.arith import TooCostly
from bounds.setting import InvalidInput
from empirical.laws import Mixture, PatternLaw, law
from empirical.normals import Normals
from empirical.quadratic import Loss, Problem, Side
from empirical.schemes import Scheme, find

Floats = npt.NDArray[np.float64]
SIDES: tuple[Side, Side] = ("first", "second")

# Iterates and noise of a block are 256 kB each: about the second-level cache, and large beside the
# cost of some 15 calls in an update, between which only one thread runs.
BLOCK = 1 << 15
# From so many batches on, listing the few paths that hold the record is cheaper than masking all.
SPARSE = 8
LITERAL_CELLS = 1 << 21
MOST_RECORDS = 1 << 17
# Exact updates of an epoch, of which each takes some 5 microseconds and 1 kB to prepare.
MOST_PLACES = 10**6
PLACE_BYTES = 1000
# About a day on one core.
MOST_PATH_STEPS = 10**13
PATH_STEPS_A_SECOND = 1e8
GRID = 4096


# --- plans -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """The constants of one data set's run, in float64.

    scale [parameter]: standard deviation of one update's noise, the unit of everything below.
    noise [-]: standard deviation of the noise that is added, 1 but in a broken simulator.
    places: which batch of the epoch each update takes, 0, 1, ..., but in a broken simulator.
    factors [-], drifts [units]: theta -> factor theta + drift before the noise, for a batch without
        and with the differing record, [floor(n/b), 2]; used where that is all that matters.
    bends [gradient / parameter], pulls [gradient]: curvature and gradient at 0 of each record, the
        differing one last, [n]; of a shared and of the differing record, [2], where not `literal`.
    """

    scheme: Scheme
    n: int
    b: int
    epochs: int
    eta: float
    scale: float
    start_mean: float
    start_scale: float
    radius: float | None
    ridge: Floats
    factors: Floats
    drifts: Floats
    bends: Floats
    pulls: Floats
    places: tuple[int, ...]
    literal: bool
    noise: float = 1.0

    @classmethod
    def of(
        cls, problem: Problem, scheme: str | Scheme, side: Side, *, literal: bool = False
    ) -> Plan:
        """The plan of one data set.

        literal: permute or sample the records one by one even where they are alike.

        Raises:
            InvalidInput: there is no such scheme. TooCostly: too many records to draw one by one.
        """
        how = find(scheme)
        if problem.batches > MOST_PLACES:
            raise TooCostly(
                f"{problem.batches} batches an epoch would take about "
                f"{problem.batches * PLACE_BYTES / 2**30:.2g} GiB for their updates; at most "
                f"{MOST_PLACES} are simulated, and larger batches, or the exact divergence in "
                "their place, would do"
            )
        scale = math.sqrt(problem.noise)
        kinds = {loss for _, loss in problem.shared}
        one_by_one = how.afresh != "never" and (literal or len(kinds) > 1)
        if one_by_one and problem.n > MOST_RECORDS:
            raise TooCostly(
                f"{problem.n} records would be drawn one by one in every epoch of every path; at "
                f"most {MOST_RECORDS} are, or shared records that are alike"
            )
        record = problem.record(side)
        other = problem.shared[0][1] if problem.shared else record
        losses = (
            [loss for count, loss in problem.shared for _ in range(count)]
            if one_by_one
            else [other]
        )
        losses.append(record)
        if how.afresh == "never":
            tables = _fixed(problem, record)
        else:
            tables = _one_kind(problem, how, other, record)
        return cls(
            scheme=how, n=problem.n, b=problem.b, epochs=problem.epochs, eta=float(problem.eta),
            scale=scale, start_mean=float(problem.start_mean) / scale,
            start_scale=math.sqrt(problem.start_variance) / scale,
            radius=None if problem.radius is None else float(problem.radius) / scale,
            ridge=np.array([float(problem.ridge_at(j)) for j in range(problem.batches)]),
            factors=np.array([[float(a), float(c)] for (a, _), (c, _) in tables]),
            drifts=np.array([[float(a), float(c)] for (_, a), (_, c) in tables]) / scale,
            bends=np.array([float(loss.curvature) for loss in losses]),
            pulls=np.array([float(loss.gradient) for loss in losses]),
            places=tuple(range(problem.batches)), literal=one_by_one,
        )  # fmt: skip

    @property
    def batches(self) -> int:
        """floor(n/b), the number of updates in an epoch."""
        return self.n // self.b

    @property
    def steps(self) -> int:
        """K floor(n/b), the number of updates."""
        return self.epochs * self.batches

    @property
    def crowded(self) -> bool:
        """Whether the shared records of a batch push or contract, so that their number matters."""
        return self.n > 1 and bool(self.bends[0] or self.pulls[0])

    @property
    def sparse(self) -> bool:
        """Whether the paths that hold the differing record at an update are listed, not masked."""
        return self.scheme.afresh == "once" or self.batches >= SPARSE

    @property
    def block(self) -> int:
        """Paths in a block: as many as the cache holds, and it depends on the plan alone."""
        return min(BLOCK, max(16, LITERAL_CELLS // self.n)) if self.literal else BLOCK


Map = tuple[Fraction, Fraction]


def _update(problem: Problem, place: int, bend: Fraction, pull: Fraction) -> Map:
    """theta - eta (ridge theta + (bend theta + pull)/b), as factor and drift."""
    curvature = problem.ridge_at(place) + bend / problem.b
    return 1 - problem.eta * curvature, -problem.eta * pull / problem.b


def _one_kind(problem: Problem, how: Scheme, other: Loss, record: Loss) -> list[tuple[Map, Map]]:
    """At each place: the update of b shared records, and of b - 1 and the differing one.

    Under Poisson sampling, of no shared record.
    """
    out = []
    for place in range(problem.batches):
        without, beside = (0, 0) if how.random_size else (problem.b, problem.b - 1)
        bend = beside * other.curvature + record.curvature
        pull = beside * other.gradient + record.gradient
        out.append(
            (
                _update(problem, place, without * other.curvature, without * other.gradient),
                _update(problem, place, bend, pull),
            )
        )
    return out


def _fixed(problem: Problem, record: Loss) -> list[tuple[Map, Map]]:
    """At each place: the update of the batch of a fixed order, twice."""
    runs = [(count, loss.curvature, loss.gradient) for count, loss in problem.shared]
    low = 0
    sums = []
    for place in range(problem.batches):
        holds = place == problem.position
        high = low + problem.b - int(holds)
        bend = record.curvature if holds else Fraction(0)
        pull = record.gradient if holds else Fraction(0)
        before = 0
        for count, curvature, gradient in runs:
            inside = min(high, before + count) - max(low, before)
            if inside > 0:
                bend, pull = bend + inside * curvature, pull + inside * gradient
            before += count
        sums.append(_update(problem, place, bend, pull))
        low = high
    return [(update, update) for update in sums]


# --- kernels -----------------------------------------------------------------------------------


Held = slice | npt.NDArray[np.bool_] | npt.NDArray[np.intp]


@dataclass
class State:
    """Many paths of one run, after `number` updates.

    theta [units]: the iterates, [paths]. generator: source of all that is still to be drawn.
    normals: normal numbers from that generator, with those made in advance.
    layout: number of the path that stands at each place, [paths]; paths that share a batch are
        moved together. None while they stand in order.
    What the scheme remembers, by the way in which batches are drawn:
    held: for each batch of the epoch, the paths for which it holds the differing record.
    others: number of shared records in the last batch, [paths].
    order: the records of each path in the order of its batches, [paths, n].
    sums: curvature [gradient / parameter] and gradient [gradient] of the last batch, [paths] each.
    spare: memory that is used over and over, [paths].
    """

    theta: Floats
    generator: np.random.Generator
    normals: Normals
    spare: Floats
    number: int = 0
    layout: npt.NDArray[np.intp] | None = None
    held: list[Held] = field(default_factory=list)
    others: npt.NDArray[np.int64] | None = None
    order: npt.NDArray[np.unsignedinteger] | None = None
    sums: tuple[Floats, Floats] | None = None


def init(plan: Plan, generator: np.random.Generator, paths: int) -> State:
    """The state before the first update: starts drawn, [paths]."""
    theta, spare, normals = np.full(paths, plan.start_mean), np.empty(paths), Normals(generator)
    if plan.start_scale:
        theta += plan.start_scale * normals.fill(spare)
    _project(plan, theta)
    return State(theta, generator, normals, spare)


def step(plan: Plan, state: State) -> State:
    """One update of all paths: draw the batch, take its gradient, add noise, project.

    The result is a function of the plan and the state (with its generator), and of nothing else.
    The arrays of `state` are used for it, so the old state is gone.
    """
    place = state.number % plan.batches
    if plan.scheme.afresh == "never":
        where = plan.places[place]
        state.theta *= plan.factors[where, 0]
        _add(state.theta, float(plan.drifts[where, 0]))
    elif plan.literal:
        _take_literal(plan, state, place)
    elif plan.scheme.random_size and plan.crowded:
        _take_random_size(plan, state, place)
    else:
        _take_one_kind(plan, state, place)
    state.normals.fill(state.spare)
    if plan.noise != 1.0:
        state.spare *= plan.noise
    state.theta += state.spare
    _project(plan, state.theta)
    state.number += 1
    return state


def run(
    plan: Plan,
    generator: np.random.Generator,
    paths: int,
    stop: Callable[[], bool] = lambda: False,
) -> Floats:
    """The last iterates of `paths` runs [parameter], [paths].

    stop: asked before every update; when it says so the run is abandoned with `Interrupted`.
    """
    state = init(plan, generator, paths)
    for _ in range(plan.steps):
        if stop():
            raise Interrupted
        state = step(plan, state)
    return last_iterate(plan, state)


def last_iterate(plan: Plan, state: State) -> Floats:
    """The iterates [parameter], path by path, [paths]."""
    out = state.theta * plan.scale
    if state.layout is not None:
        out[state.layout] = out.copy()
    return out


class Interrupted(Exception):
    """A run was abandoned because nobody waits for it any more."""


def _add(theta: Floats, drift: float) -> None:
    if drift:
        theta += drift


def _project(plan: Plan, theta: Floats) -> None:
    if plan.radius is not None:
        np.clip(theta, -plan.radius, plan.radius, out=theta)


def _take_one_kind(plan: Plan, state: State, place: int) -> None:
    """Batches from alike records: what matters is which paths' batch holds the differing one."""
    held = _hold(plan, state, place)
    theta = state.theta
    (lone, with_record), (drift, more) = plan.factors[place], plan.drifts[place]
    if isinstance(held, slice) or held.dtype != np.bool_:
        moved = theta[held] * with_record + more
        theta *= lone
        _add(theta, float(drift))
        theta[held] = moved
        return
    if lone == with_record:
        theta *= lone
    else:
        np.multiply(held, with_record - lone, out=state.spare)
        state.spare += lone
        theta *= state.spare
    _add(theta, float(drift))
    np.multiply(held, more - drift, out=state.spare)
    theta += state.spare


def _take_random_size(plan: Plan, state: State, place: int) -> None:
    """Poisson sampling of alike records: the differing one, and a binomial number of others."""
    held = np.zeros(len(state.theta), dtype=np.bool_)
    held[_hold(plan, state, place)] = True
    others = state.others
    if others is None or plan.places[place] == place:
        others = state.generator.binomial(plan.n - 1, plan.b / plan.n, size=len(state.theta))
        state.others = others
    bend = (others * plan.bends[0] + held * plan.bends[1]) / plan.b
    pull = (others * plan.pulls[0] + held * plan.pulls[1]) / plan.b
    state.theta *= 1.0 - plan.eta * (plan.ridge[place] + bend)
    state.theta -= plan.eta / plan.scale * pull


def _hold(plan: Plan, state: State, place: int) -> Held:
    """Which paths' batch at this place holds the differing record; drawn when an epoch begins.

    As a slice or as indices where they are few, else as a mask, [paths].
    """
    if place == 0 and (state.number == 0 or plan.scheme.afresh != "once"):
        paths = len(state.theta)
        if plan.scheme.afresh != "update":
            state.held = _partition(plan, state)
        elif plan.sparse:
            state.held = _sparse_events(state.generator, plan.b / plan.n, paths, plan.batches)
        else:
            state.held = [
                _bernoulli(state.generator, plan.b, plan.n, paths) for _ in range(plan.batches)
            ]
    return state.held[plan.places[place]]


def _partition(plan: Plan, state: State) -> list[Held]:
    """The differing record's batch in a random partition: uniform among n positions in a row.

    Past the last whole batch it is in none.
    """
    paths = len(state.theta)
    kind = np.uint16 if plan.n <= 1 << 16 else np.uint64
    batch = state.generator.integers(0, plan.n, size=paths, dtype=kind) // kind(plan.b)
    if not plan.sparse:
        return [batch == j for j in range(plan.batches)]
    order = np.argsort(batch, kind="stable")
    ends = np.searchsorted(batch[order], np.arange(plan.batches + 1))
    state.theta = state.theta[order]
    state.layout = order if state.layout is None else state.layout[order]
    return [slice(low, high) for low, high in pairwise(ends)]


def _bernoulli(generator: np.random.Generator, b: int, n: int, paths: int) -> Held:
    """Draw independent events of probability exactly b/n, as a mask.

    A uniform number is compared with b/n in base 256: its first digit decides unless it equals the
    first digit of b/n, and then an integer below n decides against the remainder.
    """
    digit, rest = divmod(256 * b, n)
    raw = np.asarray(generator.bit_generator.random_raw((paths + 7) // 8))
    digits = raw.view(np.uint8)[:paths]
    out = digits < digit
    if rest:
        ties = np.flatnonzero(digits == digit)
        out[ties] = generator.integers(0, n, size=len(ties)) < rest
    return out


def _sparse_events(
    generator: np.random.Generator, rate: float, paths: int, rows: int
) -> list[Held]:
    """Draw independent events of probability `rate`, as indices of paths, for each of `rows`.

    The gaps between events in a row of trials are geometric, and the floor of an exponential
    variable of mean -1/log(1 - rate) is so; float64 rounding moves `rate` by a factor within
    1 +- 1e-12.
    """
    trials = paths * rows
    mean = -1 / math.log1p(-rate)
    wanted = math.ceil(trials * rate + 6 * math.sqrt(trials * rate)) + 16
    parts, last = [], -1.0
    while last < trials:
        gaps = np.floor(generator.standard_exponential(wanted) * mean)
        gaps += 1
        gaps[0] += last
        parts.append(np.cumsum(gaps, out=gaps))
        last = float(gaps[-1])
    places = np.concatenate(parts).astype(np.int64)
    ends = np.searchsorted(places, np.arange(rows + 1) * paths)
    return [
        places[low:high] - row * paths for row, (low, high) in enumerate(pairwise(ends))
    ]  # fmt: skip


def _take_literal(plan: Plan, state: State, place: int) -> None:
    """Batches drawn record by record; gradients summed over the records of the batch."""
    paths, n, b, how = len(state.theta), plan.n, plan.b, plan.scheme
    where = plan.places[place]
    fresh = how.afresh == "update" and where == place
    if how.random_size:
        if fresh:
            chosen = state.generator.integers(0, n, size=(paths, n)) < b
            state.sums = chosen @ plan.bends, chosen @ plan.pulls
    else:
        drawn = how.afresh == "epoch" and place == 0
        if fresh or drawn or state.number == 0:
            if state.order is None:
                kind = np.uint16 if n <= 1 << 16 else np.uint32
                state.order = np.tile(np.arange(n, dtype=kind), (paths, 1))
            state.generator.permuted(state.order, axis=1, out=state.order)
        if fresh or how.afresh != "update":
            assert state.order is not None
            first = 0 if how.afresh == "update" else where * b
            batch = state.order[:, first : first + b]
            state.sums = plan.bends[batch].sum(axis=1), plan.pulls[batch].sum(axis=1)
    assert state.sums is not None
    bend, pull = state.sums
    state.theta *= 1.0 - plan.eta * (plan.ridge[place] + bend / b)
    state.theta -= plan.eta / (b * plan.scale) * pull


# --- any number of paths -----------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """Finished paths of both data sets: last iterates [parameter], [paths] each."""

    index: int
    first: Floats
    second: Floats


Fault = Callable[[Problem, Plan], Plan]


def generator_for(seed: int, block: int, purpose: int) -> np.random.Generator:
    """The stream of one block; purpose 0 and 1 are the data sets, others are free."""
    child = np.random.SeedSequence(seed, spawn_key=(block, purpose))
    return np.random.Generator(np.random.SFC64(child))


def blocks(
    problem: Problem,
    scheme: str | Scheme,
    paths: int,
    seed: int,
    *,
    workers: int = 2,
    literal: bool = False,
    fault: Fault | None = None,
) -> Generator[Block, None, None]:
    """Simulate `paths` runs on each data set and yield the blocks in order as they are finished.

    Memory is that of about 3 `workers` blocks, whatever `paths` is. Growth: time ~ paths^1, and in
    proportion to the updates. The numbers do not depend on
    `workers`. Close the iterator, or stop asking, to end the simulation; what was yielded stands.

    seed: a non-negative integer. fault: break the simulator on purpose (`FAULTS`).

    Raises:
        InvalidInput: paths, seed or workers out of range. TooCostly: see `Plan.of`.
    """
    for name, value, least in (("paths", paths, 1), ("seed", seed, 0), ("workers", workers, 1)):
        if value < least:
            raise InvalidInput(f"{name} is {value}; at least {least} is wanted")
    if 2 * paths * problem.steps > MOST_PATH_STEPS:
        days = 2 * paths * problem.steps / PATH_STEPS_A_SECOND / workers / 86400
        raise TooCostly(
            f"{paths} paths of {problem.steps} updates on both data sets would take about "
            f"{days:.2g} days; at most {MOST_PATH_STEPS:.0e} path-steps are started, and fewer "
            "paths, or the exact divergence in their place, would do"
        )
    plans = [Plan.of(problem, scheme, side, literal=literal) for side in SIDES]
    if fault is not None:
        plans = [fault(problem, plan) for plan in plans]
    return _blocks(plans, paths, seed, workers)


def _blocks(plans: list[Plan], paths: int, seed: int, workers: int) -> Generator[Block, None, None]:
    size = plans[0].block
    total = -(-paths // size)
    stop = threading.Event()

    def work(index: int) -> Block:
        here = min(size, paths - index * size)
        first, second = (
            run(plan, generator_for(seed, index, side), here, stop.is_set)
            for side, plan in enumerate(plans)
        )
        return Block(index, first, second)

    if workers == 1:
        yield from map(work, range(total))
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="simulate")
    waiting: deque[Future[Block]] = deque()
    upcoming = iter(range(total))
    try:
        for index in upcoming:
            waiting.append(pool.submit(work, index))
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def collect(
    problem: Problem,
    scheme: str | Scheme,
    paths: int,
    seed: int,
    *,
    workers: int = 2,
    literal: bool = False,
    fault: Fault | None = None,
) -> tuple[Floats, Floats]:
    """All last iterates of both data sets [parameter], [paths] each, held in memory at once."""
    done = list(blocks(problem, scheme, paths, seed, workers=workers, literal=literal, fault=fault))
    return np.concatenate([b.first for b in done]), np.concatenate([b.second for b in done])


# --- agreement with the exact law --------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How far simulated last iterates are from the exact law.

    distance [-]: the greatest |F_paths - F| over a grid of points, of the two data sets.
    limit [-]: what healthy simulation stays below with probability at least 1 - level.
    """

    distance: float
    limit: float
    level: float
    paths: int
    grid: int

    @property
    def rejected(self) -> bool:
        """Whether the simulator does not follow the law, at the level stated."""
        return not self.distance <= self.limit

    def __str__(self) -> str:
        word = "rejected" if self.rejected else "not rejected"
        return (
            f"{word}: Kolmogorov-Smirnov distance {self.distance:.3g} over {self.paths} paths, "
            f"limit {self.limit:.3g} at family-wise level {self.level:g}"
        )


def distribution(mixture: Mixture, points: Floats) -> Floats:
    """The distribution function of a Gaussian mixture in float64 [-], [points]."""
    out = np.zeros(len(points))
    for weight, mean, variance in mixture.components:
        out += float(weight) * ndtr((points - float(mean)) / math.sqrt(variance))
    return out


def agreement(
    problem: Problem,
    scheme: str | Scheme,
    paths: int,
    seed: int,
    *,
    level: float = 1e-6,
    family: int = 1,
    workers: int = 2,
    literal: bool = False,
    fault: Fault | None = None,
    exact: PatternLaw | None = None,
) -> Agreement:
    """Test the simulation of both data sets against the exact law, in constant memory.

    level: probability at most which any of `family` such tests rejects a healthy simulator; each of
        its 2 family distances is tested at level/(2 family), so no independence is assumed.
    exact: the law, by default the enumerated one.

    The limit is that of Dvoretzky, Kiefer and Wolfowitz with the constant of Massart (1990),
    P(sup |F_m - F| > d) <= 2 exp(-2 m d^2), which holds for every m and every law. The supremum
    over a grid is no greater than over the line, so the test keeps its level. Rejection refutes the
    simulator (or the law); non-rejection proves nothing.

    Raises:
        TooCostly: the law has too many patterns. InvalidInput: iterates are projected.
    """
    if not 0 < level < 1 or family < 1:
        raise InvalidInput(f"level {level} in (0, 1) and family {family} >= 1 are wanted")
    patterns = law(problem, scheme) if exact is None else exact
    if not isinstance(patterns, PatternLaw):
        raise TooCostly("the law has too many patterns of batches to be tested against")
    mixtures = [patterns.mixture(side) for side in SIDES]
    grids = [_grid(mixture) for mixture in mixtures]
    below = [np.zeros(GRID, dtype=np.int64) for _ in SIDES]
    made = blocks(
        problem, scheme, paths, seed, workers=workers, literal=literal, fault=fault
    )  # fmt: skip
    for block in made:
        for side, values in enumerate((block.first, block.second)):
            below[side] += np.searchsorted(np.sort(values), grids[side], side="right")
    distance = max(
        float(np.max(np.abs(below[side] / paths - distribution(mixtures[side], grids[side]))))
        for side in range(2)
    )
    limit = math.sqrt(math.log(2 * 2 * family / level) / (2 * paths))
    return Agreement(distance, limit, level, paths, GRID)


def _grid(mixture: Mixture) -> Floats:
    """Points [parameter] that cover the law, [GRID]."""
    ends = [
        float(mean) + sign * 6 * math.sqrt(variance)
        for _, mean, variance in mixture.components
        for sign in (-1, 1)
    ]
    return np.linspace(min(ends), max(ends), GRID)


# --- broken simulators -------------------------------------------------------------------------


def _noisier(problem: Problem, plan: Plan) -> Plan:
    return replace(plan, noise=math.sqrt(2.0))


def _quieter(problem: Problem, plan: Plan) -> Plan:
    return replace(plan, noise=math.sqrt(0.5))


def _drawn_twice(problem: Problem, plan: Plan) -> Plan:
    places = list(plan.places)
    if len(places) < 2:
        raise InvalidInput("an epoch of one batch cannot draw a batch twice")
    places[1] = places[0]
    return replace(plan, places=tuple(places))


def _not_contracted(problem: Problem, plan: Plan) -> Plan:
    zero = np.zeros_like
    return replace(
        plan, factors=np.ones_like(plan.factors), bends=zero(plan.bends), ridge=zero(plan.ridge)
    )


def _half_sensitive(problem: Problem, plan: Plan) -> Plan:
    middle = (problem.first.gradient + problem.second.gradient) / 2
    halved = replace(
        problem,
        first=Loss(problem.first.curvature, (problem.first.gradient + middle) / 2),
        second=Loss(problem.second.curvature, (problem.second.gradient + middle) / 2),
    )
    sides = {float(problem.record(side).gradient): side for side in SIDES}
    side = sides[float(plan.pulls[-1])]
    return Plan.of(halved, plan.scheme, side, literal=plan.literal)


FAULTS: dict[str, Fault] = {
    "noise of twice the variance": _noisier,
    "noise of half the variance": _quieter,
    "a batch drawn twice": _drawn_twice,
    "a lost contraction": _not_contracted,
    "sensitivity halved": _half_sensitive,
}
