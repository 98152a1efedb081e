"""Simulated races, judged by the very functions that judge real ones: the truth is known, so errors are counted."""
