"""What the kernel tells the time by."""

from __future__ import annotations

from .proc import read

__all__ = ["clocksource"]


def clocksource() -> str:
    """Return the name of the current clock source; empty where the kernel does not tell.

    The kernel leaves ``tsc`` for another one for good when its watchdog finds it unstable.
    Source: Documentation/timers/timekeeping.rst; /sys/devices/system/clocksource.
    """
    name = read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or b""
    return name.decode(errors="replace").strip()
