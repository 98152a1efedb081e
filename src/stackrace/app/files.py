"""Plain files: what they answer is what they hold, so no server and no interpreter need be asked."""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import quote, unquote

from ..base.errors import AppError
from ..base.files import read_bytes
from ..base.foreign import said_by
from ..base.present import walk
from ..measure.workload import MOST_BODY_BYTES, Request, excess
from ..stacks.stack import Interface
from .app import App
from .examination import Examination, Exchange, Reply

__all__ = ["examine_files"]

INDEX = "index.html"
"""What every web server sends for a folder."""
_MOST_FILES = 20


def examine_files(app: App, requests: Sequence[Request], *, host: str = "") -> Examination:
    """Return what the folder ``app.root`` answers to ``requests``; raises AppError when it cannot be read."""
    try:
        # as it stands: resolved, it would lead out of the view that a race has of it
        root = app.root.absolute()
        root.stat()
        exchanges = tuple(_exchange(root, request) for request in requests)
        return Examination(
            entry=app.entry,
            interface=Interface.FILES,
            python=None,
            django=None,
            host=host or "127.0.0.1",
            exchanges=exchanges,
            static=app.static,
            files=tuple(islice(_paths(root), _MOST_FILES)),
        )
    except OSError as error:
        raise AppError(
            f"the files in {app.root} cannot be read: {said_by(error, where=True)} ([app] files)"
        ) from error


def _exchange(root: Path, request: Request) -> Exchange:
    reply = _reply(root, request)
    return Exchange(request=request, first=reply, second=reply)


def _reply(root: Path, request: Request) -> Reply:
    """Answer as web servers do: a folder is its index.html, and its name wants a slash at the end."""
    if request.method not in ("GET", "HEAD"):
        return _status(405)
    path = unquote(request.path.partition("?")[0], errors="surrogateescape")
    if "\0" in path:
        return _status(400)
    file = Path(os.path.normpath(root / path.lstrip("/")))
    if not file.is_relative_to(root):
        return _status(404)
    if file.is_dir():
        if not path.endswith("/"):
            return _status(301, ("Location", request.path.partition("?")[0] + "/"))
        file /= INDEX
    elif path.endswith("/"):
        return _status(404)
    if not file.is_file():
        return _status(404)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers, size_bytes = (("Content-Type", kind),), file.stat().st_size
    if request.method == "HEAD":
        return Reply(status=200, headers=headers, body=b"")
    if beyond := excess(headers, size_bytes, endless=False):
        return Reply(status=200, headers=headers, body=b"", excess=beyond)
    return Reply(status=200, headers=headers, body=read_bytes(file, MOST_BODY_BYTES))


def _status(status: int, *headers: tuple[str, str]) -> Reply:
    return Reply(status=status, headers=headers, body=b"")


def _paths(root: Path) -> Iterator[str]:
    for folder, folders, names in walk(root):
        folders.sort()
        for name in sorted(names):
            yield "/" + quote(os.fsencode((Path(folder) / name).relative_to(root)))
