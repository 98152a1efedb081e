"""The pages of a project's last race, stored so that its next race measures the same work."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...app.app import App
from ...base.errors import StackraceError
from ...base.files import read_text
from ...base.http_syntax import path_fault
from ...deploy.environments import cache_folder
from ...deploy.privileges import private_folder
from ..request.request import RaceRequest


@dataclass(frozen=True, slots=True)
class StoredPages:
    """A list of paths in Stackrace's cache, one on each line."""

    file: Path

    def read(self) -> tuple[str, ...]:
        """Return the paths; empty if none are stored, or one is not a path."""
        with suppress(OSError, StackraceError):
            paths = tuple(read_text(self.file).splitlines())
            return () if any(map(path_fault, paths)) else paths
        return ()

    def write(self, paths: Sequence[str]) -> None:
        """Store ``paths``; nothing happens if the cache cannot be written to."""
        if tuple(paths) == self.read():
            return
        with suppress(OSError):
            private_folder(self.file.parent)
            fresh = self.file.with_suffix(f".{os.getpid()}")
            fresh.write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
            fresh.replace(self.file)


def stored_pages(app: App, request: RaceRequest, most: int) -> StoredPages:
    """Return the stored list of pages of ``app``, at most ``most``, for the host and the headers of ``request``."""
    headers = sorted(name.lower() for name, _ in request.headers)
    folder, entry = os.fspath(app.root.resolve()), app.entry
    identity = repr((folder, entry.kind.value, entry.target, request.host, headers, most))
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    return StoredPages(cache_folder() / "pages" / digest[:16])
