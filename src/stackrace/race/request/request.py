"""What the user asks for, before anything is looked up: the race file and the flags, merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from ...app.app import Entry
from ...base.files import MOST_COPIED_BYTES
from ...base.secrets import sent
from ...extensions import RequestPart, declared, load
from ...measure.workload import RightAnswers
from ...stats.values import Question
from ..results.parts import HeldPart, Parts

LEAST_MEMORY_BYTES = 16 * 2**20
"""What a bare interpreter with a small server in it needs at least."""
MOST_SEED = 2**64 - 1


class AskedPart(HeldPart):
    """What a feature is asked for in a race, by flags and keys of the same names."""

    __slots__ = ()

    @classmethod
    def keys(cls) -> Mapping[str, Any]:
        """Return those it has below ``[race]``, each with the type that pydantic checks."""
        raise NotImplementedError

    @classmethod
    def over(cls, before: Self | None, given: Mapping[str, Any], folder: Path) -> Self | None:
        """Return ``before`` with those of ``given`` that are its own on top; relative paths are below ``folder``.

        None where nothing is asked for. Raises InputError for flags that contradict each other.
        """
        raise NotImplementedError

    @property
    def is_elsewhere(self) -> bool:
        """Whether the race is on the machines of a `PlaceProvider`."""
        return False

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that it names."""
        return ()


def parts_over(parts: Parts, given: Mapping[str, Any], folder: Path) -> Parts:
    """Return ``parts`` with what features find in ``given`` on top: see `AskedPart.over`."""
    for each in declared(RequestPart):
        kind: type[AskedPart] = load(each.place)
        if (part := kind.over(parts.get(kind), given, folder)) is not None:
            parts = parts.having(part)
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRequest:
    """One of several workloads: ``urls`` or a recorded ``session``."""

    name: str
    urls: tuple[str, ...] = ()
    session: Path | None = None
    stacks: tuple[str, ...] | None = None
    """The only stacks that have it, as paths; None for all."""
    think: bool = False
    """Whether the recorded pauses of the session are kept."""
    check: RightAnswers = field(default_factory=dict)
    """What a right answer is, by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRequest:
    """One race as asked for. None means: not said, so detected or defaulted later."""

    folder: Path
    """What relative paths are relative to."""
    source: Path | None = None
    """The race file, for messages."""
    entry: Entry | None = None
    python: Path | None = None
    ruby: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """The app's variables."""
    env_files: tuple[Path, ...] = ()
    """Files with more of them; a later one wins, and ``environment`` over all. They may hold secrets, which stay
    there."""
    static: Mapping[str, Path] | None = None
    """Folders that a front end may serve, by URL prefix."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that run once before the race."""
    services: tuple[str, ...] = ()
    """What the app needs beside it, by name."""
    protect: tuple[Path, ...] = ()
    """Folders outside of the project that the app writes to."""
    most_copied_bytes: int = MOST_COPIED_BYTES
    """What is copied of the project at most, where it cannot be covered, or is sent to other machines."""
    urls: tuple[str, ...] | None = None
    new_pages: bool = False
    """Whether pages that nobody names are chosen anew, and not those of the project's last race."""
    host: str | None = None
    """The Host header."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent with every request."""
    concurrency: tuple[int, ...] | None = None
    keep_alive: bool = True
    timeout_s: float = 10.0
    """The longest wait for an answer."""
    question: Question = Question.WINNER
    difference: float = 0.05
    """The share that does not matter to the user: 0.05 is 5 %."""
    budget_s: float | None = None
    """How long the whole race may take."""
    slice_s: float | None = None
    """The length of a slice."""
    seed: int | None = None
    stacks: tuple[str, ...] | None = None
    """Paths as written."""
    contestants: bool | None = None
    """Whether features' `Contestants` race, too; None: where ``stacks`` names none."""
    bundled: str | None = None
    """The name of a bundled app, in place of ``entry``."""
    servers: Path | None = None
    """A folder with catalogue entries of the user's own."""
    session: Path | None = None
    """A recording, in place of ``urls``."""
    workloads: tuple[WorkloadRequest, ...] = ()
    """In place of both ``urls`` and ``session``."""
    repeats: int | None = None
    """How often every cell is run, each time on a fresh launch, in place of slices."""
    run_requests: int | None = None
    """The length of such a run, in requests."""
    run_requests_at: Mapping[int, int] = field(default_factory=dict)
    """The same by concurrency, where a level has its own number."""
    run_s: float | None = None
    """The length of such a run, in seconds."""
    exhaustive: bool = False
    """Whether the whole budget is spent on all stacks, however early the question is answered."""
    give_up: bool = False
    """Whether the race ends at half of its budget where the rest of it is unlikely to decide."""
    twin: bool = True
    """Whether one stack runs twice."""
    cores: tuple[int, ...] | None = None
    """Those that each stack may use, by number."""
    engine_cores: tuple[int, ...] | None = None
    """The load engine's."""
    memory_bytes: int | None = None
    """The most that each stack may hold."""
    quota: bool = False
    """Whether a CPU quota of this container is part of what is raced."""
    priority: bool = True
    """Whether engine, stacks and services run at a priority that other programs cannot share, where they may."""
    think: bool = False
    """Whether the recorded pauses of the session are kept."""
    check: RightAnswers = field(default_factory=dict)
    """What a right answer is, by path."""
    parts: Parts = field(default_factory=Parts)
    """What features are asked for."""

    def __post_init__(self) -> None:
        # the app's processes work elsewhere
        object.__setattr__(self, "folder", self.folder.absolute())

    @property
    def sent(self) -> Mapping[str, str]:
        """What its pages' paths and its headers say by name, secrets among it."""
        urls = [*(self.urls or ()), *(url for workload in self.workloads for url in workload.urls)]
        return sent(urls, self.headers)

    @property
    def asked_parts(self) -> tuple[AskedPart, ...]:
        """What is asked of features that are here."""
        return tuple(part for part in self.parts.held.values() if isinstance(part, AskedPart))
