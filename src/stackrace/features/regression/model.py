"""A check: the same race run by two versions of an app, to find out whether the second is slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from ...race.results.comparison import Outcome, Response, Ruling, State, Terms
from ...race.results.parts import RacePart

if TYPE_CHECKING:
    from ...race.results.race import Race


ON_REQUEST = frozenset({Response.P90, Response.P50})
"""Responses that are judged only on request."""


TERMS: Mapping[Response, Terms] = {
    Response.THROUGHPUT: Terms(allowance=0.01, limit=0.04),
    Response.CPU: Terms(allowance=0.01, limit=0.04),
    Response.P99: Terms(allowance=0.05, limit=0.20),
    Response.P90: Terms(allowance=0.05, limit=0.20),
    Response.P50: Terms(allowance=0.05, limit=0.20),
    Response.MEMORY: Terms(allowance=0.02, limit=0.06),
    Response.ERRORS: Terms(allowance=0.001, limit=0.003),
    Response.START: Terms(allowance=0.05, limit=0.20),
}
"""Default terms of each response; docs/decisions/0065-a-check-in-two-stages.md gives the reasons."""


def terms_of(response: Response, allowance: float) -> Terms:
    """Return the terms of ``response`` for an ``allowance``: the limit keeps its default distance from it."""
    usual = TERMS[response]
    return Terms(allowance=allowance, limit=allowance + usual.limit - usual.allowance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """What exactly one side was."""

    label: str
    """Name that the user would use: ``main``, ``the work tree``."""
    revision: str = ""
    """The commit's full name; empty where the folder is under no version control."""
    changed: int = 0
    """How many files differed from that commit, or were not in it."""
    python: str = ""
    """The app's interpreter, by its path."""
    settings: str = ""
    """The Django settings module, where it was given for this side."""
    stack: str = ""
    """The stack's path."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version of each server and of the interpreter, by name; empty where it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts(RacePart):
    """What a race compares as a check."""

    name: ClassVar[str] = "check"

    base: Contender
    """What the base was."""
    head: Contender
    """What the head was."""
    allowances: Mapping[str, float] = field(default_factory=dict)
    """What is allowed of each response that is judged, by its name."""
    packages: tuple[str, ...] = ()
    """What differs between the packages of the two environments, as ``flask 3.1.2 → 3.0.3``."""
    upgraded: tuple[str, ...] = ()
    """Servers whose versions alone differ, as ``gunicorn 25.0.3 → 27.0.1``; empty where anything else differs."""
    changed_rarely: tuple[str, ...] = ()
    """Pages, as ``GET /path``, that rarely changed while the head's app was examined, and never in the base's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedLaunches:
    """How many launches of each side did not come up, answered wrongly, or died."""

    base: int = 0
    head: int = 0
    confirmed: bool = False
    """True if that is the head's doing: four of its launches failed in a row, or seven in all, and none of the
    base's."""

    @property
    def may_be_confirmed(self) -> bool:
        """True if further launches may show that the head causes the failures."""
        return self.head > 0 and not self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingPages:
    """Pages whose answers changed during the check in the head's app itself, and never in the base's."""

    names: tuple[str, ...] = ()
    """Methods and paths: ``GET /path``."""
    confirmed: bool = False
    """True once the base, measured after the change, still answered as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """The answer of a check."""

    outcome: Outcome
    """passed: not slower, see each ruling's change.high for what could have been missed; failed: slower than
    allowed, or its launches fail, confirmed, or pages change in it alone; undecided: neither is shown; refused: no
    valid measurements."""
    rulings: tuple[Ruling, ...]
    """One for each response, workload by workload."""
    blocks: int = 0
    """Pairs of launches, refused ones included."""
    valid: int = 0
    """Pairs of which neither launch was refused or failed."""
    failed: FailedLaunches = field(default_factory=FailedLaunches)
    """A check with a failed launch of the head does not pass."""
    changing: ChangingPages = field(default_factory=ChangingPages)
    """A check with a page that changes in the head alone does not pass."""
    needed_s: float | None = None
    """About how many more seconds would probably decide an undecided check; None where that is unknown."""

    @property
    def exit_code(self) -> int:
        """What the command ends with."""
        return _CODES[self.outcome]

    @property
    def is_bad(self) -> bool:
        """True if the check failed or was refused."""
        return self.outcome in (Outcome.FAILED, Outcome.REFUSED)

    @property
    def slower(self) -> tuple[Ruling, ...]:
        """Rulings on responses that are confirmed to be slower."""
        return tuple(ruling for ruling in self.rulings if ruling.state is State.SLOWER)

    @property
    def unsettled(self) -> tuple[Ruling, ...]:
        """Rulings on responses that are neither clear nor confirmed to be slower."""
        return tuple(each for each in self.rulings if each.state not in (State.CLEAR, State.SLOWER))


_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.UNDECIDED: 3, Outcome.REFUSED: 3}


def gate_of(race: Race) -> GateFacts:
    """Return the part that ``race``, a check, stores; raises ValueError if the race is no check."""
    part = race.parts.get(GateFacts)
    if part is None:
        raise ValueError(f"race {race.id} is no check")
    return part
