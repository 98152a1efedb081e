"""All advice on one machine, the most useful first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import company, limits, processor, storage
from .advice import Advice, Change
from .surroundings import Surroundings

__all__ = ["ADVISERS", "Examination", "examine"]

ADVISERS: tuple[Callable[[Surroundings], Advice | None], ...] = (
    company.other_race,
    storage.little_memory,
    storage.disk_full,
    company.busy,
    company.pressed,
    processor.stolen,
    processor.restless,
    processor.governor,
    limits.cpu_quota,
    company.leftovers,
    processor.turbo,
    company.due_soon,
    storage.swapped,
    processor.slow_clock,
    processor.virtual,
    storage.swappiness,
    limits.short_queue,
    limits.few_ports,
    storage.huge_pages,
    processor.watchdog,
    company.irq_balance,
    company.cron,
    company.listening,
    limits.delegation,
)
"""In the order in which equally useful advice is told."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found; ``advice`` begins with what forbids a race and goes on by expected gain."""

    surroundings: Surroundings
    advice: tuple[Advice, ...]

    @property
    def forbidden(self) -> bool:
        """Whether something must be done before a race may start."""
        return any(advice.forbids for advice in self.advice)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What ``--apply`` would change, each setting once."""
        return tuple({change.key: change for advice in self.advice for change in advice.changes}.values())


def examine(surroundings: Surroundings) -> Examination:
    """Run every adviser. None speaks of address space randomisation: servers in production have it, too."""
    general = (adviser(surroundings) for adviser in ADVISERS)
    every = (*limits.planned(surroundings), *filter(None, general))
    return Examination(surroundings, tuple(sorted(every, key=lambda advice: advice.gain)))
