"""How each part grows: the exponent that its docstring states, and the one fitted.

A docstring that says `Growth: time ~ (n/b)^1 * orders^1` states how time grows in each variable
while the others stay. A case here varies one of them, and fits the slope of the logarithms by
least squares over the sizes named. A statement without a case fails a test, and so does a case
without a statement.
"""

from __future__ import annotations

import ast
import importlib
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import flint
import numpy as np

from benchmarks import Aim, Row, cost, exponent
from bounds import optimal
from bounds.arith import hitting, subsampling
from bounds.arith.averaging import sum_expm1
from bounds.arith.ball import precision
from bounds.arith.columns import evaluate
from bounds.arith.float64 import Float64
from bounds.bound import find
from bounds.setting import Setting
from empirical.experiments import problem_of
from empirical.laws import law
from empirical.simulate import blocks

BENCHMARK = "The exponent of time in each variable, as stated beside the code and as fitted."
TOLERANCE = 0.35
STATEMENT = re.compile(r"Growth: time ~ ((?:[^.]|\.(?=\d))+)")
FACTOR = re.compile(r"(\(n/b\)|[a-zA-Z]+)\^(\d+(?:\.\d+)?)")
PACKAGES = ("bounds", "empirical", "verify")
RUN = Setting.of(
    n=50, b=1, epochs=1000, eta="0.02", lambda_=1, beta=4, sensitivity=4, sigma2=4, alpha=10
)  # fmt: skip
SAMPLING, RATE = Fraction(1, 250), Fraction(1, 2)

Work = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """One variable of one part: `make(size)` gives what is timed."""

    part: str
    variable: str
    sizes: Sequence[float]
    make: Callable[[Any], Work]


def read(doc: str) -> dict[str, float]:
    """The exponents that a docstring states, by variable; none where it states none."""
    found = STATEMENT.search(" ".join(doc.split()))
    return {} if found is None else {
        name: float(power) for name, power in FACTOR.findall(found.group(1))
    }  # fmt: skip


def stated() -> dict[tuple[str, str], float]:
    """Every stated exponent, by part and variable."""
    out: dict[tuple[str, str], float] = {}
    for package in PACKAGES:
        home = Path(str(importlib.import_module(package).__file__)).parent
        for path in sorted(home.rglob("*.py")):
            text = path.read_text()
            if "Growth: time ~" not in text:
                continue
            module = ".".join((package, *path.relative_to(home).with_suffix("").parts))
            for name, node in _documented(ast.parse(text), module):
                doc = ast.get_docstring(node) or ""
                out.update({(name, variable): power for variable, power in read(doc).items()})
    return out


