"""dp-accounting, as people use it, in the terms of the sampled Gaussian mechanism."""


def sampled_gaussian(sampling_rate, noise, steps, order):
    """Renyi divergence of `steps` Poisson-sampled Gaussians of rate b/n and noise std/S_g."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    if steps < 1 or order <= 1 or noise <= 0 or not 0 < sampling_rate <= 1:
        raise ValueError("out of range")
    accountant = RdpAccountant(
        orders=[order],
        neighboring_relation=dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    )
    event = dp_accounting.PoissonSampledDpEvent(sampling_rate, dp_accounting.GaussianDpEvent(noise))
    accountant.compose(event, steps)
    return float(accountant._rdp[0])


def conversion(orders, epsilons, delta):
    """The least epsilon over the orders, by Canonne, Kamath and Steinke's rule."""
    from dp_accounting.rdp import compute_epsilon

    return float(compute_epsilon(orders, epsilons, delta)[0])
