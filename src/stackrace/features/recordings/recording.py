"""Recorded sessions as workloads: a HAR file of a browser or a proxy, or the access log of a web server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from ...base.errors import InputError, said_by
from ...measure.recording import Recording
from ...measure.workload import Answer, AnswerOrigin, Order, Request, Sameness, Workload
from . import recorded
from .recorded.step import Headers, Step

__all__ = ["read_recording"]

_NS = 1e-9
_RECORDED = AnswerOrigin.RECORDING


def read_recording(
    path: Path, *, think: bool = True, limit: int | None = None, cookies: bool = False, bodies: bool = False
) -> Recording:
    """Return what is recorded in the file at ``path``, which may be a pipe.

    It is a HAR file if its first byte, after a byte order mark and blanks, is "{"; anything else is taken for an
    access log in the common or combined format. A HAR file is one visitor's session; a log is what many visitors
    asked for, in turn.

    ``think`` keeps the recorded pauses, ``limit`` the first so many requests. ``cookies`` has each visitor send
    back the cookies it is given, and drops those that were recorded. An answer is right if its status is the
    recorded one, or any 2xx where the recorded one was the browser cache's (304); with ``bodies`` also its body,
    where a HAR file holds it and it was not compressed.

    InputError: the file cannot be read, is neither, or holds nothing that can be replayed.
    """
    if limit is not None and limit < 1:
        raise InputError(f"a limit of {limit} leaves nothing of {path} to replay; give at least 1")
    try:
        session = recorded.read(path, limit)
    except OSError as error:
        raise InputError(
            f"--session ([workload] session): {path} cannot be read: {said_by(error)}; give a HAR file "
            "or an access log"
        ) from error
    except recorded.RecordingError as error:
        raise InputError(f"{path} cannot be replayed: {error}") from error
    origin = session.origin
    order = Order.SESSION if session.is_session else Order.TURN
    requests, answers = _exchanges(session.steps, think=think, cookies=cookies, bodies=bodies)
    workload = Workload(requests=requests, answers=answers, order=order, cookies=cookies)
    if origin is not None:
        workload = replace(workload, host=urlsplit(origin).netloc)
    skipped = {str(reason): number for reason, number in session.skipped.items()}
    return Recording(workload=workload, origin=origin, skipped=skipped)


def _exchanges(
    steps: Iterable[Step], *, think: bool, cookies: bool, bodies: bool
) -> tuple[tuple[Request, ...], tuple[Answer, ...]]:
    """Headers and answers that are the same are one object: a log has a million steps but few browsers."""
    requests, answers = [], []
    known: dict[Headers, Headers] = {}
    for step in steps:
        headers = step.headers
        if cookies:
            headers = tuple(header for header in headers if header[0].lower() != "cookie")
        request = Request(
            path=step.path,
            method=step.method,
            headers=known.setdefault(headers, headers),
            body=step.body,
            think_s=step.think_ns * _NS if think else 0.0,
            embedded=step.embedded,
            handouts=step.handouts,
            fills=step.fills,
        )
        requests.append(request)
        body = step.answer if bodies else None
        answers.append(_with_status(step.status) if body is None else _with_body(step.status, body))
    return tuple(requests), tuple(answers)


@cache
def _with_status(status: int | None) -> Answer:
    return Answer(status=status, body=b"", content_type="", sameness=Sameness.STATUS, origin=_RECORDED)


def _with_body(status: int | None, body: bytes) -> Answer:
    return Answer(status=status, body=body, content_type="", sameness=Sameness.BODY, origin=_RECORDED)
