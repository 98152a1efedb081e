"""The checks: what makes a measurement unbelievable, said with what was seen and the way out.

``examine`` looks at one slice, ``examine_run`` at one run of ``stackrace load``, ``preflight`` at what is
planned. A check is a pure function of an observation; ``Effect.INVALIDATES`` costs the user a result, so its
thresholds leave room for what is merely unusual.
"""

from .answers import STAGES
from .clocks import STEADY_CLOCKS
from .observation import Observation
from .preflight import PREFLIGHT_CHECKS, SPARE_FILES, preflight
from .preparation import Preparation
from .registry import RUN_CHECKS, SLICE_CHECKS, examine, examine_run
from .words import LOAD, RACE, Words

__all__ = [
    "LOAD",
    "PREFLIGHT_CHECKS",
    "RACE",
    "RUN_CHECKS",
    "SLICE_CHECKS",
    "SPARE_FILES",
    "STAGES",
    "STEADY_CLOCKS",
    "Observation",
    "Preparation",
    "Words",
    "examine",
    "examine_run",
    "preflight",
]
