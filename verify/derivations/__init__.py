"""The paper's chains of (in)equalities as data, link by link, one module per chain."""
