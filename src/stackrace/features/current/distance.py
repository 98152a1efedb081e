"""Distance of a project's present deployment from the best stack of a race."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ...base.numbers import Interval
from ...measure.launch import Failure
from ...measure.load import Load
from ...race.results.standing import StandingNotice
from .model import CurrentQueue


class CurrentKind(StrEnum):
    """Result of a race for the stack of the present deployment."""

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

    unshown: ClassVar[tuple[str, ...]] = ("failure",)  # the withdrawals contain it

    kind: CurrentKind
    """first: the answer names it; open: it cannot be told from the one named; behind: proved worse than that;
    unmeasured: raced, but without a place; not raced: it could not be."""
    stack: str = ""
    """Stack path; empty where no path can say it."""
    location: str = ""
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
    """Limit of connections that wait for it, if it fails under more of them."""

    @property
    def is_news(self) -> bool:
        """True if it fails under load."""
        return self.errors is not None
