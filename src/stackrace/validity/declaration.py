"""Declarations of checks, beside their functions: id, limits, effects, words and source, each stated once.

The function reads its limits from the declaration, the words are filled in from the finding's facts, and
``docs/checks.md`` is written from the same values.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Generic, TypeVar

from ..base.verdict import Effect, Fact, Finding, Unit

_View = TypeVar("_View")


class Made(StrEnum):
    """Moment at which a check is made."""

    START = "before the start"
    SLICE = "slice"
    RUN = "run"
    """One run of ``stackrace load``."""
    LAUNCH = "launch"
    RACE = "race"


class Cause(StrEnum):
    """Common cause of several checks; a short report joins such checks."""

    PROGRAMS = "other programs"
    MACHINE = "an uneven machine"
    ERRORS = "errors"
    WRITING = "writing to disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limit of each effect, in the check's unit; None if the check never has the effect."""

    warns: float | None = None
    redoes: float | None = None
    invalidates: float | None = None

    @property
    def gravest_first(self) -> tuple[tuple[Effect, float], ...]:
        """Effects that have a limit, the gravest first."""
        every = (
            (Effect.INVALIDATES, self.invalidates),
            (Effect.REDOES, self.redoes),
            (Effect.WARNS, self.warns),
        )
        return tuple((effect, limit) for effect, limit in every if limit is not None)

    @property
    def only_warns(self) -> Limits:
        """The same limits without the graver effects."""
        return Limits(warns=self.warns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Declaration of a check. Used as a decorator, it makes a function a ``Check``.

    ``seen`` and ``remedy`` are templates, or several by the finding's ``case`` and ``cure``. They are filled with
    the finding's ``value``, ``limit`` and facts, and ``knob`` names the settings that the reader can change.
    """

    id: str
    """Stable identifier: documents and stores keep it."""
    number: int = 0
    """Number in the method's list of checks; 0 if it has none there."""
    seen: str | Mapping[str, str]
    """Template of the measured facts in words."""
    remedy: str | Mapping[str, str]
    """Template of the remedy."""
    title: str = ""
    """Name of the check; by default its id in words."""
    made: tuple[Made, ...]
    source: str = ""
    """Paper, standard or manual that the check rests on; empty if it needs none."""
    limits: Limits = field(default_factory=Limits)
    unit: Unit = Unit.COUNT
    """Measure of the limits; a share by default if ``of`` is given."""
    least: bool = False
    """True if the limits are minimums, not maximums."""
    effects: tuple[Effect, ...] = ()
    """Effects that do not follow from ``limits``."""
    threshold: str | Mapping[str, str] = ""
    """Template of the limit in words, if "at most" and the limit is not enough."""
    rule: str = ""
    """Limit for the list of checks, if it is not one number: a formula, or a condition; by default ``threshold`` if
    there are no ``limits``."""
    of: str = ""
    """Whole that a share is taken of: "of the time"."""
    cause: Cause | None = None
    """Common cause, if other checks show the same."""
    passing: bool = False
    """True if a slice that the check refuses is worth another try, since the cause may pass; a slice refused again
    counts no more than before. For causes that favour some stacks: see docs/method.md."""

    def __post_init__(self) -> None:
        in_words = isinstance(self.threshold, str) and self.limits == Limits()
        derived = dict[str, object](
            title=self.title or self.id.replace("-", " "),
            rule=self.rule or (self.threshold if in_words else ""),
            unit=Unit.SHARE if self.of and self.unit is Unit.COUNT else self.unit,
        )
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __call__(self, function: Callable[[_View], Finding | None]) -> Check[_View]:
        """Return ``function`` as a check with this declaration."""
        return Check(declaration=self, function=function)

    @property
    def possible_effects(self) -> tuple[Effect, ...]:
        """Effects that its findings can have, the mildest first."""
        limited = tuple(effect for effect, _ in self.limits.gravest_first)
        return tuple(effect for effect in Effect if effect in (self.effects or limited))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Check(Generic[_View]):
    """Check with its declaration; a call with an observation returns a finding or None."""

    declaration: Declaration
    function: Callable[[_View], Finding | None]

    def __call__(self, view: _View) -> Finding | None:
        """Return the finding on ``view``, or None."""
        return self.function(view)

    @property
    def limits(self) -> Limits:
        """Declared limits."""
        return self.declaration.limits

    @property
    def summary(self) -> str:
        """Description of the check: the first paragraph of its function's docstring."""
        paragraph = (inspect.getdoc(self.function) or "").split("\n\n", 1)[0]
        return re.sub(r"\s+", " ", paragraph).strip()

    def judge(
        self, value: float, *, limits: Limits | None = None, case: str = "", cure: str = "", **facts: Fact
    ) -> Finding | None:
        """Return a finding with the gravest effect whose limit ``value`` crosses; None if it crosses none.

        ``limits`` replace the declared ones if they depend on the observation.
        """
        for effect, limit in (limits or self.limits).gravest_first:
            if value < limit if self.declaration.least else value > limit:
                return self.finding(value=value, limit=limit, effect=effect, case=case, cure=cure, **facts)
        return None

    def finding(
        self,
        *,
        effect: Effect | None = None,
        value: float | None = None,
        limit: float | None = None,
        case: str = "",
        cure: str = "",
        **facts: Fact,
    ) -> Finding:
        """Return a finding; its effect is the mildest possible one unless ``effect`` is given."""
        return Finding(
            check=self.declaration.id,
            effect=effect or self.declaration.possible_effects[0],
            value=value,
            limit=limit,
            unit=self.declaration.unit,
            case=case,
            cure=cure,
            facts=facts,
        )


before_start = partial(Declaration, made=(Made.START,))
on_slice = partial(Declaration, made=(Made.SLICE,))
on_slice_and_run = partial(Declaration, made=(Made.SLICE, Made.RUN))
on_launch = partial(Declaration, made=(Made.LAUNCH,))
on_race = partial(Declaration, made=(Made.RACE,))
