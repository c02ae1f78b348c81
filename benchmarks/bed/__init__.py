"""What every benchmark stands on: one workload, the contenders, load, rounds, and reports.

A benchmark starts all contenders, measures them in turn, round after round, and compares within a
round, so that a noisy machine disturbs both sides of a ratio alike.
"""
