"""What the flags of ``stackrace run`` say of the race itself, and of where its result goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ...model.race import Question
from ...spec.request import RaceRequest

__all__ = ["Output", "RaceOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceOptions:
    """What the flags say; None, empty and False: nothing."""

    stacks: tuple[str, ...] = ()
    servers: Path | None = None
    concurrency: tuple[int, ...] = ()
    close: bool = False
    budget: float | None = None
    slice_s: float | None = None
    question: str | None = None
    difference: float | None = None
    seed: int | None = None

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with the flags on top."""
        return replace(
            request,
            stacks=self.stacks or request.stacks,
            servers=self.servers or request.servers,
            concurrency=self.concurrency or request.concurrency,
            keep_alive=request.keep_alive and not self.close,
            budget_s=self.budget or request.budget_s,
            slice_s=self.slice_s or request.slice_s,
            question=Question(self.question) if self.question else request.question,
            difference=self.difference or request.difference,
            seed=request.seed if self.seed is None else self.seed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where the result goes: the ``store``'s URL, the ``html`` page, and with ``as_json`` a document on stdout."""

    store: str | None = None
    html: Path | None = None
    as_json: bool = False
