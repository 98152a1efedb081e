"""A deployment as its files say it, with what stands before and beside it: all that its mistakes are found in."""

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
    """A deployment as its files say it."""

    hop: ReadHop
    front: Front | None
    """The front end that is raced before it."""
    others: Sequence[ReadHop]
    """Other deployments of the project that are as likely."""
    servers: Sequence[ServerSpec]
    """All that a project may start."""
    running: Observation | None = None
    """The running server that it is; None for one of files."""
