"""An audit as one HTML file: no network, no script needed to read it, everything escaped.

Formulas are MathML and pictures SVG, both made here. The page carries a policy that allows nothing
but its own style and script, each by its hash.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import importlib.util
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from importlib import resources
from typing import Any
from xml.etree import ElementTree

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup, escape

from reports import csvdata, graph, mathml, plots, wording
from reports.records import (
    SEVERITIES,
    STRENGTHS,
    VERDICTS,
    Audit,
    Evidence,
    Series,
    StatementRecord,
)

SUFFIX = ".html"
LIMIT = 5_000_000  # bytes of the whole file
_CERTIFICATES = 2_500_000  # bytes of certificates shown in full
_DIGITS = 16
_PHONE = 13.0  # em that a line of a formula has at 360 pixels, with some to spare
_PAPER = "Differentially Private Learning Needs Hidden State (Or Much Faster Convergence)"
_SEVERITY_TITLES = {
    "statement": "What a reader would rely on, and is false",
    "step": "Steps that are wrong, with conclusions that stand another way",
    "misprint": "Misprints",
}
# Parameters as a reader writes them, where their names are those of the flags.
_NAMES = {"sigma2": "sigma^2", "lambda_": "lambda", "epochs": "K", "sensitivity": "S_g"}
_AGAINST = re.compile(r":? -?[\d.]+(?:e[-+]?\d+)? against -?[\d.]+(?:e[-+]?\d+)?(?= |;|,|$)")
_LONG = 40  # characters of a number that a reader would type
_DECISIVE = ("valid", "constants", "restated", "well-posed", "derived")


class TooLarge(ValueError):
    """The page would pass its limit; the message is one sentence."""


@dataclass(frozen=True)
class Witness:
    """What to put into a calculator: parameters, both sides, and what was claimed of them."""

    parameters: tuple[tuple[str, str], ...]
    left: str
    right: str
    relation: str
    others: tuple[tuple[str, str], ...]
    detail: str
    formulas: tuple[str, str] | None = None

    @property
    def short(self) -> tuple[tuple[str, str], ...]:
        """The parameters that one types."""
        return tuple(pair for pair in self.parameters if len(pair[1]) <= _LONG)

    @property
    def long(self) -> tuple[tuple[str, str], ...]:
        """What is copied rather, with all else that was found."""
        return (*(pair for pair in self.parameters if len(pair[1]) > _LONG), *self.others)


@dataclass(frozen=True)
class Group:
    """Refuted statements with one finding between them."""

    records: tuple[StatementRecord, ...]
    fallen: tuple[StatementRecord, ...]
    standing: tuple[StatementRecord, ...]
    witness: Witness | None

    @property
    def severity(self) -> str:
        """The gravest of the group."""
        return self.records[0].severity or ""


@dataclass(frozen=True)
class Step:
    """One line of a derivation: is it true, and does it follow from the reason given?"""

    record: StatementRecord
    relation: str
    reasons: tuple[str, ...]
    true: tuple[Evidence, ...]
    follows: tuple[Evidence, ...]

    @property
    def proved(self) -> bool:
        """Whether its truth is proved without the step before it."""
        return all(item.outcome == "holds" for item in self.true) and any(
            item.whole for item in self.true
        )

    @property
    def derived(self) -> bool:
        """Whether it follows, as far as was asked."""
        return bool(self.follows) and all(item.outcome == "holds" for item in self.follows)


# What a statement is called, and where it stands on the page.


def anchor(name: str) -> str:
    """The permanent anchor of a statement: its id, or a hash of one that cannot be an anchor."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9.\-]{0,63}", name) and not name.startswith("page-"):
        return name
    return "id-" + hashlib.sha256(name.encode()).hexdigest()[:16]


def short(record: StatementRecord) -> str:
    """A label for a box of the map."""
    name = wording.title(record)
    for long, brief in (
        ("Equation ", ""), ("Theorem", "Thm"), ("Proposition", "Prop"), ("Corollary", "Cor"),
        ("Definition", "Def"), ("Algorithm", "Alg"), ("Figure", "Fig"), ("Footnote", "Fn"),
        ("Section ", "§"), ("Abstract: ", "§0: "),
    ):  # fmt: skip
        name = name.replace(long, brief)
    return name if len(name) <= 20 else name[:19] + "…"


def sentence(record: StatementRecord) -> str:
    """The verdict in a sentence or two."""
    said = f"{record.verdict.capitalize()}: {wording.MEANING.get(record.verdict, '')}."
    if record.severity:
        meant = wording.SEVERITY_MEANING.get(record.severity, "")
        said += f" {record.severity.capitalize()}: {meant}."
    return said


def strengths(record: StatementRecord) -> list[str]:
    """The strengths of the evidence on the printed form, strongest first."""
    found = {item.strength for item in record.evidence if item.about == "printed"}
    return [name for name in STRENGTHS if name in found]


