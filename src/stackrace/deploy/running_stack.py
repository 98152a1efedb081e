"""A stack that is up, and what its processes say."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..base.files import opened
from ..base.present import walk
from ..base.secrets import masked, masked_tail
from ..stacks.stack import Stack
from .confinement import Group
from .rendering import Part

__all__ = ["OUTPUT", "Running", "ended", "logs_below", "size_bytes", "tail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A stack that is up."""

    stack: Stack
    host: str
    """The address of the front hop, as ``port``."""
    port: int
    directory: Path
    """The private folder of this launch."""
    parts: tuple[tuple[Part, int], ...]
    """Each process with its pid, those of the last hop first."""
    started_s: float
    """When the start began, on CLOCK_MONOTONIC."""
    ready_s: float
    """How long it took until all answers were right."""
    group: Group | None = None
    """Its control group, where it has one."""

    @property
    def hops(self) -> dict[str, tuple[int, ...]]:
        """The first process of every instance, by hop name, front first."""
        hops: dict[str, tuple[int, ...]] = {}
        for part, pid in reversed(self.parts):
            hops[part.hop] = (*hops.get(part.hop, ()), pid)
        return hops


def ended(code: int) -> str:
    """Say how a process ended, from its exit code as Python has it: negative for a signal."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


OUTPUT = "output.log"
"""Where a process's standard output and error go, in its directory."""


def tail(directory: Path, lines: int = 12) -> str:
    """Return the last ``lines`` of every log below ``directory``, each under its name; empty if all are.

    The app's secrets are masked.
    """
    parts = []
    for path in sorted(logs_below(directory)):
        text = _end(path)
        if text:
            last = "\n".join(text.splitlines()[-lines:])
            parts.append(f"{path.relative_to(directory)}:\n{last}")
    return "\n".join(parts)


def size_bytes(directory: Path) -> int:
    """Return how much the files below ``directory`` hold together."""
    total = 0
    for path in _files_below(directory):
        with suppress(OSError):
            total += path.lstat().st_size
    return total


def logs_below(directory: Path) -> Iterator[Path]:
    """Yield every log below ``directory``."""
    return (path for path in _files_below(directory) if path.suffix == ".log")


def _files_below(directory: Path) -> Iterator[Path]:
    # Path.rglob raises FileNotFoundError for a folder that vanishes, walk passes it over
    return (Path(folder, name) for folder, _, names in walk(directory) for name in names)


def _end(path: Path, most_bytes: int = 16_384) -> str:
    try:
        with opened(path) as file:
            is_cut = file.seek(max(file.seek(0, os.SEEK_END) - most_bytes, 0)) > 0
            text = file.read(most_bytes).decode("utf-8", "replace")
            return (masked_tail(text) if is_cut else masked(text)).strip()
    except OSError:
        return ""
