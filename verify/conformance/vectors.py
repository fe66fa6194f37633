"""The golden vectors: what they say, and how to read the committed files.

A vector is one question with its answer: exact inputs, and either an enclosure of the value or the
assumption that the input violates. There is one file a bound in `verify/conformance/vectors/`, and
three more: `conversion` (a Renyi curve to epsilon), `conversion_of_bound` (a bound at a setting to
epsilon) and `calibration` (a bound and a target epsilon to the least noise). All are written by
`verify.conformance.generate` and follow `schema/vectors.schema.json`.

Ids are permanent, since they are derived from the content: the name of the file and the first
ten hexadecimal digits of the SHA-256 of the input, its keys sorted. An id can be retired with its
vector, but never comes to mean another question; adding, removing or re-ordering vectors leaves
every other id as it is. What may change under an id is the answer, when it was wrong.

Inputs are exact text: integers, decimals or fractions, as the setting flags take them. The keys of
a bound's input are the setting flags with underscores for hyphens (`n b epochs eta lambda beta
sensitivity sigma2 alpha position`), and only those that the bound reads. The other files have
besides: `bound`, `delta`, `rule`, `orders` and `epsilons` (comma-separated lists of equal length),
`target_epsilon`. Where `conversion_of_bound` or `calibration` has no `orders`, every real order
above 1 is allowed.

>>> vector = load("thm-4.2")[0]
>>> vector.bound
'shuffle_partition'
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from bounds.setting import InvalidInput, Setting

HERE = Path(__file__).parent
FOLDER = HERE / "vectors"
"""The committed vectors, one JSON file each."""
SCHEMA = HERE / "schema" / "vectors.schema.json"
"""The JSON schema of a vector file."""
OTHERS = ("calibration", "conversion", "conversion_of_bound")
"""The files that are not about one bound."""
DIGITS = 40
"""Decimal digits of the ends of an enclosure."""


@dataclass(frozen=True)
class Vector:
    """One question with its answer.

    id: permanent, see the module. bound: the name of the file, which is the bound's name except
    for the three others. statement: inventory id, or the bound's own name.
    input: exact text by flag name. valid: whether an implementation must answer (True) or refuse.
    lower, upper: decimal strings with lower <= the value <= upper, 40 digits each; None when
    invalid. For `calibration` they enclose the least sigma^2.
    assumption: the label of the violated assumption; None when valid.
    flags: why the case exists, names of `verify.conformance.flags.FLAGS`. note: a remark, or "".
    wide: why the enclosure is wider than 40 digits allow, or "".
    """

    id: str
    bound: str
    statement: str
    input: Mapping[str, str]
    valid: bool
    lower: str | None
    upper: str | None
    assumption: str | None
    flags: tuple[str, ...]
    note: str = ""
    wide: str = ""

    def setting(self) -> Setting:
        """The setting in the input, read exactly; what is no setting flag is left out.

        Raises:
            InvalidInput: a value is not an exact number (some invalid vectors).
        """
        skip = ("bound", "delta", "rule", "orders", "epsilons", "target_epsilon")
        return Setting.of(**{key: text for key, text in self.input.items() if key not in skip})


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors with what holds for all of them.

    kind: "bound", or the name of one of the three others. direction and quantity: as in
    `bounds.bound.Bound`; for the others, "exact" and "epsilon" or "sigma2".
    conventions: what each input means, by key. assumptions: the condition of each label.
    generator: version of the generator; it changes when the meaning of the files does.
    """

    name: str
    kind: str
    statement: str
    source: str
    scheme: str
    direction: str
    standing: str
    quantity: str
    summary: str
    conventions: Mapping[str, str]
    assumptions: Mapping[str, str]
    generator: str
    vectors: tuple[Vector, ...] = field(repr=False)


def vector_id(name: str, given: Mapping[str, str]) -> str:
    """The permanent id of the question with this input in the file of this name."""
    text = json.dumps(dict(given), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"{name}-{hashlib.sha256(text.encode('ascii')).hexdigest()[:10]}"


@cache
def names() -> tuple[str, ...]:
    """The bounds that have vectors, sorted."""
    found = sorted(path.stem for path in FOLDER.glob("*.json"))
    return tuple(name for name in found if name not in OTHERS)


def load(bound_name: str) -> tuple[Vector, ...]:
    """The vectors of a bound (by file name or statement id), or of one of `OTHERS`.

    Raises:
        InvalidInput: there are none of that name.
    """
    return load_file(bound_name).vectors


@cache
def load_file(name: str) -> VectorFile:
    """A whole file, by the same names as `load`.

    Raises:
        InvalidInput: there is none of that name.
    """
    path = FOLDER / f"{name}.json"
    if name not in (*names(), *OTHERS) or not path.is_file():
        for other in names():
            if _document(other)["statement"] == name.lower():
                return load_file(other)
        raise InvalidInput(
            f"there are no vectors called {name!r}; there are: {', '.join((*names(), *OTHERS))}"
        )
    return read(_document(name))


@cache
def _document(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document


def read(document: Mapping[str, Any]) -> VectorFile:
    """A file from its JSON form, which must follow the schema."""
    head = {key: document[key] for key in HEAD}
    vectors = tuple(
        Vector(
            id=item["id"],
            bound=document["name"],
            statement=document["statement"],
            input=item["input"],
            valid=item["result"] == "valid",
            lower=item.get("lower"),
            upper=item.get("upper"),
            assumption=item.get("assumption"),
            flags=tuple(item["flags"]),
            note=item.get("note", ""),
            wide=item.get("wide", ""),
        )
        for item in document["vectors"]
    )
    return VectorFile(**head, vectors=vectors)


HEAD = (
    "name", "kind", "statement", "source", "scheme", "direction", "standing", "quantity",
    "summary", "conventions", "assumptions", "generator",
)  # fmt: skip


def as_json(file: VectorFile) -> dict[str, Any]:
    """The JSON form of a file; `read` is its inverse."""
    head: dict[str, Any] = {key: getattr(file, key) for key in HEAD}
    items = []
    for vector in file.vectors:
        item: dict[str, Any] = {
            "id": vector.id,
            "input": dict(vector.input),
            "result": "valid" if vector.valid else "invalid",
            "flags": list(vector.flags),
        }
        for key in ("lower", "upper", "assumption", "note", "wide"):
            if getattr(vector, key):
                item[key] = getattr(vector, key)
        items.append(item)
    return {**head, "vectors": items}


def text_of(document: Mapping[str, Any]) -> str:
    """The bytes of a file: sorted keys, a line for each vector, a newline at the end."""
    from verify.conformance.flags import FLAGS

    used = sorted({flag for item in document["vectors"] for flag in item["flags"]})
    head = {key: value for key, value in document.items() if key != "vectors"}
    head["flags"] = {name: FLAGS[name].as_json() for name in used}
    head["schema"] = SCHEMA.name
    head["count"] = len(document["vectors"])
    lines = json.dumps(head, indent=1, sort_keys=True, ensure_ascii=True).splitlines()
    items = ",\n".join(
        "  " + json.dumps(item, sort_keys=True, ensure_ascii=True) for item in document["vectors"]
    )
    return "\n".join(lines[:-1]) + ',\n "vectors": [\n' + items + "\n ]\n}\n"