# Findings.


def groups(audit: Audit) -> list[Group]:
    """The refuted statements by impact; those with the same finding stand together.

    Gravest first; then by how many statements fall with it, then by how many rest on it.
    """
    named = {record.id: record for record in audit.statements}
    refuted = wording.by_impact(audit.statements)
    made = []
    for records in wording.together(refuted):
        own = {record.id for record in records}
        carried = [named[i] for r in records for i in r.impact if i in named and i not in own]
        carried = list({record.id: record for record in carried}.values())
        made.append(
            Group(
                tuple(records),
                tuple(r for r in carried if r.verdict == "refuted"),
                tuple(r for r in carried if r.verdict != "refuted"),
                next(filter(None, map(witness, records)), None),
            )
        )
    grave = [*reversed(SEVERITIES), ""]
    return sorted(
        made, key=lambda g: (grave.index(g.severity), -len(g.fallen), -len(g.standing))
    )  # fmt: skip


def witness(record: StatementRecord) -> Witness | None:
    """The witness against the printed form, from the evidence that fails."""
    failing = [
        item for item in record.evidence if item.outcome == "fails" and item.about == "printed"
    ]
    failing.sort(key=lambda item: _DECISIVE.index(item.obligation)
                 if item.obligation in _DECISIVE else len(_DECISIVE))  # fmt: skip
    for item in failing:
        found = _point(item.certificate)
        if found is None:
            continue
        others = [
            (str(key), _value(value)) for key, value in found.items()
            if key not in ("kind", "parameters", "left", "right", "relation", "conditions")
            and isinstance(value, str | int | list)
        ]  # fmt: skip
        parameters = tuple(
            (_NAMES.get(str(key), str(key)), _value(value))
            for key, value in found["parameters"].items()
        )
        sides = [_value(found.get(side, "")) for side in ("left", "right")]
        written = found.get("formulas")
        written = written if isinstance(written, Mapping) else {}
        formulas = tuple(str(written.get(side, "")) for side in ("left", "right"))
        return Witness(
            parameters, sides[0], sides[1], str(found.get("relation", "")), tuple(others),
            # The numbers stand above already.
            _AGAINST.sub("", item.detail, count=1) if all(sides) else item.detail,
            (formulas[0], formulas[1]) if all(formulas) else None,
        )  # fmt: skip
    return Witness((), "", "", "", (), failing[0].detail) if failing else None


def _point(value: object) -> Mapping[str, Any] | None:
    """The first mapping in nested JSON that holds parameters."""
    waiting = [value]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, Mapping):
            if isinstance(item.get("parameters"), Mapping):
                return item
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
    return None


def _value(value: object) -> str:
    """A number for a calculator; of an enclosure, the digits that both ends share."""
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = (str(end) for end in value)
        if low == high:
            return low
        try:
            ends = [Decimal(low), Decimal(high)]
        except InvalidOperation:
            return f"{low} to {high}"
        for digits in range(_DIGITS, 2, -1):
            rounded = {f"{end:.{digits}g}" for end in ends}
            if len(rounded) == 1:
                return rounded.pop()
        return f"{low} to {high}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return str(value)


# Derivations.


def derivations(audit: Audit) -> list[tuple[str, list[Step]]]:
    """The chains of the paper, each with its links, from the names of the checks."""
    chains: dict[str, dict[str, Step]] = {}
    for record in audit.statements:
        printed = [item for item in record.evidence if item.about == "printed"]
        for item in printed:
            found = re.match(r"verify\.derivations\.(\w+)\.", item.check)
            if found is None:
                continue
            name = found.group(1).replace("_", " ").replace("lsi", "LSI")
            true = tuple(i for i in printed if i.obligation in _DECISIVE[:-1])
            follows = tuple(i for i in printed if i.obligation == "derived")
            chains.setdefault(name, {})[record.id] = Step(
                record,
                next((i.relation for i in printed if i.relation), ""),
                tuple(dict.fromkeys(i.reason for i in follows or true if i.reason)),
                true, follows,
            )  # fmt: skip
    return [(name, list(steps.values())) for name, steps in chains.items()]


def answers(items: Iterable[Evidence]) -> list[tuple[str, str, str]]:
    """What was found, how strongly and of which part, once each."""
    return list(dict.fromkeys((item.outcome, item.strength, item.part) for item in items))


def signs(relation: str) -> str:
    """Relations as a reader writes them."""
    known = {"<=": "≤", ">=": "≥", "!=": "≠"}
    return ", ".join(known.get(sign, sign) for sign in relation.split(", "))


# The map.


def touched(audit: Audit) -> set[str]:
    """Everything that rests on something refuted."""
    return {i for record in audit.statements if record.verdict == "refuted" for i in record.impact}


