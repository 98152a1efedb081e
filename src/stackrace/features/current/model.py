"""Present deployment of a project, as its own files say it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from ...race.results.parts import RacePart
from ...stacks.native_files import Concern, Weight

if TYPE_CHECKING:
    from ...race.results.race import Race


def placed(file: str, line: int) -> str:
    """Return a place as reports show it: ``compose.prod.yml:12``, or the file alone if the line is unknown (0)."""
    return f"{file}:{line}" if line else file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """Something at a place in a deployment's files."""

    file: str
    """Path relative to the project's folder, or the process."""
    line: int
    """Number of the line; 0 if unknown."""

    @property
    def location(self) -> str:
        """The place as reports show it: ``uwsgi.ini:4``."""
        return placed(self.file, self.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentChange(_Placed):
    """Setting of the deployment that a race replaces."""

    key: str
    """Name in the file or the command."""
    theirs: str
    """Value in the file or the command."""
    concern: Concern
    """Subject of the setting, which the race decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentGap(_Placed):
    """Setting of the deployment that is missing in the race."""

    what: str
    """Text in the file."""
    why: str
    """Reason, as the end of a sentence."""
    weight: Weight = Weight.PLAIN
    """Consequence for the race."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentQueue(_Placed):
    """Limit of the connections that may wait for a server of the deployment."""

    server: str
    """Title of the server."""
    value: int
    """Number of connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentDifference(_Placed):
    """One thing that a file says, and the running server, or the file of another platform, does not."""

    said: str
    """Setting of the file or command: ``workers=4``."""
    against: str
    """The other side, as the end of a sentence: ``2 run``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentMistake(_Placed):
    """One mistake of the deployment's own files."""

    kind: str
    """Id of the mistake's declaration, such as ``unknown-key``."""
    says: str
    """Sentence that follows the place, without its full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentDeployment(RacePart):
    """Present deployment of a project; its paths start from the project's folder, or from one ``above``."""

    name: ClassVar[str] = "current"

    stack: str
    """Stack path, with files relative to the project's folder; empty if no path describes the deployment."""
    file: str
    """File in which it was found."""
    line: int = 0
    """Number of the line; 0 if unknown."""
    above: str = ""
    """Path from the project's folder to the one above that has the files, as ``..``; empty if there is none."""
    problem: str = ""
    """Reason why it cannot be raced, and the way out; empty if it can."""
    changes: tuple[CurrentChange, ...] = ()
    """Settings of files and command lines that a race replaces."""
    gaps: tuple[CurrentGap, ...] = ()
    """Settings that are missing in a race."""
    mistakes: tuple[CurrentMistake, ...] = ()
    """Mistakes in the deployment's files."""
    read: tuple[str, ...] = ()
    """All files that describe it; empty if there is only one."""
    said: tuple[str, ...] = ()
    """Names of the settings that command and files set; the server's defaults make the others."""
    effective: tuple[str, ...] = ()
    """Effective workers, threads and worker class, defaults included: ``workers=4``."""
    at_once: int = 0
    """Most requests in progress at the same time; 0 if only connections limit them, or if it is unknown."""
    queue: CurrentQueue | None = None
    """Limit of waiting connections; None if the files do not say it."""
    variables: tuple[str, ...] = ()
    """Names of variables that its files give the app; a stack has those that the app reads from a file."""
    env_files: tuple[str, ...] = ()
    """Files of variables that it reads."""
    differences: tuple[CurrentDifference, ...] = ()
    """Differences from the running server, or between the files of two platforms."""
    others: tuple[str, ...] = ()
    """Other deployments of this project, as ``FILE:LINE``, the likeliest first."""

    @property
    def is_partial(self) -> bool:
        """True if the files do not say the number of workers and threads, or the class of workers."""
        return any(gap.weight is Weight.SIZE for gap in self.gaps)

    @property
    def other_files(self) -> tuple[str, ...]:
        """Files of ``others``, without lines."""
        return tuple(re.sub(r":\d+$", "", each) for each in self.others)

    @property
    def location(self) -> str:
        """Place where the deployment was found: ``compose.prod.yml:12``."""
        return placed(self.file, self.line)

    @property
    def path(self) -> str:
        """Path of the file from the project's folder."""
        return self.reached(self.file)

    def reached(self, file: str, folder: Path = Path()) -> str:
        """Return the path of ``file`` for a command that is typed where the project's folder is ``folder``."""
        return os.path.normpath(folder / self.above / file)

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
