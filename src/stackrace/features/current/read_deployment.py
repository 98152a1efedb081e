"""A deployment that was read from files, with its front end and the project's other deployments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...stacks.stack import ServerSpec
from .fronts import Front
from .hop import ReadHop
from .running import Observation

Place = tuple[str, int]
"""A file, relative to the project's folder, and a line; 0 for the whole file."""
Found = Iterator[tuple[Place, Mapping[str, object]]]
"""Places of mistakes, each with the facts of its sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A deployment as it was read from its files: the input for all kinds of mistakes."""

    hop: ReadHop
    front: Front | None
    """Front end that is raced before it; None without one."""
    others: Sequence[ReadHop]
    """Other deployments of the project that are as likely."""
    servers: Sequence[ServerSpec]
    """All servers of the catalogue."""
    running: Observation | None = None
    """The running server that was observed; None for a deployment of files only."""
