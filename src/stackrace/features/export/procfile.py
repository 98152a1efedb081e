"""Procfile: the commands for who starts processes by name (foreman, honcho, Heroku and its kin)."""

from __future__ import annotations

import shlex

from .layout import Process
from .wanted import Export

__all__ = ["procfile"]


def procfile(export: Export) -> str:
    """Return it, the front as ``web``. Its runner makes no folders: README.md has the command that does."""
    return "".join(
        f"{'web' if process is export.front else process.name}: {_line(process)}\n"
        for process in reversed(export.processes)
    )


def _line(process: Process) -> str:
    """Return the command with the server's own variables; ``env`` puts itself in its place."""
    own = [f"{name}={value}" for name, value in process.variables.items()]
    return shlex.join([*(["env", *own] if own else []), *process.command])
