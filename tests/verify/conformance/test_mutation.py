"""The mutation score: every kind of change is made, judged rightly, and what survives is listed."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
import time
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bounds.bound import registry
from bounds.setting import InvalidInput
from verify.conformance import mutation
from verify.conformance.mutants import RELATED, Mutant, mutants_of
from verify.conformance.mutation import (
    Fate,
    attack,
    difference,
    entries,
    listed,
    main,
    mutants,
    paths_of,
    row,
    score,
    survey,
    unmatched,
)
from verify.conformance.trials import files, load, source_of, trials, users

SAMPLE = 8
"""One mutant in so many is attacked by default, chosen by its id."""
QUICK = ("convex_fixed_order", "balle_2019_one_epoch", "lsi_convex", "full_batch")


def made(source: str) -> dict[str, str]:
    """The mutated line of each mutant of a toy, by place and operator."""
    return {
        f"{m.line}:{m.column}:{m.operator}": m.lines(source)[1] for m in mutants_of(source, "toy")
    }


# The generator

TOYS: list[tuple[str, dict[str, str]]] = [
    ("x = a + b", {"1:6:+ to -": "x = (a - b)", "1:6:right of + dropped": "x = a"}),
    ("x = a - b", {"1:6:- swapped": "x = (b - a)", "1:6:left of - dropped": "x = (-b)"}),
    ("x = a / (b + c)", {"1:6:/ swapped": "x = ((b + c) / a)",
                         "1:6:left of / dropped": "x = (1 / (b + c))"}),
    ("x = a ** 2", {"1:6:** to *": "x = (a * 2)", "1:9:2 to 3": "x = a ** 3",
                    "1:9:2 to 0": "x = a ** 0", "1:6:right of ** dropped": "x = a"}),
    ("x = a // 2 % 3", {"1:6:// to %": "x = (a % 2) % 3", "1:11:% to //": "x = (a // 2 // 3)"}),
    ("x = (a + b) * c", {"1:12:right of * dropped": "x = (a + b)",
                         "1:12:* to /": "x = ((a + b) / c)"}),
    ("x = a < b", {"1:6:< to <=": "x = a <= b", "1:6:< to >=": "x = a >= b"}),
    ("x = a == b", {"1:6:== to !=": "x = a != b", "1:6:== to <=": "x = a <= b"}),
    ("x = a is not None", {"1:6:is not to is": "x = a is None"}),
    ("x = a and b", {"1:6:and to or": "x = a or b", "1:4:operand of and dropped": "x = (b)"}),
    ("x = not a", {"1:4:not dropped": "x = a"}),
    ("x = -(a + b)", {"1:4:- dropped": "x = (a + b)"}),
    ("x = 7", {"1:4:7 to 6": "x = 6", "1:4:7 to 8": "x = 8"}),
    ("x = True", {"1:4:True to False": "x = False"}),
    ("x = 1e-3", {"1:4:0.001 to 0.002": "x = 0.002"}),
    ("x = ctx.exp(a)", {"1:8:exp to expm1": "x = ctx.expm1(a)", "1:4:exp dropped": "x = (a)"}),
    ("x = math.floor(a)", {"1:9:floor to ceil": "x = math.ceil(a)"}),
    ("x = max(a, b)", {"1:4:max to min": "x = min(a, b)"}),
    ("x = p.batches", {"1:6:batches to half": "x = p.half"}),
    ("x = f(a, b)", {"1:6:arguments swapped": "x = f(b, a)"}),
    ("x = (a, b)", {"1:5:a dropped": "x = (b,)", "1:8:b dropped": "x = (a,)"}),
    ("x = a if b else c", {"1:9:condition True": "x = a", "1:9:condition False": "x = c"}),
    ("x = [a for a in b if c]", {"1:21:condition True": "x = [a for a in b if True]"}),
    ("x += 2", {"1:2:+= to -=": "x -= 2", "1:2:+= to =": "x = 2"}),
    ("def f():\n    if a:\n        b = c\n    return d", {
        "2:7:condition True": "if True:", "2:4:statement deleted": "pass",
        "3:8:statement deleted": "pass", "4:11:return 0": "return 0"}),
    ("def f():\n    return a < b", {"2:11:return negated": "return not (a < b)"}),
    ("while a:\n    break", {"1:6:condition False": "while False:",
                             "2:4:break to continue": "continue"}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "wanted"), TOYS)
def test_each_operator(source: str, wanted: dict[str, str]) -> None:
    found = made(source)
    assert {key: found.get(key) for key in wanted} == wanted


@pytest.mark.parametrize(
    "source",
    [
        '"""A text with 1 + 2."""', 'SOURCE = Source("a", 1 + 2)', "from a import b",
        "def f():\n    assert a < 1", 'def f(a: b[0, 1]):\n    "Says 1 < 2."',
        'def f():\n    raise ValueError(f"{a + 1}")', 'x = f"{a + 1}"', "x: tuple[int, int]",
        "x = max(a)", "class A:\n    a: int",
    ],
)  # fmt: skip
def test_texts_are_left_alone(source: str) -> None:
    found = made(source)
    assert set(found) <= {"2:4:statement deleted", "1:4:max dropped", "1:4:max to min",
                          "1:4:max to sum"}  # fmt: skip


def test_arguments_of_a_symmetric_function_are_not_swapped() -> None:
    assert "1:8:arguments swapped" not in made("x = min(a, b)")
    assert "1:10:strict" not in " ".join(made("x = zip(a, strict=True)"))


def test_related_words_are_related_both_ways() -> None:
    for word, others in RELATED.items():
        assert word not in others
        assert all(word in RELATED[other] for other in others)


@pytest.mark.parametrize("name", files())
def test_every_mutant_is_python_with_an_id_of_its_own(name: str) -> None:
    path = files()[name]
    source, found = source_of(path), mutants(path)
    assert len(found) >= 40
    assert len({m.id for m in found}) == len(found)
    tree = ast.dump(ast.parse(source))
    for mutant in found[:: max(len(found) // 12, 1)]:
        text = mutant.apply(source)
        assert ast.dump(ast.parse(text)) != tree, mutant.id
        before, after = mutant.lines(source)
        assert before != after
        assert mutant.diff(source) == f"- {before}\n+ {after}"


# Loading


def test_a_change_is_seen_in_every_bound_that_it_enters() -> None:
    path = files()["first_epoch"]
    assert files()["shuffle_partition"] in users(path)
    assert users(files()["lsi_convex"]) == (files()["lsi_convex"],)
    loaded = load(path, source_of(path).replace("2 * (j - 1)", "2 * j"))
    setting = next(iter(mutation.drawn("shuffle_partition")))
    before = registry()["shuffle_partition"].float64(setting)
    assert loaded.bounds["shuffle_partition"].float64(setting) < before
    assert registry()["shuffle_partition"].float64(setting) == before


def test_users_come_after_what_they_import() -> None:
    for path in files().values():
        found = users(path)
        assert found[0] == path and len(set(found)) == len(found)


# The judge


def mutant_where(path: str, was: str, becomes: str) -> Mutant:
    """The mutant of one line."""
    source = source_of(path)
    found = [m for m in mutants(path) if m.lines(source) == (was, becomes)]
    assert len(found) == 1, [m.lines(source) for m in mutants(path)]
    return found[0]


def test_the_code_as_it_stands_survives_its_trials() -> None:
    for name in ("composition_per_step", "optimal"):
        path = files()[name]
        passed = survey(path)
        assert len(passed) >= 0.9 * len(trials(path))
        assert {trial.kind for trial in trials(path)} == {"vectors", "properties"}
        nothing = Mutant(path, 1, 0, "nothing", 0, 0, "")
        assert attack(path, nothing, passed).end == "survived"


def toy(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> Fate:
    """The fate of a change by hand to one bound."""
    path = files()["composition_per_epoch"]
    source = source_of(path)
    start = source.encode().index(old.encode())
    by_hand = Mutant(path, 1, 0, "by hand", start, start + len(old.encode()), new)
    monkeypatch.setattr(mutation, "SLOWEST", 0.3)
    return attack(path, by_hand, survey(path))


@pytest.mark.parametrize(
    ("old", "new", "end"),
    [
        ("p.epochs * p.b / p.n", "p.epochs * p.n / p.b", "vectors"),  # another number
        ("    return p.alpha", "    while True: pass\n    return p.alpha", "time"),  # hangs
        ("    return p.alpha", "    return [p.alpha]", "vectors"),  # no number
        ("    return p.alpha", "    return p.letter", "vectors"),  # an exception
        ("from typing import Any", "import nothing", "vectors"),  # cannot be loaded
        ("ORDER, EPOCHS, NOISE", "ORDER, NOISE", "vectors"),  # an assumption fewer
        ("p.alpha * p.rate * p.epochs", "p.epochs * p.rate * p.alpha", "survived"),  # the same
        ("* front * p.epochs", "* front / p.epochs", "vectors"),  # only the printed form
        # What vectors do not ask is left to properties.
        ("    return p.alpha * p.rate",
         "    if p.n == 25 and p.b == 4 and ctx.name == 'float64' and p.epochs < 13: return 0\n"
         "    return p.alpha * p.rate * (1 if (p.n, p.b) not in {(n, b) for n in range(9, 39) for "
         "b in (3, 4) if n % b} or ctx.name != 'float64' or p.epochs > 12 or p.n in (14, 15, 23) "
         "else 2)", "properties"),
    ],
)  # fmt: skip
def test_the_judge(monkeypatch: pytest.MonkeyPatch, old: str, new: str, end: str) -> None:
    found = toy(monkeypatch, old, new)
    assert found.end == end, found


def test_a_sample_of_mutants_of_real_bounds_is_killed() -> None:
    attacked, survived = 0, []
    for name in QUICK:
        path = files()[name]
        passed, known = survey(path), listed(path)
        for mutant in mutants(path):
            if zlib.crc32(mutant.id.encode()) % SAMPLE == 0:
                attacked += 1
                end = attack(path, mutant, passed).end
                survived += [mutant.id] * (end == "survived" and mutant.id not in known)
    assert attacked >= 60
    assert survived == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_whole_score() -> None:
    finished = list(score(paths_of(()), 2))
    assert [line for one in finished for line in one.wrong] == []
    survivors = [(one.path, name) for one in finished for name in one.survivors]
    assert [name for path, name in survivors if name not in listed(path)] == []
    total = sum(len(one.fates) for one in finished)
    assert total - len(survivors) >= mutation.LEAST_SCORE * total


# Survivors


def test_every_entry_matches_a_mutant_and_is_listed_once() -> None:
    assert unmatched() == []
    lines = [(e.file, e.was, line) for e in entries() for line in e.becomes]
    assert len(set(lines)) == len(lines)
    assert {e.kind for e in entries()} <= set(mutation.KINDS)


def test_an_entry_that_matches_nothing_and_a_kind_that_is_none_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = entries()
    strange = mutation.Entry("bounds/optimal.py", "x = 1", ("x = 2",), "same-value", "None.")
    monkeypatch.setattr(mutation, "entries", lambda: (*kept, strange))
    assert unmatched() == ["bounds/optimal.py: x = 2"]
    entry = '[[survivor]]\nfile = "a"\nwas = "a"\nbecomes = ["b"]\nkind = "{}"\nreason = "{}"\n'
    for kind, reason in (("luck", "It is."), ("same-value", "")):
        path = tmp_path / f"{kind}.toml"
        path.write_text(entry.format(kind, reason))
        with pytest.raises(InvalidInput, match="is wanted, with a reason"):
            mutation.read_entries(path)


def test_equivalence_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """By values: a true entry is found the same, a killed mutant is not."""
    monkeypatch.setattr(mutation, "POINTS", 30)
    path = files()["recursion_combined"]
    same = mutant_where(path, "if rest <= half:", "if rest < half:")
    other = mutant_where(path, "if rest <= half:", "if rest > half:")
    assert difference(path, same, "same-value") == ""
    assert difference(path, other, "same-value").startswith("recursion_combined at n=")
    path = files()["optimal"]
    strict = mutant_where(
        path, "while stack and stack[-1][0] * noise >= decay * rise * stack[-1][1]:",
        "while stack and stack[-1][0] * noise > decay * rise * stack[-1][1]:",
    )  # fmt: skip
    least = next(m for m in mutants(path) if m.within == "shift_cost" and m.operator == "return 0")
    assert difference(path, strict, "rounding") == ""
    assert difference(path, least, "rounding").startswith("schedule ")


# The command


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table, kept fates that are taken up again, and the exit status."""
    out = tmp_path / "fates.jsonl"
    options = ["lsi_convex", "--jobs", "1", "--out", str(out)]
    first = CliRunner().invoke(main, options)
    assert first.exit_code == 0, first.output
    assert max(map(len, first.output.splitlines())) <= 80
    assert "paper/lsi_convex" in first.output and "100%" in first.output
    lines = out.read_text().splitlines()
    assert len(lines) == len(mutants(files()["lsi_convex"]))

    # One fate is forged: it is believed, and its survivor is not listed.
    forged = json.loads(lines[0]) | {"end": "survived"}
    out.write_text("\n".join([json.dumps(forged), *lines[1:]]) + "\n")
    again = CliRunner().invoke(main, options)
    assert again.exit_code == 1
    assert f"{forged['id']}\n- " in again.output and "NOT LISTED" in again.output
    assert len(out.read_text().splitlines()) == len(lines)


