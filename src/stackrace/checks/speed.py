"""Was the machine as fast at the end of the slice as at its beginning?"""

from __future__ import annotations

from ..model.verdict import Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = ["cpu_frequency", "machine_speed", "overheated"]

_WARNS, _REDOES = 0.10, 0.25


def machine_speed(seen: Observation) -> Finding | None:
    """The same piece of work on the stack's cores cost over 10 % (warns) or 25 % (redoes) more or less afterwards.

    A slower machine looks like a slower stack. That the stacks take turns lets most of it cancel; what is left
    widens the limits. 3 % would be the limit on a machine of one's own. Where cores are shared with other
    virtual machines the speed shifts by a median of 6 to 11 % within a second, by more than 3 % in four
    slices of five: measuring again finds no better moment, only the worst are worth it (docs/decisions has the
    figures). The change is as large as its ratio, whichever way it went.

    Source: T. Mytkowicz et al., "Producing wrong data without doing anything obviously wrong!", ASPLOS 2009;
    E. Barrett et al., "Virtual machine warmup blows hot and cold", OOPSLA 2017, on watching frequency.
    """
    change = seen.machine.speed_change
    if change is None:
        return None
    ratio = max(1 + change, 1 / (1 + change)) - 1
    return judge(
        "machine speed",
        ratio,
        warns=_WARNS,
        redoes=_REDOES,
        seen=f"the machine was {percent(ratio)} {'faster' if change > 0 else 'slower'} after the "
        f"{seen.words.span} than before it",
        remedy=f"{seen.words.quieter}; `stackrace doctor` tells what moves its speed",
    )


def cpu_frequency(seen: Observation) -> Finding | None:
    """The stack's cores ended the slice at a frequency that differs by over 5 % (warns) or 15 % (redoes).

    Governors that follow the load, turbo and heat move it. The reading at each end is of one moment, under load.

    Source: Documentation/admin-guide/pm/cpufreq.rst.
    """
    change = seen.machine.frequency_change
    if change is None:
        return None
    return judge(
        "CPU frequency",
        abs(change),
        warns=0.05,
        redoes=0.15,
        seen=f"the frequency of the stack's cores {'rose' if change > 0 else 'fell'} by {percent(abs(change))}",
        remedy="set the governor to performance (`sudo stackrace doctor --apply`), and see to cooling",
    )


def overheated(seen: Observation) -> Finding | None:
    """The processor slowed itself down for heat, even once: measure again.

    Source: Intel SDM volume 3, "Thermal monitoring and protection"; sysfs ``thermal_throttle``.
    """
    stops = seen.machine.heat_stops
    return judge(
        "overheated",
        stops,
        redoes=0,
        seen=f"the processor slowed itself down for heat {count(stops)} times",
        remedy="let the machine cool down, see to its fans, or switch turbo off",
        unit=count,
    )
