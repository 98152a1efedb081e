"""Stacks that a feature adds to a race: what the project runs today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self, cast

from ...app.app import Entry
from ...extensions import Contestants, declared, load
from ...stacks.servers import Catalogue
from ...stacks.stack import Interface, Stack
from ..request.request import RaceRequest
from ..results.parts import RacePart


class DescribedDeployment(Protocol):
    """What a project runs today, as it is kept with a race: a `RacePart`."""

    @property
    def stack(self) -> str:
        """The path of the stack; empty where it is none of ours."""

    @property
    def file(self) -> str:
        """The file that says so, below the project's folder."""

    @property
    def place(self) -> str:
        """The file with its line."""

    @property
    def problem(self) -> str:
        """Why it cannot be raced; empty where it can."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Mistakes in its files, as sentences."""

    def having_problem(self, problem: str) -> Self:
        """Return it with another problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStack:
    """What the project runs today."""

    deployment: DescribedDeployment
    """What its files say."""
    stack: Stack | None
    """The same as a stack of the catalogue; None where it cannot be raced, see the deployment's ``problem``."""

    @property
    def part(self) -> RacePart:
        """What is kept of it with a race."""
        assert isinstance(self.deployment, RacePart)
        return self.deployment

    def among(self, stacks: Sequence[Stack], path: str, unbuilt: str) -> CurrentStack:
        """Return it as it is raced: as the stack with ``path``, or not at all where ``stacks`` lack that.

        ``unbuilt`` says why.
        """
        if self.stack is None:
            return self
        raced = next((stack for stack in stacks if stack.path == path), None)
        problem = self.deployment.problem if raced is not None else unbuilt
        return CurrentStack(deployment=self.deployment.having_problem(problem), stack=raced)


def beside_current(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with what the project runs today looked for, unless it says otherwise."""
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

    ``offered`` is what the app offers, ``python`` the minor version of its ``interpreter``, ``entry`` where it is,
    as far as that is known. None where nothing is found, nothing is to be looked for (``contestants`` of the
    request), the app is a bundled one, or no feature that looks for it is here. Raises InputError for a file that
    the request names and that starts no server.
    """
    for contestants in declared(Contestants):
        found = load(contestants.place)(request, catalogue, offered, python, entry, interpreter)
        if found is not None:
            return cast(CurrentStack, found)
    return None
