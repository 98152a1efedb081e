"""A check is declared beside its function: its id, limits, effects, words and source, each stated once.

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

View = TypeVar("View")


class Made(StrEnum):
    """When a check is made."""

    START = "before the start"
    SLICE = "slice"
    RUN = "run"
    """One run of ``stackrace load``."""
    LAUNCH = "launch"
    RACE = "race"


class Cause(StrEnum):
    """What several checks see the signs of; a short report tells such checks together."""

    PROGRAMS = "other programs"
    MACHINE = "an uneven machine"
    ERRORS = "errors"
    WRITING = "writing to disk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limit of each effect, in the check's unit; None: the check never has that effect."""

    warns: float | None = None
    redoes: float | None = None
    invalidates: float | None = None

    @property
    def gravest_first(self) -> tuple[tuple[Effect, float], ...]:
        """The effects that have a limit."""
        every = (
            (Effect.INVALIDATES, self.invalidates),
            (Effect.REDOES, self.redoes),
            (Effect.WARNS, self.warns),
        )
        return tuple((effect, limit) for effect, limit in every if limit is not None)

    @property
    def only_warns(self) -> Limits:
        """These limits without the graver effects."""
        return Limits(warns=self.warns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What there is to say about a check beside its code. Used as a decorator, it makes a function a ``Check``.

    ``seen`` and ``remedy`` are templates, or several by the finding's ``case`` and ``cure``; they are filled with
    the finding's ``value``, ``limit`` and facts, and ``knob`` names what the reader can turn.
    """

    id: str
    """Stable: documents and stores keep it."""
    number: int = 0
    """The number in the method's list of checks; 0 if it has none there."""
    seen: str | Mapping[str, str]
    remedy: str | Mapping[str, str]
    title: str = ""
    """Its id in words, unless it is given."""
    made: tuple[Made, ...]
    source: str = ""
    """The paper, standard or manual it rests on; empty where it speaks for itself."""
    limits: Limits = field(default_factory=Limits)
    unit: Unit = Unit.COUNT
    """A share where ``of`` says of what, unless another one is given."""
    least: bool = False
    """Whether the limits are the least that is right, not the most."""
    effects: tuple[Effect, ...] = ()
    """For checks whose effect does not follow from ``limits``."""
    threshold: str | Mapping[str, str] = ""
    """Template of the limit in words, where "at most" and the limit is not enough."""
    rule: str = ""
    """The limit for the list of checks, where it is not one number: a formula, or what must hold; that of
    ``threshold`` where there are no ``limits``."""
    of: str = ""
    """What a share is of: "of the time"."""
    cause: Cause | None = None
    """What it sees a sign of, where other checks see signs of the same."""
    passing: bool = False
    """Whether what it refuses is worth another try, since its cause may pass; what is refused again counts no more
    than before. For causes that favour some stacks: see docs/method.md."""

    def __post_init__(self) -> None:
        in_words = isinstance(self.threshold, str) and self.limits == Limits()
        derived = dict[str, object](
            title=self.title or self.id.replace("-", " "),
            rule=self.rule or (self.threshold if in_words else ""),
            unit=Unit.SHARE if self.of and self.unit is Unit.COUNT else self.unit,
        )
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __call__(self, function: Callable[[View], Finding | None]) -> Check[View]:
        """Return ``function`` as a check with this declaration."""
        return Check(declaration=self, function=function)

    @property
    def possible_effects(self) -> tuple[Effect, ...]:
        """The effects its findings can have, the mildest first."""
        limited = tuple(effect for effect, _ in self.limits.gravest_first)
        return tuple(effect for effect in Effect if effect in (self.effects or limited))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Check(Generic[View]):
    """A declared check: call it with what there is to see, and it returns a finding or None."""

    declaration: Declaration
    function: Callable[[View], Finding | None]

    def __call__(self, view: View) -> Finding | None:
        """Look at ``view``."""
        return self.function(view)

    @property
    def limits(self) -> Limits:
        """The declared limits."""
        return self.declaration.limits

    @property
    def summary(self) -> str:
        """What the check looks at: the first sentence of its function's docstring."""
        paragraph = (inspect.getdoc(self.function) or "").split("\n\n", 1)[0]
        return re.sub(r"\s+", " ", paragraph).strip()

    def judge(
        self, value: float, *, limits: Limits | None = None, case: str = "", cure: str = "", **facts: Fact
    ) -> Finding | None:
        """Return a finding with the gravest effect whose limit ``value`` crosses; None when it crosses none.

        ``limits`` replace the declared ones where they depend on the observation.
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
