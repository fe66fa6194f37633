"""The front door tells the truth: its commands are the ones that run, its figures the audit's."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def block(marker: str) -> str:
    found = re.search(rf"<!-- {marker} -->\n```sh\n(.*?)```", README, re.S)
    assert found, marker
    return found.group(1)


def test_ci_runs_the_readme_command():
    assert "pytest" in block("test-command")
    assert "test-command" in (ROOT / ".ci" / "run").read_text()


def test_the_audit_command_is_there():
    assert "hiddenstate audit" in block("audit-command")


def test_the_words_of_the_project():
    unwanted = re.compile(r"pypi\.|/work/|\bassistant\b|\bsession\b", re.I)
    for pattern in ("*.py", "*.md", "*.toml", "*.j2", "run"):
        for path in ROOT.rglob(pattern):
            parts = path.relative_to(ROOT).parts
            if any(part.startswith(".") and part != ".ci" for part in parts) or "build" in parts:
                continue
            if path == Path(__file__) or not path.is_file():
                continue
            assert not unwanted.search(path.read_text()), path
