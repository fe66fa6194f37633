"""How soon something happens: import, help, one bound.

Each is started as a process of its own, again and again; medians are shown. The wall clock is what
a user waits for, processor time is what of it does not depend on a busy machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks import Aim, Row, apart
from bounds.bound import find
from bounds.setting import Setting

BENCHMARK = "From the start of a process to its end."
RUN = {
    "n": 50, "b": 2, "epochs": 50, "eta": "0.02", "lambda": 1, "beta": 4, "sensitivity": 4,
    "sigma2": 4, "alpha": 10,
}  # fmt: skip
HELP = ("-m", "verify.cli", "--help")
BOUND = (
    "-m", "verify.cli", "bound", "thm-4.2", "--json",
    *(word for name, value in RUN.items() for word in (f"--{name}", str(value))),
)  # fmt: skip
IMPORT = (
    "-c",
    "import bounds, empirical, verify, reports; from bounds.bound import find; find('thm-4.2')",
)
CASES = (("import of the packages", IMPORT, 0.5), ("hiddenstate --help", HELP, 0.2),
         ("hiddenstate bound thm-4.2 ...", BOUND, 0.5))  # fmt: skip


def started(arguments: tuple[str, ...]) -> tuple[float, float, str]:
    """Seconds on the wall, seconds of processor time, and what was printed."""
    before, start = os.times(), time.perf_counter()
    made = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - start, os.times()
    spent = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return wall, spent, made.stdout


def measure(quick: bool) -> Iterator[Row]:
    """Two rows for each command; the bound printed must be the one that is computed here."""
    expected = float(find("thm-4.2").float64(Setting.of(**RUN)))
    for what, arguments, limit in CASES:
        walls, times, said = zip(
            *(started(arguments) for _ in range(1 if quick else 11)), strict=True
        )
        answers = [json.loads(text)["epsilon"] for text in said if text.startswith("{")]
        differs = apart([float(x) for x in answers], [expected] * len(answers), 0.0)
        aim = Aim(most=limit)
        yield Row(what, "the wall clock", statistics.median(walls), aim, " s", "", differs)
        yield Row(what, "processor time", statistics.median(times), aim, " s")
