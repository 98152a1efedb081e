"""What a project runs today, as its deployment files say it, and how far that is from the best stack of a race."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Self

from ...base.numbers import Interval
from ...measure.launch import Failure
from ...measure.load import Load
from ...race.results.parts import RacePart
from ...race.results.standing import StandingNotice
from ...stacks.native_options import Concern, Weight

if TYPE_CHECKING:
    from ...race.results.race import Race


def placed(file: str, line: int) -> str:
    """Return a place as reports have it: ``compose.prod.yml:12``, or the file alone where nobody knows the line."""
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
    def place(self) -> str:
        """Where that stands: ``uwsgi.ini:4``."""
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
    def place(self) -> str:
        """Where it stands: ``uwsgi.ini:4``."""
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
        """True if its files do not say how many workers and threads there are, or of which class."""
        return any(gap.weight is Weight.SIZE for gap in self.gaps)

    @property
    def place(self) -> str:
        """Where it was found: ``compose.prod.yml:12``."""
        return placed(self.file, self.line)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Mistakes as sentences."""
        return tuple(f"Mistake: {each.place} {each.says}." for each in self.mistakes)

    def having_problem(self, problem: str) -> Self:
        """Return it with another problem."""
        return replace(self, problem=problem)


def deployment_of(race: Race) -> CurrentDeployment | None:
    """Return what the project runs today, as its files said; None where nothing was found, or looked for."""
    return race.parts.get(CurrentDeployment)


class CurrentKind(StrEnum):
    """What a race says of the stack that is run today."""

    FIRST = "first"
    """The answer names it."""
    OPEN = "open"
    """It cannot be told from the stack that the answer names."""
    BEHIND = "behind"
    """It is proved worse than the stack that the answer names."""
    UNMEASURED = "unmeasured"
    """It was raced, but has no place in the standing."""
    NOT_RACED = "not raced"
    """It could not be raced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentErrors:
    """Where what is run today answered so many requests wrongly, or not at all, that it has no result."""

    load: Load
    """The lowest such load level."""
    workload: str = ""
    """By name; empty where the race has a single one."""
    answered: float | None = None
    """The share of answers with another status than expected; None where most errors were no answers."""
    failed: float | None = None
    """The share of requests without a whole answer in time; None where most errors were answers."""
    status: int = 0
    """The status of the wrong answers; 0 where nobody knows it."""
    server: str = ""
    """The title of the server that gave it, where its own header and the kind of status prove that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStanding(StandingNotice):
    """The stack that is run today against the one that the answer names, at the level that it speaks of."""

    unshown: ClassVar[tuple[str, ...]] = ("failure",)  # it stands among the withdrawals

    kind: CurrentKind
    """first: the answer names it; open: it cannot be told from the one named; behind: proved worse than that;
    unmeasured: raced, but without a place; not raced: it could not be."""
    stack: str = ""
    """Stack path; empty where no path can say it."""
    place: str = ""
    """Where the deployment was found, as ``compose.prod.yml:12``."""
    first: str = ""
    """The stack that the answer names."""
    throughput: Interval | None = None
    """Throughput over that of ``first``."""
    memory: float | None = None
    """Memory (peak PSS) over that of ``first``; None where one is unknown."""
    cpu: float | None = None
    """CPU time per request over that of ``first``; None where one is unknown."""
    failure: Failure | None = None
    """Why it has no place."""
    is_partial: bool = False
    """True if the project's files do not say how many workers and threads it has, or of which class."""
    problem: str = ""
    """Why it could not be raced, with what helps."""
    errors: CurrentErrors | None = None
    """Where it fails; None where it does at no level."""
    queue: CurrentQueue | None = None
    """How many connections may wait for it, where it fails and that is fewer than it had."""

    @property
    def is_news(self) -> bool:
        """True if it fails under load."""
        return self.errors is not None
