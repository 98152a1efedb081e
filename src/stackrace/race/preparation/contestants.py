"""Stacks that a feature adds to a race: the project's current one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self, cast

from ...app.app import Entry
from ...extensions import Contestants, declared, load
from ...stacks.servers import Catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ..request.request import RaceRequest
from ..results.parts import RacePart


class DescribedDeployment(Protocol):
    """Description of a project's current deployment that is stored with a race, as a `RacePart`."""

    @property
    def stack(self) -> str:
        """Path of the stack; empty if the catalogue cannot express it."""

    @property
    def path(self) -> str:
        """File that describes the deployment, relative to the project's folder."""

    @property
    def location(self) -> str:
        """The file with its line."""

    @property
    def problem(self) -> str:
        """Reason why the deployment cannot be raced; empty if it can be raced."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Mistakes in its files, as sentences."""

    def having_problem(self, problem: str) -> Self:
        """Return this description with another problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStack:
    """The deployment that the project runs today."""

    deployment: DescribedDeployment
    """Description from the project's files."""
    stack: Stack | None
    """The deployment as a stack of the catalogue; None if it cannot be raced, see the deployment's ``problem``."""

    @property
    def part(self) -> RacePart:
        """Part that is stored with a race."""
        assert isinstance(self.deployment, RacePart)
        return self.deployment

    def among(self, stacks: Sequence[Stack], path: str, unbuilt: str) -> CurrentStack:
        """Return this deployment with the raced stack: the stack with ``path``, or None if ``stacks`` has no such
        stack.

        ``unbuilt`` is the reason in that case.
        """
        if self.stack is None:
            return self
        raced = next((stack for stack in stacks if stack.path == path), None)
        problem = self.deployment.problem if raced is not None else unbuilt
        return CurrentStack(deployment=self.deployment.having_problem(problem), stack=raced)


def with_current_deployment(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with the project's current deployment included, unless the request decides that itself."""
    return replace(request, contestants=True) if request.contestants is None else request


def current_stack(
    request: RaceRequest,
    catalogue: Catalogue,
    offered: frozenset[Interface],
    python: tuple[int, int] | None = None,
    entry: Entry | None = None,
    interpreter: Path | None = None,
) -> CurrentStack | None:
    """Return the stack that the project of ``request`` runs today.

    ``offered`` are the app's interfaces, ``python`` the minor version of its ``interpreter``, ``entry`` its entry
    point, as far as known. None if nothing is found, the request excludes it (``contestants``), the app is a
    bundled one, or no installed feature looks for it. Raises InputError for a file that the request names and that
    starts no server.
    """
    for contestants in declared(Contestants):
        found = load(contestants.import_path)(request, catalogue, offered, python, entry, interpreter)
        if found is not None:
            return cast(CurrentStack, found)
    return None
