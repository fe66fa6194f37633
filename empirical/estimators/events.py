"""A lower bound from paths alone: probabilities of events, and the data-processing inequality.

For every event E, R_alpha(first || second) >= r_alpha(p, q), the divergence of two coins with
p = first(E), q = second(E). On the first half of the paths a few events are chosen: an upper tail,
a lower tail, and two unions of cells of large likelihood ratio. On the other half p is bounded from
below and q from above by Clopper-Pearson limits, at error/(2 events) each. Since r_alpha(p, q)
increases in p and decreases in q where p >= q, the limits give a lower limit for every event at
once, and the best of them is reported.

No law is assumed. The limit may be far below the divergence, above all at large orders: events of
probability less than about 1/paths cannot be seen.

Source: Clopper and Pearson 1934; van Erven and Harremoes 2014, Theorem 9 (data processing).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from empirical.estimators._common import (
    Accumulator,
    Counts,
    Estimate,
    Floats,
    Halves,
    Question,
    binomial_lower,
    binomial_upper,
)

NAME = "events"
SOURCE = "data-processing inequality; Clopper and Pearson 1934"
SIDES = "lower"
VOID = "void if the paths are not independent draws of the two last iterates"
CELLS = 256
EVENTS = 4

Mask = npt.NDArray[np.bool_]


class _Making:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.halves = Halves(question.paths, self._choose, self._count)
        self.edges = np.empty(0)
        self.events: list[Mask] = []
        self.counts: tuple[Counts, Counts] | None = None

    def add(self, first: Floats, second: Floats) -> None:
        self.halves.add(first, second)

    def _choose(self, first: Floats, second: Floats) -> None:
        if len(first) == 0:
            return
        self.edges = cell_edges(first, second)
        cells = len(self.edges) + 1
        p, q = cell_counts(self.edges, first), cell_counts(self.edges, second)
        self.counts = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
        held_out = max(self.question.paths - len(first), 1)
        self.events = choose(p, q, held_out, self.question)

    def _count(self, first: Floats, second: Floats) -> None:
        if self.counts is not None:
            self.counts[0][:] += cell_counts(self.edges, first)
            self.counts[1][:] += cell_counts(self.edges, second)

    def result(self) -> Estimate:
        question, trials = self.question, self.halves.held_out
        if self.counts is None or trials == 0:
            return Estimate.of(
                NAME, question, None, None, None, VOID,
                "the paths so far were all needed to choose events",
            )  # fmt: skip
        p, q = self.counts
        error = question.error / (2 * len(self.events))
        best, value = -math.inf, -math.inf
        for event in self.events:
            inside, beside = p[event].sum(), q[event].sum()
            least = float(binomial_lower(inside, trials, error))
            most = float(binomial_upper(beside, trials, error))
            # The limit comes first; the value is that of the event that gives it.
            bound = coins(least, most, question.order) if least > most else 0.0
            seen = coins(float(inside / trials), float(beside / trials), question.order)
            best, value = max((best, value), (bound, seen))
        return Estimate.of(NAME, question, value, best, None, VOID)


def coins(p: float, q: float, alpha: float) -> float:
    """R_alpha of a coin of probability p from one of probability q [-].

    >>> round(coins(0.5, 0.25, 2.0), 12) == round(math.log(4 / 3), 12)
    True
    """
    if p == q:
        return 0.0
    terms = []
    for up, down in ((p, q), (1 - p, 1 - q)):
        if up > 0:
            if down <= 0:
                return math.inf
            terms.append(math.log(up) + (alpha - 1) * math.log(up / down))
    top = max(terms)
    return max(0.0, (top + math.log(sum(math.exp(t - top) for t in terms))) / (alpha - 1))


def _coins(p: Floats, q: Floats, alpha: float) -> Floats:
    """`coins` elementwise, for 0 < q < 1."""
    with np.errstate(all="ignore"):
        heads = np.log(p) + (alpha - 1) * np.log(p / q)
        tails = np.log1p(-p) + (alpha - 1) * (np.log1p(-p) - np.log1p(-q))
    return np.asarray(np.logaddexp(heads, tails) / (alpha - 1), dtype=np.float64)


def cell_edges(first: Floats, second: Floats) -> Floats:
    """Edges of cells [parameter]: quantiles of both samples, denser in the tails, [< CELLS]."""
    inner = np.linspace(0, 1, CELLS * 3 // 4 + 1)[1:-1]
    tail = np.geomspace(4 / len(first), inner[0], CELLS // 8, endpoint=False)
    levels = np.concatenate([tail, inner, 1 - tail])
    pooled = np.concatenate([first, second])
    return np.unique(np.quantile(pooled, np.clip(levels, 0, 1)))


def cell_counts(edges: Floats, values: Floats) -> Counts:
    """How many values are in each cell; cell k is edge_(k-1) < x <= edge_k, [edges + 1]."""
    below = np.searchsorted(np.sort(values), edges, side="right")
    return np.diff(below, prepend=0, append=len(values)).astype(np.int64)


def choose(p: Counts, q: Counts, held_out: int, question: Question) -> list[Mask]:
    """The events of largest expected limit, one of each kind, as unions of cells, [cells] each."""
    cells = np.arange(len(p))
    ratio = (p + 0.5) / (q + 0.5)
    orders = [cells, cells[::-1], np.argsort(-ratio, kind="stable")]
    chosen: list[Mask] = []
    total = int(p.sum())
    error = question.error / (2 * EVENTS)
    for order in orders:
        inside, beside = np.cumsum(p[order])[:-1], np.cumsum(q[order])[:-1]
        if len(inside) == 0:
            continue
        # What the limits would be on the other half, if it looked like this one.
        scale = held_out / total
        up = np.floor(inside * scale).astype(np.int64)
        down = np.ceil(beside * scale).astype(np.int64)
        least = binomial_lower(np.minimum(up, held_out), held_out, error)
        most = binomial_upper(np.minimum(down, held_out), held_out, error)
        scores = np.where(least > most, _coins(least, most, question.order), least - most)
        picks = [int(np.argmax(scores))]
        if order is orders[-1]:
            # A second, larger event, in case the best one was best by chance.
            picks.append(min(2 * picks[0] + 1, len(scores) - 1))
        for pick in picks:
            mask = np.zeros(len(p), dtype=np.bool_)
            mask[order[: pick + 1]] = True
            chosen.append(mask)
    return chosen or [np.ones(len(p), dtype=np.bool_)]


def start(question: Question) -> Accumulator:
    """Begin an estimate."""
    return _Making(question)
