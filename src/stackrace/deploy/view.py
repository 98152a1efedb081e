"""The file system as the app's processes see it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..base.present import real_path
from ..base.process.namespaces import enter

__all__ = ["View"]


@dataclass(frozen=True, slots=True)
class View:
    """What a process sees that runs in the namespaces of ``pid``; without one, what everybody sees."""

    pid: int | None = None

    def path(self, path: Path) -> Path:
        """Return where this process finds what the app's processes find at ``path``."""
        # an absolute link would lead out of the view again
        return path if self.pid is None else Path(f"/proc/{self.pid}/root", *real_path(path).parts[1:])

    def entering(self, folder: Path) -> Callable[[], None] | None:
        """Return what a new process does first, as ``preexec_fn``: it goes to ``folder`` in this view."""
        pid = self.pid
        if pid is None:
            return None

        def begin() -> None:
            enter(pid)
            os.chdir(folder)

        return begin
