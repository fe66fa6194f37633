"""Audits as JSON files: written whole or not at all, read back to the same records."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reports.records import SCHEMA, Audit, Curve, Evidence, Link, Mutants, Series, StatementRecord

SUFFIX = ".json"


class NotAnAudit(ValueError):
    """A file that is not an audit of this schema; the message is one sentence."""


def to_json(audit: Audit) -> dict[str, Any]:
    """The audit by the contract."""
    return {
        "schema": audit.schema,
        "versions": dict(audit.versions),
        "effort": audit.effort,
        "seed": audit.seed,
        "statements": [record.as_json() for record in audit.statements],
        "series": [asdict(series) for series in audit.series],
        "complete": audit.complete,
        "only": list(audit.only),
        "seconds": round(audit.seconds, 1),
    }


def dumps(audit: Audit) -> str:
    """The audit as text. Raises ValueError on NaN or infinity, which no record may hold."""
    return json.dumps(to_json(audit), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(audit: Audit, path: Path) -> None:
    """Write the file whole: a reader never sees half of it."""
    write_text(path, dumps(audit))


def write_text(path: Path, text: str) -> None:
    """Replace a text file in one step."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file in one step."""
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "it is there and is no file", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path.resolve() if path.is_symlink() else path)
    except BaseException:
        os.unlink(name)
        raise


def read(path: Path) -> Audit:
    """Read an audit back.

    Raises:
        NotAnAudit: the file is missing, is not JSON, or is not an audit of this schema.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotAnAudit(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise NotAnAudit(f"{path} is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise NotAnAudit(f"{path} is not an audit: its schema is not {SCHEMA}")
    try:
        return Audit(
            versions=data["versions"],
            effort=data["effort"],
            seed=data["seed"],
            statements=tuple(_statement(item) for item in data["statements"]),
            series=tuple(_series(item) for item in data.get("series", [])),
            complete=data.get("complete", True),
            only=tuple(data.get("only", [])),
            seconds=data.get("seconds", 0.0),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotAnAudit(f"{path} is not a whole audit: {error}") from None


def _statement(item: dict[str, Any]) -> StatementRecord:
    mutants = item.get("mutants")
    return StatementRecord(
        **{
            **item,
            "mutants": mutants and Mutants(mutants["tried"], tuple(mutants["survived"])),
            "impact": tuple(item["impact"]),
            "rests_on": tuple(item["rests_on"]),
            "evidence": tuple(map(_evidence, item["evidence"])),
        }
    )


def _evidence(item: dict[str, Any]) -> Evidence:
    return Evidence(**{**item, "links": tuple(Link(**link) for link in item.get("links", ()))})


def _series(item: dict[str, Any]) -> Series:
    curves = []
    for curve in item["curves"]:
        curves.append(
            Curve(
                curve["name"], curve["bound"], curve["setting"], tuple(curve["epsilon"]),
                tuple(curve["lower"]), tuple(curve["upper"]), curve.get("role", "bound"),
                tuple(curve.get("labels", ())),
            )
        )  # fmt: skip
    return Series(**{**item, "x": tuple(item["x"]), "curves": tuple(curves)})
