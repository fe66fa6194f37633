from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright import sync_api as playwright

from tests.reports.chromium import FLAGS, executable


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a file of tests; processes that other tests fork must not inherit it."""
    where = executable()
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=where, args=FLAGS)
        yield made
        made.close()
