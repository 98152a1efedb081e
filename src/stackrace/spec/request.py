"""What the user asks for, before anything is looked up: the race file and the flags, merged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..model.app import Entry
from ..model.race import Question

__all__ = ["LEAST_MEMORY_BYTES", "RaceRequest", "WorkloadRequest"]

LEAST_MEMORY_BYTES = 16 * 2**20
"""What a bare interpreter with a small server in it needs at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadRequest:
    """One of several workloads: ``urls`` or a recorded ``session``; ``stacks`` limits it to these paths.

    With ``think`` the recorded pauses of a session are kept.
    """

    name: str
    urls: tuple[str, ...] = ()
    session: Path | None = None
    stacks: tuple[str, ...] | None = None
    think: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRequest:
    """One race as asked for. None means: not said, so detected or defaulted later.

    ``folder`` is what relative paths are relative to; ``source`` the race file, for messages. ``bundled`` names
    a bundled app in place of an entry. ``headers`` are sent with every request. ``stacks`` are paths as written;
    ``servers`` is a folder with catalogue entries of the user's own.

    A recorded ``session`` stands in place of ``urls``, with its pauses if ``think``; several ``workloads`` stand in
    place of both. With ``repeats`` every cell is run that often, each time on a fresh launch, for ``run_requests``
    (by concurrency where a level has its own number in ``run_requests_at``) or ``run_s`` seconds. ``exhaustive``
    spends the whole budget on all stacks, however early the question is answered. With ``twin`` one of them
    runs twice.

    Each stack may use ``cores`` and hold ``memory_bytes``; ``engine_cores`` are the load engine's. ``quota`` tells
    that a CPU quota of this container is part of what is raced.
    """

    folder: Path
    source: Path | None = None
    entry: Entry | None = None
    python: Path | None = None
    ruby: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    static: Mapping[str, Path] | None = None
    prepare: tuple[tuple[str, ...], ...] = ()
    services: tuple[str, ...] = ()
    urls: tuple[str, ...] | None = None
    host: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    concurrency: tuple[int, ...] | None = None
    keep_alive: bool = True
    timeout_s: float = 10.0
    question: Question = Question.WINNER
    difference: float = 0.05
    budget_s: float | None = None
    slice_s: float | None = None
    seed: int | None = None
    stacks: tuple[str, ...] | None = None
    bundled: str | None = None
    servers: Path | None = None
    session: Path | None = None
    workloads: tuple[WorkloadRequest, ...] = ()
    repeats: int | None = None
    run_requests: int | None = None
    run_requests_at: Mapping[int, int] = field(default_factory=dict)
    run_s: float | None = None
    exhaustive: bool = False
    twin: bool = True
    cores: tuple[int, ...] | None = None
    engine_cores: tuple[int, ...] | None = None
    memory_bytes: int | None = None
    quota: bool = False
    think: bool = False
