"""Re-check the certificates of an audit with the standard library and python-flint alone.

What each kind of certificate holds is in GRAMMAR.md beside this file, with the language of their
formulas. The kinds:

    identity    two formulas that are claimed to agree identically
    definition  two formulas that are one and the same expression: nothing is claimed beyond that
    positive    a polynomial that is positive wherever its names are, by the signs of its terms
    sturm       a polynomial in one name without a zero on an interval, by its Sturm sequence
    point       two sides at one exact point and the relation that they are claimed to stand in
    points      formulas at many exact points: relations between them, and their values
    boxes       a formula that is positive on a box, by subdivision
    contained   conditions that all stand in another list of conditions
    linearised  a run of DP-SGD whose divergence exceeds Corollary 5.3, by its linear part
    links       several of these, all of which are needed

A certificate with a text under "rests on" says that something besides was left to the prover.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import flint

from verify.certificates import linearised
from verify.certificates.language import (
    Balls,
    Malformed,
    Redraw,
    Residues,
    Tree,
    Undecided,
    constant,
    exact,
    names,
    number,
    parse,
    rational,
    sure,
)

POINTS = 8
DRAWS = 4000
PLACES = 15
PRECISIONS = (128, 256, 512, 1024, 4096)
BOXES = 20_000

__all__ = ["Malformed", "Report", "certify", "check"]


@dataclass
class Report:
    """How many certificates passed, failed, or were not re-checked, by kind.

    statements: how many are proved, certified or refuted. certificates_alone: the ids of those of
    which every deciding piece of evidence on the printed form was re-checked here in full;
    sympy_too: the ids of those for which some part was left to the prover, with what it was.
    alone: how many `certificates_alone` has.
    """

    passed: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    certificates_alone: list[str] = field(default_factory=list)
    sympy_too: dict[str, list[str]] = field(default_factory=dict)
    statements: int = 0

    @property
    def alone(self) -> int:
        """How many statements rest on certificates alone."""
        return len(self.certificates_alone)


# Identities.


def check_identity(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless both sides agree at POINTS random points modulo a prime, and as
    real numbers at one point besides where they have values."""
    left, right = parse(made["left"]), parse(made["right"])
    if left == right:
        raise Malformed("the two sides are one expression: that is a definition, not an identity")
    done = 0
    for seed in range(DRAWS):
        point = Residues(seed)
        try:
            agree = point.value(left) == point.value(right)
        except Redraw:
            continue
        if not agree:
            raise Malformed(f"{made['left'][:40]!r} and {made['right'][:40]!r} do not agree")
        done += 1
        if done == POINTS:
            break
    else:
        raise Malformed(f"{made['left'][:60]!r} has too few points at which it can be computed")
    real_numbers(left, right)


def real_numbers(left: Tree, right: Tree) -> None:
    """Raise `Malformed` where the two sides differ as real numbers at the first point that will do.

    This is what keeps a multiple of the prime from passing. There may be no such point: formulas
    with unknown functions have no values.
    """
    free = sorted({*names(left), *names(right)})
    for k in range(1, 13):
        at = {x: flint.fmpq((7 * k + 5 * i) % 23 + 1, 29 + k + i) for i, x in enumerate(free)}
        try:
            with precise(256):
                x, y = (Balls(256).value(side, at) for side in (left, right))
                if exact(x) and exact(y) and x != y:
                    raise Malformed("the two sides differ at a rational point")
                if not flint.arb(x).overlaps(flint.arb(y)):
                    raise Malformed(f"the two sides differ at {', '.join(map(str, at.items()))}")
            return
        except (Undecided, Malformed) as error:
            if "differ" in str(error):
                raise


