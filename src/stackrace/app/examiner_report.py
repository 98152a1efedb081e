"""Read the examiner's report: its findings, or the stage at which it stopped."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from ..base.codec import decode
from ..base.errors import AppError, BreakdownError
from ..base.secrets import masked
from ..base.temporary import RUN, shortage, temporary_folder
from ..base.text import storable
from ..measure.workload import PageTime, Request
from ..stacks.setting import Interface
from .app import App, Entry
from .examination import Examination, Exchange
from .examiner.messages import ANSWER_S, DjangoFacts, ExchangeReport, ObjectReport, Report, Survey
from .projects.frameworks import OWN_SERVERS
from .refusal import failure_words, import_hint

_LOG_LINES = 30
_WORDLESS = re.compile(r"^SystemExit(: \d+)?\s*\Z", re.MULTILINE)
_STARTING = "starting its interpreter"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    stage: str
    """The examiner's last step, such as ``answering /``."""
    report: Report | None
    """The report; None if the examiner did not finish it."""
    status: int | None
    """The process's exit status; None if it was killed."""
    rest: str
    """Traceback of the place where the app hung, or else its last lines of output."""


def _read_outcome(text: str, log: str, status: int | None) -> _Outcome:
    """Parse the examiner's ``text``: stages, pages, its report, or a traceback of the place where it hung.

    Secrets are masked in messages of the app, but not in its answers.
    """
    log = masked(log)
    stage = _STARTING
    rest: list[str] = []
    report: Report | None = None
    pages: list[ExchangeReport] = []
    for line in text.splitlines():
        if line.startswith("stage "):
            stage = line.removeprefix("stage ")
        elif line.startswith("page "):
            with suppress(ValueError):  # the examiner may have ended within the line
                pages.append(_read(ExchangeReport, line.removeprefix("page ")))
        elif line.startswith("{"):
            with suppress(ValueError):
                report = _read(Report, line)
        elif line.startswith(("progress ", "limit ")):
            continue
        elif line.startswith("Timeout ("):
            # faulthandler writes a new traceback
            rest = []
        else:
            rest.append(masked(line))
    if report is not None and pages:
        report.exchanges = tuple(pages)
    tail = rest if status is None else log.splitlines()[-_LOG_LINES:]
    return _Outcome(stage=stage, report=report, status=status, rest="\n".join(tail))


def _read(kind: Any, line: str) -> Any:
    """Return the value of type ``kind`` in the examiner's ``line``, with secrets masked in messages of the app."""
    return decode(kind, _as_stored(json.loads(line)))


def _as_stored(node: Any, name: str = "") -> Any:
    """Return the value under ``name`` in the examiner's JSON, in the form that the codec expects."""
    match node:
        case str():
            return storable(masked(node) if name in ("failure", "traceback") else node)
        case list():
            return [_as_stored(each) for each in node]
        case {"first": {"body": first}, "second": {"body": None} as second}:
            node = {**node, "second": {**second, "body": first}}
        case dict():
            pass
        case _:
            return node
    return {key: _as_stored(each, key) for key, each in node.items()}


def examination_of(
    text: str,
    app: App,
    requests: Sequence[Request],
    interface: Interface,
    *,
    log: str = "",
    status: int | None = 0,
    waiting: str = "",
) -> Examination:
    """Return the finished examination; raise AppError with the app's own message if it did not finish.

    ``text`` is the examiner's output, ``log`` the app's, and ``status`` the process's exit status, None if it was
    killed; then ``waiting`` says how long it had waited for a core. A crawl that was cut counts with the pages
    answered so far; each of its requests is like the only one of ``requests``.
    """
    outcome = _read_outcome(text, log, status)
    report, name = outcome.report, app.entry.target
    if report is None:
        limit = (
            f"within {ANSWER_S:g} s, as a page must to be raced"
            if outcome.stage.startswith("answering ")
            else "in time"
        )
        late = f"did not end {limit}{waiting}; this is where it was"
        what = late if status is None else f"died ({status})"
        short = shortage(temporary_folder(), RUN)
        raise (BreakdownError if short else AppError)(
            f"{name}: {outcome.stage} {what}{short or _no_python(outcome, app)}", detail=outcome.rest
        )
    survey = report.survey or Survey()
    crawled = bool(survey.asked)
    if report.failure and not (crawled and report.exchanges):
        raise _failure(outcome.stage, _with_last_words(report.failure, outcome.rest), app)
    if report.object:
        raise AppError(_other_object(app.entry, report.object))
    asked = [requests[0]] * len(report.exchanges) if crawled else requests
    return Examination(
        entry=app.entry,
        root=app.root,
        interface=interface,
        # the path as it was given, because an environment's interpreter is a link
        python=replace(report.python, python=app.python) if report.python and app.python else None,
        django=report.django,
        debug=report.debug,
        host=report.host,
        cut=_cut_reason(outcome, report, app.root) if crawled else "",
        loading=PageTime(wall_s=report.loading[0], cpu_s=report.loading[1]),
        exchanges=tuple(
            _exchange(exchange, request) for exchange, request in zip(report.exchanges, asked, strict=True)
        ),
        static=app.static or _static(report.django),
        written=report.written,
        imported=report.imported,
        lifespan=report.lifespan,
        connected=report.connected,
        pool=report.pool,
        survey=survey,
    )


