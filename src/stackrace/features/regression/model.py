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
    """One side of a check."""

    label: str
    """Name that the user would use: ``main``, ``the work tree``."""
    revision: str = ""
    """Full name of the commit; empty if the folder is under no version control."""
    changed: int = 0
    """Number of files that differed from the commit, or were not in it."""
    python: str = ""
    """Path of the app's interpreter."""
    settings: str = ""
    """Django settings module, if given for this side."""
    stack: str = ""
    """Stack path."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version of each server and of the interpreter, by name; empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFacts(RacePart):
    """Subject of a check."""

    name: ClassVar[str] = "check"

    base: Contender
    """Version before the change."""
    head: Contender
    """Version with the change."""
    allowances: Mapping[str, float] = field(default_factory=dict)
    """Allowed change for the worse of each judged response, by its name: 0.05 is 5 %."""
    packages: tuple[str, ...] = ()
    """Differences between the packages of both environments, as ``flask 3.1.2 → 3.0.3``."""
    upgraded: tuple[str, ...] = ()
    """Servers with different versions, if nothing else differs, as ``gunicorn 25.0.3 → 27.0.1``."""
    changed_rarely: tuple[str, ...] = ()
    """Pages, as ``GET /path``, that rarely changed while the head was examined, and never in the base."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedLaunches:
    """Number of launches of each side that did not come up, answered wrongly, or died."""

    base: int = 0
    head: int = 0
    confirmed: bool = False
    """True if the head causes the failures: four of its launches failed in a row, or seven in all, and none of the
    base's."""

    @property
    def may_be_confirmed(self) -> bool:
        """True if further launches may show that the head causes the failures."""
        return self.head > 0 and not self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingPages:
    """Pages whose answers changed during the check in the head's app itself, and never in the base's."""

    names: tuple[str, ...] = ()
    """Methods and paths, as ``GET /path``."""
    confirmed: bool = False
    """True if the base still answered as before when it was measured after the change of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """Answer of a check."""

    outcome: Outcome
    """passed: not slower, see each ruling's change.high for what could have been missed; failed: slower than
    allowed, or its launches fail, confirmed, or pages change in it alone; undecided: neither is shown; refused: no
    valid measurements."""
    rulings: tuple[Ruling, ...]
    """One ruling for each response, workload by workload."""
    blocks: int = 0
    """Number of pairs of launches, refused pairs included."""
    valid: int = 0
    """Number of pairs without a refused or failed launch."""
    failed: FailedLaunches = field(default_factory=FailedLaunches)
    """A check with a failed launch of the head does not pass."""
    changing: ChangingPages = field(default_factory=ChangingPages)
    """A check with a page that changes in the head alone does not pass."""
    needed_s: float | None = None
    """About as many more seconds would probably decide an undecided check; None if unknown."""

    @property
    def exit_code(self) -> int:
        """Exit code of the command."""
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
