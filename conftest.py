"""How much of the suite runs: all that is quick and a sample of what is slow, or everything."""

from __future__ import annotations

import os
import zlib

import pytest
from hypothesis import settings

SAMPLE = 12

# The same examples every time: a red suite is red for everyone. HYPOTHESIS_PROFILE=default draws
# afresh.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--effort full` runs every slow test; otherwise one in SAMPLE of them, by name, runs."""
    parser.addoption("--effort", choices=("quick", "full"), default="quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests that are not in the sample, and say how many."""
    if config.getoption("--effort") == "full":
        return
    kept, left = [], []
    for item in items:
        slow = item.get_closest_marker("slow") is not None
        sampled = zlib.crc32(item.nodeid.encode()) % SAMPLE == 0
        (left if slow and not sampled else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left)


@pytest.fixture(autouse=True)
def _precision_of_the_process():
    """Global precision is state of the process: every test starts from the default."""
    import flint
    import mpmath

    mpmath.mp.dps, flint.ctx.prec = 15, 53
    yield
    mpmath.mp.dps, flint.ctx.prec = 15, 53
