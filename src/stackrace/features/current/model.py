"""What a project runs today, as its deployment files say it: a stack, its place, and what had to change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from ...race.results.parts import RacePart
from ...stacks.native_options import Concern, Weight

if TYPE_CHECKING:
    from ...race.results.race import Race

__all__ = ["CurrentChange", "CurrentDeployment", "CurrentGap", "CurrentQueue", "deployment_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentChange:
    """One thing that a race decides otherwise than the deployment does."""

    file: str
    """Relative to the project's folder."""
    line: int
    """0 where nobody knows."""
    key: str
    """As the file or the command calls it."""
    theirs: str
    """What it is there."""
    concern: Concern
    """What it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentGap:
    """One thing of the deployment that the race goes without."""

    file: str
    """Relative to the project's folder."""
    line: int
    """0 where nobody knows."""
    what: str
    """As the file has it."""
    why: str
    """The end of a sentence."""
    weight: Weight = Weight.PLAIN
    """What it means for the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentQueue:
    """How many connections the deployment lets wait for its server."""

    server: str
    """By title."""
    file: str
    """Relative to the project's folder."""
    line: int
    """0 where nobody knows."""
    value: int
    """Connections."""

    @property
    def place(self) -> str:
        """Where that stands: ``uwsgi.ini:4``."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentDeployment(RacePart):
    """What a project runs today."""

    name: ClassVar[str] = "current"

    stack: str
    """Its path, configuration files relative to the project's folder; empty where no path can say it."""
    file: str
    """Where it was found, relative to the project's folder."""
    line: int = 0
    """0 where nobody knows."""
    problem: str = ""
    """Why it cannot be raced, and what would help; empty where it can."""
    changes: tuple[CurrentChange, ...] = ()
    """What is decided otherwise, in files and on command lines."""
    gaps: tuple[CurrentGap, ...] = ()
    """What could not be taken over."""
    read: tuple[str, ...] = ()
    """The files that were read together for it, relative to the project's folder; empty for one alone."""
    effective: tuple[str, ...] = ()
    """Its workers, threads and class as they take effect, with the defaults that nobody writes: ``workers=4``."""
    at_once: int = 0
    """How many requests it works on at once, at most; 0 where only connections limit that, or nobody knows."""
    queue: CurrentQueue | None = None
    """How many connections may wait; None where its files do not say it."""
    others: tuple[str, ...] = ()
    """Other deployments of this project, as ``FILE:LINE``, the likeliest first."""

    @property
    def is_partial(self) -> bool:
        """Whether its files do not say how many workers and threads there are, or of which class."""
        return any(gap.weight is Weight.SIZE for gap in self.gaps)

    @property
    def place(self) -> str:
        """Where it was found: ``compose.prod.yml:12``."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def having_problem(self, problem: str) -> Self:
        """Return it with another problem."""
        return replace(self, problem=problem)


def deployment_of(race: Race) -> CurrentDeployment | None:
    """Return what the project runs today, as its files said; None where nothing was found, or looked for."""
    return race.parts.get(CurrentDeployment)
