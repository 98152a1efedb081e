"""Lies that a measurement may be told, and whether Stackrace names them: ``python -m benchmarks.lies``."""
