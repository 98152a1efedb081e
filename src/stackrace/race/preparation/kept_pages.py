"""The pages that a project's races were given last: kept, so that the next one measures the same work."""

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
class KeptPages:
    """A list of paths in Stackrace's cache, one on each line."""

    file: Path

    def read(self) -> tuple[str, ...]:
        """Return the paths; empty where none are kept, or something that is no path."""
        with suppress(OSError, StackraceError):
            paths = tuple(read_text(self.file).splitlines())
            return () if any(map(path_fault, paths)) else paths
        return ()

    def write(self, paths: Sequence[str]) -> None:
        """Keep ``paths``. A cache that cannot be written to keeps nothing."""
        if tuple(paths) == self.read():
            return
        with suppress(OSError):
            private_folder(self.file.parent)
            fresh = self.file.with_suffix(f".{os.getpid()}")
            fresh.write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
            fresh.replace(self.file)


def kept_pages(app: App, request: RaceRequest, most: int) -> KeptPages:
    """Return the kept pages, at most ``most``, of an ``app`` as the headers of ``request`` see it."""
    headers = sorted(name.lower() for name, _ in request.headers)
    folder, entry = os.fspath(app.root.resolve()), app.entry
    identity = repr((folder, entry.kind.value, entry.target, request.host, headers, most))
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    return KeptPages(cache_folder() / "pages" / digest[:16])
