"""The checks: what makes a measurement unbelievable, said with what was seen and the way out.

``examine`` looks at one slice, ``examine_run`` at one run of ``stackrace load``, ``examine_launch`` at a launch
that is over, ``preflight`` at what is planned. A check is a pure function of what was seen; ``Effect.INVALIDATES``
costs the user a result, so its thresholds leave room for what is merely unusual. ``docs/checks.md`` lists them all.
"""

from .answers import STAGES
from .clocks import STEADY_CLOCKS
from .declaration import Check, Declaration, Limits, Made
from .declared import DECLARATIONS, EVERY_CHECK
from .disk import nearly_full
from .kernel_limits import MOST_IN_TIME_WAIT, SPARE_FILES, TIME_WAIT_S
from .launch_view import Aftermath, Complaint
from .launches import LAUNCH_CHECKS, LaunchView, examine_launch
from .machine import MOST_TAKEN
from .observation import Observation
from .open_loop import OF_LATENCY, overload
from .planned_resources import MEMORY_SHARE
from .preflight import PREFLIGHT_CHECKS, preflight
from .preparation import Preparation
from .registry import RUN_CHECKS, SLICE_CHECKS, disturbed, examine, examine_run, taken, worth_repeating
from .runs import BoundedRun, run_cut_off

__all__ = [
    "DECLARATIONS",
    "EVERY_CHECK",
    "LAUNCH_CHECKS",
    "MEMORY_SHARE",
    "MOST_IN_TIME_WAIT",
    "MOST_TAKEN",
    "OF_LATENCY",
    "PREFLIGHT_CHECKS",
    "RUN_CHECKS",
    "SLICE_CHECKS",
    "SPARE_FILES",
    "STAGES",
    "STEADY_CLOCKS",
    "TIME_WAIT_S",
    "Aftermath",
    "BoundedRun",
    "Check",
    "Complaint",
    "Declaration",
    "LaunchView",
    "Limits",
    "Made",
    "Observation",
    "Preparation",
    "disturbed",
    "examine",
    "examine_launch",
    "examine_run",
    "nearly_full",
    "overload",
    "preflight",
    "run_cut_off",
    "taken",
    "worth_repeating",
]
