"""The user's request for a race, before anything is looked up: the race file and the flags, merged."""

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
"""The least memory that a bare interpreter with a small server needs."""
MOST_SEED = 2**64 - 1


class AskedPart(HeldPart):
    """A feature's part of a request, given by flags and keys of the same names."""

    __slots__ = ()

    @classmethod
    def keys(cls) -> Mapping[str, Any]:
        """Return the feature's keys below ``[race]``, each with the type that pydantic checks."""
        raise NotImplementedError

    @classmethod
    def over(cls, before: Self | None, given: Mapping[str, Any], folder: Path) -> Self | None:
        """Return ``before`` updated with the feature's own keys of ``given``; relative paths are below ``folder``.

        None if nothing is requested. Raises InputError for flags that contradict each other.
        """
        raise NotImplementedError

    @property
    def is_elsewhere(self) -> bool:
        """True if the race runs on the machines of an `extensions.MachineProvider`."""
        return False

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the request names for this feature."""
        return ()


def parts_over(parts: Parts, given: Mapping[str, Any], folder: Path) -> Parts:
    """Return ``parts`` updated with the features' own keys of ``given``: see `AskedPart.over`."""
    for each in declared(RequestPart):
        kind: type[AskedPart] = load(each.import_path)
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
    """Paths of the only stacks that get this workload; None for all stacks."""
    think: bool = False
    """True if the recorded pauses of the session are kept."""
    check: RightAnswers = field(default_factory=dict)
    """Rules for right answers, by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceRequest:
    """A requested race. None means not given: detected or defaulted later."""

    folder: Path
    """Folder that relative paths start from."""
    source: Path | None = None
    """The race file, for messages."""
    entry: Entry | None = None
    python: Path | None = None
    ruby: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the app."""
    env_files: tuple[Path, ...] = ()
    """Files with more variables; a later file wins, and ``environment`` wins over all. Secrets in these files are
    not stored elsewhere."""
    static: Mapping[str, Path] | None = None
    """Folders that a front end may serve, by URL prefix."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that run once before the race."""
    services: tuple[str, ...] = ()
    """Names of the services that the app needs."""
    protect: tuple[Path, ...] = ()
    """Folders outside of the project that the app writes to."""
    most_copied_bytes: int = MOST_COPIED_BYTES
    """The most bytes of the project to copy: into a protected copy where namespaces are forbidden, or to other
    machines."""
    urls: tuple[str, ...] | None = None
    new_pages: bool = False
    """True to choose pages anew if none are named, instead of racing the pages of the project's last race."""
    host: str | None = None
    """The Host header."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers of every request."""
    concurrency: tuple[int, ...] | None = None
    keep_alive: bool = True
    timeout_s: float = 10.0
    """The longest wait for an answer."""
    silent: int = 0
    """Connections beside the load that send nothing."""
    idle: int = 0
    """Connections beside the load that are kept open after one answer."""
    question: Question = Question.WINNER
    difference: float = 0.05
    """The difference that does not matter to the user: 0.05 is 5 %."""
    budget_s: float | None = None
    """Time for the whole race, in seconds."""
    slice_s: float | None = None
    """Length of a slice, in seconds."""
    seed: int | None = None
    stacks: tuple[str, ...] | None = None
    """Stack paths as written."""
    contestants: bool | None = None
    """True if features' `extensions.Contestants` race, too; None: only if ``stacks`` is None."""
    bundled: str | None = None
    """The name of a bundled app, in place of ``entry``."""
    servers: Path | None = None
    """Folder with the user's own catalogue entries."""
    session: Path | None = None
    """A recording, in place of ``urls``."""
    workloads: tuple[WorkloadRequest, ...] = ()
    """Several workloads, in place of ``urls`` and ``session``."""
    repeats: int | None = None
    """Runs of every cell, each on a fresh launch, in place of slices."""
    run_requests: int | None = None
    """Length of a run, in requests."""
    run_requests_at: Mapping[int, int] = field(default_factory=dict)
    """Length of a run in requests by concurrency, for levels with a length of their own."""
    run_s: float | None = None
    """Length of a run, in seconds."""
    exhaustive: bool = False
    """True if the whole budget is spent on all stacks, however early the question is answered."""
    give_up: bool = False
    """True if the race ends at half of its budget when the rest is unlikely to decide."""
    twin: bool = True
    """True if one stack also runs as its hidden twin."""
    cores: tuple[int, ...] | None = None
    """Numbers of the cores that each stack may use."""
    engine_cores: tuple[int, ...] | None = None
    """Numbers of the load engine's cores."""
    memory_bytes: int | None = None
    """The most memory that each stack may hold."""
    quota: bool = False
    """True if this container's CPU quota is intended, so that throttling only gives a warning."""
    priority: bool = True
    """True if engine, stacks and services run at a priority that other programs cannot share, if permitted."""
    think: bool = False
    """True if the recorded pauses of the session are kept."""
    check: RightAnswers = field(default_factory=dict)
    """Rules for right answers, by path."""
    parts: Parts = field(default_factory=Parts)
    """The features' parts of the request."""

    def __post_init__(self) -> None:
        # the app's processes have other working directories
        object.__setattr__(self, "folder", self.folder.absolute())

    @property
    def sent(self) -> Mapping[str, str]:
        """Values that the pages' paths and the headers send, by name, secrets included."""
        urls = [*(self.urls or ()), *(url for workload in self.workloads for url in workload.urls)]
        return sent(urls, self.headers)

    @property
    def asked_parts(self) -> tuple[AskedPart, ...]:
        """Parts of the request whose features are installed."""
        return tuple(part for part in self.parts.held.values() if isinstance(part, AskedPart))
