"""dp-accounting, as people use it, in the terms of the vectors."""

import contextlib

with contextlib.suppress(ImportError):  # pytest reads this file where it is not installed
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant, compute_epsilon


def sampled_gaussian(sampling_rate, noise, steps, order):
    """Renyi divergence of `steps` Poisson-sampled Gaussians; noise is in units of S_g."""
    accountant = RdpAccountant([order])
    accountant.compose(PoissonSampledDpEvent(sampling_rate, GaussianDpEvent(noise)), steps)
    return float(accountant._rdp[0])


def conversion(orders, epsilons, delta):
    """The least epsilon over the orders, by the rule of Canonne, Kamath and Steinke."""
    return float(compute_epsilon(orders, epsilons, delta)[0])
