"""All faults, by family."""

from __future__ import annotations

from collections.abc import Mapping

from . import answers, caches, configuration, connections, generator, leftovers, machine, racewide, server
from .fault import Fault

FAMILIES: Mapping[str, tuple[Fault, ...]] = {
    "machine": machine.FAULTS,
    "generator": generator.FAULTS,
    "server": server.FAULTS,
    "answers": answers.FAULTS,
    "caches": caches.FAULTS,
    "connections": connections.FAULTS,
    "leftovers": leftovers.FAULTS,
    "configuration": configuration.FAULTS,
    "race-wide": racewide.FAULTS,
}
FAULTS: tuple[Fault, ...] = tuple(fault for family in FAMILIES.values() for fault in family)
