"""The rule by which races were decided before `stats.selection`: all pairs at once, at seven looks.

Kept races that were decided by it are reported by it.
"""
