"""Sweeps: bounds, exact values, estimates and claims over many settings.

grid       reads GRID.toml exactly
points     the setting of every index
evaluate   a range of indices to a table of results
store      results as Parquet files
run        plans, works through the ranges, resumes, merges
summary    the worst ratio, who wins where, where a claim fails
"""
