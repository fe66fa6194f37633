"""The expression language of certificates: reading it, and two ways of computing with it.

GRAMMAR.md beside this file defines the language. `parse` and `write` go between text and trees;
`Residues` computes modulo a prime at random points, to tell an identity from what is none; `Balls`
computes with Arb at exact points. Only the standard library and python-flint are used.

A tree is a tuple: ("num", q), ("name", x), ("sum", ((sign, tree), ...)),
("product", ((1 or -1, tree), ...)), ("power", base, exponent), ("call", f, (trees)).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import flint

LONGEST = 100_000  # characters of one expression
DEEPEST = 60  # nested brackets, powers and signs
DIGITS = 2_000  # digits of one number, and the largest decimal exponent
EXACT_BITS = 200_000  # an exact power larger than this is computed as a ball instead
LARGEST = 10**9  # the largest exponent of an exact power in an identity
STEPS = 3_000_000  # terms, iterations and operations of one evaluation
FUNCTIONS = {
    "exp": 1, "log": 1, "sqrt": 1, "expm1": 1, "log1p": 1, "abs": 1, "floor": 1, "ceil": 1,
    "min": 2, "max": 2, "binomial": 2, "let": 3, "sum": 4, "diff": 2, "iterate": 5,
}  # fmt: skip
BINDS = {"let": 1, "sum": 1, "iterate": 2}
Tree = tuple[Any, ...]


class Malformed(ValueError):
    """What cannot be read or does not check; the message says what is wrong with it."""


class Undecided(ValueError):
    """The balls are too wide to tell; more precision may do."""


def sure(yes: bool, no: bool, wrong: str) -> None:
    """Three-valued: pass, `Malformed`, or `Undecided`."""
    if not yes:
        raise Malformed(wrong) if no else Undecided(wrong)


# Reading and writing.

_TOKEN = re.compile(
    r"\s*(?:(?P<num>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*|[-+*/(),]))"
)


def number(text: str) -> Fraction:
    """An exact rational from "3", "-2/7", "0.02" or "1.5e-9". Raises `Malformed`."""
    found = re.fullmatch(r"-?\d+(?:/\d+|(?:\.\d+)?(?:[eE]([+-]?\d+))?)", text)
    if not found or len(text) > DIGITS:
        raise Malformed(f"{text[:40]!r} is not a number of at most {DIGITS} characters")
    if len(found[1] or "") > 5 or abs(int(found[1] or 0)) > DIGITS:
        raise Malformed(f"{text[:40]!r}: decimal exponents go up to {DIGITS}")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise Malformed(f"{text[:40]!r} has denominator 0") from None


def rational(x: Fraction) -> Any:
    """As a number of python-flint."""
    return flint.fmpq(x.numerator, x.denominator)


class _Reader:
    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise Malformed(f"an expression is a text of at most {LONGEST} characters")
        self.tokens: list[tuple[str, str]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if not found:
                raise Malformed(f"{text[place : place + 20].strip()!r} is not in the grammar")
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            place = found.end()
        self.tokens.append(("end", "the end"))
        self.at = self.depth = 0

    def accept(self, *ops: str) -> str | None:
        kind, text = self.tokens[self.at]
        if kind == "op" and text in ops:
            self.at += 1
            return text
        return None

    def expect(self, op: str) -> None:
        if not self.accept(op):
            raise Malformed(f"{op!r} is wanted where {self.tokens[self.at][1][:20]!r} stands")

    def expression(self) -> Tree:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Malformed(f"more than {DEEPEST} nested brackets, powers or signs")
        terms = [(1, self.term())]
        while op := self.accept("+", "-"):
            terms.append((1 if op == "+" else -1, self.term()))
        self.depth -= 1
        return terms[0][1] if len(terms) == 1 else ("sum", tuple(terms))

    def term(self) -> Tree:
        factors = [(1, self.signed())]
        while op := self.accept("*", "/"):
            factors.append((1 if op == "*" else -1, self.signed()))
        return factors[0][1] if len(factors) == 1 else ("product", tuple(factors))

    def signed(self) -> Tree:
        if not self.accept("-"):
            return self.power()
        self.depth += 1
        if self.depth > DEEPEST:
            raise Malformed(f"more than {DEEPEST} nested brackets, powers or signs")
        inner = self.signed()
        self.depth -= 1
        return ("sum", ((-1, inner),))

    def power(self) -> Tree:
        base = self.atom()
        if not self.accept("**"):
            return base
        self.depth += 1
        if self.depth > DEEPEST:
            raise Malformed(f"more than {DEEPEST} nested brackets, powers or signs")
        exponent = self.signed()
        self.depth -= 1
        return ("power", base, exponent)

    def atom(self) -> Tree:
        kind, text = self.tokens[self.at]
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        if kind not in ("num", "name"):
            raise Malformed(f"a number, a name or '(' is wanted where {text[:20]!r} stands")
        self.at += 1
        if kind == "num":
            return ("num", number(text))
        if not self.accept("("):
            return ("name", text)
        args = [self.expression()]
        while self.accept(","):
            args.append(self.expression())
        self.expect(")")
        return _call(text, tuple(args))


def _call(name: str, args: tuple[Tree, ...]) -> Tree:
    if name in FUNCTIONS and len(args) != FUNCTIONS[name]:
        raise Malformed(f"{name} takes {FUNCTIONS[name]} arguments, not {len(args)}")
    bound = args[1:] if name == "diff" else args[: BINDS.get(name, 0)]
    if any(arg[0] != "name" for arg in bound):
        raise Malformed(f"{name} binds names; another expression stands in the place of one")
    return ("call", name, args)


def parse(text: str) -> Tree:
    """The tree of an expression. Raises `Malformed`."""
    reader = _Reader(text)
    tree = reader.expression()
    if reader.tokens[reader.at][0] != "end":
        raise Malformed(f"{reader.tokens[reader.at][1][:20]!r} is left over")
    return tree


def write(tree: Tree) -> str:
    """The text of a tree, with brackets wherever they could matter; `parse` undoes it."""
    kind = tree[0]
    if kind == "num":
        q = tree[1]
        return str(q) if q.denominator == 1 and q >= 0 else f"({q})"
    if kind == "name":
        return str(tree[1])
    if kind == "call":
        return f"{tree[1]}({', '.join(map(write, tree[2]))})"
    if kind == "power":
        return f"{_inner(tree[1])}**{_inner(tree[2])}"
    if kind == "product":
        return "".join(
            f"{'' if i == 0 else '*' if sign > 0 else '/'}{_inner(part)}"
            for i, (sign, part) in enumerate(tree[1])
        )
    return "".join(
        f"{('' if i == 0 else ' + ') if sign > 0 else '-' if i == 0 else ' - '}"
        f"{write(part) if _plain(i, sign, part) else _inner(part)}"
        for i, (sign, part) in enumerate(tree[1])
    )


def _plain(i: int, sign: int, part: Tree) -> bool:
    """Whether a term needs no brackets in its sum: no sum does, nor what a first sign starts."""
    if part[0] == "sum":
        return i == 0 and sign > 0 and len(part[1]) == 1 and part[1][0][0] < 0
    return sign > 0


def _inner(tree: Tree) -> str:
    return write(tree) if tree[0] in ("num", "name", "call") else f"({write(tree)})"


def names(tree: Tree, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """The free names of a tree, "pi" not among them."""
    if tree[0] == "name":
        if tree[1] not in bound and tree[1] != "pi":
            yield tree[1]
    elif tree[0] == "power":
        yield from names(tree[1], bound)
        yield from names(tree[2], bound)
    elif tree[0] in ("sum", "product"):
        for _, part in tree[1]:
            yield from names(part, bound)
    elif tree[0] == "call":
        count = BINDS.get(tree[1], 0)
        own = bound | {arg[1] for arg in tree[2][:count]}
        for arg in tree[2][count:-1]:
            yield from names(arg, bound)
        yield from names(tree[2][-1], own if count else bound)


def substituted(tree: Tree, name: str, value: Tree) -> Tree:
    """The tree with an expression in place of a free name."""
    if tree[0] == "name":
        return value if tree[1] == name else tree
    if tree[0] == "power":
        return ("power", substituted(tree[1], name, value), substituted(tree[2], name, value))
    if tree[0] in ("sum", "product"):
        return (tree[0], tuple((sign, substituted(part, name, value)) for sign, part in tree[1]))
    if tree[0] == "call":
        count = BINDS.get(tree[1], 0)
        own, rest = tree[2][:count], tree[2][count:]
        if any(arg[1] in (name, *names(value)) for arg in own):
            raise Malformed(f"{own[0][1]} is bound in {tree[1]}(...) and means something else too")
        return ("call", tree[1], (*own, *(substituted(arg, name, value) for arg in rest)))
    return tree


# Derivatives, for diff(expression, name).

ZERO: Tree = ("num", Fraction(0))
ONE: Tree = ("num", Fraction(1))


def derivative(tree: Tree, x: str) -> Tree:
    """The derivative by a name; unknown functions f get partial derivatives of their own."""
    if x not in set(names(tree)):
        return ZERO
    if tree[0] == "name":
        return ONE
    if tree[0] == "sum":
        return ("sum", tuple((sign, derivative(part, x)) for sign, part in tree[1]))
    if tree[0] == "product":
        # (a b/c)' = a' b/c + a b'/c - a b c'/c^2
        terms = []
        for i, (sign, part) in enumerate(tree[1]):
            slope = derivative(part, x)
            if slope == ZERO:
                continue
            rest = [*tree[1][:i], *tree[1][i + 1 :], (1, slope)]
            terms.append((sign, ("product", (*rest, *([(-1, part)] * 2 if sign < 0 else ())))))
        return ("sum", tuple(terms))
    if tree[0] == "power":
        base, exponent = tree[1:]
        if x not in set(names(exponent)):
            less = ("sum", ((1, exponent), (-1, ONE)))
            return (
                "product",
                ((1, exponent), (1, ("power", base, less)), (1, derivative(base, x))),
            )
        log = ("product", ((1, exponent), (1, ("call", "log", (base,)))))
        return ("product", ((1, tree), (1, derivative(log, x))))
    return _derivative_of_call(tree[1], tree[2], x)


def _derivative_of_call(name: str, args: tuple[Tree, ...], x: str) -> Tree:
    if name == "let":
        return derivative(substituted(args[2], args[0][1], args[1]), x)
    if name == "diff":
        return derivative(derivative(args[0], args[1][1]), x)
    if name == "sum" and x not in {*names(args[1]), *names(args[2])}:
        return ("call", "sum", (*args[:3], derivative(args[3], x)))
    slopes = tuple(derivative(arg, x) for arg in args)
    u = args[0]
    match name:
        case "exp" | "expm1":
            return ("product", ((1, ("call", "exp", (u,))), (1, slopes[0])))
        case "log":
            return ("product", ((1, slopes[0]), (-1, u)))
        case "log1p":
            return ("product", ((1, slopes[0]), (-1, ("sum", ((1, ONE), (1, u))))))
        case "sqrt":
            return derivative(("power", u, ("num", Fraction(1, 2))), x)
    if name in FUNCTIONS:
        raise Malformed(f"{name}(...) is not differentiated here")
    stem, _, taken = name.partition("'")
    terms = []
    for i, slope in enumerate(slopes):
        order = ",".join(sorted([*filter(None, taken.split(",")), str(i)], key=int))
        terms.append((1, ("product", ((1, ("call", f"{stem}'{order}", args)), (1, slope)))))
    return ("sum", tuple(terms))


# Identities: arithmetic modulo primes at random points.

# Each is twice the next and one more, and all are prime: exponents of squares modulo one of them
# are numbers modulo the next.
PRIMES: tuple[int, ...] = (
    7669293168848329414109347818240616559,
    3834646584424164707054673909120308279,
    1917323292212082353527336954560154139,
    958661646106041176763668477280077069,
)


class Redraw(ValueError):
    """A pole, or a base of a symbolic power that is no square, at this random point."""


class Residues:
    """One random point. Names are squares modulo PRIMES[level]; level 0 for values, 1 for
    exponents, 2 for exponents within exponents.

    Squares modulo PRIMES[i] form a group of prime order PRIMES[i + 1], in which b^x with x modulo
    PRIMES[i + 1] obeys the laws of powers, and 1/2 is an exponent like any other. Unknown functions
    take one random value for each value of their arguments.
    """

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.known: dict[tuple[Any, ...], int] = {}
        self.steps = 0

    def unknown(self, level: int, *key: Any) -> int:
        """The value of an unknown, a square drawn when it is first met."""
        if (level, *key) not in self.known:
            p = PRIMES[level]
            self.known[level, *key] = pow(self.draw.randrange(1, p), 2, p)
        return self.known[level, *key]

    def value(self, tree: Tree, level: int = 0) -> int:
        """The value at this point. Raises `Redraw`, `Malformed`."""
        self.steps += 1
        if self.steps > STEPS:
            raise Malformed(f"more than {STEPS} operations")
        p = PRIMES[level]
        match tree:
            case ("num", q):
                return int(q.numerator) * self.inverse(q.denominator, p) % p
            case ("name", name):
                return self.unknown(level, "name", name)
            case ("sum", terms):
                return int(sum(sign * self.value(part, level) for sign, part in terms)) % p
            case ("product", factors):
                out = 1
                for sign, part in factors:
                    value = self.value(part, level)
                    out = out * (value if sign > 0 else self.inverse(value, p)) % p
                return out
            case ("power", base, exponent):
                return self.power(self.value(base, level), exponent, level)
        return self.call(tree[1], tree[2], level)

    @staticmethod
    def inverse(x: int, p: int) -> int:
        """1/x modulo p."""
        if x % p == 0:
            raise Redraw("a pole")
        return pow(x, -1, p)

    def power(self, base: int, exponent: Tree, level: int) -> int:
        """base**exponent: any base for a whole number, a square for the rest."""
        p, q = PRIMES[level], constant(exponent)
        if q is not None and q.denominator == 1:
            if abs(q) > LARGEST:
                raise Malformed(f"exponents of identities go up to {LARGEST}")
            return int(pow(base if q >= 0 else self.inverse(base, p), abs(int(q)), p))
        if base == 0 or pow(base, (p - 1) // 2, p) != 1:
            raise Redraw("a base that is no square")
        if level + 1 == len(PRIMES):
            raise Malformed("powers within exponents are nested too deep")
        return int(pow(base, self.value(exponent, level + 1), p))

    def call(self, name: str, args: tuple[Tree, ...], level: int) -> int:
        """Functions: those that powers explain, and unknowns."""
        p = PRIMES[level]
        match name:
            case "exp":
                return self.exp(args[0], level)
            case "expm1":
                return (self.call("exp", args, level) - 1) % p
            case "log1p":
                return self.call("log", (("sum", ((1, ONE), (1, args[0]))),), level)
            case "log":
                return self.log(args[0], level)
            case "sqrt":
                half = ("num", Fraction(1, 2))
                return self.power(self.value(args[0], level), half, level)
            case "let":
                return self.value(substituted(args[2], args[0][1], args[1]), level)
            case "diff":
                return self.value(derivative(args[0], args[1][1]), level)
            case "sum":
                return self.total(args, level)
            case "iterate":
                raise Malformed("iterate(...) is for points, not for identities")
            case "abs":
                value = self.value(args[0], level)
                return self.unknown(level, name, min(value, p - value))
        values = [self.value(arg, level) for arg in args]
        return self.unknown(level, name, *(sorted(values) if name in ("min", "max") else values))

    def exp(self, tree: Tree, level: int) -> int:
        """e to a power, taken apart where the law of powers or a logarithm allows."""
        p = PRIMES[level]
        if tree[0] == "sum":
            out = 1
            for sign, part in tree[1]:
                value = self.exp(part, level)
                out = out * (value if sign > 0 else self.inverse(value, p)) % p
            return out
        factors = tree[1] if tree[0] == "product" else ((1, tree),)
        for i, (sign, part) in enumerate(factors):
            if sign > 0 and part[0] == "call" and part[1] == "log":
                rest = ("product", (*factors[:i], *factors[i + 1 :], (1, ONE)))
                return self.power(self.value(part[2][0], level), rest, level)
        return self.power(self.unknown(level, "e"), tree, level)

    def log(self, tree: Tree, level: int) -> int:
        """A logarithm, taken apart at products and powers, where all factors are positive."""
        p = PRIMES[level]
        if constant(tree) == 1:
            return 0
        if tree[0] == "product":
            return int(sum(sign * self.log(part, level) for sign, part in tree[1])) % p
        if tree[0] == "power":
            return self.value(tree[2], level) * self.log(tree[1], level) % p
        if tree[0] == "call" and tree[1] == "sqrt":
            return self.log(tree[2][0], level) * pow(2, -1, p) % p
        if tree[0] == "call" and tree[1] == "exp":
            return self.value(tree[2][0], level)
        return self.unknown(level, "log", self.value(tree, level))

    def total(self, args: tuple[Tree, ...], level: int) -> int:
        """A sum, term by term between whole numbers, else an unknown of its body and limits."""
        index, low, high, body = args
        first, last = constant(low), constant(high)
        if first is None or last is None:
            # The same random name stands for the index of every sum at this depth.
            marked = substituted(body, index[1], ("name", f"index {_depth(body)}"))
            values = [self.value(part, level) for part in (low, high, marked)]
            return self.unknown(level, "sum", *values)
        if first.denominator != 1 or last.denominator != 1 or last - first > 10_000:
            raise Malformed("limits of a sum are whole numbers, at most 10000 apart")
        total = 0
        for j in range(int(first), int(last) + 1):
            total += self.value(substituted(body, index[1], ("num", Fraction(j))), level)
        return total % PRIMES[level]


def _depth(tree: Tree) -> int:
    """How many sums are nested in a tree."""
    if tree[0] == "call":
        return int(tree[1] == "sum") + max((_depth(arg) for arg in tree[2]), default=0)
    if tree[0] == "power":
        return max(_depth(tree[1]), _depth(tree[2]))
    if tree[0] in ("sum", "product"):
        return max(_depth(part) for _, part in tree[1])
    return 0


def constant(tree: Tree) -> Fraction | None:
    """The value of rational arithmetic without names, if it is that and small."""
    match tree:
        case ("num", q):
            return Fraction(q)
        case ("sum", terms):
            parts = [(sign, constant(part)) for sign, part in terms]
            if any(value is None for _, value in parts):
                return None
            return sum((sign * (value or 0) for sign, value in parts), start=Fraction(0))
        case ("product", factors):
            out = Fraction(1)
            for sign, part in factors:
                value = constant(part)
                if value is None or (sign < 0 and value == 0):
                    return None
                out *= value if sign > 0 else 1 / value
            return out
        case ("power", base, exponent):
            x, n = constant(base), constant(exponent)
            small = x is not None and n is not None and n.denominator == 1 and abs(n) <= 64
            if x is not None and n is not None and small and (x != 0 or n >= 0):
                return Fraction(x ** int(n))
    return None


# Points: Arb at exact values.


class Balls:
    """Evaluation at exact points, by exact rationals as far as they go and by balls beyond."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.steps = 0

    def value(self, tree: Tree, at: Mapping[str, Any]) -> Any:
        """An fmpq, or a ball. Raises `Undecided`, or `Malformed` outside a function's domain."""
        self.count(1)
        match tree:
            case ("num", q):
                return flint.fmpq(q.numerator, q.denominator)
            case ("name", "pi"):
                return flint.arb.pi()
            case ("name", name):
                if name not in at:
                    raise Malformed(f"{name} has no value")
                return at[name]
            case ("sum", terms):
                out: Any = flint.fmpq(0)
                for sign, part in terms:
                    x = self.value(part, at)
                    out, x = same(out, x)
                    out = out + x if sign > 0 else out - x
                return out
            case ("product", factors):
                out = flint.fmpq(1)
                for sign, part in factors:
                    x = self.value(part, at)
                    if sign < 0:
                        nonzero(x)
                    if any(exact(y) and y == 0 for y in (out, x)):
                        out = flint.fmpq(0)
                        continue
                    out, x = same(out, x)
                    out = out * x if sign > 0 else out / x
                return out
            case ("power", base, exponent):
                return self.power(self.value(base, at), self.value(exponent, at))
        return self.call(tree[1], tree[2], at)

    def count(self, steps: int) -> None:
        """Keep the work within bounds."""
        self.steps += steps
        if self.steps > STEPS:
            raise Malformed(f"more than {STEPS} operations")

    def power(self, x: Any, n: Any) -> Any:
        """x**n."""
        if not exact(n):
            return positive(x, "a power with this exponent") ** n
        if n.q == 1:
            whole = int(n)
            if whole < 0:
                nonzero(x)
            if exact(x):
                size = max(int(x.p).bit_length(), int(x.q).bit_length())
                if size * abs(whole) <= EXACT_BITS:
                    return x**whole
            return flint.arb(x) ** flint.arb(whole)
        if exact(x) and x == 0 and n > 0:
            return flint.fmpq(0)
        if n == flint.fmpq(1, 2):
            return self.call_one("sqrt", x)
        return positive(x, "a power with this exponent") ** flint.arb(n)

    def call(self, name: str, args: tuple[Tree, ...], at: Mapping[str, Any]) -> Any:
        """A function of the grammar."""
        match name:
            case "let":
                return self.value(args[2], {**at, args[0][1]: self.value(args[1], at)})
            case "sum":
                first, last = (self.whole(arg, at, "the limits of a sum") for arg in args[1:3])
                self.count(max(0, last - first))
                out: Any = flint.fmpq(0)
                for j in range(first, last + 1):
                    out, x = same(out, self.value(args[3], {**at, args[0][1]: flint.fmpq(j)}))
                    out = out + x
                return out
            case "iterate":
                state, index, start, count, body = args
                x = self.value(start, at)
                times = self.whole(count, at, "the count of iterate")
                self.count(max(0, times))
                for k in range(times):
                    x = self.value(body, {**at, state[1]: x, index[1]: flint.fmpq(k)})
                    if exact(x) and int(x.q).bit_length() > 4 * self.bits:
                        x = flint.arb(x)  # exact values would grow without end
                return x
            case "diff":
                return self.value(derivative(args[0], args[1][1]), at)
            case "binomial":
                n, k = (self.whole(arg, at, "the arguments of binomial") for arg in args)
                if not 0 <= k <= n <= 10_000:
                    raise Malformed("binomial(n, k) is for 0 <= k <= n <= 10000")
                return flint.fmpq(flint.fmpz.bin_uiui(n, k))
            case "min" | "max":
                x, y = (self.value(arg, at) for arg in args)
                if exact(x) and exact(y):
                    return min(x, y) if name == "min" else max(x, y)
                x, y = flint.arb(x), flint.arb(y)
                return x.min(y) if name == "min" else x.max(y)
        if name not in FUNCTIONS:
            raise Malformed(f"{name[:40]} is no function with a value")
        return self.call_one(name, self.value(args[0], at))

    def call_one(self, name: str, x: Any) -> Any:
        """A function of one argument."""
        match name:
            case "abs":
                return abs(x)
            case "floor" | "ceil":
                if exact(x):
                    return flint.fmpq(x.floor() if name == "floor" else x.ceil())
                found = (x.floor() if name == "floor" else x.ceil()).unique_fmpz()
                if found is None:
                    raise Undecided(f"{name} of a ball around a whole number")
                return flint.fmpq(found)
            case "exp" | "expm1":
                if exact(x) and x == 0:
                    return flint.fmpq(1 if name == "exp" else 0)
                return flint.arb(x).exp() if name == "exp" else flint.arb(x).expm1()
            case "log":
                return flint.fmpq(0) if exact(x) and x == 1 else positive(x, "log").log()
            case "log1p":
                if exact(x) and x == 0:
                    return x
                one, x = same(flint.fmpq(1), x)
                positive(one + x, "log1p")
                return flint.arb(x).log1p()
        if exact(x) and x == 0:
            return x
        if exact(x) and x > 0:
            p, q = flint.fmpz(x.p).isqrt(), flint.fmpz(x.q).isqrt()
            if p * p == x.p and q * q == x.q:
                return flint.fmpq(p, q)
        return positive(x, "sqrt").sqrt()

    def whole(self, tree: Tree, at: Mapping[str, Any], what: str) -> int:
        """A whole number that is known exactly."""
        x = self.value(tree, at)
        if not exact(x) or x.q != 1 or abs(x) > STEPS:
            raise Malformed(f"{what} are whole numbers up to {STEPS}")
        return int(x)


def exact(x: Any) -> bool:
    """Whether a value is an exact rational."""
    return isinstance(x, flint.fmpq)


def same(x: Any, y: Any) -> tuple[Any, Any]:
    """Both as rationals where both are, else both as balls."""
    return (x, y) if exact(x) and exact(y) else (flint.arb(x), flint.arb(y))


def nonzero(x: Any) -> None:
    """Refuse a divisor that is 0, and one that may be."""
    if exact(x) and x == 0:
        raise Malformed("a division by zero")
    if not exact(x) and not x != 0:
        raise Undecided("a divisor that may be 0")


def positive(x: Any, what: str) -> Any:
    """The ball, if all of it is positive."""
    ball = flint.arb(x)
    if ball <= 0:
        raise Malformed(f"{what} of a number that is not positive")
    if not ball > 0:
        raise Undecided(f"{what} of a ball that is not all positive")
    return ball
