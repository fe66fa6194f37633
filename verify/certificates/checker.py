"""Re-check the certificates of an audit with the standard library alone.

    identity   an expression that is claimed to vanish identically. It is parsed here, everything
               that is not rational arithmetic counts as an unknown of its own, and it is evaluated
               in Fractions at random points. A rational expression that is not zero vanishes at a
               point drawn from N values with probability at most (its degree)/N (Schwartz and
               Zippel), so that POINTS points leave an error below (degree/RANGE)^POINTS.
    point      two enclosures that are claimed to stand in a relation, or to contradict it.
    links      several of these.

Other kinds (boxes, series, points tried) say what was done and are not re-checked here. The grammar
of expressions: numbers, names, + - * / **, parentheses, and f(...) for unknowns.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

POINTS = 8
RANGE = 10**9


class Malformed(ValueError):
    """A certificate that cannot be read; the message says what is wrong with it."""


@dataclass
class Report:
    """How many certificates passed, failed, or are of a kind that is not re-checked, by kind."""

    passed: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    alone: int = 0
    statements: int = 0


class _Evaluation:
    """One random point: unknowns get random rational values, the same for the same text."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.values: dict[str, Fraction] = {}

    def unknown(self, text: str) -> Fraction:
        """The value of an unknown, drawn when it is first met."""
        if text not in self.values:
            self.values[text] = Fraction(self.draw.randint(1, RANGE), self.draw.randint(1, RANGE))
        return self.values[text]

    def value(self, node: ast.expr) -> Fraction:
        """The value of an expression. Raises `Malformed`, or ZeroDivisionError at a pole."""
        match node:
            case ast.Constant(value=int() as number):
                return Fraction(number)
            case ast.Name(id=name):
                return self.unknown(name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.value(inner)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.value(left) + self.value(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return self.value(left) - self.value(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.value(left) * self.value(right)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self.value(left) / self.value(right)
            case ast.BinOp(left=base, op=ast.Pow(), right=power):
                return self.power(base, power)
            case ast.Call():
                return self.unknown(ast.unparse(node))
        raise Malformed(f"{ast.unparse(node)[:60]} is not in the grammar")

    def power(self, base: ast.expr, power: ast.expr) -> Fraction:
        """base**(whole + terms): the whole part is arithmetic, each term an unknown power."""
        whole, out = 0, Fraction(1)
        for sign, term in _terms(power):
            number, rest = _split(term)
            number *= sign
            if rest is None and number.denominator == 1:
                whole += int(number)
            elif rest is not None and number.denominator == 1:
                out *= self.unknown(f"{ast.unparse(base)} ** {rest}") ** int(number)
            else:
                out *= self.unknown(f"{ast.unparse(base)} ** {number}*{rest}")
        return self.value(base) ** whole * out if whole else out


def _terms(node: ast.expr, sign: int = 1) -> list[tuple[int, ast.expr]]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _terms(left, sign) + _terms(right, sign)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _terms(left, sign) + _terms(right, -sign)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _terms(inner, -sign)
    return [(sign, node)]


def _split(node: ast.expr) -> tuple[Fraction, str | None]:
    """A term of an exponent as a number times a text."""
    match node:
        case ast.Constant(value=int() as number):
            return Fraction(number), None
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (a, x), (b, y) = _split(left), _split(right)
            texts = sorted(text for text in (x, y) if text is not None)
            return a * b, "*".join(texts) or None
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() as number)):
            a, x = _split(left)
            return a / number, x
    return Fraction(1), ast.unparse(node)


def check_identity(certificate: dict[str, Any]) -> None:
    """Raise `Malformed` unless the expression vanishes at POINTS random points."""
    text = certificate["expression"]
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise Malformed(f"{text[:60]!r} is not an expression") from None
    done = 0
    for seed in range(4 * POINTS):
        try:
            value = _Evaluation(seed).value(tree)
        except ZeroDivisionError:
            continue
        if value != 0:
            raise Malformed(f"{text[:60]!r} is {float(value):.3g} at a random point, not 0")
        done += 1
        if done == POINTS:
            return
    raise Malformed(f"{text[:60]!r} has a pole at too many random points")


def check_point(certificate: dict[str, Any], outcome: str) -> None:
    """Raise `Malformed` unless the two enclosures show the outcome."""
    (low, high), (least, most) = (
        (Fraction(str(a)), Fraction(str(b))) for a, b in (certificate["left"], certificate["right"])
    )
    if low > high or least > most:
        raise Malformed("an enclosure ends before it begins")
    relation = certificate["relation"]
    if relation == ">=":
        low, high, least, most, relation = least, most, low, high, "<="
    below = high < least or (relation == "<=" and high <= least)
    above = low > most or (relation == "<" and low >= most)
    apart = high < least or low > most
    shown = {
        "holds": below and relation != "=",
        "fails": apart if relation == "=" else above,
    }  # fmt: skip
    if not shown.get(outcome, False):
        raise Malformed(
            f"[{low}, {high}] {relation} [{least}, {most}] does not show that it {outcome}"
        )


def check(certificate: dict[str, Any], outcome: str, report: Report, where: str) -> bool:
    """Re-check one certificate; whether it is of a kind that is, and passed."""
    kind = certificate.get("kind", "none")
    try:
        if kind == "links":
            inner = [check(part, outcome, report, where) for part in certificate["links"]]
            return any(inner)
        if kind == "identity" and certificate["expression"].strip() == "0":
            # The prover's algebra left nothing to check: it says nothing by itself.
            report.left["empty identity"] += 1
            return False
        if kind == "identity":
            check_identity(certificate)
        elif kind == "point" and "left" in certificate:
            check_point(certificate, outcome)
        else:
            report.left[kind] += 1
            return False
    except Malformed as error:
        report.failed.append(f"{where}: {error}")
        return False
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        report.failed.append(f"{where}: unreadable {kind} certificate ({error})")
        return False
    report.passed[kind] += 1
    return True


def certify(path: Path) -> Report:
    """Re-check every certificate of an audit file.

    `alone` counts the proved, certified and refuted statements with deciding evidence of which at
    least one certificate was re-checked here and none failed; the others rest on the prover alone.

    Raises:
        Malformed: the file is not an audit.
    """
    try:
        statements = json.loads(path.read_text(encoding="utf-8"))["statements"]
    except OSError as error:
        raise Malformed(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise Malformed(f"{path} is not an audit") from None
    report = Report()
    for statement in statements:
        if statement["verdict"] not in ("proved", "certified", "refuted"):
            continue
        report.statements += 1
        passed = False
        for item in statement["evidence"]:
            if item["certificate"] is None or item["outcome"] not in ("holds", "fails"):
                continue
            where = f"{statement['id']} ({item['check'].rsplit('.', 1)[-1]})"
            good = check(item["certificate"], item["outcome"], report, where)
            decides = item["outcome"] == "fails" or statement["verdict"] != "refuted"
            passed |= good and decides and item["about"] == "printed"
        report.alone += passed
    return report
