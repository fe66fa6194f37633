"""Tests of other implementations: golden vectors, subjects, properties, diagnosis."""
