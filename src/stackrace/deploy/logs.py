"""What a stack writes: how much, and its last words when it failed."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["OUTPUT", "size_bytes", "tail"]

OUTPUT = "output.log"
"""Where a process's standard output and error go, in its directory."""


def tail(directory: Path, lines: int = 12) -> str:
    """Return the last ``lines`` of every log below ``directory``, each under its name; empty if all are."""
    parts = []
    for path in sorted(directory.rglob("*.log")):
        text = _end(path)
        if text:
            last = "\n".join(text.splitlines()[-lines:])
            parts.append(f"{path.relative_to(directory)}:\n{last}")
    return "\n".join(parts)


def size_bytes(directory: Path) -> int:
    """Return how much the files below ``directory`` hold together; one that vanishes meanwhile holds nothing."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += Path(folder, name).lstat().st_size
    return total


def _end(path: Path, most_bytes: int = 16_384) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - most_bytes, 0))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
