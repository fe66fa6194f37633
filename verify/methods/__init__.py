"""The ways in which a question is settled: symbols, balls, properties."""
