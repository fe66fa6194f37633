"""The floors of the house: who may import whom, and no rounded literal in a formula."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bounds", "empirical", "reports", "verify")
MAY_IMPORT = {
    "bounds": {"bounds"},
    "empirical": {"empirical", "bounds"},
    "reports": {"reports"},
    "verify": set(PACKAGES),
}
REPORTS_KNOW_NO = {"sympy", "flint", "mpmath", "hypothesis"}
"""Reports draw records; the mathematics has been done by then."""
FORMULAS = ("bounds/paper", "bounds/prior", "bounds/derived")


def sources(folder: str) -> list[Path]:
    """The modules of a folder; none where there is no such folder yet."""
    return sorted((ROOT / folder).rglob("*.py"))


def imported(tree: ast.Module, module: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every import, at any depth, written in any way."""
    package = module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            yield node.lineno, base
        elif isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func)
            first = node.args[0]
            if name.endswith(("import_module", "__import__", "run_module")):
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield node.lineno, first.value
                elif isinstance(first, ast.JoinedStr) and isinstance(first.values[0], ast.Constant):
                    yield node.lineno, str(first.values[0].value).rstrip(".")


def wrong_imports(code: str, module: str) -> list[str]:
    """Imports that go up a floor, or into mathematics from the reports."""
    own = module.split(".")[0]
    found = []
    for line, name in imported(ast.parse(code), module):
        top = name.split(".")[0]
        if top in PACKAGES and top not in MAY_IMPORT[own]:
            found.append(f"{module}:{line} imports {name}")
        if own == "reports" and top in REPORTS_KNOW_NO:
            found.append(f"{module}:{line} imports {name}")
    return found


def number(node: ast.expr) -> bool:
    """Whether an expression is a number made of literals only."""
    if isinstance(node, ast.UnaryOp):
        return number(node.operand)
    if isinstance(node, ast.BinOp):
        return number(node.left) and number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)


def wrong_literals(code: str) -> list[str]:
    """Numbers in a formula that are rounded before any number system sees them."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and type(node.value) in (float, complex):
            found.append(f"line {node.lineno}: {node.value!r} is rounded")
        if isinstance(node, ast.BinOp) and number(node.left) and number(node.right):
            if isinstance(node.op, ast.Div):
                found.append(f"line {node.lineno}: {ast.unparse(node)} is rounded")
            if isinstance(node.op, ast.Pow) and ast.unparse(node.right).startswith("-"):
                found.append(f"line {node.lineno}: {ast.unparse(node)} is rounded")
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) == "float"
            and any(isinstance(part, ast.Constant) for part in node.args)
        ):
            found.append(f"line {node.lineno}: {ast.unparse(node)} is rounded")
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("math.pi", "math.e", "np.pi"):
            found.append(f"line {node.lineno}: {ast.unparse(node)} is rounded")
    return found


def dotted(path: Path) -> str:
    """The module name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_down(package: str) -> None:
    faults = []
    for path in sources(package):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        faults.extend(wrong_imports(path.read_text(encoding="utf-8"), name))
    assert faults == []


@pytest.mark.parametrize("folder", FORMULAS)
def test_formulas_hold_no_rounded_number(folder: str) -> None:
    faults = [
        f"{path.name}, {fault}"
        for path in sources(folder)
        for fault in wrong_literals(path.read_text(encoding="utf-8"))
    ]
    assert faults == []


def test_the_walk_sees_the_formulas() -> None:
    """An empty package passes, but these two are not empty."""
    assert len(sources("bounds/paper")) > 10
    assert len(sources("bounds/prior")) > 5
    assert dotted(ROOT / "bounds" / "paper" / "__init__.py") == "bounds.paper"
    assert sources("no/such/package") == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("bounds.setting", "import verify"),
        ("bounds.setting", "import numpy, verify.run"),
        ("bounds.paper.fixed_order", "from empirical.quadratic import loss"),
        ("bounds.paper.fixed_order", "def f():\n    from reports import records"),
        ("bounds.paper.fixed_order", "from ...verify import run"),
        ("bounds.bound", "import importlib\nimportlib.import_module('verify.run')"),
        ("bounds.bound", "import importlib\nimportlib.import_module(f'verify.{name}')"),
        ("bounds.bound", "__import__('reports')"),
        ("bounds.bound", "if TYPE_CHECKING:\n    import empirical as e"),
        ("empirical.laws", "from verify.verdict import verdict"),
        ("empirical.laws", "import reports.records"),
        ("reports.html", "from bounds.setting import show"),
        ("reports.html", "import verify"),
        ("reports.html", "import empirical"),
        ("reports.html", "import sympy as sp"),
        ("reports.html", "from sympy.printing import latex"),
    ],
)
def test_an_import_that_goes_up_is_seen(module: str, code: str) -> None:
    assert wrong_imports(code, module)


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("verify.run", "import bounds, empirical, reports"),
        ("empirical.laws", "from bounds.setting import Setting"),
        ("reports.html", "import json\nfrom reports.records import Record\nfrom . import wording"),
        ("bounds.paper.fixed_order", "from bounds.paper import PAPER\nfrom ..setting import ORDER"),
        ("bounds.bound", "import sympy"),
        ("bounds.bound", "import verifying"),
    ],
)
def test_an_import_that_goes_down_is_not(module: str, code: str) -> None:
    assert wrong_imports(code, module) == []


@pytest.mark.parametrize(
    "code",
    ["0.5 * x", "x * 1e-3", "1 / 2 * x", "x ** (1 / 2)", "-1 / 3", "(2 + 1) / 4", "x + 2 ** -1",
     "2 / -3", "float('0.5')", "1j * x", "math.pi * x"],
)  # fmt: skip
def test_a_rounded_number_is_seen(code: str) -> None:
    assert wrong_literals(code)


@pytest.mark.parametrize(
    "code", ["x / 2", "2 * x", "1 / x", "7 // 2", "'0.5'", "2**3", "p.b / p.n"]
)
def test_an_exact_number_is_not(code: str) -> None:
    assert wrong_literals(code) == []
