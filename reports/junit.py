"""An audit as JUnit XML, a statement a test case, so that continuous integration shows it.

A refuted statement is a failure (its severity is the type), an open one is skipped, and a statement
with a check that broke is an error. Everything else passes.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from reports import wording
from reports.records import Audit, StatementRecord

SUFFIX = ".xml"
# XML 1.0 has no way to write these.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _clean(text: object) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _case(record: StatementRecord, effort: str, seed: int) -> ElementTree.Element:
    seconds = sum(item.seconds for item in record.evidence)
    case = ElementTree.Element(
        "testcase",
        classname=_clean(f"section {record.where}"),
        name=_clean(f"{record.id}: {record.label}"),
        time=f"{seconds:.3f}",
    )
    properties = ElementTree.SubElement(case, "properties")
    for name, value in (("verdict", record.verdict), ("severity", record.severity or "")):
        ElementTree.SubElement(properties, "property", name=name, value=_clean(value))
    broken = [item for item in record.evidence if item.outcome == "error"]
    if broken:
        made = ElementTree.SubElement(
            case, "error", message=_clean(f"{len(broken)} checks broke"), type="error"
        )
        made.text = _clean("\n".join(f"{item.check}: {item.detail}" for item in broken))
    elif record.verdict == "refuted":
        made = ElementTree.SubElement(
            case, "failure", message=_clean(wording.headline([record])),
            type=_clean(record.severity or "refuted"),
        )  # fmt: skip
        lines = [f"printed: {record.printed}"]
        fix = wording.correction(record)
        lines += [f"correction: {fix}"] * bool(fix)
        lines += [f"what rests on it: {', '.join(record.impact)}"] * bool(record.impact)
        made.text = _clean("\n".join(lines))
    elif record.verdict == "open":
        ElementTree.SubElement(case, "skipped", message=_clean(record.tried or "open"))
    out = ElementTree.SubElement(case, "system-out")
    told = [
        f"{item.about} {item.obligation}: {item.outcome} ({item.strength}) on {item.domain}; "
        + "; ".join(filter(None, (item.reason.rstrip("."), item.detail)))
        for item in record.evidence
    ]  # fmt: skip
    told.append(wording.again(record, effort, seed))
    out.text = _clean("\n".join(told))
    return case


def render(audit: Audit) -> str:
    """The audit as one test suite."""
    cases = [_case(record, audit.effort, audit.seed) for record in audit.statements]
    count = {
        name: sum(case.find(name) is not None for case in cases)
        for name in ("failure", "error", "skipped")
    }
    suite = ElementTree.Element(
        "testsuite", name=_clean(f"hiddenstate audit, effort {audit.effort}, seed {audit.seed}"),
        tests=str(len(cases)), failures=str(count["failure"]), errors=str(count["error"]),
        skipped=str(count["skipped"]), time=f"{audit.seconds:.3f}",
    )  # fmt: skip
    suite.extend(cases)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        + ElementTree.tostring(root, encoding="unicode")
        + "\n"
    )
