"""How many small mistakes in the bounds are seen: `python -m verify.conformance.mutation`.

Every mutant of a bound file (see `mutants`) is loaded in memory in place of the file and put on
trial (see `trials`): the golden vectors first, in double precision, balls and symbols, the formula
and its printed form; then the properties of `hiddenstate check`. It is killed by the first trial
that it fails, or that it does not end in time. A trial that the code as it stands does not pass
within a second is no trial.

A mutant that is not killed is a survivor. `survivors.toml` lists those that compute the same, each
with a reason of one of the `KINDS`; that is checked here, by values at many settings. Another
survivor, an entry that a killed mutant or no mutant matches, and a score below 98% are errors.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import resource
import signal
import sys
import time
import tomllib
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as Expired
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import click
from pebble import ProcessExpired, ProcessPool

from bounds.arith import float64
from bounds.arith.ball import Ball, accuracy, precision
from bounds.bound import Bound, registry
from bounds.setting import InvalidInput, Setting
from verify.conformance.mutants import Mutant, mutants_of
from verify.conformance.trials import (
    BITS,
    OTHERS,
    ROOT,
    SEARCHES,
    Loaded,
    Trial,
    files,
    load,
    source_of,
    trials,
)
from verify.conformance.vectors import FOLDER

SURVIVORS = Path(__file__).with_name("survivors.toml")
LEAST_SCORE = Fraction(98, 100)
SLOWEST = 1.0
"""Seconds of processor time beyond which a question to the right code is no trial."""
PATIENCE = 20
"""A mutant gets so many times what the right code took, and no less than `SLOWEST`."""
HARD_LIMIT = 300.0
"""Seconds for one mutant, whatever it does."""
MEMORY = 4 << 30
"""Bytes that a worker may allocate."""
POINTS = 100
"""Settings at which a survivor is compared with the code as it stands."""

KINDS = {
    "same-value": "computes the same number in every number system, to the last bit",
    "rounding": "computes the same number, rounded in another way in double precision",
    "speed": "computes the same number, sooner or later",
    "message": "computes the same, and says something else where it refuses",
}
"""Why a survivor may be one."""


class OutOfTime(BaseException):
    """A trial that takes too long; no `except Exception` of the code can stop it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` after so much processor time, which other programs do not use up."""

    def stop(number: int, frame: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def survey(path: str, name: str | None = None) -> dict[str, float]:
    """The trials that the code as it stands passes, with the seconds that each took."""
    loaded = load(path, source_of(path))
    found: dict[str, float] = {}
    for trial in trials(path):
        start = time.process_time()
        try:
            with limited(SLOWEST):
                right = _passes(trial, loaded)
        except OutOfTime:
            continue
        if right:
            found[trial.name] = time.process_time() - start
    return found


@dataclass(frozen=True)
class Fate:
    """What became of a mutant.

    end: "vectors", "properties", "time" or "survived"; by: the trial that it failed.
    """

    id: str
    end: str
    by: str = ""


def attack(path: str, mutant: Mutant, passed: Mapping[str, float]) -> Fate:
    """Put a mutant on the trials that right code passes."""
    float64._kept.clear()  # tables that other code left
    try:
        with limited(SLOWEST):
            loaded = load(path, mutant.apply(source_of(path)))
    except OutOfTime:
        return Fate(mutant.id, "time", "loading")
    except Exception:
        return Fate(mutant.id, "vectors", "loading")
    printed = "printed" in mutant.within
    mine = sorted(
        (trial for trial in trials(path) if trial.name in passed),
        key=lambda trial: (trial.kind != "vectors", trial.slow, trial.printed != printed),
    )
    for trial in mine:
        try:
            with limited(max(SLOWEST, PATIENCE * passed[trial.name])):
                right = _passes(trial, loaded)
        except OutOfTime:
            return Fate(mutant.id, "time", trial.name)
        if not right:
            return Fate(mutant.id, trial.kind, trial.name)
    return Fate(mutant.id, "survived")


def _passes(trial: Trial, loaded: Loaded) -> bool:
    try:
        return trial.passes(loaded)
    except Exception:
        return False


# --------------------------------------------------------------------------------------------
# Survivors


@dataclass(frozen=True)
class Entry:
    """Survivors of one place of one file, as `survivors.toml` lists them.

    was: the line as it stands, spaces joined; becomes: the same with each change.
    """

    file: str
    was: str
    becomes: tuple[str, ...]
    kind: str
    reason: str


@cache
def entries() -> tuple[Entry, ...]:
    """What `survivors.toml` lists."""
    return read_entries(SURVIVORS)


def read_entries(path: Path) -> tuple[Entry, ...]:
    """The entries of a file.

    Raises:
        InvalidInput: a kind that is none, or no reason.
    """
    found = tuple(
        Entry(item["file"], item["was"], tuple(item["becomes"]), item["kind"], item["reason"])
        for item in tomllib.loads(path.read_text(encoding="utf-8")).get("survivor", [])
    )
    for entry in found:
        if entry.kind not in KINDS or not entry.reason:
            raise InvalidInput(
                f"{path.name}: {entry.was!r} has the kind {entry.kind!r}; one of "
                f"{', '.join(KINDS)} is wanted, with a reason"
            )
    return found


@cache
def mutants(path: str) -> tuple[Mutant, ...]:
    """All mutants of a file of the repository."""
    return mutants_of(source_of(path), path)


def listed(path: str) -> dict[str, Entry]:
    """The entry of each mutant of a file that has one, by id."""
    wanted = {
        (entry.was, line): entry
        for entry in entries() if entry.file == path for line in entry.becomes
    }  # fmt: skip
    found = {m.id: wanted.get(m.lines(source_of(path))) for m in mutants(path)}
    return {name: entry for name, entry in found.items() if entry is not None}


def unmatched() -> list[str]:
    """Lines of entries that no mutant matches."""
    real: dict[str, set[tuple[str, str]]] = {}
    for path in {entry.file for entry in entries()}:
        real[path] = {m.lines(source_of(path)) for m in mutants(path)}
    return [
        f"{entry.file}: {line}"
        for entry in entries() for line in entry.becomes
        if (entry.was, line) not in real[entry.file]
    ]  # fmt: skip


def drawn(name: str) -> Iterator[Setting]:
    """Settings at which a bound applies, usual ones and edges."""
    bound, labels = registry()[name], {item.label for item in registry()[name].assumptions}
    source = random.Random(name)
    for _ in range(50 * POINTS):
        setting = _draw(source, labels)
        try:
            yield bound.check(setting)
        except InvalidInput:
            continue


def _draw(source: random.Random, labels: set[str]) -> Setting:
    def pick(*choices: Any) -> Any:
        return choices[int(source.random() * len(choices))]

    batches, b = pick(1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 40, 600, 1200), pick(1, 2, 3, 7)
    n = batches * b + pick(0, int(source.random() * b))
    lost = pick(*(Fraction(x, 1000) for x in (1, 10, 50, 100, 250, 500, 500, 600, 900, 1000)))
    eta = pick(Fraction(1, 50), Fraction(1, 8), Fraction(1), Fraction(2), Fraction(1, 3))
    lambda_ = lost / eta
    sensitivity = pick(Fraction(1), Fraction(3, 2))
    rate = pick(*(Fraction(10) ** k for k in (-6, -3, -2, -1, 0, 1)))
    if "full-batch" in labels:
        b = n
    return Setting(
        n=n, b=b, epochs=1 if "one-epoch" in labels else pick(1, 1, 2, 2, 3, 4, 7, 12, 1000),
        eta=eta, lambda_=lambda_, beta=lambda_ * pick(1, Fraction(3, 2), 4), alpha=pick(
            Fraction(2), Fraction(3), Fraction(3, 2), Fraction(10), Fraction(17, 4), Fraction(200),
            Fraction(10**6 + 1, 10**6),
        ),
        sensitivity=sensitivity, sigma2=eta * sensitivity**2 / (4 * rate * b**2),
        position=int(source.random() * (n // b)),
    )  # fmt: skip


def difference(path: str, mutant: Mutant, kind: str) -> str:
    """Where a mutant computes something else than the code as it stands, or "" for nowhere."""
    if path in OTHERS:
        loaded = load(path, mutant.apply(source_of(path)))
        more = importlib.import_module(OTHERS[path]).further()
        return next((trial.name for trial in more if not _passes(trial, loaded)), "")
    right, other = load(path, source_of(path)), load(path, mutant.apply(source_of(path)))
    for name in right.bounds:
        for count, setting in enumerate(drawn(name)):
            if count >= POINTS:
                break
            for printed in (False, True):
                if printed and setting.steps > 60:
                    continue
                if not _same(right.bounds[name], other.bounds[name], setting, printed, kind):
                    text = " ".join(f"{key}={v}" for key, v in setting.as_strings().items())
                    return f"{name}{' as printed' if printed else ''} at {text}"
    return ""


def _same(right: Bound, other: Bound, setting: Setting, printed: bool, kind: str) -> bool:
    values = []
    for bound in (right, other):
        float64._kept.clear()
        try:
            with limited(SLOWEST), precision(2 * BITS):
                ball: Any = bound.in_system(setting, Ball(2 * BITS), printed=printed)
        except InvalidInput as error:
            ball = type(error)
        except OutOfTime:
            return True
        try:
            double: Any = 0.0 if printed else float(bound.float64(setting))
        except InvalidInput as error:
            double = type(error)
        values.append((ball, double))
    (ball, double), (its_ball, its_double) = values
    if isinstance(ball, type) or isinstance(its_ball, type):
        if ball != its_ball:
            return False
    elif ball.is_finite() and not (
        ball.overlaps(its_ball) and accuracy(its_ball) >= min(BITS, accuracy(ball) - 8)
    ):
        return False
    if double == its_double or isinstance(double, type) or isinstance(its_double, type):
        return bool(double == its_double)
    return kind != "same-value" and abs(double - its_double) <= 2e-12 * abs(double)


# --------------------------------------------------------------------------------------------
# The whole


def _start_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _attack(path: str, index: int, passed: Mapping[str, float]) -> Fate:
    return attack(path, mutants(path)[index], passed)


def _check(path: str, index: int, kind: str) -> str:
    return difference(path, mutants(path)[index], kind)


@dataclass
class Score:
    """What became of all mutants of one file.

    wrong: errors in what is listed, as sentences.
    """

    path: str
    fates: dict[str, Fate]
    wrong: list[str]

    @property
    def counted(self) -> Counter[str]:
        """How many mutants came to each end."""
        return Counter(fate.end for fate in self.fates.values())

    @property
    def survivors(self) -> list[str]:
        """The ids of those that no trial killed."""
        return [name for name, fate in self.fates.items() if fate.end == "survived"]


Heard = Callable[[str, int, int], None]


@cache
def digest() -> str:
    """Of what fates depend on: the bounds, what tries them, and the vectors."""
    made = hashlib.sha256()
    for folder, pattern in ((ROOT / "bounds", "**/*.py"), (FOLDER.parent, "*.py")):
        for path in sorted(folder.glob(pattern)):
            made.update(path.read_bytes())
    for path in sorted(FOLDER.glob("*.json")):
        made.update(path.read_bytes())
    return made.hexdigest()[:16]


def score(
    paths: Sequence[str],
    jobs: int = 2,
    out: Path | None = None,
    heard: Heard | None = None,
    sample: int = 1,
) -> Iterator[Score]:
    """Attack all mutants of some files; a file's score comes when it is finished.

    out: a file of JSON lines, to which each fate is added as it is known, and from which those of
    an earlier run are taken where nothing has changed since. sample: one mutant in so many, chosen
    by its id.
    """
    known = _read(out)
    chosen = {
        path: [
            i for i, m in enumerate(mutants(path)) if zlib.crc32(m.id.encode()) % sample == 0
        ]
        for path in paths
    }  # fmt: skip
    total, done = sum(map(len, chosen.values())), 0
    with ProcessPool(max_workers=jobs, initializer=_start_worker) as pool:
        try:
            for path in paths:
                mark, fates = digest(), dict[str, Fate]()
                todo = []
                for index in chosen[path]:
                    name = mutants(path)[index].id
                    earlier = known.get((mark, name))
                    if earlier is None:
                        todo.append(index)
                    else:
                        fates[name] = earlier
                done += len(fates)
                passed = pool.schedule(survey, args=[path]).result() if todo else {}
                waiting: dict[Any, int] = {
                    pool.schedule(_attack, args=[path, i, passed], timeout=HARD_LIMIT): i
                    for i in todo
                }
                for future in as_completed(waiting):
                    fate = _fate(future, mutants(path)[waiting[future]].id)
                    fates[fate.id] = fate
                    _write(out, mark, fate)
                    done += 1
                    if heard is not None:
                        heard(path, done, total)
                yield Score(path, fates, _wrong(pool, path, fates))
        except (KeyboardInterrupt, GeneratorExit):
            pool.stop()
            raise


def _fate(future: Any, name: str) -> Fate:
    try:
        made: Fate = future.result()
    except Expired:
        return Fate(name, "time", "the whole")
    except (ProcessExpired, MemoryError):
        return Fate(name, "vectors", "the process died")
    return made


def _wrong(pool: ProcessPool, path: str, fates: Mapping[str, Fate]) -> list[str]:
    """What is wrong with the entries of one file."""
    out, known = [], {name: entry for name, entry in listed(path).items() if name in fates}
    for name in known:
        if fates[name].end != "survived":
            out.append(f"{name} is listed, but killed by {fates[name].by}")
    where = {mutant.id: index for index, mutant in enumerate(mutants(path))}
    checks = {
        pool.schedule(_check, args=[path, where[name], entry.kind]): name
        for name, entry in known.items() if fates[name].end == "survived"
    }  # fmt: skip
    for future in as_completed(checks):
        found = future.result()
        if found:
            out.append(f"{checks[future]} is listed, but computes something else: {found}")
    return out


def _read(out: Path | None) -> dict[tuple[str, str], Fate]:
    if out is None or not out.is_file():
        return {}
    found = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        mark = item.pop("digest")
        found[mark, item["id"]] = Fate(**item)
    return found


def _write(out: Path | None, mark: str, fate: Fate) -> None:
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"digest": mark, **asdict(fate)}) + "\n")


WIDTHS = (8, 8, 6, 5, 5, 7, 6)
HEADINGS = ("mutants", "vectors", "prop.", "time", "left", "listed", "score")


def columns(name: str, cells: Iterable[object]) -> str:
    """One line of the table, of 80 columns."""
    return f"{name:<35}" + "".join(f"{cell!s:>{w}}" for cell, w in zip(cells, WIDTHS, strict=True))


def row(name: str, counted: Mapping[str, int], known: int) -> str:
    """The line of one file, or of all."""
    total, left = sum(counted.values()), counted.get("survived", 0)
    ends = (counted.get(end, 0) for end in ("vectors", "properties", "time"))
    share = f"{100 * (total - left) / total:.1f}%" if total else "-"
    return columns(name, (total, *ends, left, known, share.replace("100.0", "100")))


def paths_of(names: Iterable[str]) -> list[str]:
    """The files that are asked for; by default all but `SEARCHES`.

    Raises:
        InvalidInput: there is none of that name.
    """
    known = files()
    for name in names:
        if name not in known:
            raise InvalidInput(f"there is no bound called {name!r}; there are: {', '.join(known)}")
    usual = [path for path in known.values() if path not in SEARCHES]
    return [known[name] for name in names] or usual


@click.command()
@click.argument("names", nargs=-1, metavar="[BOUND ...]")
@click.option("--jobs", type=click.IntRange(1), default=2, help="Processes.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Keep fates here.")
@click.option("--sample", type=click.IntRange(1), default=1, help="One mutant in so many.")
def main(names: tuple[str, ...], jobs: int, out: Path | None, sample: int) -> None:
    """Attack all mutants of the bound files, and print how many are killed."""
    try:
        paths = paths_of(names)
        lost = [f"no mutant matches {line}" for line in unmatched()]
    except InvalidInput as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    began, told, base = time.monotonic(), 0.0, -1

    def hear(path: str, done: int, total: int) -> None:
        nonlocal told, base
        now = time.monotonic()
        base = done - 1 if base < 0 else base
        if now - told >= 10:
            told = now
            rate = (done - base) / max(now - began, 1e-9)
            left = (total - done) / rate
            click.echo(f"{done}/{total}  {rate:.0f}/s  about {left:.0f} s left  {path}", err=True)

    click.echo(columns("file", HEADINGS))
    finished: list[Score] = []
    interrupted = False
    try:
        for made in score(paths, jobs, out, hear, sample):
            finished.append(made)
            name = made.path.removeprefix("bounds/").removesuffix(".py")
            click.echo(row(name, made.counted, len(listed(made.path))))
    except KeyboardInterrupt:
        interrupted = True
    status = _close(finished, lost, time.monotonic() - began, not names)
    sys.exit(130 if interrupted else status)


def _close(finished: Sequence[Score], lost: list[str], seconds: float, whole: bool) -> int:
    """Print the sum and the survivors; the exit status. The least score is asked of the whole."""
    counted = sum((made.counted for made in finished), Counter[str]())
    click.echo(row("all", counted, sum(len(listed(made.path)) for made in finished)))
    click.echo(f"{seconds:.0f} seconds")
    wrong = [*lost, *(line for made in finished for line in made.wrong)]
    for made in finished:
        known, by_id = listed(made.path), {m.id: m for m in mutants(made.path)}
        for name in made.survivors:
            entry, free = known.get(name), made.path in SEARCHES
            says = f"{entry.kind}: {entry.reason}" if entry else "NOT LISTED"
            click.echo(f"\n{name}\n{by_id[name].diff(source_of(made.path))}\n  {says}")
            if entry is None and not free:
                wrong.append(f"{name} survives and is not listed")
    for line in wrong:
        click.echo(f"error: {line}", err=True)
    total = sum(counted.values())
    good = not whole or total - counted["survived"] >= LEAST_SCORE * total
    if not good:
        click.echo("error: fewer than 98% are killed", err=True)
    return 0 if good and not wrong else 1


if __name__ == "__main__":
    main()
