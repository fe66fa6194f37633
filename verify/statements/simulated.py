"""Theorems against Algorithm 1 as it runs: paths are drawn, and no law is taken for granted.

All of it shares the error budget of `verify.methods.statistical`: it can leave a theorem open, and
never refutes one.
"""

from __future__ import annotations

from dataclasses import replace

from bounds.bound import find
from bounds.setting import Setting
from empirical.simulate import FAULTS
from verify.methods.statistical import Sampled, stays_below
from verify.methods.truth import Claim
from verify.statement import Finding, Run, check

SHORT = Setting.of(
    n=4, b=2, epochs=2, eta="1/4", lambda_=1, beta=2, sensitivity=4, sigma2="1/4", alpha=2
)
WHOLE = SHORT.replace(n=2)


def _sampled(bound: str, scheme: str, *settings: Setting) -> Sampled:
    return Sampled(Claim.of(find(bound)), scheme, settings)


FORMS = {
    "thm-2.1": _sampled("naive_extension", "shuffle-once", SHORT),
    "thm-3.3": _sampled("fixed_order", "fixed-order", SHORT, SHORT.replace(position=0)),
    "thm-4.2": _sampled("shuffle_partition", "shuffle-once", SHORT),
    "thm-4.3": _sampled("without_replacement", "without-replacement", SHORT),
    "thm-d.6": _sampled("full_batch", "fixed-order", WHOLE),
}


def _mutants(form: Sampled) -> dict[str, Sampled]:
    """A bound that samples can tell to be too small, and simulators that are broken."""
    low = form.claim.but(lambda p, ctx, e: e(p, ctx) / 12)
    made = {"a twelfth of the bound": replace(form, claim=low)}
    for title, fault in FAULTS.items():
        # An epoch of one batch cannot draw a batch twice.
        if form.settings[0].batches > 1 or title != "a batch drawn twice":
            made[title] = replace(form, fault=fault)
    return made


def samples_stay_below_the_bound(form: Sampled, run: Run) -> Finding:
    """What the paths prove of the divergence, in both directions, exceeds no bound."""
    return stays_below(form, run)


for _statement, _form in FORMS.items():
    check(
        _statement, "valid", "simulation, lower limits from events at one family-wise level",
        form=_form, mutants=_mutants(_form),
    )(samples_stay_below_the_bound)  # fmt: skip
