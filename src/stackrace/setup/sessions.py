"""A recorded session as the workload of a race, its answers held against what the app itself says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..apps import DJANGO, Examination, Exchange, bundled, examine
from ..apps.bundled_session import session_file
from ..apps.golden import sameness
from ..load.recording import read_recording
from ..model.app import App, EntryKind
from ..model.errors import AppError
from ..model.page_time import PageTime, mean_time
from ..model.workload import Answer, Order, Request, Sameness, Workload
from ..spec.request import RaceRequest

__all__ = ["session_workload", "with_bundled_sessions"]

Headers = tuple[tuple[str, str], ...]

MOST_ASKED = 50
"""Pages of a session whose bodies are learnt from the app; the app is asked several times for each."""

_PYTHON = (EntryKind.DJANGO, EntryKind.WSGI, EntryKind.ASGI)


def with_bundled_sessions(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with every ``bundled:NAME`` as its recording's file; InputError for an unknown name."""
    sessions = bundled(request.bundled or DJANGO).sessions
    return replace(
        request,
        session=None if request.session is None else session_file(request.session, sessions),
        workloads=tuple(
            workload
            if workload.session is None
            else replace(workload, session=session_file(workload.session, sessions))
            for workload in request.workloads
        ),
    )


def session_workload(
    path: Path, app: App, examination: Examination, headers: Headers, *, think: bool
) -> tuple[Workload, tuple[str, ...]]:
    """Return the recording at ``path`` as a workload for the examined app, and notes for the user.

    ``headers`` replace recorded ones of their names. A recording that begins without cookies is that of a new
    visitor: each of its visitors returns the cookies it is given. One that begins with cookies is sent with them.
    The recorded status is the right one; a page that the app answers alike to everybody must have that body, too.

    Raises InputError for a recording that cannot be read or replayed.
    """
    recording = read_recording(path, think=think)
    workload = recording.at(f"http://{examination.host}")
    if workload.order is Order.SESSION and not _has(workload.requests[0], "cookie"):
        requests = tuple(_without(request, {"cookie"}) for request in workload.requests)
        workload = replace(workload, requests=requests, cookies=True)
    workload = replace(workload, requests=tuple(_with(request, headers) for request in workload.requests))
    left_out = "; ".join(f"{number} × {why}" for why, number in recording.skipped.items())
    notes = [f"{path.name} is replayed but for {left_out}."] if left_out else []
    if app.entry.kind in _PYTHON:
        try:
            workload = _with_bodies(workload, app, examination)
        except AppError as error:
            notes.append(f"The pages of {path.name} are held against their recorded status only: {error.message}.")
    return workload, tuple(notes)


def _with(request: Request, headers: Headers) -> Request:
    if not headers:
        return request
    kept = _without(request, {name.lower() for name, _ in headers})
    return replace(kept, headers=(*kept.headers, *headers))


def _without(request: Request, names: set[str]) -> Request:
    kept = tuple(pair for pair in request.headers if pair[0].lower() not in names)
    return request if kept == request.headers else replace(request, headers=kept)


def _has(request: Request, header: str) -> bool:
    return any(name.lower() == header for name, _ in request.headers)


def _with_bodies(workload: Workload, app: App, examination: Examination) -> Workload:
    """Learn from the app the bodies of the first ``MOST_ASKED`` pages that are the same for every visitor."""
    simple = {
        _key(request): request for request in workload.requests if _is_simple(request, tuple(examination.static))
    }
    asked = list(simple.values())[:MOST_ASKED]
    if not asked:
        return workload
    exchanges = examine(app, asked, host=examination.host).exchanges
    bodies = {
        _key(request): exchange
        for request, exchange in zip(asked, exchanges, strict=True)
        if _is_for_everybody(exchange)
    }
    pairs = zip(workload.requests, workload.answers, strict=True)
    times = {_key(request): exchange.page for request, exchange in zip(asked, exchanges, strict=True)}
    return replace(
        workload,
        answers=tuple(_answer(request, answer, bodies) for request, answer in pairs),
        # static files, and what was not asked for, count as nothing: most of them are soon answered
        page=mean_time(times.get(_key(request), PageTime()) for request in workload.requests),
    )


def _key(request: Request) -> tuple[str, str, Headers]:
    return request.method, request.path, request.headers


def _is_simple(request: Request, static: tuple[str, ...]) -> bool:
    """Tell whether the app alone says what the answer's body is.

    A static file may come from the app or from a front end, and where a browser takes compressed ones, either may
    compress it.
    """
    plain = request.method == "GET" and not request.body and not _has(request, "cookie")
    return plain and not (request.path.startswith(static) and _has(request, "accept-encoding"))


def _is_for_everybody(exchange: Exchange) -> bool:
    """Tell whether an answer repeats and depends on no visitor. Source: RFC 9110 section 12.5.5 (Vary)."""
    reply = exchange.first
    varies = {name.strip().lower() for name in reply.header("vary").split(",")}
    same = reply.status == exchange.second.status and sameness(reply, exchange.second) is Sameness.BODY
    return same and not varies & {"cookie", "*"} and not reply.header("set-cookie")


def _answer(request: Request, recorded: Answer, bodies: Mapping[tuple[str, str, Headers], Exchange]) -> Answer:
    exchange = bodies.get(_key(request))
    if exchange is None:
        return recorded
    reply = exchange.first
    agrees = 200 <= reply.status < 300 if recorded.status is None else reply.status == recorded.status
    if not agrees:
        return recorded
    kind = reply.header("content-type")
    return Answer(status=reply.status, body=reply.body, content_type=kind, sameness=Sameness.BODY)