def test_a_listed_mutant_that_is_killed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    path = files()["lsi_convex"]
    name = mutants(path)[0]
    known = mutation.Entry(path, *_lines(name, path), "same-value", "It is not.")
    monkeypatch.setattr(mutation, "entries", lambda: (known,))
    found = CliRunner().invoke(main, ["lsi_convex", "--jobs", "1"])
    assert found.exit_code == 1
    assert f"{name.id} is listed, but killed by" in found.output


def _lines(mutant: Mutant, path: str) -> tuple[str, tuple[str, ...]]:
    was, becomes = mutant.lines(source_of(path))
    return was, (becomes,)


def test_an_interrupted_run_keeps_what_is_finished(tmp_path: Path) -> None:
    out = tmp_path / "fates.jsonl"
    command = [sys.executable, "-m", "verify.conformance.mutation", "fixed_order", "--jobs", "1"]
    with subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.PIPE, text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler),
    ) as running:  # fmt: skip
        while not (out.is_file() and out.stat().st_size) and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        printed = running.communicate(timeout=60)[0]
    assert running.returncode == 130
    assert "seconds" in printed
    kept = [json.loads(line) for line in out.read_text().splitlines()]
    assert 1 <= len(kept) < len(mutants(files()["fixed_order"]))


def test_an_unknown_bound_is_refused() -> None:
    found: Any = CliRunner().invoke(main, ["no_bound"])
    assert found.exit_code == 2
    assert "there is no bound called 'no_bound'" in found.output


def test_a_line_of_the_table_has_eighty_columns() -> None:
    counted = {"vectors": 10000, "properties": 2000, "time": 999, "survived": 99}
    assert len(row("derived/optimal_without_replacement", counted, 99)) == 80
