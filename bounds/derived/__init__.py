"""Bounds derived here: what the methods of the literature give when nothing is given away."""

DERIVED = "derived here"
