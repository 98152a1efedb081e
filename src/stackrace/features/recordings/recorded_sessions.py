"""Recorded sessions as workloads: a HAR file of a browser or a proxy, or the access log of a web server."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from ...base.errors import InputError, said_by
from ...base.files import opened
from ...measure.recording import Recording
from ...measure.workload import Answer, AnswerOrigin, Order, Request, Sameness, Workload
from .access_log import from_access_log
from .har import from_har
from .recorded_steps import RecordingError, Step, Steps

_RECORDED = AnswerOrigin.RECORDING


def read_recording(path: Path, *, think: bool = True, cookies: bool = False, bodies: bool = False) -> Recording:
    """Return the recording in the file at ``path``, which may be a pipe.

    It is a HAR file if its first byte, after a byte order mark and blanks, is "{"; anything else is taken for an
    access log in the common or combined format. A HAR file is one visitor's session; a log has the requests of many
    visitors, in turn.

    ``think`` keeps the recorded pauses. With ``cookies``, each visitor sends back the cookies that it is given, and
    recorded cookies are dropped. An answer is right if its status is the recorded one, or any 2xx if the recorded
    one was 304, for the browser's cache; with ``bodies`` its body must be the recorded one, too, if a HAR file has
    it and it was not compressed.

    Raises InputError if the file cannot be read, is of neither kind, or has nothing that can be replayed.
    """
    return recording_of(steps_in(path), think=think, cookies=cookies, bodies=bodies)


def recording_of(session: Steps, *, think: bool = True, cookies: bool = False, bodies: bool = False) -> Recording:
    """Return the steps of ``session`` as a recording; for the options see `read_recording`."""
    workload = Workload(
        requests=tuple(_with_options(step.request, think=think, cookies=cookies) for step in session.steps),
        answers=tuple(_answer(step, bodies=bodies) for step in session.steps),
        order=Order.TURN if session.origin is None else Order.SESSION,
        cookies=cookies,
    )
    if session.origin is not None:
        workload = replace(workload, host=urlsplit(session.origin).netloc)
    return Recording(workload=workload, origin=session.origin, skipped=session.skipped)


def _with_options(request: Request, *, think: bool, cookies: bool) -> Request:
    """Return ``request`` without its pause unless ``think``, and without recorded cookies if ``cookies``."""
    if not think and request.think_s:
        request = replace(request, think_s=0.0)
    return request.without({"cookie"}) if cookies else request


def _answer(step: Step, *, bodies: bool) -> Answer:
    # 304 was an answer to the browser's cache
    status = None if step.status == 304 else step.status
    if not bodies or step.answer is None:
        return _with_status(status)
    return Answer(status=status, body=step.answer, content_type="", sameness=Sameness.BODY, origin=_RECORDED)


@cache
def _with_status(status: int | None) -> Answer:
    return Answer(status=status, body=b"", content_type="", sameness=Sameness.STATUS, origin=_RECORDED)


_HAR_MAX_BYTES = 256 << 20
"""The largest HAR file that is read: all of it is in memory at once, as text and as objects."""


def steps_in(path: Path) -> Steps:
    """Return the steps of the file at ``path``, which may be a pipe; raises InputError as `read_recording` does."""
    try:
        return read_steps(path)
    except OSError as error:
        raise InputError(
            f"--session ([workload] session): {path} cannot be read: {said_by(error)}; give a HAR file "
            "or an access log"
        ) from error
    except RecordingError as error:
        raise InputError(f"{path} cannot be replayed: {error}") from error


def read_steps(path: Path) -> Steps:
    """Return the steps of the file at ``path``, which may be a pipe: it is opened and read once.

    A file that begins with ``{``, after a byte order mark and blanks, is a HAR file; any other is an access log.

    Raises OSError if it cannot be read, RecordingError if it cannot be replayed.
    """
    with opened(path) as file:
        head = file.peek()
        if head.startswith(b"\x1f\x8b"):
            raise RecordingError(f"it is compressed with gzip; unpack it first: gunzip {quote(str(path))}")
        if not head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\n\r\x0c").startswith(b"{"):
            return from_access_log(file)
        content = file.read(_HAR_MAX_BYTES + 1)
    if len(content) > _HAR_MAX_BYTES:
        raise RecordingError(
            f"it is a HAR file of more than {_HAR_MAX_BYTES >> 20} MiB; "
            "record a shorter session, or without answers' bodies"
        )
    return from_har(content)
