"""Simulated races, judged by the very functions that judge real ones: the truth is known, so errors are counted."""

from __future__ import annotations

import math

DELTA = math.log(1.05)
"""Differences below 5 % do not matter."""
