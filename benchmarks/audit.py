"""Where the time of the whole audit goes.

The seconds that each check took are in `audit.json`; they are added up by the module of the check.
The audit is run here, at quick effort, unless a file of one is given.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import Row
from bounds.setting import InvalidInput

BENCHMARK = "The whole audit at quick effort, by part: seconds of its checks, in all processes."
SHOWN = 10
"""Parts with a row of their own, the slowest first."""


def run_audit(only: tuple[str, ...]) -> Any:
    """The audit as it is written."""
    from reports import jsonfile
    from verify.run import audit

    made = audit(only, jobs=os.cpu_count() or 1)
    if not made.complete:
        raise KeyboardInterrupt
    with TemporaryDirectory() as folder:
        path = Path(folder) / "audit.json"
        jsonfile.write(made, path)
        return json.loads(path.read_text())


def read(path: Path) -> Any:
    """The audit in a file.

    Raises:
        InvalidInput: it is none.
    """
    try:
        made = json.loads(path.read_text())
        parts(made)
        float(made["seconds"])
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        raise InvalidInput(
            f"{path} is no audit; the audit.json that `hiddenstate audit` writes is wanted"
        ) from None
    return made


def parts(audit: Any) -> Counter[str]:
    """Seconds by the module of the check."""
    spent: Counter[str] = Counter()
    for statement in audit["statements"]:
        for piece in statement["evidence"]:
            spent[piece["check"].split(".")[2]] += piece["seconds"]
    return spent


def measure(quick: bool, audit: Path | None = None) -> Iterator[Row]:
    """The slowest parts, the others together, and what the wall clock says."""
    made = run_audit(("eq-155",) if quick else ()) if audit is None else read(audit)
    spent = parts(made)
    whole = sum(spent.values())
    errors = [
        piece["check"]
        for statement in made["statements"]
        for piece in statement["evidence"]
        if piece["outcome"] == "error"
    ]
    for name, seconds in spent.most_common(SHOWN):
        yield Row(
            name, f"all checks, {whole:.0f} s", 100 * seconds / max(whole, 1e-9), unit=" %",
            note=f"{seconds:.1f} s",
        )  # fmt: skip
    others = spent.most_common()[SHOWN:]
    if others:
        rest = sum(seconds for _, seconds in others)
        yield Row(
            f"{len(others)} other parts", f"all checks, {whole:.0f} s",
            100 * rest / max(whole, 1e-9), unit=" %", note=f"{rest:.1f} s",
        )  # fmt: skip
    yield Row(
        f"all checks, {whole:.0f} s", f"the wall clock, {made['seconds']:.0f} s",
        whole / max(made["seconds"], 1e-9),
        disagreement=f"{errors[0]} raised an error" if errors else "",
    )  # fmt: skip
