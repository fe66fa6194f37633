"""Writes the golden vectors: `python -m verify.conformance.generate [DIR]`.

The same bytes come out on every run. A vector's answer is the library's enclosure; the tests
confirm it against definitions that import no bound.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bounds.bound import Bound, find, registry
from bounds.conversion import RULES
from bounds.setting import PARAMETERS
from verify.conformance import answers, conversions
from verify.conformance.answers import Reply, Unsuitable
from verify.conformance.design import DESIGN, depends, figures, fitted, limits, ordinary, reads
from verify.conformance.flags import FLAGS, Case
from verify.conformance.vectors import (
    FOLDER,
    OTHERS,
    SCHEMA,
    Vector,
    VectorFile,
    as_json,
    text_of,
    vector_id,
)

GENERATOR = "1"
"""Version of the generator: raised when the meaning of the files changes."""
USUAL_ONES = 10
"""Ordinary settings that every bound gets."""
AT_LEAST_VALID = 50
"""More ordinary settings are added until so many vectors are valid."""
MOST_ORDINARY = 80


@dataclass
class _Question:
    """An input, the flags it was asked for, and its answer."""

    given: dict[str, str]
    reply: Reply
    flags: list[str] = field(default_factory=list)
    note: str = ""


def names() -> tuple[str, ...]:
    """The files there are to write, sorted."""
    return tuple(sorted((*registry(), *OTHERS)))


def generate(name: str) -> VectorFile:
    """The vectors of one file, from the library."""
    if name in OTHERS:
        return _other(name)
    bound = registry()[name]
    found: dict[tuple[tuple[str, str], ...], _Question] = {}
    for row in (*figures(), *DESIGN, *limits(bound), *ordinary(USUAL_ONES)):
        if row.only in ("", name):
            _ask(found, bound, row.flags, fitted(bound, row.changes, row.after), row.note)
    for row in list(ordinary(MOST_ORDINARY))[USUAL_ONES:]:
        if sum(item.reply.label is None for item in found.values()) >= AT_LEAST_VALID:
            break
        _ask(found, bound, row.flags, fitted(bound, row.changes, row.after), row.note)
    return VectorFile(
        name=name, kind="bound", statement=bound.statement, source=str(bound.source),
        scheme=bound.scheme, direction=bound.direction, standing=bound.standing,
        quantity=bound.quantity, summary=bound.summary, conventions=_conventions(bound),
        assumptions=_assumptions(bound), generator=GENERATOR,
        vectors=_vectors(name, bound.statement, found.values()),
    )  # fmt: skip


def _ask(
    found: dict[tuple[tuple[str, str], ...], _Question],
    bound: Bound,
    flags: Iterable[str],
    given: dict[str, str],
    note: str,
) -> None:
    """Add a question with those of its flags that hold, if any does."""
    wanted = [name for name in flags if _concerns(bound, name)]
    if not wanted:
        return
    key = tuple(given.items())
    question = found.get(key)
    if question is None:
        try:
            question = _Question(given, answers.of_bound(bound.name, given))
        except Unsuitable:
            return
    reply = question.reply
    case = Case(given, bound, reply.setting, reply.label, reply.lower, reply.upper)
    kept = [name for name in wanted if FLAGS[name].fits(case)]
    if not kept:
        return
    question.flags.extend(name for name in kept if name not in question.flags)
    question.note = question.note or note
    found[key] = question


def _concerns(bound: Bound, flag: str) -> bool:
    about = FLAGS[flag].about
    return not about or any(key in depends(bound) for key in about)


def _vectors(name: str, statement: str, questions: Iterable[_Question]) -> tuple[Vector, ...]:
    return tuple(
        Vector(
            id=vector_id(name, item.given), bound=name, statement=statement, input=item.given,
            valid=item.reply.label is None, lower=item.reply.lower, upper=item.reply.upper,
            assumption=item.reply.label, flags=tuple(sorted(item.flags)), note=item.note,
            wide=item.reply.wide,
        )
        for item in questions
    )  # fmt: skip


def _conventions(bound: Bound) -> dict[str, str]:
    """What each key means, and how the conventions that differ between sources stand here."""
    by_flag = {item.flag[2:]: item for item in PARAMETERS.values()}
    out = {
        key: f"{by_flag[key].symbol}: {by_flag[key].meaning} {by_flag[key].unit}"
        for key in reads(bound)
    }
    out["n/b"] = "its floor, where b does not divide n"
    return out


def _assumptions(bound: Bound) -> dict[str, str]:
    """The condition of each label that a refusal may name."""
    from bounds.setting import BATCH_SIZE, DATA_SIZE

    out: dict[str, str] = {}
    for item in (DATA_SIZE, BATCH_SIZE, *bound.assumptions):
        earlier = out.get(item.label)
        out[item.label] = f"{earlier}; {item.condition}" if earlier else item.condition
    for label in ("not-a-number", "whole-number"):
        out[label] = answers.LABELS[label]
    return out


def _other(name: str) -> VectorFile:
    asked = {
        "conversion": (conversions.tables, answers.of_conversion),
        "conversion_of_bound": (conversions.settings, answers.of_conversion_of_bound),
        "calibration": (conversions.targets, answers.of_calibration),
    }
    rows, answer = asked[name]
    found: dict[tuple[tuple[str, str], ...], _Question] = {}
    for row in rows():
        given = dict(row.given)
        try:
            reply = answer(given)
        except Unsuitable:
            continue
        bound = find(given["bound"]) if "bound" in given else None
        case = Case(given, bound, reply.setting, reply.label, reply.lower, reply.upper)
        kept = [flag for flag in row.flags if FLAGS[flag].fits(case)]
        if set(kept) - {"ordinary", *conversions.FLAG_OF_RULE.values()}:
            kept = [flag for flag in kept if flag != "ordinary"]
        if not kept:
            continue
        question = found.setdefault(tuple(given.items()), _Question(given, reply, note=row.note))
        question.flags.extend(flag for flag in kept if flag not in question.flags)
    labels = {item.reply.label for item in found.values() if item.reply.label}
    return VectorFile(
        name=name, kind=name, statement=name,
        source="; ".join(str(rule.source) for rule in RULES.values()), scheme="any",
        direction="exact", standing="theorem",
        quantity="sigma2" if name == "calibration" else "epsilon",
        summary=conversions.SUMMARY[name], conventions=_keys(found.values()),
        assumptions={
            label: answers.LABELS.get(label, "see the file of the bound")
            for label in sorted(labels)
        },
        generator=GENERATOR, vectors=_vectors(name, name, found.values()),
    )  # fmt: skip


def _keys(questions: Iterable[_Question]) -> Mapping[str, str]:
    by_flag = {item.flag[2:]: item for item in PARAMETERS.values()}
    used = {key for item in questions for key in item.given}
    out = {
        key: f"{by_flag[key].symbol}: {by_flag[key].meaning} {by_flag[key].unit}"
        for key in sorted(used & set(by_flag))
    }
    out.update({key: text for key, text in conversions.KEYS.items() if key in used})
    return out


def text(name: str) -> str:
    """The bytes of one file, generated anew."""
    document: dict[str, Any] = as_json(generate(name))
    return text_of(document)


def files() -> Iterator[tuple[str, str]]:
    """Every file's name on disk with its generated text."""
    for name in names():
        yield f"{name}.json", text(name)


def differing(folder: Path) -> Iterator[str]:
    """The files of a folder that are not what the generator writes, missing ones included."""
    expected = set()
    for file, content in files():
        expected.add(file)
        path = folder / file
        if not path.is_file() or path.read_bytes() != content.encode("ascii"):
            yield file
    strange = {path.name for path in folder.glob("*.json")} - expected - {SCHEMA.name}
    yield from sorted(strange)


def main(folder: Path) -> None:
    """Write every file to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files():
        (folder / file).write_bytes(content.encode("ascii"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