def paper_map(audit: Audit, *, whole: bool) -> Markup:
    """The map: all of the paper, or only the refuted statements with what rests on them."""
    reached = touched(audit)
    chosen = [
        record for record in audit.statements
        if whole
        or record.id in reached
        or (record.verdict == "refuted" and record.impact)
    ]  # fmt: skip
    if not chosen:
        return Markup("")
    boxes = [
        graph.Box(r.id, short(r), f"#{anchor(r.id)}", r.says, r.verdict, r.id in reached)
        for r in chosen
    ]
    rests_on = {r.id: r.rests_on for r in chosen}
    kind = "whole" if whole else "impact"
    return Markup(  # graph.draw escapes what it is given
        graph.draw(
            boxes, rests_on, prefix=f"page-map-{kind}",
            title="Map of the paper" if whole else "What rests on refuted statements",
            description="Arrows go down from a statement to what rests on it; the table after the "
            "picture says the same in words.",
        )
    )  # fmt: skip


# Figures.


def figure_svg(series: Series) -> Markup:
    """A figure's curves as inline SVG, without identifiers that could meet others."""
    return inline_svg(plots.svg(series), anchor(f"figure {series.id}"), series.title)


_PRESENTATION = {
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "stroke-linejoin",
    "stroke-linecap", "opacity", "fill-opacity", "stroke-opacity", "font-size", "font-family",
    "text-anchor", "stroke-miterlimit",
}  # fmt: skip


def inline_svg(text: str, prefix: str, says: str) -> Markup:
    """An SVG file as a part of a page: styles as attributes, ids made the picture's own.

    Raises:
        xml.etree.ElementTree.ParseError: the text is not XML.
    """
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in ("metadata", "style", "script", "title"):
                parent.remove(child)
    for node in root.iter():
        node.tag = _local(node.tag)
        attributes = {_local(key): value for key, value in node.attrib.items()}
        for declaration in attributes.pop("style", "").split(";"):
            key, _, value = (part.strip() for part in declaration.partition(":"))
            if key == "font":
                size = re.search(r"[\d.]+px", value)
                attributes |= {"font-family": "sans-serif"} | (
                    {"font-size": size.group()} if size else {}
                )
            elif key in _PRESENTATION:
                attributes[key] = value
        if "id" in attributes:
            attributes["id"] = f"{prefix}-{attributes['id']}"
        for key, value in attributes.items():
            if key == "href" and value.startswith("#"):
                attributes[key] = f"#{prefix}-{value[1:]}"
            elif "url(#" in value:
                attributes[key] = value.replace("url(#", f"url(#{prefix}-")
        node.attrib.clear()
        node.attrib.update(
            {k: v for k, v in attributes.items() if not k.lower().startswith("on")}
        )  # fmt: skip
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("class", "plot")
    root.set("role", "img")
    root.set("aria-label", says)
    root.set("stroke-linejoin", "round")
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def figure_csv(series: Series, audit: Audit) -> str:
    """A figure's data as a data: address of a CSV file."""
    text = csvdata.render(replace(audit, series=(series,)))
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"


def file_name(text: str) -> str:
    """A name that any file system takes."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.")[:64] or "data"


def rounded(value: str) -> str:
    """Five digits, for reading."""
    try:
        return f"{Decimal(value):.5g}"
    except InvalidOperation:
        return value


# Certificates.


def certificates(audit: Audit) -> dict[int, tuple[str, int]]:
    """Each certificate as text, by the identity of its evidence, with how much was left out.

    The largest are cut so that all of them together stay below a fixed size.
    """
    texts = {
        id(item): json.dumps(item.certificate, indent=1, ensure_ascii=False, default=str)
        for record in audit.statements for item in record.evidence
        if item.certificate is not None
    }  # fmt: skip
    sizes = [len(escape(text).encode()) for text in texts.values()]
    most = max(sizes, default=0)
    while sum(min(size, most) for size in sizes) > _CERTIFICATES:
        most = most // 2
    shown = {}
    for key, text in texts.items():
        kept = text
        while len(escape(kept).encode()) > most:
            kept = kept[: len(kept) * 3 // 4]
        shown[key] = (kept, len(text) - len(kept))
    return shown


# The page.


@dataclass(frozen=True)
class Bar:
    """One row of the picture of verdicts."""

    name: str
    number: int
    pattern: str


def bars(records: Iterable[StatementRecord]) -> list[Bar]:
    """How many statements at each verdict; the refuted by severity, gravest first."""
    listed = list(records)
    made = []
    for name, number in wording.counts(listed).items():
        if name != "refuted":
            made.append(Bar(name, number, name))
            continue
        for severity in [*reversed(SEVERITIES), None]:
            count = sum(r.verdict == name and r.severity == severity for r in listed)
            if count:
                label = f"refuted: {severity}" if severity else "refuted"
                made.append(Bar(label, count, f"refuted-{severity or 'statement'}"))
    return made


def _duration(seconds: float) -> str:
    if seconds < 0.05:
        return "under 0.1 s"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _read(name: str) -> str | None:
    """A file of the templates' folder, or None."""
    path = resources.files("reports").joinpath("templates", name)
    return path.read_text("utf-8") if path.is_file() else None


