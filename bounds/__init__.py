"""Formulas and their assumptions: every bound of the paper and every bound it is compared with."""
