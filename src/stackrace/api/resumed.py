"""An interrupted race as it goes on, and whether everything is still as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..base.errors import InputError
from ..base.units import SIZE
from ..measure.resources import Resources, format_cores
from ..race.request.request import RaceRequest
from ..race.results.race import Race
from ..store.manifest import ManifestFile, Opening

__all__ = ["ResumedRace", "refuse_changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedRace:
    """A race that was interrupted, as it goes on."""

    race: Race
    """As it is now: the launches of the block that was cut are marked."""
    request: RaceRequest
    """What sets it up again."""
    manifest: ManifestFile
    """Locked, so that nobody else goes on with it."""
    opening: Opening
    """The manifest's first line."""
    done: int
    """Whole blocks, which stay."""
    left_s: float | None
    """About how long it will go on; None while nothing tells."""


def refuse_changed(resumed: ResumedRace, race: Race, opening: Opening) -> None:
    """Raise InputError where what was set up now, ``race`` and ``opening``, differs from what was raced before.

    Blocks measured on two systems, or of two apps, would be one ranking of neither.
    """
    for what, before, now in _compared(resumed, race, opening):
        if before != now:
            raise InputError(
                f"race {resumed.race.id} cannot continue: {what} was {before}, now it is {now}; restore it, or "
                "start a new race: the results so far are kept"
            )


def _compared(resumed: ResumedRace, race: Race, opening: Opening) -> Iterator[tuple[str, object, object]]:
    before = resumed.race
    yield "Stackrace", before.version, race.version
    for name, what in _HOST.items():
        yield what, getattr(before.host, name), getattr(race.host, name)
    yield from zip(_RESOURCES, _resources(before.cores), _resources(race.cores), strict=True)
    yield "the app", before.app, race.app
    yield "the app's interpreter", resumed.opening.interpreter or "none", opening.interpreter or "none"
    yield "the digest of the app's files", resumed.opening.sources[:12], opening.sources[:12]
    for name, what in _ASKED.items():
        yield what, getattr(before, name), getattr(race, name)


def _resources(resources: Resources) -> tuple[str, ...]:
    memory = "unlimited" if resources.memory_bytes is None else SIZE.format(resources.memory_bytes)
    quota = "declared" if resources.quota else "not declared"
    cores = format_cores(resources.stack_cores), format_cores(resources.generator_cores)
    return *cores, memory, resources.enforced.value, quota


_RESOURCES = (
    "the list of the stacks' cores",
    "the list of the load engine's cores",
    "the memory of each stack",
    "what holds stacks to that",
    "a CPU quota",
)

_HOST = {
    "system": "the operating system",
    "kernel": "the kernel",
    "cpu": "the processor",
    "cores": "the number of cores",
    "virtual": "the virtual machine",
    "python": "Stackrace's own Python",
}
"""Fields of HostFacts; memory and limits vary from boot to boot, and are checked before each race."""

_ASKED = {
    "urls": "what is asked for",
    "workloads": "what is asked for",
    "loads": "the load",
    "stacks": "the list of stacks",
    "limits": "the stacks of some workload",
}