def check_definition(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless the two sides are the same expression."""
    if parse(made["left"]) != parse(made["right"]):
        raise Malformed(f"{made['left'][:40]!r} and {made['right'][:40]!r} are two expressions")


# Polynomials.

Polynomial = dict[tuple[tuple[str, int], ...], Fraction]


def polynomial(tree: Tree) -> Polynomial:
    """The terms of a polynomial. Raises `Malformed` when it is none, or too large."""
    value = constant(tree)
    if value is not None:
        return {(): value} if value else {}
    if tree[0] == "name":
        return {((tree[1], 1),): Fraction(1)}
    if tree[0] == "sum":
        out: Polynomial = {}
        for sign, part in tree[1]:
            for key, weight in polynomial(part).items():
                out[key] = out.get(key, Fraction(0)) + sign * weight
        return {key: weight for key, weight in out.items() if weight}
    if tree[0] == "product":
        out = {(): Fraction(1)}
        for sign, part in tree[1]:
            value = constant(part)
            if sign < 0 and not value:
                raise Malformed("a polynomial is divided by numbers alone")
            out = times(out, polynomial(part) if sign > 0 else {(): 1 / Fraction(value or 1)})
        return out
    if tree[0] == "power":
        exponent = constant(tree[2])
        if exponent is not None and exponent.denominator == 1 and 0 <= exponent <= 64:
            out = {(): Fraction(1)}
            for _ in range(int(exponent)):
                out = times(out, polynomial(tree[1]))
            return out
    raise Malformed("this is no polynomial of moderate degree")


def times(x: Polynomial, y: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    if len(x) * len(y) > 1_000_000:
        raise Malformed("a polynomial with too many terms")
    out: Polynomial = {}
    for a, p in x.items():
        for b, q in y.items():
            powers = Counter(dict(a))
            powers.update(dict(b))
            key = tuple(sorted(powers.items()))
            out[key] = out.get(key, Fraction(0)) + p * q
    return {key: weight for key, weight in out.items() if weight}


def check_positive(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless every term has a positive coefficient, and there is one."""
    terms = polynomial(parse(made["polynomial"]))
    if not terms or min(terms.values()) <= 0:
        raise Malformed(f"{made['polynomial'][:60]!r} has a coefficient that is not positive")
    if [number(str(c)) for c in made["coefficients"]] != [terms[key] for key in sorted(terms)]:
        raise Malformed(f"{made['polynomial'][:60]!r} has other coefficients")


def check_sturm(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless a polynomial is positive on a closed interval."""
    terms = polynomial(parse(made["polynomial"]))
    low, high = (number(str(end)) for end in made["interval"])
    if any(key and (len(key) > 1 or key[0][0] != made["name"]) for key in terms) or low > high:
        raise Malformed("Sturm's theorem is for one name and an interval that does not end first")
    degree = max((key[0][1] if key else 0 for key in terms), default=0)
    p = [terms.get(((made["name"], i),) if i else (), Fraction(0)) for i in range(degree + 1)]
    sequence, following = [p], [i * c for i, c in enumerate(p)][1:]
    while any(following):
        sequence.append(following)
        following = [-c for c in remainder(sequence[-2], sequence[-1])]
    if len(sequence) > 1 and len(sequence[-1]) > 1 and any(sequence[-1][1:]):
        raise Malformed("a polynomial with multiple zeros is not settled by its Sturm sequence")
    signs = [[s for s in (value_of(q, end) for q in sequence) if s] for end in (low, high)]
    changes = [sum(a * b < 0 for a, b in pairwise(s)) for s in signs]
    if changes[0] != changes[1] or value_of(p, low) <= 0 or value_of(p, high) <= 0:
        raise Malformed(f"{made['polynomial'][:60]!r} is not positive on the interval")
    if [number(str(end)) for end in made["values"]] != [value_of(p, low), value_of(p, high)]:
        raise Malformed(f"{made['polynomial'][:60]!r} has other values at the ends")


def remainder(x: list[Fraction], y: list[Fraction]) -> list[Fraction]:
    """The remainder of a division of polynomials, lowest coefficient first."""
    x = list(x)
    while len(y) > 1 and y[-1] == 0:
        y = y[:-1]
    while len(x) >= len(y):
        factor = x[-1] / y[-1]
        for i, c in enumerate(y):
            x[len(x) - len(y) + i] -= factor * c
        x.pop()
    while x and x[-1] == 0:
        x.pop()
    return x


def value_of(p: list[Fraction], x: Fraction) -> Fraction:
    """The value of a polynomial."""
    out = Fraction(0)
    for c in reversed(p):
        out = out * x + c
    return out


# Points and boxes.


class precise:
    """Arb's precision, which is state of the process, for the length of a `with`."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def __enter__(self) -> None:
        self.before, flint.ctx.prec = flint.ctx.prec, self.bits

    def __exit__(self, *_: object) -> None:
        flint.ctx.prec = self.before


def decided(question: Callable[[int], object]) -> None:
    """Ask at rising precision; `question(bits)` raises `Undecided` for more."""
    last = ""
    for bits in PRECISIONS:
        try:
            with precise(bits):
                question(bits)
            return
        except Undecided as error:
            last = str(error)
    raise Malformed(f"not decided at {PRECISIONS[-1]} bits: {last}")


def related(x: Any, relation: str, y: Any, where: str) -> None:
    """Raise unless x relation y."""
    if not (exact(x) and exact(y)):
        x, y = flint.arb(x), flint.arb(y)
    wrong = f"{str(x)[:30]} {relation} {str(y)[:30]} does not hold{where}"
    match relation:
        case "<":
            sure(x < y, x >= y, wrong)
        case "<=":
            sure(x <= y, x > y, wrong)
        case "=" if exact(x) and exact(y):
            sure(x == y, True, wrong)
        case "=":
            raise Malformed(f"balls cannot show an equation{where}")
        case "!=":
            sure(x != y, exact(x) and exact(y), wrong)
        case _:
            raise Malformed(f"{str(relation)[:20]!r} is no relation")


OPPOSITE = {"<": "<=", "<=": "<", "=": "!="}


def shown(x: Any, relation: str, y: Any, outcome: str, where: str = "") -> None:
    """Raise unless x relation y holds, or fails, as the outcome says."""
    if relation in (">", ">="):
        x, y, relation = y, x, relation.replace(">", "<")
    if outcome == "holds":
        related(x, relation, y, where)
    elif relation == "=":
        related(x, "!=", y, where)
    elif relation in OPPOSITE:
        related(y, OPPOSITE[relation], x, where)
    else:
        raise Malformed(f"{str(relation)[:20]!r} is no relation that can fail")


def enclosed(x: Any, ends: Any, where: str) -> None:
    """Raise unless the two ends are x itself, or x rounded down and up to PLACES digits.

    Either way x determines them, so that no digit of theirs can be changed.
    """
    low, high = (rational(number(str(end))) for end in ends)
    if low == high:
        wrong = f"the value is {str(x)[:30]}, not known to be {low}{where}"
        sure(exact(x) and x == low, exact(x), wrong)
        return
    unit = rational(Fraction(10) ** (exponent(max(abs(low), abs(high))) - PLACES + 1))
    if high - low != unit or (low / unit).q != 1:
        raise Malformed(f"[{ends[0]}, {ends[1]}] is no rounding to {PLACES} digits{where}")
    if not exact(x):
        x, low, high = flint.arb(x), flint.arb(low), flint.arb(high)
    wrong = f"{str(x)[:40]} is not within [{ends[0]}, {ends[1]}]{where}"
    sure(low < x and x < high, x <= low or x >= high, wrong)


def exponent(x: Any) -> int:
    """The e with 10^e <= x < 10^(e+1), for a rational x > 0."""
    size = Fraction(int(x.p), int(x.q))
    e = len(str(size.numerator)) - len(str(size.denominator))
    return e if size >= Fraction(10) ** e else e - 1


def check_point(made: Mapping[str, Any], outcome: str) -> None:
    """Raise `Malformed` unless the two sides, at this point, show the outcome."""
    at = {}
    if "formulas" in made:
        at = {x: rational(number(str(q))) for x, q in made.get("parameters", {}).items()}
    formulas = {side: parse(text) for side, text in made.get("formulas", {}).items()}
    conditions = [
        (parse(left), relation, parse(right), values)
        for left, relation, right, *values in made.get("where", ())
    ]
    trees = [*formulas.values(), *(tree for c in conditions for tree in (c[0], c[2]))]
    check_names(at, trees)

    def question(bits: int) -> None:
        balls, sides = Balls(bits), []
        for side in ("left", "right"):
            if side in formulas:
                sides.append(balls.value(formulas[side], at))
                enclosed(sides[-1], made[side], f" ({side} side)")
            else:
                low, high = (rational(number(str(end))) for end in made[side])
                if low > high:
                    raise Malformed("an enclosure ends before it begins")
                sides.append(low if low == high else flint.arb(low).union(flint.arb(high)))
        for left, relation, right, values in conditions:
            x, y = balls.value(left, at), balls.value(right, at)
            shown(x, relation, y, "holds", " (condition)")
            for side, ends in zip((x, y), values, strict=True):
                enclosed(side, ends, " (condition)")
        if len(formulas) < 2:
            told_apart(made, sides, outcome)
        else:
            shown(sides[0], made["relation"], sides[1], outcome)

    decided(question)


def told_apart(made: Mapping[str, Any], sides: list[Any], outcome: str) -> None:
    """As `shown`, for enclosures that more precision does not narrow."""
    try:
        shown(sides[0], made["relation"], sides[1], outcome)
    except Undecided:
        raise Malformed(
            f"[{made['left'][0]}, {made['left'][1]}] {made['relation']} "
            f"[{made['right'][0]}, {made['right'][1]}] does not show that it {outcome}"
        ) from None


def check_names(at: Mapping[str, Any], trees: Iterable[Tree]) -> None:
    """Every parameter is used, and every name has a value."""
    used = {x for tree in trees for x in names(tree)}
    if used != set(at):
        raise Malformed(f"parameters and names of the formulas: {sorted(used ^ set(at))} in one")


def check_points(made: Mapping[str, Any], outcome: str) -> None:
    """Raise `Malformed` unless the relation shows the outcome at every point, with the values."""
    left, right = parse(made["formulas"]["left"]), parse(made["formulas"]["right"])
    if not made["at"] or len(made["at"]) != len(made["values"]):
        raise Malformed("as many pairs of values as points are wanted, and at least one")
    for row, values in zip(made["at"], made["values"], strict=True):
        at = {x: rational(number(str(q))) for x, q in zip(made["names"], row, strict=True)}
        check_names(at, (left, right))
        where = f" at {', '.join(map(str, row))}"

        def question(bits: int, at: Any = at, values: Any = values, where: str = where) -> None:
            x, y = (Balls(bits).value(side, at) for side in (left, right))
            enclosed(x, values[0], where)
            enclosed(y, values[1], where)
            shown(x, made["relation"], y, outcome, where)

        decided(question)


def check_boxes(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless the formula is positive on the box, by halving it until it shows.

    The values claimed at its two extreme corners tie the certificate to this box.
    """
    tree, free = parse(made["formula"]), list(made["box"])
    box = [[rational(number(str(end))) for end in made["box"][x]] for x in free]
    check_names(dict.fromkeys(free), [tree])
    for end, claimed in enumerate(made["corners"]):
        at = {x: ends[end] for x, ends in zip(free, box, strict=True)}
        decided(lambda bits, at=at, claimed=claimed: enclosed(  # type: ignore[misc]
            Balls(bits).value(tree, at), claimed, " at a corner"))  # fmt: skip
    if len(made["corners"]) != 2 or any(low > high for low, high in box):
        raise Malformed("a box has two corners, and its sides do not end before they begin")
    todo, done = [box], 0
    with precise(128):
        while todo:
            piece, done = todo.pop(), done + 1
            if done > BOXES:
                raise Malformed(f"{BOXES} boxes did not suffice")
            at = {
                x: flint.arb(low).union(flint.arb(high))
                for x, (low, high) in zip(free, piece, strict=True)
            }
            try:
                if flint.arb(Balls(128).value(tree, at)) > 0:
                    continue
            except Undecided:
                pass
            widest = max(
                range(len(free)),
                key=lambda i: (piece[i][1] - piece[i][0]) / ((box[i][1] - box[i][0]) or 1),
            )
            low, high = piece[widest]
            middle = (low + high) / 2
            if low == high:
                raise Malformed("not positive on the box")
            for half in ([low, middle], [middle, high]):
                todo.append([*piece[:widest], half, *piece[widest + 1 :]])


def check_contained(made: Mapping[str, Any]) -> None:
    """Raise `Malformed` unless every text of the part stands in the whole."""
    part, whole = made["part"], made["whole"]
    if not part or not all(isinstance(text, str) for text in [*part, *whole]):
        raise Malformed("two lists of texts are wanted, the first not empty")
    for text in part:
        if text not in whole:
            raise Malformed(f"{text[:60]!r} does not stand in the whole")


def check_linearised(made: Mapping[str, Any], outcome: str) -> None:
    """Raise `Malformed` unless a run of Algorithm 2 exceeds the bound of Corollary 5.3."""
    if outcome != "fails":
        raise Malformed("this kind shows that the bound fails, nothing else")

    def question(bits: int) -> None:
        found = linearised.numbers(made)
        for name, value in found.items():
            enclosed(value, made[name], f" ({name})")
        related(found["right"], "<", found["left"], " (bound and divergence)")

    decided(question)


# All of an audit.

CHECKS: dict[str, Callable[[Mapping[str, Any], str], None]] = {
    "identity": lambda made, _: check_identity(made),
    "definition": lambda made, _: check_definition(made),
    "positive": lambda made, _: check_positive(made),
    "sturm": lambda made, _: check_sturm(made),
    "point": check_point,
    "points": check_points,
    "boxes": lambda made, _: check_boxes(made),
    "contained": lambda made, _: check_contained(made),
    "linearised": check_linearised,
}
SCHEMA = "hiddenstate-audit/1"
WHOLE_RANGE = ("identity", "definition", "positive", "sturm", "boxes", "contained")


def check(certificate: Any, outcome: str, report: Report, where: str) -> list[str]:
    """Re-check one certificate; what of it was left to the prover, nothing if all was checked."""
    if not isinstance(certificate, Mapping):
        report.left["none"] += 1
        return ["no certificate"]
    kind = str(certificate.get("kind", "none"))
    try:
        if kind == "links":
            if not certificate["links"]:
                raise Malformed("no links")
            return [
                rest
                for part in certificate["links"]
                for rest in check(part, outcome, report, where)
            ]
        if kind not in CHECKS or (kind == "points" and "formulas" not in certificate):
            report.left[kind] += 1
            return [str(certificate.get("rests on", f"{kind} without formulas"))]
        if outcome != "holds" and kind in WHOLE_RANGE:
            raise Malformed(f"{kind}: shows that something holds, not that it {outcome}")
        CHECKS[kind](certificate, outcome)
    except Malformed as error:
        report.failed.append(f"{where}: {error}")
        return [f"a {kind} certificate that failed"]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError,
            ArithmeticError) as error:  # fmt: skip
        report.failed.append(f"{where}: unreadable {kind} certificate ({error})")
        return [f"a {kind} certificate that failed"]
    report.passed[kind] += 1
    if "rests on" in certificate:
        return [str(certificate["rests on"])]
    if kind == "point" and len(certificate.get("formulas", ())) < 2:
        return ["an enclosure of the prover"]
    return []


def kinds(certificate: Any) -> set[str]:
    """The kinds that a certificate is made of."""
    if isinstance(certificate, Mapping) and certificate.get("kind") == "links":
        return {kind for part in certificate.get("links", ()) for kind in kinds(part)}
    return {str(certificate.get("kind"))} if isinstance(certificate, Mapping) else set()


_TRUTH = ("derived", "valid")
_ALL_NEEDED = ("constants", "restated", "well-posed")


def left_over(statement: Mapping[str, Any], left: Mapping[int, list[str]]) -> list[str]:
    """What a verdict needs besides certificates; `left` is that of each piece of evidence.

    A refutation needs one failure. Otherwise each part needs one derivation or proof of truth that
    is strong enough for the verdict, and all its constants and restatements.
    """
    items = [
        (item, left[i]) for i, item in enumerate(statement["evidence"])
        if item.get("about", "printed") == "printed" and i in left
    ]  # fmt: skip
    if statement["verdict"] == "refuted":
        ways: list[list[str]] = [
            rest for item, rest in items
            if item["outcome"] == "fails" and item["obligation"] in ("valid", *_ALL_NEEDED)
            and item["strength"] in ("symbolic", "box", "point")
        ]  # fmt: skip
        return sorted(ways, key=len)[0] if ways else ["no witness"]
    out: list[str] = []
    for part in {item.get("part", "") for item, _ in items}:
        own = [(item, rest) for item, rest in items if item.get("part", "") == part]
        truths: list[list[str]] = [
            rest for item, rest in own
            if item["obligation"] in _TRUTH and item["outcome"] == "holds"
            and _enough(item, statement["verdict"])
        ]  # fmt: skip
        if any(item["obligation"] in _TRUTH for item, _ in own):
            out += sorted(truths, key=len)[0] if truths else ["nothing strong enough"]
        out += [
            text for item, rest in own if item["obligation"] in _ALL_NEEDED for text in rest
        ]  # fmt: skip
    return out


def _enough(item: Mapping[str, Any], verdict: str) -> bool:
    """Whether evidence is strong enough to decide this verdict."""
    if verdict == "proved":
        return item["strength"] in ("symbolic", "box") and bool(item.get("whole"))
    return item["strength"] in ("symbolic", "box", "point")


def read(path: Path) -> list[Mapping[str, Any]]:
    """The statements of an audit file, with the keys that are read here.

    Raises:
        Malformed: the file is not an audit.
    """
    try:
        audit = json.loads(path.read_text(encoding="utf-8"))
        if not str(audit["schema"]).startswith(SCHEMA):
            raise ValueError("another schema")
        statements = audit["statements"]
        for statement in statements:
            _texts(statement, "id", "verdict")
            for item in statement["evidence"]:
                _texts(item, "check", "outcome", "strength", "obligation")
                if "certificate" not in item:
                    raise KeyError("certificate")
    except OSError as error:
        raise Malformed(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Malformed(f"{path} is not an audit of the schema {SCHEMA}") from None
    return list(statements)


def _texts(record: Mapping[str, Any], *keys: str) -> None:
    if not all(isinstance(record[key], str) for key in keys):
        raise TypeError("texts are wanted")


def certify(path: Path, progress: Callable[[int, int], None] | None = None) -> Report:
    """Re-check every certificate of the proved, certified and refuted statements of an audit file.

    progress: called with how many statements are done, and how many there are.

    Raises:
        Malformed: the file is not an audit.
    """
    statements = [
        statement for statement in read(path)
        if statement["verdict"] in ("proved", "certified", "refuted")
    ]  # fmt: skip
    report = Report(statements=len(statements))
    for done, statement in enumerate(statements, start=1):
        left: dict[int, list[str]] = {}
        for i, item in enumerate(statement["evidence"]):
            if item["outcome"] in ("holds", "fails") and item["strength"] not in (
                "sampled", "statistical",
            ):  # fmt: skip
                where = f"{statement['id']} ({item['check'].rsplit('.', 1)[-1]})"
                left[i] = check(item["certificate"], item["outcome"], report, where)
                if kinds(item["certificate"]) == {"definition"}:
                    left[i].append("both sides are one expression once the prover has made them")
        rest = left_over(statement, left)
        if rest:
            report.sympy_too[statement["id"]] = list(dict.fromkeys(rest))
        else:
            report.certificates_alone.append(statement["id"])
        if progress is not None:
            progress(done, len(statements))
    return report
