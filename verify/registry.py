"""Find the statement modules, match them with the inventory, refuse gaps and duplicates."""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import verify.derivations
import verify.statements
from verify.statement import Check, Statement


class RegistryError(RuntimeError):
    """The statement modules and the inventory do not fit together."""


@dataclass(frozen=True)
class Entry:
    """One line of the inventory: what wants an answer."""

    id: str
    kind: str
    where: str
    says: str
    label: str = ""
    line: int = 0


@dataclass(frozen=True)
class Registry:
    """The inventory with the declarations and checks that were found for it."""

    inventory: Mapping[str, Entry]
    statements: Mapping[str, Statement]
    checks: Mapping[str, tuple[Check, ...]]

    def falls_with(self, refuted: str) -> tuple[str, ...]:
        """What rests on a statement, directly or through others, in the inventory's order."""
        reached = {refuted}
        while True:
            more = {
                other.id for other in self.statements.values()
                if other.id not in reached and reached & set(other.rests_on)
            }  # fmt: skip
            if not more:
                return tuple(key for key in self.inventory if key in reached - {refuted})
            reached |= more


@cache
def inventory() -> Mapping[str, Entry]:
    """The statements that want an answer, by id. Raises `RegistryError` on duplicates."""
    text = resources.files("verify").joinpath("inventory.toml").read_text(encoding="utf-8")
    found: dict[str, Entry] = {}
    for item in tomllib.loads(text)["statement"]:
        entry = Entry(**item)
        if entry.id in found:
            raise RegistryError(f"the inventory lists {entry.id} twice")
        found[entry.id] = entry
    return found


@cache
def registry() -> Registry:
    """Import every module of `verify.statements` and `verify.derivations`; match the inventory.

    Raises:
        RegistryError: for a statement that the inventory does not know, one declared twice, a
            check of an undeclared statement, or a `rests_on` that points nowhere.
    """
    modules = [
        importlib.import_module(f"verify.statements.{info.name}")
        for info in sorted(pkgutil.iter_modules(verify.statements.__path__), key=lambda i: i.name)
    ]
    statements: dict[str, Statement] = {}
    checks: dict[str, list[Check]] = {}
    for module in modules:
        for statement in getattr(module, "STATEMENTS", ()):
            if statement.id in statements:
                raise RegistryError(f"{statement.id} is declared twice")
            statements[statement.id] = statement
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                for made in getattr(value, "checks", ()):
                    checks.setdefault(made.statement, []).append(made)
    for info in sorted(pkgutil.iter_modules(verify.derivations.__path__), key=lambda i: i.name):
        chain = getattr(importlib.import_module(f"verify.derivations.{info.name}"), "CHAIN", None)
        if chain is None:
            continue
        for statement in chain.statements:
            if statement.id in statements:
                raise RegistryError(f"{statement.id} is declared twice")
            statements[statement.id] = statement
        for made in chain.checks:
            checks.setdefault(made.statement, []).append(made)
    return match(inventory(), statements.values(), checks)


def match(
    entries: Mapping[str, Entry],
    statements: Iterable[Statement],
    checks: Mapping[str, Iterable[Check]],
) -> Registry:
    """Put inventory, declarations and checks together. Raises `RegistryError`."""
    declared = {statement.id: statement for statement in statements}
    for key in declared:
        if key not in entries:
            raise RegistryError(f"{key} is declared but is not in the inventory")
    for key in checks:
        if key not in declared:
            raise RegistryError(f"a check names {key}, which no module declares")
    for statement in declared.values():
        for other in statement.rests_on:
            if other not in entries:
                raise RegistryError(f"{statement.id} rests on {other}, which does not exist")
        if statement.id not in checks:
            raise RegistryError(f"{statement.id} is declared without any check")
    return Registry(entries, declared, {key: tuple(items) for key, items in checks.items()})
