"""How batches are drawn: which updates use a record, as exact probabilities and as draws.

    fixed-order           record i in batch floor(i/b), the same in every epoch
    shuffle-once          one random partition, reused in every epoch (Algorithm 1)
    reshuffle             a new random partition in every epoch (what training code does)
    without-replacement   b of n at every update, afresh (Algorithm 1, second variant)
    poisson               every record in every batch with probability b/n, independently

An epoch has floor(n/b) updates; the remainder of a partition is dropped (footnote 3). Updates are
numbered 0, ..., K floor(n/b) - 1; update t is at place t mod floor(n/b) of epoch
floor(t / floor(n/b)).

The law of the updates that use one record is a product of independent blocks, each a choice among
a few `Use`s.

>>> [choice.probability for choice in next(find("shuffle-once").blocks(5, 2, 3, 0))]
[Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from bounds.setting import InvalidInput


@dataclass(frozen=True)
class Use:
    """One possibility: with this probability the record is used at these updates.

    The updates are those at place `place` of the epochs epoch, ..., epoch + count - 1; none when
    count = 0.
    """

    probability: Fraction
    epoch: int
    place: int
    count: int

    def updates(self, batches: int) -> tuple[int, ...]:
        """Numbers of the updates; `batches` = floor(n/b)."""
        return tuple(
            (self.epoch + k) * batches + self.place for k in range(self.count)
        )  # fmt: skip


Block = tuple[Use, ...]


@dataclass(frozen=True)
class Scheme:
    """A batch scheme.

    name: as on the command line; title: as in bound files (`SCHEME`).
    afresh: how often batches are drawn: "never" (fixed), "once", "epoch" or "update".
    random_size: whether the batch size is random.
    """

    name: str
    title: str
    afresh: Literal["never", "once", "epoch", "update"]
    random_size: bool = False

    def blocks(self, n: int, b: int, epochs: int, position: int) -> Iterator[Block]:
        """The independent blocks that make up the law of the record's uses.

        position: place of the record's batch, for a fixed order only.
        """
        batches, one, rate = n // b, Fraction(1), Fraction(b, n)
        if self.afresh == "never":
            yield (Use(one, 0, position, epochs),)
        elif self.afresh == "update":
            for epoch in range(epochs):
                for place in range(batches):
                    yield _kept(Use(rate, epoch, place, 1), Use(1 - rate, epoch, place, 0))
        else:
            whole = self.afresh == "once"
            dropped = 1 - batches * rate
            for epoch in range(1 if whole else epochs):
                count = epochs if whole else 1
                yield _kept(
                    *(Use(rate, epoch, place, count) for place in range(batches)),
                    Use(dropped, epoch, 0, 0),
                )

    def uses(
        self,
        generator: np.random.Generator,
        n: int,
        b: int,
        epochs: int,
        position: int,
        paths: int,
    ) -> npt.NDArray[np.bool_]:
        """Draw whether each update uses the record, [paths, K floor(n/b)]."""
        batches = n // b
        shape = (paths, epochs, batches)
        if self.afresh == "update":
            drawn = generator.integers(0, n, size=shape) < b
        else:
            places = np.arange(batches)
            if self.afresh == "never":
                batch = np.full((paths, 1), position)
            else:
                rounds = 1 if self.afresh == "once" else epochs
                batch = generator.integers(0, n, size=(paths, rounds)) // b
            drawn = np.broadcast_to(batch[:, :, None] == places, shape)
        return np.ascontiguousarray(drawn.reshape(paths, epochs * batches))

    def batches(
        self, generator: np.random.Generator, n: int, b: int, epochs: int
    ) -> Iterator[npt.NDArray[np.intp]]:
        """Draw one run: the record indices of the batch of every update, in turn, [batch size]."""
        count = n // b
        order = np.arange(n)
        if self.afresh == "once":
            order = generator.permutation(n)
        for _ in range(epochs):
            if self.afresh == "epoch":
                order = generator.permutation(n)
            for place in range(count):
                if self.random_size:
                    yield np.flatnonzero(generator.integers(0, n, size=n) < b)
                elif self.afresh == "update":
                    yield generator.choice(n, size=b, replace=False, shuffle=False)
                else:
                    yield order[place * b : (place + 1) * b]


def _kept(*choices: Use) -> Block:
    return tuple(choice for choice in choices if choice.probability)


SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("fixed-order", "fixed order", "never"),
        Scheme("shuffle-once", "shuffle once", "once"),
        Scheme("reshuffle", "reshuffle every epoch", "epoch"),
        Scheme("without-replacement", "without replacement", "update"),
        Scheme("poisson", "Poisson", "update", random_size=True),
    )
}


def find(name: str | Scheme) -> Scheme:
    """A scheme by name or by the title that bound files use ("one update" and "full batch" are
    fixed orders).

    Raises:
        InvalidInput: there is none of that name.
    """
    if isinstance(name, Scheme):
        return name
    wanted = name.strip().lower().replace(" ", "-").replace("_", "-")
    if wanted in ("full-batch", "one-update"):
        wanted = "fixed-order"
    for scheme in SCHEMES.values():
        if wanted in (scheme.name, scheme.title.lower().replace(" ", "-")):
            return scheme
    raise InvalidInput(f"there is no scheme called {name!r}; there are: " + ", ".join(SCHEMES))
