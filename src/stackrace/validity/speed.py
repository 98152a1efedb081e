"""Was the machine as fast at the end of the slice as at its beginning?"""

from __future__ import annotations

import math

from ..base.verdict import Finding, Unit
from .declaration import Cause, Declaration, Limits, Made
from .observation import Observation

__all__ = ["cpu_frequency", "machine_speed", "overheated"]


@Declaration(
    id="machine-speed",
    number=13,
    title="machine speed",
    cause=Cause.MACHINE,
    made=(Made.SLICE,),
    limits=Limits(warns=0.10, redoes=0.25),
    unit=Unit.SHARE,
    seen="the machine was {change:pace} after the {knob.span} than before it",
    remedy="{knob.quieter}; `stackrace doctor` looks for the cause",
    source="T. Mytkowicz et al., ASPLOS 2009; E. Barrett et al., OOPSLA 2017",
)
def machine_speed(observation: Observation) -> Finding | None:
    """A fixed computation on the stack's cores took longer or shorter after the slice than before.

    A slower machine looks like a slower stack. That the stacks take turns lets most of it cancel; what is left
    widens the limits. 3 % would be the limit on a machine of one's own. Where cores are shared with other
    virtual machines the speed shifts by a median of 6 to 11 % within a second, by more than 3 % in four
    slices of five: measuring again finds no better moment, only the worst are worth it (docs/decisions has the
    figures). The change is as large as its ratio, whichever way it went.
    """
    change = observation.machine.speed_change
    if change is None:
        return None
    ratio = max(1 + change, 1 / (1 + change)) - 1
    return machine_speed.judge(ratio, change=math.copysign(ratio, change))


@Declaration(
    id="cpu-frequency",
    number=13,
    title="CPU frequency",
    cause=Cause.MACHINE,
    made=(Made.SLICE,),
    limits=Limits(warns=0.05, redoes=0.15),
    unit=Unit.SHARE,
    seen="the frequency of the stack's cores {change:moved}",
    remedy="set the governor to performance (`sudo stackrace doctor --apply`), and check the cooling",
    source="Documentation/admin-guide/pm/cpufreq.rst",
)
def cpu_frequency(observation: Observation) -> Finding | None:
    """The frequency of the stack's cores changed during the slice.

    Governors that follow the load, turbo and heat move it. The reading at each end is of one moment, under load.
    """
    change = observation.machine.frequency_change
    return None if change is None else cpu_frequency.judge(abs(change), change=change)


@Declaration(
    id="overheated",
    number=13,
    title="overheated",
    cause=Cause.MACHINE,
    made=(Made.SLICE,),
    limits=Limits(redoes=0),
    seen="the processor slowed down {value:count} times because of heat",
    remedy="let the machine cool down, check its fans, or switch turbo off",
    source="Intel SDM volume 3, Thermal monitoring and protection; sysfs `thermal_throttle`",
)
def overheated(observation: Observation) -> Finding | None:
    """The processor slowed down because of heat."""
    return overheated.judge(observation.machine.heat_stops)
