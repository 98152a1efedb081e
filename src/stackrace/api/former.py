"""A race that was interrupted, as it is to go on; and whether everything is still as it was then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model.core_lists import format_cores
from ..model.errors import InputError
from ..model.race import Race, Resources
from ..model.units import SIZE
from ..spec.request import RaceRequest
from ..store import ManifestFile, Opening

__all__ = ["Former", "hold_to"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Former:
    """``race`` as it goes on after its first ``done`` blocks, and the ``request`` that sets it up again.

    Its manifest is locked; ``opening`` is the manifest's first line. ``left_s`` is about how long it will go on,
    None while nothing tells.
    """

    race: Race
    request: RaceRequest
    manifest: ManifestFile
    opening: Opening
    done: int
    left_s: float | None


def hold_to(former: Former, race: Race, opening: Opening) -> None:
    """Raise InputError where what was set up now, ``race`` and ``opening``, differs from what was raced before.

    Blocks measured on two systems, or of two apps, would be one ranking of neither.
    """
    for what, before, now in _compared(former, race, opening):
        if before != now:
            raise InputError(
                f"race {former.race.id} cannot continue: {what} was {before}, now it is {now}; restore it, or "
                "start a new race: the results so far are kept"
            )


def _compared(former: Former, race: Race, opening: Opening) -> Iterator[tuple[str, object, object]]:
    before = former.race
    yield "Stackrace", before.version, race.version
    for name, what in _HOST.items():
        yield what, getattr(before.host, name), getattr(race.host, name)
    yield from zip(_RESOURCES, _resources(before.cores), _resources(race.cores), strict=True)
    yield "the app", before.app, race.app
    yield "the app's interpreter", former.opening.interpreter or "none", opening.interpreter or "none"
    yield "the digest of the app's files", former.opening.sources[:12], opening.sources[:12]
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
