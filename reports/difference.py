"""What changed between two audits: verdicts, severities, and the evidence behind them."""

from __future__ import annotations

from dataclasses import dataclass

from reports.markdown import escape
from reports.records import Audit, StatementRecord


@dataclass(frozen=True)
class Change:
    """One statement whose verdict or severity is another one; old or new is "absent" where it is
    in one audit alone."""

    id: str
    old: str
    new: str
    why: str

    def as_json(self) -> dict[str, str]:
        """For programs."""
        return {"id": self.id, "old": self.old, "new": self.new, "why": self.why}


def changes(old: Audit, new: Audit) -> list[Change]:
    """The statements whose verdict or severity changed, by id."""
    before, after = ({s.id: s for s in audit.statements} for audit in (old, new))
    found = []
    for name in sorted({*before, *after}):
        was, now = before.get(name), after.get(name)
        if _worded(was) != _worded(now):
            found.append(Change(name, _worded(was), _worded(now), _why(was, now)))
    return found


def _worded(record: StatementRecord | None) -> str:
    if record is None:
        return "absent"
    return record.verdict if record.severity is None else f"{record.verdict} ({record.severity})"


def _why(was: StatementRecord | None, now: StatementRecord | None) -> str:
    """The checks of the printed form whose outcome is another one."""
    if was is None or now is None:
        return ""
    sides = [
        {(item.check, item.part): item.outcome for item in record.evidence
         if item.about == "printed"}
        for record in (was, now)
    ]  # fmt: skip
    told = [
        f"{check.rsplit('.', 1)[-1]}: {sides[0].get((check, part), 'absent')} -> "
        f"{sides[1].get((check, part), 'absent')}"
        for check, part in sorted({*sides[0], *sides[1]})
        if sides[0].get((check, part)) != sides[1].get((check, part))
    ]
    return "; ".join(told)


def markdown(found: list[Change], old: str, new: str) -> str:
    """The changes as a table for a pull request."""
    if not found:
        return f"No verdict changed between `{old}` and `{new}`.\n"
    lines = [
        f"{len(found)} verdicts changed between `{old}` and `{new}`.", "",
        "| statement | was | is | because |", "|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {escape(c.id)} | {escape(c.old)} | **{escape(c.new)}** | {escape(c.why)} |"
        for c in found
    ]
    return "\n".join(lines) + "\n"
