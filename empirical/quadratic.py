"""One-dimensional quadratic problems, each with a pair of data sets that differ in one record.

Record i has the loss h_i/2 (theta - x_i)^2, hence the gradient h_i theta + g_i with g_i = -h_i x_i.
A linear loss is h_i = 0 with any g_i. One update from a batch B is

    theta <- theta - eta (ridge_j theta + (1/b) sum_(i in B) (h_i theta + g_i)) + noise,
    noise ~ N(0, 2 eta sigma^2),

with b the nominal batch size also where the batch is random (Poisson), and `ridge_j` the curvature
that belongs to the batch at place j of an epoch and not to its records: a regulariser. Every
number is exact.

Where one record moves from x to x' and keeps its curvature h, the total gradient moves by
h (x' - x) at every theta: the sensitivity is exactly |h (x - x')|.

Where the shared records sit beside the pair matters as soon as the batches are random: a record
far from the others gives away when it was used. `Problem.of` puts the shared records at 0 and the
pair at (centre +- 1/2) S_g in gradient; centre = 0 is the symmetric pair (which alone is possible
in part where gradients are clipped to S_g/2), centre = 1/2 the pair {S_g, 0} of the sub-sampled
Gaussian mechanism, and a large centre reveals the batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Literal

from bounds.setting import (
    BATCH_SIZE,
    CONVEX,
    DATA_SIZE,
    EPOCHS,
    NOISE,
    POSITION,
    SENSITIVITY,
    STEP_POSITIVE,
    AssumptionViolated,
    InvalidInput,
    Setting,
    exact,
    require,
    show,
)

Side = Literal["first", "second"]


@dataclass(frozen=True)
class Loss:
    """One record: gradient(theta) = curvature * theta + gradient.

    curvature: h [gradient / parameter]; gradient: the gradient at theta = 0, -h x [gradient].
    """

    curvature: Fraction
    gradient: Fraction

    @classmethod
    def at(cls, curvature: object, point: object) -> Loss:
        """h/2 (theta - x)^2 for curvature h and point x [parameter]."""
        h = exact(curvature, "curvature")
        return cls(h, -h * exact(point, "point"))

    @classmethod
    def linear(cls, gradient: object) -> Loss:
        """A linear loss of constant gradient g [gradient]."""
        return cls(Fraction(0), exact(gradient, "gradient"))


@dataclass(frozen=True)
class Update:
    """theta -> factor * theta + drift, before the noise; factor [-], drift [parameter]."""

    factor: Fraction
    drift: Fraction


@dataclass(frozen=True)
class Problem:
    """A pair of neighbouring data sets and the run of noisy SGD on them.

    n, b [records]; epochs K; eta [parameter / gradient]; sigma2 [parameter * gradient].
    first, second: the differing record in the one data set and in the other.
    shared: the n - 1 other records, in order, as runs (count, loss).
    position: place in the epoch of the batch that holds the differing record under a fixed order.
    ridge: curvature of the batch at each place of an epoch, [floor(n/b)], or one for all, [1].
    start_mean [parameter], start_variance [parameter^2]: Gaussian start, a point when 0.
    radius: half the side D/2 of the interval [-D/2, D/2] onto which every iterate is projected.

    Raises:
        AssumptionViolated, InvalidInput: when the numbers do not make a problem.
    """

    n: int
    b: int
    epochs: int
    eta: Fraction
    sigma2: Fraction
    first: Loss
    second: Loss
    shared: tuple[tuple[int, Loss], ...]
    position: int = 0
    ridge: tuple[Fraction, ...] = (Fraction(0),)
    start_mean: Fraction = Fraction(0)
    start_variance: Fraction = Fraction(0)
    radius: Fraction | None = None

    def __post_init__(self) -> None:
        setting = Setting(
            n=self.n, b=self.b, epochs=self.epochs, eta=self.eta, sigma2=self.sigma2,
            position=self.position,
        )  # fmt: skip
        for assumption in (DATA_SIZE, BATCH_SIZE, EPOCHS, STEP_POSITIVE, NOISE, POSITION):
            assumption.check(setting)
        counted = sum(count for count, _ in self.shared)
        if counted != self.n - 1 or any(count < 1 for count, _ in self.shared):
            raise InvalidInput(
                f"{counted} shared records were given; n - 1 = {self.n - 1} are wanted"
            )
        if len(self.ridge) not in (1, self.batches):
            raise InvalidInput(
                f"{len(self.ridge)} batch curvatures were given; 1 or floor(n/b) = "
                f"{self.batches} are wanted"
            )
        least = min(*self.ridge, self.first.curvature, self.second.curvature,
                    *(loss.curvature for _, loss in self.shared))  # fmt: skip
        if least < 0:
            raise AssumptionViolated("convexity", "curvatures >= 0", {"curvature": least})
        if self.start_variance < 0:
            raise AssumptionViolated(
                "start", "start variance >= 0", {"start variance": self.start_variance}
            )
        if self.radius is not None and self.radius <= 0:
            raise AssumptionViolated("projection", "D/2 > 0", {"D/2": self.radius})

    @classmethod
    def of(
        cls,
        setting: Setting,
        *,
        centre: object = 0,
        curvature: object = None,
        per: Literal["record", "batch"] = "record",
        batch_curvatures: Sequence[object] | None = None,
        start_mean: object = 0,
        start_variance: object = 0,
        diameter: object = None,
    ) -> Problem:
        """The canonical problem at a setting: shared records at 0, the pair (centre +- 1/2) S_g.

        setting: n, b, epochs, eta, lambda, sensitivity, sigma2 are needed, position is optional.
        centre [-]: the middle of the pair in units of S_g, as gradients at theta = 0.
        curvature: of every record; by default lambda, which contracts slowest.
        per: "record" gives the curvature to the records, "batch" to the batch. The two differ for
            random batch sizes (Poisson) only.
        batch_curvatures: one curvature for the batch at each place of an epoch, instead.
        diameter D [parameter]: projection onto [-D/2, D/2].

        Raises:
            MissingParameter, AssumptionViolated, NotExact.
        """
        require(setting, ("n", "b", "epochs", "eta", "lambda_", "sensitivity", "sigma2"),
                "a quadratic problem")  # fmt: skip
        for assumption in (DATA_SIZE, BATCH_SIZE, CONVEX, SENSITIVITY):
            assumption.check(setting)
        assert setting.n is not None and setting.b is not None and setting.epochs is not None
        assert setting.eta is not None and setting.sigma2 is not None
        assert setting.lambda_ is not None and setting.sensitivity is not None
        middle = exact(centre, "centre")
        zero, half = Fraction(0), Fraction(1, 2)
        bend = setting.lambda_ if curvature is None else exact(curvature, "curvature")
        if batch_curvatures is not None:
            own, ridge = zero, tuple(exact(item, "curvature") for item in batch_curvatures)
        elif per == "batch":
            own, ridge = zero, (bend,)
        else:
            own, ridge = bend, (zero,)
        side = None if diameter is None else exact(diameter, "diameter") / 2
        shared = ((setting.n - 1, Loss(own, zero)),) if setting.n > 1 else ()
        return cls(
            n=setting.n, b=setting.b, epochs=setting.epochs, eta=setting.eta,
            sigma2=setting.sigma2, first=Loss(own, (middle + half) * setting.sensitivity),
            second=Loss(own, (middle - half) * setting.sensitivity), shared=shared,
            position=setting.place, ridge=ridge, start_mean=exact(start_mean, "start mean"),
            start_variance=exact(start_variance, "start variance"), radius=side,
        )  # fmt: skip

    @classmethod
    def from_records(
        cls,
        records: Sequence[Loss],
        other: Loss,
        index: int,
        *,
        b: int,
        epochs: int,
        eta: object,
        sigma2: object,
        start_mean: object = 0,
        start_variance: object = 0,
        diameter: object = None,
    ) -> Problem:
        """The problem of data set `records` against the same with record `index` made `other`.

        Under a fixed order the batch at place j holds the records j b, ..., (j+1) b - 1; records
        within a batch may be permuted. The record must lie in a batch.
        """
        shared = [loss for place, loss in enumerate(records) if place != index]
        batches = max(len(records) // b, 1)
        place = index // b
        if place >= batches:
            raise InvalidInput(
                f"record {index} is in no batch under a fixed order; records 0 to "
                f"{batches * b - 1} are"
            )
        return cls(
            n=len(records), b=b, epochs=epochs, eta=exact(eta, "--eta"),
            sigma2=exact(sigma2, "--sigma2"), first=records[index], second=other,
            shared=tuple((len(list(run)), loss) for loss, run in groupby(shared)),
            position=place, start_mean=exact(start_mean, "start mean"),
            start_variance=exact(start_variance, "start variance"),
            radius=None if diameter is None else exact(diameter, "diameter") / 2,
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
    def noise(self) -> Fraction:
        """2 eta sigma^2 [parameter^2], the variance that one update adds."""
        return 2 * self.eta * self.sigma2

    @property
    def sensitivity(self) -> Fraction:
        """S_g [gradient], exactly.

        Raises:
            InvalidInput: the record's curvature changes, so that no constant bounds it.
        """
        if self.first.curvature != self.second.curvature:
            raise InvalidInput(
                "the differing record has curvature "
                f"{show(self.first.curvature)} in one data set and {show(self.second.curvature)} "
                "in the other; its gradients differ without bound, so there is no sensitivity"
            )
        return abs(self.first.gradient - self.second.gradient)

    @property
    def index(self) -> int:
        """Index of the differing record under a fixed order: the first of its batch."""
        return self.position * self.b

    @property
    def alike(self) -> bool:
        """Whether all shared records are equal, and the differing one has their curvature."""
        kinds = {loss for _, loss in self.shared}
        if self.first.curvature != self.second.curvature or len(kinds) > 1:
            return False
        return all(loss.curvature == self.first.curvature for loss in kinds)

    def record(self, side: Side) -> Loss:
        """The differing record in one of the data sets."""
        return self.first if side == "first" else self.second

    def records(self, side: Side) -> list[Loss]:
        """All n records of one data set, in the order of a fixed run, [n]."""
        losses = [loss for count, loss in self.shared for _ in range(count)]
        losses.insert(self.index, self.record(side))
        return losses

    def ridge_at(self, place: int) -> Fraction:
        """Curvature of the batch at a place of an epoch, beside that of its records."""
        return self.ridge[place if len(self.ridge) > 1 else 0]

    def update(self, place: int, curvature: Fraction, gradient: Fraction) -> Update:
        """The update of a batch whose records sum to these curvatures and gradients.

        place: the batch's place in the epoch, 0 <= place < floor(n/b).
        """
        bend = self.ridge_at(place) + curvature / self.b
        return Update(1 - self.eta * bend, -self.eta * gradient / self.b)

    def describe(self) -> str:
        """One sentence for reports."""
        kinds = {loss for _, loss in self.shared} | {self.first, self.second}
        bends = sorted({loss.curvature for loss in kinds})
        parts = [f"quadratic losses, record curvature {', '.join(map(show, bends))}"]
        if bends == [0]:
            parts = ["linear losses"]
        if any(self.ridge):
            parts.append("batch curvature " + ", ".join(map(show, self.ridge)))
        if len({loss for _, loss in self.shared}) == 1 and self.shared[0][1].gradient == 0:
            parts.append("shared records at 0")
        parts.append(
            f"gradient of the differing record {show(self.first.gradient)} or "
            f"{show(self.second.gradient)} at 0"
        )
        start = f"start {show(self.start_mean)}"
        if self.start_variance:
            start += f" with variance {show(self.start_variance)}"
        parts.append(start)
        if self.radius is not None:
            parts.append(f"projected onto [-{show(self.radius)}, {show(self.radius)}]")
        return "; ".join(parts)