class _Templates(BaseLoader):
    def get_source(self, environment: Environment, template: str) -> tuple[str, None, None]:
        text = _read(template)
        if text is None:
            raise TemplateNotFound(template)
        return text, None, None


def _typeset(text: object, display: bool = False) -> Markup:
    return Markup(mathml.typeset(str(text), display=display))  # typeset escapes


def formula(text: object) -> Markup:
    """A formula that stands alone; one too wide for a phone scrolls, by the keyboard too."""
    wide = mathml.widest(str(text), display=True) > _PHONE
    focus = Markup(' tabindex="0" role="group" aria-label="Formula"') if wide else ""
    return Markup('<div class="formula"{}>{}</div>').format(focus, _typeset(text, display=True))


def _embedded(value: object) -> Markup:
    """JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(value, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _explorer(audit: Audit) -> dict[str, Any] | None:
    """What the explorer's template is given, where there is an explorer.

    It is the files `explorer.html.j2`, `explorer.css`, `explorer.js` and, where it needs data, a
    module `reports.explorer` with a function `context(audit)` that returns JSON-like data; the
    template finds it as `explorer` and may embed it with the filter `embedded`.
    """
    if _read("explorer.html.j2") is None:
        return None
    if importlib.util.find_spec("reports.explorer") is None:
        return {}
    module = importlib.import_module("reports.explorer")
    return dict(module.context(audit))


def _options(values: Iterable[str], order: Sequence[str] = ()) -> list[str]:
    present = set(values)
    return [v for v in order if v in present] + sorted(present - set(order))


def render(audit: Audit) -> str:
    """The page.

    Raises:
        TooLarge: it would pass 5 MB even with its certificates cut.
    """
    environment = Environment(
        loader=_Templates(), undefined=StrictUndefined, autoescape=True, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    named = {record.id: record for record in audit.statements}
    made = groups(audit)
    reached = touched(audit)
    shown = certificates(audit)
    environment.filters |= {
        "formula": formula, "prose": _typeset, "title": wording.title,
        "anchor": anchor, "sentence": sentence, "duration": _duration, "rounded": rounded,
        "embedded": _embedded, "file_name": file_name, "strengths": strengths, "signs": signs,
        "answers": answers,
        "plot": figure_svg, "csv": functools.partial(figure_csv, audit=audit),
    }  # fmt: skip
    style = "\n".join(filter(None, (_read("style.css"), _read("explorer.css"))))
    script = "\n".join(filter(None, (_read("page.js"), _read("explorer.js"))))
    drawn = bars(audit.statements)
    text = environment.get_template("page.html.j2").render(
        audit=audit, paper=_PAPER, named=named, groups=made, reached=reached,
        severity_titles=_SEVERITY_TITLES, bars=drawn,
        most=max((bar.number for bar in drawn), default=1),
        counts=wording.counts(audit.statements), meaning=wording.MEANING,
        letters=wording.LETTERS, figures=wording.figures(audit),
        said_of=functools.partial(wording.said_of, statements=audit.statements),
        severity_meaning=wording.SEVERITY_MEANING, mutants=wording.mutants(audit.statements),
        unchecked=[r for r in audit.statements if wording.not_checked(r)],
        again=functools.partial(wording.again, effort=audit.effort, seed=audit.seed),
        certificate=lambda item: shown.get(id(item)), derivations=derivations(audit),
        impact_map=paper_map(audit, whole=False), whole_map=paper_map(audit, whole=True),
        marks=graph.MARKS, explorer=_explorer(audit),
        carriers=[r for r in wording.by_impact(audit.statements) if r.impact],
        choices=[
            ("verdict", _options((r.verdict for r in audit.statements), VERDICTS)),
            ("severity", _options((r.severity for r in audit.statements if r.severity),
                                  [*reversed(SEVERITIES)])),
            ("section", _options(r.where for r in audit.statements)),
            ("kind", _options(r.kind for r in audit.statements)),
            ("strength", _options((s for r in audit.statements for s in strengths(r)),
                                  STRENGTHS)),
        ],
        style=Markup(style), script=Markup(script),
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'",
    )  # fmt: skip
    size = len(text.encode())
    if size > LIMIT:
        raise TooLarge(
            f"the page would have {size / 1e6:.1f} MB, more than the {LIMIT / 1e6:.0f} MB that one "
            "file may have; an audit of fewer statements (--only) fits"
        )
    return text
