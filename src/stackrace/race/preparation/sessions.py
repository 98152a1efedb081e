"""A recorded session as the workload of a race, its answers checked against the app's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ...app.app import App, EntryKind
from ...app.bundle import DJANGO, bundled, session_file
from ...app.examination import Examination, Exchange, excess_of
from ...app.examine import examine
from ...app.golden import demanded, rule_for, static_file
from ...base.errors import AppError, InputError
from ...base.http_syntax import client_used_tls, is_below
from ...base.text import did_you_mean
from ...measure.recording import read_recording
from ...measure.workload import (
    EVERY_PATH,
    Answer,
    AnswerOrigin,
    Likeness,
    Order,
    PageTime,
    Request,
    RightAnswers,
    Sameness,
    Workload,
    mean_time,
)
from ..request.request import RaceRequest

_Headers = tuple[tuple[str, str], ...]

Ask = Callable[..., Examination]
"""Function ``examine``, or one that does the same in a protected view of the files."""

_MOST_ASKED = 50
"""Pages of a session whose bodies are learnt from the app; each takes several requests."""

_MOST_NAMED = 1000
"""Number of a recording's paths that are compared with a misspelt path."""

_NO_RULES: RightAnswers = MappingProxyType({})

_PYTHON = (EntryKind.DJANGO, EntryKind.WSGI, EntryKind.ASGI)


def with_bundled_sessions(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with the recording's file for every ``bundled:NAME``; InputError for an unknown name."""
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
    path: Path,
    app: App,
    examination: Examination,
    headers: _Headers,
    *,
    think: bool,
    check: RightAnswers = _NO_RULES,
    ask: Ask = examine,
) -> tuple[Workload, tuple[str, ...]]:
    """Return the recording at ``path`` as a workload for the examined app, and notes for the user.

    ``headers`` replace recorded headers of the same names. A recording that begins without cookies is a new
    visitor's: each of its visitors returns the cookies it gets. One that begins with cookies is sent with them. The
    recorded status is the right one; if the app gives everybody the same page, the body must be that page, too.
    Rules in ``check`` override both.

    Raises InputError for a recording that cannot be read or replayed.
    """
    recording = read_recording(path, think=think, bodies=bool(check))
    # a site behind TLS rejects forms from pages without TLS
    scheme = "https" if client_used_tls(headers) else "http"
    workload = recording.at(f"{scheme}://{examination.host}")
    if workload.order is Order.SESSION and not workload.requests[0].has("cookie"):
        requests = tuple(request.without({"cookie"}) for request in workload.requests)
        workload = replace(workload, requests=requests, cookies=True)
    workload = replace(workload, requests=tuple(request.replacing(headers) for request in workload.requests))
    workload, recorded = _without_bodies(workload)
    refuse_strange_paths(check, [request.path for request in workload.requests])
    left_out = "; ".join(f"{number} × {why}" for why, number in recording.skipped.items())
    notes = [f"{path.name} is replayed but for {left_out}."] if left_out else []
    if app.entry.kind in _PYTHON:
        try:
            workload = _with_bodies(workload, app, examination, ask)
        except AppError as error:
            notes.append(f"The pages of {path.name} are held against their recorded status only: {error.message}.")
    return _checked(workload, check, recorded), tuple(notes)


def refuse_strange_paths(check: RightAnswers, paths: Sequence[str]) -> None:
    """Raise InputError for a rule of ``check`` about a path that is not among the requested ``paths``."""
    for path in check.keys() - {EVERY_PATH} - set(paths):
        near = did_you_mean(path, dict.fromkeys(paths[:_MOST_NAMED]))
        raise InputError(f"check of {path}: the workload does not ask for it{near}")