def _other_object(entry: Entry, named: ObjectReport) -> str:
    """Say which object ``entry`` names if it is no application of its interface, and which flag names it right."""
    kind, name, package = named.interface, named.type, named.type.partition(".")[0]
    if kind == "factory":
        call = quote(f"{entry.target}()")
        return (
            f"{entry.target} is a function without arguments, no {entry.kind.upper()} application; "
            f"if it makes one, give --{entry.kind} {call} ([app] {entry.kind})"
        )
    if kind != "none":
        flag = f"--{kind} {quote(entry.target)} ([app] {kind})"
        return f"{entry.target} ({name}) has the interface {kind.upper()}, not {entry.kind.upper()}; give {flag}"
    said = f"{entry.target} ({name}) is neither a WSGI nor an ASGI application, so no server here can call it"
    if package in OWN_SERVERS:
        return f"{said}: {package} brings the only server that runs it, also where that is a worker of another"
    return f"{said}; name the app's own callable with --wsgi or --asgi"


def _no_python(outcome: _Outcome, app: App) -> str:
    """Return the question whether an interpreter is Python 3 if it never started the examiner; else empty."""
    if app.python is None or outcome.stage != _STARTING:
        return ""
    return f"; is {app.python} Python 3? Give the app's interpreter with --python or [app] python"


def _cut_reason(outcome: _Outcome, report: Report, root: Path) -> str:
    if outcome.status is None:
        return "no answer in time"
    if report.failure:
        return failure_words(report.failure, root)
    return f"the app died ({outcome.status})" if outcome.status else ""


def _with_last_words(traceback: str, log: str) -> str:
    """Return the traceback; if the app exited without a message, followed by the last line of its log."""
    said = log.rstrip().rpartition("\n")[2].strip()
    return f"{traceback.rstrip()}: {said}" if said and _WORDLESS.search(traceback) else traceback


def _failure(stage: str, traceback: str, app: App) -> AppError:
    what = failure_words(traceback, app.root)
    return AppError(f"{app.entry.target}: {stage} failed: {what}{_hint(what, traceback, app)}", detail=traceback)


def _hint(what: str, traceback: str, app: App) -> str:
    if what == "LoadError: cannot load such file -- rack":
        return f"; {app.ruby} has no Rack: install ruby-rack, as stackrace install puma does, or set [app] ruby"
    if "cannot load such file -- " in what or "Bundler::" in what:
        return f"; it is not installed for {app.ruby} ([app] ruby)"
    return import_hint(traceback, app)


def _static(django: DjangoFacts | None) -> Mapping[str, Path]:
    """Return Django's static folder by URL prefix; empty if STATIC_URL is on another host."""
    if django is None or django.static_root is None or not django.static_url.startswith("/"):
        return {}
    return {django.static_url: django.static_root}


def _exchange(report: ExchangeReport, request: Request) -> Exchange:
    return Exchange(
        request=replace(request, path=report.path, headers=report.added + request.headers),
        first=report.first,
        second=report.second,
        via=report.via,
        added=tuple(name for name, _ in report.added),
        page=PageTime(wall_s=report.wall_s, cpu_s=report.cpu_s),
        rarely=report.rarely,
    )
