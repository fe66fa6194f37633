"""A variational lower bound from paths alone, of Donsker and Varadhan's type.

For every function g for which both expectations are finite,

    R_alpha(first || second) >= alpha/(alpha - 1) log E_first[exp((alpha - 1) g)]
                                - log E_second[exp(alpha g)],

with equality at g = log(first/second); as alpha tends to 1 it becomes Donsker and Varadhan's. The
right side does not change when a constant is added to g, so g <= 0 is taken, and both expectations
are means of numbers in [0, 1]. On the first half of the paths one g is chosen: linear in x, or the
logarithm of a ratio of histograms, cut off above. On the other half the first mean is bounded from
below and the second from above (Maurer and Pontil), at half of the error each.

Vacuous where the first limit is 0 or the bound not positive, which is common at large orders: g is
then undecided about everything, and so says the result.

Source: Birrell, Dupuis, Katsoulakis, Rey-Bellet and Wang 2021, Theorem 3.1, for the formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from empirical.estimators._common import (
    Accumulator,
    Estimate,
    Floats,
    Halves,
    Mean,
    Question,
    bernstein_radius,
)
from empirical.estimators.events import cell_counts

NAME = "variational"
SOURCE = "Birrell et al. 2021, Theorem 3.1; Maurer and Pontil 2009"
SIDES = "lower"
VOID = "void if the paths are not independent draws of the two last iterates"
SLOPES = (0.03, 0.1, 0.3, 0.6, 1.0, 1.5)
CUTS = (0.5, 0.9, 0.97, 0.99, 0.997, 0.999, 1.0)
CELLS = 48


@dataclass(frozen=True)
class Witness:
    """g(x) = min(h(x), cut) - cut <= 0; h is slope (x - centre), or one height for each cell."""

    cut: float
    slope: float = 0.0
    centre: float = 0.0
    edges: Floats | None = None
    heights: Floats | None = None

    def raw(self, x: Floats) -> Floats:
        """h [-], [paths]."""
        if self.edges is not None and self.heights is not None:
            return np.asarray(self.heights[np.searchsorted(self.edges, x, side="left")])
        return self.slope * (x - self.centre)

    def at(self, x: Floats) -> Floats:
        """g [-], [paths]."""
        return np.minimum(self.raw(x) - self.cut, 0.0)


class _Making:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.halves = Halves(question.paths, self._choose, self._count)
        self.witness: Witness | None = None
        self.first, self.second = Mean(), Mean()

    def add(self, first: Floats, second: Floats) -> None:
        self.halves.add(first, second)

    def _choose(self, first: Floats, second: Floats) -> None:
        if len(first) < 8:
            return
        # One part of the pilot makes the candidates, the other compares them.
        half = len(first) // 2
        made = candidates(first[:half], second[:half])
        trials = max(self.question.paths - len(first), 2)
        scores = [_score(item, first[half:], second[half:], trials, self.question) for item in made]
        self.witness = made[int(np.argmax(scores))]

    def _count(self, first: Floats, second: Floats) -> None:
        if self.witness is not None:
            alpha = self.question.order
            self.first.add(np.exp((alpha - 1) * self.witness.at(first)))
            self.second.add(np.exp(alpha * self.witness.at(second)))

    def result(self) -> Estimate:
        question = self.question
        if self.witness is None or self.first.size < 2:
            return Estimate.of(
                NAME, question, None, None, None, VOID,
                "the paths so far were all needed to choose a function",
            )  # fmt: skip
        error = question.error / 2
        lower = functional(self.first.lower(error), self.second.upper(error), question.order)
        value = functional(self.first.mean, self.second.mean, question.order)
        why = None
        if not lower > 0:
            why = "vacuous: the function chosen shows no divergence above its uncertainty"
        return Estimate.of(NAME, question, value, lower, None, VOID, why)


def functional(first: float, second: float, alpha: float) -> float:
    """The right side from the two expectations [-]; -inf where the first is 0."""
    if first <= 0:
        return -math.inf
    if second <= 0:
        return math.inf
    return alpha / (alpha - 1) * math.log(first) - math.log(second)


def candidates(first: Floats, second: Floats) -> list[Witness]:
    """Functions made from a sample, to choose from."""
    centre = float(first.mean() + second.mean()) / 2
    spread = float(first.var() + second.var()) / 2
    fitted = float(first.mean() - second.mean()) / spread if spread > 0 else 0.0
    pooled = np.concatenate([first, second])
    edges = np.unique(np.quantile(pooled, np.linspace(0, 1, CELLS + 1)[1:-1]))
    ratio = (cell_counts(edges, first) + 4.0) / (cell_counts(edges, second) + 4.0)
    shapes = [Witness(0.0, slope=share * fitted, centre=centre) for share in SLOPES]
    shapes += [Witness(0.0, edges=edges, heights=share * np.log(ratio)) for share in (0.3, 1.0)]
    out = []
    for shape in shapes:
        for cut in np.quantile(shape.raw(pooled), CUTS):
            out.append(
                Witness(float(cut), shape.slope, shape.centre, shape.edges, shape.heights)
            )  # fmt: skip
    return out


def _score(
    witness: Witness, first: Floats, second: Floats, trials: int, question: Question
) -> float:
    """The limit to expect from `trials` more paths."""
    alpha, error = question.order, question.error / 2
    up = np.exp((alpha - 1) * witness.at(first))
    down = np.exp(alpha * witness.at(second))
    least = float(up.mean()) - bernstein_radius(float(up.var()), trials, error)
    most = float(down.mean()) + bernstein_radius(float(down.var()), trials, error)
    return functional(least, most, alpha)


def start(question: Question) -> Accumulator:
    """Begin an estimate."""
    return _Making(question)