def _without_bodies(workload: Workload) -> tuple[Workload, tuple[bytes | None, ...]]:
    """Return ``workload`` without its recorded bodies, and the bodies, which count only if the user demands it."""
    bodies = tuple(answer.body if answer.sameness is Sameness.BODY else None for answer in workload.answers)
    answers = tuple(
        answer if body is None else replace(answer, body=b"", sameness=Sameness.STATUS)
        for answer, body in zip(workload.answers, bodies, strict=True)
    )
    return replace(workload, answers=answers), bodies


def _checked(workload: Workload, check: RightAnswers, recorded: Sequence[bytes | None]) -> Workload:
    """Return ``workload`` with the right answers that the user demands.

    The right body is the app's own, or else the recorded one. A required text is searched in uncompressed bodies,
    so the request for such a page asks for no content coding.
    """
    if not check:
        return workload
    requests, answers = [], []
    for request, answer, body in zip(workload.requests, workload.answers, recorded, strict=True):
        rule = rule_for(check, request.path)
        if rule is not None:
            # the app's own body is fresh, a recording may be old
            own = answer.body if answer.sameness is Sameness.BODY else body
            answer = demanded(answer, rule, request.path, () if own is None else (own,))
            request = request.without({"accept-encoding"}) if rule.likeness is Likeness.CONTAINS else request
        requests.append(request)
        answers.append(answer)
    return replace(workload, requests=tuple(requests), answers=tuple(answers))


def _with_bodies(workload: Workload, app: App, examination: Examination, ask: Ask) -> Workload:
    """Return ``workload`` with the app's own bodies for up to ``_MOST_ASKED`` pages that are the same for every
    visitor."""
    simple = {
        _key(request): request for request in workload.requests if _is_simple(request, tuple(examination.static))
    }
    asked = list(simple.values())[:_MOST_ASKED]
    if not asked:
        return workload
    exchanges = ask(app, asked, host=examination.host).exchanges
    known = {_key(request): exchange for request, exchange in zip(asked, exchanges, strict=True)}
    own = [known.get(_key(request)) for request in workload.requests]
    return replace(
        workload,
        answers=tuple(
            answer if exchange is None else _answer(answer, exchange, examination.static)
            for answer, exchange in zip(workload.answers, own, strict=True)
        ),
        # static files, and pages that were not requested, count as 0 s: most are quick
        page=mean_time(PageTime() if exchange is None else exchange.page for exchange in own),
    )


def _key(request: Request) -> tuple[str, str, _Headers]:
    return request.method, request.path, request.headers


def _is_simple(request: Request, static: tuple[str, ...]) -> bool:
    """Return True if the app alone determines the answer's body.

    A static file may come from the app or from a front end, and either may compress it if the browser allows that.
    """
    plain = request.method == "GET" and not request.body and not request.has("cookie")
    return plain and not (is_below(request.path, static) and request.has("accept-encoding"))


def _is_for_everybody(exchange: Exchange) -> bool:
    """Return True if an answer repeats and is the same for all visitors. Source: RFC 9110 section 12.5.5 (Vary)."""
    reply = exchange.first
    varies = {name.strip().lower() for name in reply.header("vary").split(",")}
    same = (reply.status, reply.body) == (exchange.second.status, exchange.second.body) and not excess_of(reply)
    return same and not varies & {"cookie", "*"} and not reply.header("set-cookie")


def _answer(recorded: Answer, exchange: Exchange, static: Mapping[str, Path]) -> Answer:
    """Return the app's own answer if all visitors get it, else the recorded one.

    A static file that the app answers with 404 counts as a file that only a front end sends.
    """
    reply = exchange.first
    if recorded.status in (200, None) and reply.status == 404 and static_file(exchange.request.path, static):
        return replace(recorded, origin=AnswerOrigin.FILE)
    agrees = 200 <= reply.status < 300 if recorded.status is None else reply.status == recorded.status
    if not agrees or not _is_for_everybody(exchange):
        return recorded
    kind = reply.header("content-type")
    return Answer(status=reply.status, body=reply.body, content_type=kind, sameness=Sameness.BODY)
