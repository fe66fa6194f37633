"""A two-sided estimate for known mixtures, and how loose Lemma 4.1 is.

With first = sum_i w_i p_i and second = sum_i w_i q_i, joint convexity (Lemma 4.1, equation (4))
says that first(x)^alpha second(x)^(1 - alpha) is at most the envelope
e(x) = sum_i w_i p_i(x)^alpha q_i(x)^(1 - alpha), whose integral Z is known in closed form. So

    exp((alpha - 1) R_alpha) = Z E[A(X)],    X of density e/Z,
    A = first^alpha second^(1 - alpha)/e in (0, 1].

e/Z is a Gaussian mixture, from which X is drawn exactly. E[A] is the probability that rejection
sampling from the envelope accepts, and it is also the whole looseness of Lemma 4.1: the ratio of
its two sides. The interval is that of Maurer and Pontil for the mean of 1 - A in [0, 1].

The paths of the simulation are only counted, so that as many draws are made. Where E[A] is much
smaller than 1/draws, which is where amplification is strong, the draws show A near 0: the upper
end stays valid and the lower end goes to 0.

Source: this toolkit; Maurer and Pontil 2009 for the interval.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from empirical.estimators._common import Accumulator, Estimate, Floats, Mean, Question
from empirical.laws import PatternLaw
from empirical.simulate import generator_for

NAME = "tilted-mixture"
SOURCE = "envelope of Lemma 4.1; Maurer and Pontil 2009"
SIDES = "two-sided"
VOID = "void if the law of the batches, from which the mixture was computed, is wrong"
MOST_TERMS = 4 * 10**9
CHUNK = 1 << 19
STREAM = 2


class Envelope:
    """The envelope e, its integral, and draws of density e/Z.

    log_integral: log Z [-], infinite where a component's divergence is. acceptance: the draws of
    1 - A so far.
    """

    def __init__(self, patterns: PatternLaw, alpha: float) -> None:
        rows = [
            [float(x) for x in (p.probability, p.first_mean, p.second_mean, p.first_variance,
                                p.second_variance)]
            for p in patterns.patterns
        ]  # fmt: skip
        weight, m1, m2, self.v1, self.v2 = np.array(rows).T
        self.alpha, self.weight = alpha, weight
        # About the middle, so that the squares below keep their digits.
        self.centre = float(weight @ (m1 + m2) / 2)
        self.m1, self.m2 = m1 - self.centre, m2 - self.centre
        sharp = alpha / self.v1 - (alpha - 1) / self.v2
        self.finite = bool(np.all(sharp > 0))
        self.log_integral = math.inf
        if not self.finite:
            return
        self.mean = (alpha * self.m1 / self.v1 - (alpha - 1) * self.m2 / self.v2) / sharp
        self.scale = 1 / np.sqrt(sharp)
        blend = alpha * self.v2 - (alpha - 1) * self.v1
        logs = (np.log(self.v2 / self.v1) * (alpha - 1) + np.log(self.v2 / blend)) / 2
        logs += alpha * (alpha - 1) * (self.m1 - self.m2) ** 2 / (2 * blend)
        self.tilts = np.log(weight) + logs
        self.log_integral = float(logsumexp(self.tilts))
        self.share = np.cumsum(np.exp(self.tilts - self.log_integral))

    def draw(self, generator: np.random.Generator, size: int) -> Floats:
        """X of density e/Z about the centre [parameter], [size]."""
        pick = np.searchsorted(self.share, generator.random(size) * self.share[-1], side="right")
        pick = np.minimum(pick, len(self.share) - 1)
        out = self.mean[pick] + self.scale[pick] * generator.standard_normal(size)
        return np.asarray(out, dtype=np.float64)

    def log_acceptance(self, x: Floats) -> Floats:
        """log A <= 0 at points about the centre, [points]."""
        alpha = self.alpha
        up = self._log(x, self.m1, self.v1)
        down = self._log(x, self.m2, self.v2)
        gap = (x[:, None] - self.mean) / self.scale
        norm = self.tilts - np.log(self.scale)
        with np.errstate(under="ignore"):
            over = logsumexp(norm - gap * gap / 2, axis=1) - math.log(2 * math.pi) / 2
        return np.asarray(np.minimum(alpha * up - (alpha - 1) * down - over, 0.0), np.float64)

    def _log(self, x: Floats, mean: Floats, variance: Floats) -> Floats:
        gap = x[:, None] - mean
        with np.errstate(under="ignore"):
            logs = logsumexp(
                np.log(self.weight) - np.log(2 * math.pi * variance) / 2
                - gap * gap / (2 * variance),
                axis=1,
            )  # fmt: skip
        return np.asarray(logs)


class _Making:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.rejected = Mean()
        self.block = 0
        self.why: str | None = None
        self.envelope: Envelope | None = None
        if question.patterns is None:
            self.why = "the laws are not known as mixtures over patterns of batches"
            return
        terms = len(question.patterns.patterns)
        if terms * question.paths > MOST_TERMS:
            self.why = (
                f"{terms} patterns times {question.paths} draws are more than {MOST_TERMS} terms; "
                "fewer paths would do"
            )
            return
        self.envelope = Envelope(question.patterns, question.order)
        if not self.envelope.finite:
            self.why = "a component's divergence is infinite, so the envelope has no integral"

    def add(self, first: Floats, second: Floats) -> None:
        if self.why is not None or self.envelope is None:
            return
        generator = generator_for(self.question.seed, self.block, STREAM)
        self.block += 1
        rows = max(1, CHUNK // len(self.envelope.weight))
        left = len(first)
        while left:
            points = self.envelope.draw(generator, min(rows, left))
            self.rejected.add(-np.expm1(self.envelope.log_acceptance(points)))
            left -= len(points)

    def result(self) -> Estimate:
        question = self.question
        if self.why is not None or self.envelope is None:
            return Estimate.of(NAME, question, None, None, None, VOID, self.why)
        if self.rejected.size < 2:
            return Estimate.of(NAME, question, None, None, None, VOID, "fewer than two draws")
        error = question.error / 2
        lost = (self.rejected.mean, self.rejected.upper(error), self.rejected.lower(error))
        value, lower, upper = (self._divergence(x) for x in lost)
        return Estimate.of(NAME, question, value, max(lower, 0.0), upper, VOID)

    def _divergence(self, lost: float) -> float:
        """From E[1 - A]."""
        assert self.envelope is not None
        if lost >= 1:
            return -math.inf
        whole = self.envelope.log_integral + math.log1p(-lost)
        return whole / (self.question.order - 1)


def start(question: Question) -> Accumulator:
    """Begin an estimate."""
    return _Making(question)
