"""The plain plug-in, as a warning: histograms of the two samples put into the definition.

Cells that the second sample does not reach are left out, as is usual, because the divergence would
be infinite with them. At large orders the integral of first^alpha second^(1 - alpha) lives where
the second sample has no point, so that the value is too small however smooth it looks, and there
is no interval. It is shown and labelled, and it is never evidence.

Source: the definition of the divergence.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from empirical.estimators._common import Accumulator, Counts, Estimate, Floats, Question
from empirical.estimators.events import cell_counts

NAME = "plug-in"
SOURCE = "the definition, with histograms"
SIDES = "none"
VOID = "never evidence: biased by an unknown amount, and silently low at large orders"
CELLS = 64


class _Making:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.edges: Floats | None = None
        self.first: Counts = np.zeros(CELLS, dtype=np.int64)
        self.second: Counts = np.zeros(CELLS, dtype=np.int64)

    def add(self, first: Floats, second: Floats) -> None:
        if len(first) == 0:
            return
        if self.edges is None:
            pooled = np.concatenate([first, second])
            self.edges = np.linspace(float(pooled.min()), float(pooled.max()), CELLS + 1)[1:-1]
        self.first += cell_counts(self.edges, first)
        self.second += cell_counts(self.edges, second)

    def result(self) -> Estimate:
        alpha = self.question.order
        value = None
        seen = (self.first > 0) & (self.second > 0)
        if seen.any():
            p = np.log(self.first[seen] / self.first.sum())
            q = np.log(self.second[seen] / self.second.sum())
            value = float(logsumexp(alpha * p - (alpha - 1) * q)) / (alpha - 1)
        return Estimate.of(
            NAME, self.question, value, None, None, VOID, "a plug-in value has no interval"
        )  # fmt: skip


def start(question: Question) -> Accumulator:
    """Begin an estimate."""
    return _Making(question)
