"""Stackrace: race a Python web application across every way of deploying it."""

__version__ = "0.1.0"