def _documented(tree: Any, name: str) -> Iterator[tuple[str, Any]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield f"{name}.{node.name}", node
            yield from _documented(node, f"{name}.{node.name}")


def _profile(j: Any) -> Any:
    """The profile of Theorem 4.2 at a small eta lambda, where all terms count; none are kept."""
    c = Float64.complement(Fraction(1, 10**8))
    return Float64.power(c, 2 * (j - 1)) * Float64.one_minus_power(c, 2) / (
        Float64.one_minus_power(c, 2 * j)
    )  # fmt: skip


def _enclosed(name: str, digits: int, **changes: object) -> Work:
    bound, setting = find(name), RUN.replace(**changes)
    return lambda: bound.enclose(setting, digits)


def _float(name: str, **changes: object) -> Work:
    bound, setting = find(name), RUN.replace(**changes)
    return lambda: bound.float64(setting)


def _averaged(count: int) -> Work:
    c = flint.arb(49) / 50

    def profile(j: Any) -> Any:
        return (c ** (2 * (j - 1))) * (1 - c**2) / (1 - c ** (2 * j))

    def work() -> Any:
        with precision(200):
            return sum_expm1(flint.arb(3), profile, count)

    return work


def _settings(count: int) -> Work:
    rng = np.random.default_rng(1)
    etas = rng.uniform(0.001, 0.1, count)
    given = {name: value for name, value in RUN.known().items() if name != "eta"}
    from bounds.arith.columns import Settings

    table = Settings.of({**given, "eta": etas})
    return lambda: evaluate(find("thm-3.3"), table)


def _schedule(steps: int) -> Work:
    made = optimal.cyclic_schedule(RUN.replace(epochs=steps // RUN.batches))
    return lambda: optimal.optimal(made)


def _long_schedule(steps: int) -> Work:
    hits = np.zeros(steps)
    hits[:: RUN.batches] = 1
    return partial(optimal.optimal_float, np.full(steps, 0.98), hits, np.ones(steps))


def _moment(steps: int) -> Work:
    # Not the wrapper, which keeps what it found.
    work = hitting._log_moment.__wrapped__
    return partial(work, 2.0, Fraction(1, 50), Fraction(1, 50), steps)


def _sampled(order: float) -> Work:
    alpha = np.array([order])
    return partial(
        subsampling.sampled_gaussian_float, alpha, alpha - 1, SAMPLING, 1 - SAMPLING, RATE
    )


def _sampled_ball(order: int) -> Work:
    p = flint.fmpq(SAMPLING.numerator, SAMPLING.denominator)
    return lambda: subsampling.sampled_gaussian_ball(order, p, flint.arb(1) / 2, 200)


def _law(scheme: str, **changes: object) -> Work:
    problem = problem_of(RUN.replace(**changes), scheme)
    return lambda: law(problem, scheme)


def _paths(paths: int) -> Work:
    problem = problem_of(RUN.replace(epochs=1), "shuffle-once")
    return lambda: [None for _ in blocks(problem, "shuffle-once", paths, 1, workers=1)]


def _points(count: int) -> Work:
    from verify.sweep.evaluate import work_out
    from verify.sweep.grid import read as sweep_of

    fixed = RUN.as_strings()
    del fixed["eta"], fixed["epochs"]
    etas = {"from": "0.001", "to": "0.1", "points": 1100, "scale": "linear"}
    grid = {"eta": etas, "epochs": list(range(1, 1001))}
    sweep = sweep_of({"setting": fixed, "grid": grid, "evaluate": {"bounds": ["thm-4.2"]}})
    return lambda: work_out(sweep, 0, count)


def _powers(base: int, low: int, high: int, step: int = 1) -> list[int]:
    return [base**k for k in range(low, high + 1, step)]


CASES = (
    Case("bounds.arith.float64.Float64.log_mean_exp", "(n/b)", _powers(2, 18, 22),
         lambda m: partial(Float64.log_mean_exp, np.array([1.0, 3.0]), _profile, m)),
    Case("bounds.arith.float64.Float64.log_mean_exp", "orders", _powers(4, 5, 8),
         lambda m: partial(Float64.log_mean_exp, np.linspace(0.1, 50, m), _profile, 100)),
    Case("bounds.arith.averaging.sum_expm1", "(n/b)", _powers(100, 2, 6), _averaged),
    Case("bounds.arith.averaging.sum_expm1", "digits", (100, 200, 400),
         lambda digits: _enclosed("thm-4.2", digits, n=10**4)),
    Case("bounds.bound.Bound.enclose", "digits", (1000, 2000, 4000),
         partial(_enclosed, "thm-3.3")),
    Case("bounds.arith.attenuation.attenuated_sum", "K", _powers(1000, 1, 5),
         lambda epochs: _float("recursion_combined", epochs=epochs)),
    Case("bounds.arith.attenuation.attenuated_sum", "digits", (100, 200, 400),
         lambda digits: _enclosed("recursion_combined", digits, epochs=10**9)),
    Case("bounds.arith.resampling.log_moment_float", "steps", _powers(1000, 1, 5),
         lambda epochs: _float("thm-4.3", epochs=epochs)),
    Case("bounds.arith.resampling.log_moment_ball", "steps", _powers(1000, 1, 5),
         lambda epochs: _enclosed("thm-4.3", 50, epochs=epochs)),
    Case("bounds.arith.resampling.log_moment_ball", "digits", (100, 200, 400),
         lambda digits: _enclosed("thm-4.3", digits, epochs=10**9)),
    Case("bounds.arith.hitting.log_moment", "steps", _powers(1000, 1, 4), _moment),
    Case("bounds.arith.columns.evaluate", "settings", (10**5, 4 * 10**5, 16 * 10**5), _settings),
    Case("bounds.optimal.optimal", "steps", (400, 800, 1600), _schedule),
    Case("bounds.optimal.optimal_float", "steps", _powers(10, 4, 6), _long_schedule),
    Case("bounds.arith.subsampling.sampled_gaussian_float", "order", _powers(4, 2, 8), _sampled),
    Case("bounds.arith.subsampling.sampled_gaussian_ball", "order", _powers(2, 6, 10),
         _sampled_ball),
    Case("empirical.laws.law", "(n/b)", (80, 160, 320),
         lambda m: _law("shuffle-once", n=m, epochs=3)),
    Case("empirical.laws.law", "K", (128, 256, 512),
         lambda epochs: _law("shuffle-once", n=20, epochs=epochs)),
    Case("verify.sweep.evaluate.work_out", "points", _powers(2, 17, 20), _points),
    Case("empirical.simulate.blocks", "paths", _powers(2, 16, 19), _paths),
)  # fmt: skip


def measure(quick: bool) -> Iterator[Row]:
    """One row for each case."""
    known = stated()
    for case in CASES[:: 6 if quick else 1]:
        sizes = case.sizes[: 2 if quick else None]
        works = [case.make(size) for size in sizes]
        for work in works:
            work()
        rounds = 1 if quick else 3
        seconds = [statistics.median([cost(work) for _ in range(rounds)]) for work in works]
        power = known[case.part, case.variable]
        where = case.part.rpartition(".")[2]
        yield Row(
            f"{where}, {case.variable.strip('()')} from {sizes[0]:g} to {sizes[-1]:g}",
            f"stated {case.variable}^{power:g}",
            exponent(sizes, seconds),
            Aim(power - TOLERANCE, power + TOLERANCE),
            unit="",
        )
