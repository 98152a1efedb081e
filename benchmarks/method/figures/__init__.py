"""The tables of simulated races, by name."""

from __future__ import annotations

from .answers import ANSWERS
from .coverage import COVERAGE, EARLY
from .customs import CUSTOMS
from .defaults import DEFAULTS
from .errors import CUT, ENDED, ORDERS, WINNERS
from .figure import Figure, Row
from .machines import MACHINES, UNEQUAL
from .neighbours import NEIGHBOURS
from .power import POWER

__all__ = ["FIGURES", "Figure", "Row"]

FIGURES = {
    "winners": WINNERS,
    "cut": CUT,
    "orders": ORDERS,
    "ended": ENDED,
    "coverage": COVERAGE,
    "early": EARLY,
    "answers": ANSWERS,
    "defaults": DEFAULTS,
    "customs": CUSTOMS,
    "power": POWER,
    "neighbours": NEIGHBOURS,
    "machines": MACHINES,
    "unequal": UNEQUAL,
}
