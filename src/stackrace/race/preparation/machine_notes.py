"""Notes about a machine that is a container, virtual or emulated: what its figures are worth."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.numbers import number
from ...measure.probe import allowed_cores, emulator, virtualisation
from ...measure.resources import Resources


def notes_of_this_machine(cores: Resources) -> tuple[str, ...]:
    """Return the notes about this machine, for a race that uses ``cores``."""
    used = len({*cores.stack_cores, *cores.generator_cores})
    return tuple(machine_notes(virtualisation(), emulator(), allowed_cores(), used))


def machine_notes(virtual: str, emulated_by: str, granted_cores: float, cores: int) -> Iterator[str]:
    """Yield a note for each property of a machine that changes its figures; none of them forbids a race.

    ``virtual`` is the kind of virtualisation, and ``emulated_by`` the program that emulates the processor; both are
    empty if there is none. ``granted_cores`` is the CPU quota in cores, infinite without one; ``cores`` are in use.
    """
    if virtual:
        yield (
            f"Measured in a {virtual}: others share its hardware and its clock. All stacks meet the same, so their "
            "order and ratios hold; a machine of their own would have other figures."
        )
    if emulated_by:
        yield (
            f"{emulated_by} emulates the processor, at another cost for each instruction: on a real one the stacks "
            "may compare otherwise. Race in an image for the real processor (docker build --platform)."
        )
    if granted_cores < cores:
        yield (
            f"A quota grants this race the CPU time of {number(granted_cores)} of the {cores} cores that it "
            "uses: while it is used up, stacks and load engine stand still. Bind the container to whole cores "
            "instead (docker run --cpuset-cpus)."
        )
