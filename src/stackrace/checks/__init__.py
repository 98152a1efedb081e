"""The checks: what makes a measurement unbelievable, said with what was seen and the way out.

``examine`` looks at one slice, ``preflight`` at what is planned. A check is a pure function of an
observation; ``Effect.INVALIDATES`` costs the user a result, so its thresholds leave room for what is merely
unusual.
"""

from .observation import Observation
from .preflight import PREFLIGHT_CHECKS, preflight
from .preparation import Preparation
from .registry import SLICE_CHECKS, examine

__all__ = [
    "PREFLIGHT_CHECKS",
    "SLICE_CHECKS",
    "Observation",
    "Preparation",
    "examine",
    "preflight",
]
