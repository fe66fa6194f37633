"""Working through a sweep: what it will cost, who does it, and going on where it stopped.

Ranges of points go to joblib, whose workers are processes on this machine or on a Dask cluster: the
precision of mpmath and Arb is state of a process, so no two ranges share one at a time. A worker
returns the bytes of a part; only this process writes. Memory stays constant: so many ranges are out
as two for each worker.

Growth: time and size are proportional to the number of points.
"""

from __future__ import annotations

import pickle
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bounds.setting import InvalidInput
from verify.sweep import store as storage
from verify.sweep.evaluate import work_out
from verify.sweep.grid import Sweep
from verify.sweep.store import Store

SECONDS_A_PART = 2.0
MOST_A_PART = 1 << 16
MOST_PARTS = 20_000
SAMPLE_SECONDS = 1.0
MOST_SECONDS = 30 * 86400

_alone = threading.Lock()
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What a sweep will cost, from a timed sample: [points], [s] of one worker, [bytes]."""

    points: int
    seconds_each: float
    bytes_each: float

    @property
    def size(self) -> float:
        """An upper estimate of the file's size [bytes], before compression."""
        return self.points * self.bytes_each

    def seconds(self, workers: int) -> float:
        """The time that so many workers will take [s]."""
        return self.points * self.seconds_each / workers

    def part(self) -> int:
        """Points in a part: some seconds of work."""
        wanted = int(SECONDS_A_PART / max(self.seconds_each, 1e-9))
        least = -(-self.points // MOST_PARTS)
        return max(1, least, min(wanted, MOST_A_PART, self.points))


def plan(sweep: Sweep) -> Plan:
    """Time a sample of points, spread over the whole sweep, in this process."""
    work_out(sweep, 0, 1)  # imports and caches
    size, before = 1, (0.0, 0.0)
    began = time.perf_counter()
    while True:
        starts = {k * (sweep.count - size) // 3 for k in range(4)} if sweep.count > size else {0}
        rows = spent = heavy = 0.0
        for at in sorted(starts):
            start = time.perf_counter()
            table = work_out(sweep, at, min(at + size, sweep.count))
            spent += time.perf_counter() - start
            rows, heavy = rows + table.num_rows, heavy + table.nbytes
            if time.perf_counter() - began > SAMPLE_SECONDS:
                break
        if time.perf_counter() - began > SAMPLE_SECONDS / 2 or size >= sweep.count:
            more = rows - before[0]
            # What a range costs whatever its size is not paid for every point.
            slope = (spent - before[1]) / more if more > 0 else 0.0
            each = slope if slope > 0 else spent / rows
            return Plan(sweep.count, each, heavy / rows)
        before = rows, spent
        size *= 8


def refuse(made: Plan, workers: int, out: Path) -> None:
    """Refuse a sweep that cannot be finished or kept, naming the cheaper way.

    Raises:
        InvalidInput
    """
    home = next(folder for folder in (out.parent, *out.parent.parents) if folder.exists())
    free = shutil.disk_usage(home).free
    # The parts and the file stand side by side for a moment.
    if 2 * made.size > 0.9 * free:
        fits = int(0.45 * free / made.bytes_each)
        raise InvalidInput(
            f"{made.points} points would take up to {_bytes(2 * made.size)} while they are put "
            f"together, and {_bytes(free)} are free at {home}; a [random] design of points = "
            f"{_short(fits)} fits, or another --out"
        )
    if made.seconds(workers) > MOST_SECONDS:
        fits = int(MOST_SECONDS * workers / made.seconds_each / 30)
        raise InvalidInput(
            f"{made.points} points would take about {duration(made.seconds(workers))} with "
            f"{workers} worker{'s' * (workers > 1)}; a [random] design of points = {_short(fits)} "
            "takes a day, and exact values and estimates are what costs most"
        )


def _short(number: int) -> str:
    return f"{int(float(f'{number:.1e}'))}"


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def duration(seconds: float) -> str:
    """A time as people say it."""
    for unit, length in (("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.2g} s"


def describe(made: Plan, workers: int) -> str:
    """What a sweep will cost, in a sentence."""
    return (
        f"{made.points} points, about {duration(made.seconds(workers))} with {workers} "
        f"worker{'s' * (workers > 1)}, at most {_bytes(made.size)}"
    )


def ranges(count: int, size: int) -> Iterator[tuple[int, int]]:
    """The ranges of indices of the parts, in order."""
    for start in range(0, count, size):
        yield start, min(start + size, count)


@lru_cache(maxsize=1)
def unpacked(packed: bytes) -> Sweep:
    """The sweep, read once for all the parts that a worker is given."""
    made: Sweep = pickle.loads(packed)
    return made


def task(packed: bytes, start: int, stop: int, mark: str) -> tuple[int, int, bytes]:
    """One part, in a worker.

    Raises:
        InvalidInput: the worker has other versions than the process that asks.
    """
    sweep = unpacked(packed)
    if storage.fingerprint(sweep) != mark:
        raise InvalidInput(
            "a worker has other versions of hiddenstate or of what it uses than this process: "
            + ", ".join(f"{name} {found}" for name, found in storage.versions().items())
        )
    with _alone:
        return start, stop, storage.serialised(work_out(sweep, start, stop))


class Workers:
    """Who works: `jobs` processes here, or a Dask cluster at an address."""

    def __init__(self, jobs: int, dask: str | None = None) -> None:
        self.jobs, self.address = jobs, dask
        self._stack = ExitStack()

    def __enter__(self) -> Workers:
        import joblib

        if self.address is None:
            return self
        try:
            from distributed import Client
        except ImportError:
            raise InvalidInput(
                "--dask wants the packages dask and distributed: pip install 'hiddenstate[cluster]'"
            ) from None
        try:
            client = Client(self.address, timeout=10, set_as_default=True)
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidInput(f"no Dask scheduler answers at {self.address}: {error}") from None
        self._stack.enter_context(client)
        self.jobs = max(1, len(client.nthreads()))
        self._stack.enter_context(joblib.parallel_config(backend="dask"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def map(
        self, sweep: Sweep, todo: list[tuple[int, int]], mark: str
    ) -> Iterator[tuple[int, int, bytes]]:
        """The parts, in the order in which they are done."""
        import joblib

        parallel = joblib.Parallel(
            n_jobs=self.jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs",
            batch_size=1,
        )  # fmt: skip
        work, packed = joblib.delayed(task), pickle.dumps(sweep)
        found: Iterator[tuple[int, int, bytes]] = parallel(
            work(packed, start, stop, mark) for start, stop in todo
        )
        return found


def run(
    store: Store,
    size: int,
    workers: Workers,
    progress: Progress | None = None,
) -> bool:
    """Work out what is missing and put FILE together; False where an interrupt came first.

    size: points of a part. progress: called with the points done and in all. Whatever stops the
    work, the parts that are finished are kept.

    Raises:
        InvalidInput: a worker died or has other versions.
    """
    sweep = store.sweep
    if store.begun() is None:
        store.begin(size)
    parts = list(ranges(sweep.count, size))
    todo = [item for item in parts if not store.kept(*item)]
    done = sweep.count - sum(stop - start for start, stop in todo)
    if progress is not None:
        progress(done, sweep.count)
    try:
        with warnings.catch_warnings():
            # Some fifty seconds of one part make joblib think that a worker has leaked.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            with closing(_generator(workers.map(sweep, todo, store.mark))) as found:
                for start, stop, data in found:
                    store.add(start, stop, data)
                    done += stop - start
                    if progress is not None:
                        progress(done, sweep.count)
        store.merge(iter(parts))
    except KeyboardInterrupt:
        return False
    except Exception as error:
        if type(error).__name__ in ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker"):
            raise InvalidInput(
                "a worker process died, perhaps for want of memory; what was finished is kept, and "
                "the same command goes on from there, with fewer --jobs if need be"
            ) from None
        raise
    return True


def _generator(items: Iterator[Any]) -> Any:
    yield from items
