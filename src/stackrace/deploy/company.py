"""What runs beside one another on this machine, of one race: each place knows of the others what must not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["Company"]


class Company:
    """The places of one race on this machine: their supervisors, and what is up on each.

    While one place loads a stack, what stacks and services of the others use is known, and no stranger's.
    """

    def __init__(self) -> None:
        self.supervisors: list[int] = []
        """Process ids."""
        self._up: dict[int, Mapping[str, Sequence[int]]] = {}
        self._beside: dict[int, Mapping[str, Sequence[int]]] = {}

    def join(self, supervisor: int, services: Mapping[str, Sequence[int]]) -> None:
        """Enter a place by its supervisor's process id, with the process ids of its services by name."""
        self.supervisors.append(supervisor)
        self._beside[supervisor] = services

    def is_up(self, supervisor: int, stacks: Mapping[str, Sequence[int]]) -> None:
        """Enter the process ids of the stacks that are up on a place now, by path."""
        self._up[supervisor] = stacks

    def others(self, supervisor: int) -> dict[str, Sequence[int]]:
        """Return the process ids of what is up on all other places, under names that no stack has."""
        return {
            f"{other}/{name}": pids
            for other in self.supervisors
            if other != supervisor
            for name, pids in {**self._beside[other], **self._up.get(other, {})}.items()
        }
