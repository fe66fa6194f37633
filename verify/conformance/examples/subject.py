# mypy: ignore-errors
"""A subject that speaks the protocol: Theorem D.4, in the standard library. See PROTOCOL.md."""

import json
import sys
from fractions import Fraction


def bound(n, b, epochs, eta, beta, sensitivity, sigma2, alpha, position):  # noqa: D103
    if not (1 <= b <= n and epochs >= 1 and 0 <= position < n // b and eta * beta < 2):
        raise ValueError("outside the assumptions")
    if alpha <= 1 or min(eta, beta, sensitivity, sigma2) <= 0:
        raise ValueError("the order is at most 1, or a parameter not positive")
    weight = Fraction(epochs - 1, n // b) + Fraction(1, n // b - position)
    return float(weight) * alpha * eta * (sensitivity / b) * (sensitivity / b) / sigma2 / 4


for line in sys.stdin:
    question = json.loads(line)
    try:
        reply = {"value": bound(**question["arguments"])}
    except (ValueError, TypeError) as error:
        reply = {"refused": str(error)}
    sys.stdout.write(json.dumps({"id": question["id"], **reply}) + "\n")
    sys.stdout.flush()
