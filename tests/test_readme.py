"""The front door tells the truth: its commands are the ones that run, its figures the audit's."""

from __future__ import annotations

import json
import re
from collections import Counter
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


def test_what_it_finds_is_the_published_audit():
    published = json.loads((ROOT / "reports" / "published" / "audit.json").read_text())
    verdicts = {s["id"]: (s["verdict"], s["severity"]) for s in published["statements"]}
    count = Counter(verdict for verdict, _ in verdicts.values())
    said = re.search(
        r"the paper's (\d+) statements, (\d+) are proved, (\d+) certified, (\d+) cited and (\d+) "
        r"definitions; (\d+) are\s+refuted as printed.*?; (\d+) is open", README, re.S,
    )  # fmt: skip
    assert said
    assert [int(number) for number in said.groups()] == [
        len(verdicts), *(count[name] for name in (
            "proved", "certified", "cited", "definition", "refuted", "open"
        ))
    ]  # fmt: skip
    for name in ("thm-2.1", "thm-3.3", "thm-4.2", "thm-4.3", "thm-d.4", "thm-d.6"):
        assert verdicts[name][0] == "proved"
    for name in ("prop-5.2", "cor-5.3", "txt-4.1-crossover", "txt-4.2-converges-forever",
                 "txt-4.2-after-50-epochs"):  # fmt: skip
        assert verdicts[name] == ("refuted", "statement")
    assert verdicts["fn-4"] == ("refuted", "misprint")
    assert verdicts["eq-157"] == ("refuted", "step")


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
