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
    """Load level at which the present deployment gives so many wrong or missing answers that it has no result."""

    load: Load
    """Lowest such load level."""
    workload: str = ""
    """Name of the workload; empty if the race has only one."""
    answered: float | None = None
    """Share of answers with a wrong status; None if most errors were missing answers."""
    failed: float | None = None
    """Share of requests without a whole answer in time; None if most errors were wrong answers."""
    status: int = 0
    """Status of the wrong answers; 0 if unknown."""
    server: str = ""
    """Title of the server that gave this status, if its header and the kind of status prove it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentStanding(StandingNotice):
    """Stack of the present deployment, compared with the stack that the answer names, at the answer's level."""

    unshown: ClassVar[tuple[str, ...]] = ("failure",)  # the withdrawals contain it

    kind: CurrentKind
    """first: the answer names it; open: it cannot be told from the one named; behind: proved worse than that;
    unmeasured: raced, but without a place; not raced: it could not be."""
    stack: str = ""
    """Stack path; empty if no path describes the deployment."""
    location: str = ""
    """Place where the deployment was found, as ``compose.prod.yml:12``."""
    first: str = ""
    """Stack that the answer names."""
    throughput: Interval | None = None
    """Throughput divided by that of ``first``."""
    memory: float | None = None
    """Memory (peak PSS) divided by that of ``first``; None if one is unknown."""
    cpu: float | None = None
    """CPU time per request divided by that of ``first``; None if one is unknown."""
    failure: Failure | None = None
    """Reason why it has no place in the standing."""
    is_partial: bool = False
    """True if the project's files do not say the number of workers and threads, or the worker class."""
    problem: str = ""
    """Reason why it could not be raced, with the way out."""
    errors: CurrentErrors | None = None
    """Lowest level at which it fails; None if it fails at none."""
    queue: CurrentQueue | None = None
    """Limit of waiting connections, if it fails with more connections than that."""

    @property
    def is_news(self) -> bool:
        """True if it fails under load."""
        return self.errors is not None
