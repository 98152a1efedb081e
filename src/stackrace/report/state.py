"""What the live view shows, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..measure.host import Disturbance
from ..measure.launch import Failure
from ..race.events import Activity
from ..race.results.standing import Standing
from . import figures
from .words.neighbours import disturbed

__all__ = ["LiveState", "Mishap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mishap:
    """A launch that failed, as it happens."""

    stack: str
    block: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveState:
    """A race at one moment.

    ``activity`` is what is being done, ``level`` what is measured (``static, c=20``); ``block`` counts from 1, is
    0 before the first. ``eta_s`` is the time left, None while unknown; ``mishaps`` holds all failures so far. What
    is counted are ``unit``, slices or runs; the number of ``blocks`` is known for runs only. A race whose result is
    of another kind has ``leading`` in place of a ``standing``, a line of it. ``stacks`` are all that began, ``out``
    those that need not go on, with the block after which they left. An answer is likely in ``answer_s``, None where
    nobody knows.
    """

    activity: Activity
    level: str = ""
    block: int = 0
    slices_done: int = 0
    slices_planned: int = 0
    elapsed_s: float = 0.0
    eta_s: float | None = None
    stack: str = ""
    stacks: tuple[str, ...] = ()
    out: Mapping[str, int] = field(default_factory=dict)
    answer_s: float | None = None
    standing: Standing | None = None
    leading: str = ""
    mishaps: tuple[Mishap, ...] = ()
    unit: str = "slices"
    blocks: int | None = None
    disturbance: Disturbance | None = None

    @property
    def action(self) -> str:
        """What is being done: ``warming up``, ``measuring static, c=20``."""
        if self.activity is Activity.CALIBRATING:
            return "calibrating the load engine"
        if self.disturbance is not None:
            return disturbed(self.disturbance)
        return f"{self.activity} {self.level}".rstrip()

    @property
    def left(self) -> str:
        """The time left in words; empty while unknown. Slices may end sooner, runs are counted and only guessed."""
        if self.eta_s is None:
            return ""
        return f"{'at most' if self.blocks is None else 'about'} {figures.duration(self.eta_s)} left"

    @property
    def answer(self) -> str:
        """When an answer is likely, in words; empty where nobody knows."""
        return "" if self.answer_s is None else f"about {figures.duration(self.answer_s)} to the likely answer"

    @property
    def where(self) -> str:
        """The block: ``block 3``, or ``block 3 of 5`` where their number is known; empty before the first."""
        if not self.block:
            return ""
        return f"block {self.block}" + (f" of {self.blocks}" if self.blocks else "")
