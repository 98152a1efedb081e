"""The tables of simulated races, by name."""

from __future__ import annotations

from .answers import ANSWERS, DEFAULTS, POWER
from .coverage import COVERAGE, EARLY
from .errors import CUT, ENDED, NEIGHBOURS, ORDERS, WINNERS
from .machines import MACHINES, UNEQUAL

FIGURES = {
    "winners": WINNERS, "cut": CUT, "orders": ORDERS, "ended": ENDED, "coverage": COVERAGE, "early": EARLY,
    "answers": ANSWERS, "defaults": DEFAULTS, "power": POWER, "neighbours": NEIGHBOURS,
    "machines": MACHINES, "unequal": UNEQUAL,
}  # fmt: skip
