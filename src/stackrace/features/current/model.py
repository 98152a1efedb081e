"""Present deployment of a project, as its own files say it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from ...race.results.parts import RacePart
from ...stacks.native_options import Concern, Weight

if TYPE_CHECKING:
    from ...race.results.race import Race


def placed(file: str, line: int) -> str:
    """Return a place as reports show it: ``compose.prod.yml:12``, or the file alone if the line is unknown (0)."""
    return f"{file}:{line}" if line else file


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentChange:
    """One thing that a race decides otherwise than the deployment does."""

    file: str
    """Relative to the project's folder."""
    line: int
    """0 where nobody knows."""
    key: str
    """Name in the file or the command."""
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
    """Words of the file."""
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
    def location(self) -> str:
        """Place of the limit: ``uwsgi.ini:4``."""
        return placed(self.file, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentDifference:
    """One thing in which a running server differs from what its files or its command line say."""

    file: str
    """Relative to the project's folder, or the process."""
    line: int
    """0 where nobody knows."""
    said: str
    """Setting of the file or command: ``workers=4``."""
    observed: str
    """Observation that contradicts it, as the end of a sentence: ``2 run``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentMistake:
    """One mistake of the deployment's own files."""

    kind: str
    """The id of its declaration, such as ``unknown-key``."""
    file: str
    """Relative to the project's folder."""
    line: int
    """0 where nobody knows."""
    says: str
    """The sentence behind the place, without its full stop."""

    @property
    def location(self) -> str:
        """Place of the mistake: ``uwsgi.ini:4``."""
        return placed(self.file, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentDeployment(RacePart):
    """What a project runs today."""

    name: ClassVar[str] = "current"

    stack: str
    """Stack path, configuration files relative to the project's folder; empty where no path can say it."""
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
    mistakes: tuple[CurrentMistake, ...] = ()
    """Mistakes of its own files."""
    read: tuple[str, ...] = ()
    """The files that were read together for it, relative to the project's folder; empty for one alone."""
    effective: tuple[str, ...] = ()
    """Workers, threads and class as they take effect, with the defaults that nobody writes: ``workers=4``."""
    at_once: int = 0
    """How many requests it works on at once, at most; 0 where only connections limit that, or nobody knows."""
    queue: CurrentQueue | None = None
    """How many connections may wait; None where its files do not say it."""
    variables: tuple[str, ...] = ()
    """Variables by name that its files give the app, and that no stack of a race has."""
    env_files: tuple[str, ...] = ()
    """Files of variables that it names, relative to the project's folder."""
    differences: tuple[CurrentDifference, ...] = ()
    """Where the running server was observed to be otherwise than its files or its command line say."""
    others: tuple[str, ...] = ()
    """Other deployments of this project, as ``FILE:LINE``, the likeliest first."""

    @property
    def is_partial(self) -> bool:
        """True if the files do not say the number of workers and threads, or the class of workers."""
        return any(gap.weight is Weight.SIZE for gap in self.gaps)

    @property
    def location(self) -> str:
        """Place where the deployment was found: ``compose.prod.yml:12``."""
        return placed(self.file, self.line)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Mistakes as sentences."""
        return tuple(f"Mistake: {each.location} {each.says}." for each in self.mistakes)

    def having_problem(self, problem: str) -> Self:
        """Return a copy of this deployment with another problem."""
        return replace(self, problem=problem)


def deployment_of(race: Race) -> CurrentDeployment | None:
    """Return the present deployment of a race's project; None if none was found or searched for."""
    return race.parts.get(CurrentDeployment)
