"""One injected fault: what is done, what ought to be said about it, and what was."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from stackrace.base.verdict import Finding, Verdict
from stackrace.race.results.race import Race
from stackrace.report.merged_standing import standing_of
from stackrace.report.words import findings as say
from stackrace.report.words.findings import failure_kind
from stackrace.validity.observation import Observation
from stackrace.validity.registry import examine

Found = Mapping[str, str]
"""What was complained of: checks and kinds of failure by name, each with what was seen first."""


class How(StrEnum):
    """How a fault gets into the measurement."""

    REAL = "real"
    """It happens on this machine, and is named whatever the machine does meanwhile."""
    TIMED = "timed"
    """It happens on this machine, but takes long, or the clock has a say in whether it shows: not in the tests."""
    REPLAYED = "replayed"
    """It cannot be brought about safely here: the checks get what they would have seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A lie of a stack of its own, in runs with these ``options``; those alike may share a race, in turn."""

    stack: str
    options: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault by ``name``. ``expects`` are the names of which any one will do; ``inject`` returns what was said.

    ``told`` is known of a fault that is no more than one stack in a race.
    """

    name: str
    does: str
    expects: tuple[str, ...]
    how: How
    inject: Callable[[], Found]
    told: Told | None = None


def fault(name: str, does: str, *expects: str, inject: Callable[[], Found], how: How = How.REAL) -> Fault:
    """Return a fault that is injected by ``inject``."""
    return Fault(name=name, does=does, expects=expects, how=how, inject=inject)


def recorded(name: str, does: str, *expects: str, seen: Observation) -> Fault:
    """Return the fault of a slice that was recorded: the checks get what they would have seen."""
    return fault(name, does, *expects, inject=lambda: replayed(seen), how=How.REPLAYED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a fault; ``skipped`` says why it could not be injected here, empty when it was."""

    fault: Fault
    found: Found
    seconds: float
    skipped: str = ""

    @property
    def named(self) -> bool:
        """Whether what was expected is among what was said."""
        return any(name in self.found for name in self.fault.expects)


class CannotInject(Exception):  # noqa: N818 (an answer, not an error)
    """This machine does not allow the fault; the text says what is missing."""


def play(fault: Fault) -> Outcome:
    """Inject ``fault`` and return what came of it."""
    begun = time.monotonic()
    try:
        found, skipped = fault.inject(), ""
    except CannotInject as reason:
        found, skipped = {}, str(reason)
    except Exception as error:
        found, skipped = {f"{type(error).__name__} raised": str(error)}, ""
    return Outcome(fault=fault, found=found, seconds=time.monotonic() - begun, skipped=skipped)


def in_verdict(verdict: Verdict) -> Found:
    """Return what a verdict complains of."""
    return _first_of(verdict.findings)


def replayed(seen: Observation) -> Found:
    """Return what the checks say of a slice."""
    return in_verdict(examine(seen))


def in_race(race: Race, stack: str = "") -> Found:
    """Return what was complained of in a race: slices, launches and failures, of ``stack`` alone if it is named.

    What is said of the race as a whole belongs to no stack.
    """
    launches = [launch for launch in race.launches if not stack or launch.stack == stack]
    found = _first_of(
        [
            *(finding for launch in launches for slice_ in launch.slices for finding in slice_.verdict.findings),
            *(finding for launch in launches for finding in launch.verdict.findings),
            *(() if stack else standing_of(race).verdict.findings),
        ]
    )
    failures = {
        failure_kind(launch.failure): launch.failure.message for launch in reversed(launches) if launch.failure
    }
    return {**found, **failures}


def _first_of(findings: Iterable[Finding]) -> Found:
    found: dict[str, str] = {}
    for finding in findings:
        found.setdefault(say.title(finding), say.seen(finding))
    return found
