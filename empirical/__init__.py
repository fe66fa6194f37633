"""What noisy SGD really does on one-dimensional quadratics: exact laws and exact divergences."""
