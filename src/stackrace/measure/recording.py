"""Requests recorded elsewhere, in a session or a log; a feature that knows the format reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from ..base.errors import InputError
from ..extensions import WorkloadSource, declared, load
from .workload import Request, Workload

# Request headers by which a server recognises requests from its own pages, as Django's CSRF protection does.
_NAMING_ORIGIN = frozenset({"origin", "referer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded session or log, ready to be replayed."""

    workload: Workload
    """Requests, with the known parts of their answers."""
    origin: str | None
    """Server of the recorded requests, "http://host:port"; None for a log, which does not name it."""
    skipped: Mapping[str, int]
    """Number of requests left out, by reason."""

    def at(self, origin: str) -> Workload:
        """Return the workload for ``origin``; it replaces the recorded server in Host, Origin and Referer headers.

        A Referer on another server stays as it is. ``origin`` is like "http://127.0.0.1:8000".
        """
        requests = self.workload.requests
        if self.origin is not None:
            requests = tuple(_with_origin(request, self.origin, origin) for request in requests)
        return replace(self.workload, requests=requests, host=urlsplit(origin).netloc)


class _Reader(Protocol):
    def __call__(self, path: Path, *, think: bool, cookies: bool, bodies: bool) -> Recording: ...


def read_recording(path: Path, *, think: bool = True, cookies: bool = False, bodies: bool = False) -> Recording:
    """Return the recording in the file at ``path``, which may be a pipe.

    ``think`` keeps the recorded pauses. With ``cookies`` each visitor sends back the cookies that it receives,
    not the recorded ones. An answer is right if its status is the recorded one; with ``bodies`` its body must
    match, too, if the recording holds it.

    InputError: the file cannot be read, is no recording, or holds nothing that can be replayed.
    """
    for source in declared(WorkloadSource):
        reader: _Reader = load(source.import_path)
        return reader(path, think=think, cookies=cookies, bodies=bodies)
    raise InputError(f"{path} cannot be replayed: no feature that reads recordings is installed")


def _with_origin(request: Request, old: str, new: str) -> Request:
    headers = tuple(
        (name, new + value.removeprefix(old)) if _holds_origin(name, value, old) else (name, value)
        for name, value in request.headers
    )
    return request if headers == request.headers else replace(request, headers=headers)


def _holds_origin(name: str, value: str, origin: str) -> bool:
    return name.lower() in _NAMING_ORIGIN and (value == origin or value.startswith(origin + "/"))
