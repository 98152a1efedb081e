"""Understand the examiner's report: what it found, or how far it came."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.errors import AppError
from ..base.secrets import masked
from ..measure.workload import PageTime, Request, excess
from ..stacks.stack import Interface
from .app import App
from .examination import Database, DjangoFacts, Examination, Exchange, PythonFacts, Reply, Survey, ThreadPool
from .examiner.messages import (
    DjangoReport,
    ExchangeMessage,
    PoolReport,
    PythonReport,
    ReplyMessage,
    Report,
    SurveyReport,
)
from .refusal import failure_words, import_hint, other_object

_LOG_LINES = 30
_WORDLESS = re.compile(r"^SystemExit(: \d+)?\s*\Z", re.MULTILINE)
_STARTING = "starting its interpreter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the examiner's process ended."""

    stage: str
    """What it did last."""
    report: Report | None
    """None if it never got there."""
    timed_out: bool
    status: int | None
    """The process's exit status; None where it was ended."""
    rest: str
    """What stands in place of a report: where the app hung, or what it printed before it died."""


def read_outcome(text: str, *, log: str, status: int | None) -> Outcome:
    """Take apart the examiner's ``text``: stages, pages, its report, or a dump of where it hung.

    In the app's words its secrets are masked; its answers stay as they are.
    """
    log = masked(log)
    stage, report, rest = _STARTING, None, []
    pages: list[ExchangeMessage] = []
    for line in text.splitlines():
        if line.startswith("stage "):
            stage = line.removeprefix("stage ")
        elif line.startswith("page "):
            with suppress(ValueError):  # it may have ended within the line
                pages.append(json.loads(line.removeprefix("page ")))
        elif line.startswith("{"):
            report = json.loads(line)
        elif line.startswith("progress "):
            continue
        else:
            rest.append(masked(line))
    # faulthandler's dump begins with "Timeout (0:00:05)!"
    hung = status is None or any(line.startswith("Timeout (") for line in rest)
    if report is not None:
        report["exchanges"] = pages or report["exchanges"]
        report["failure"] = masked(report["failure"])
        for exchange in report["exchanges"]:
            for reply in (exchange["first"], exchange["second"]):
                reply["traceback"] = masked(reply["traceback"])
    tail = rest if hung else log.splitlines()[-_LOG_LINES:]
    return Outcome(stage=stage, report=report, timed_out=hung, status=status, rest="\n".join(tail))


def examination_of(outcome: Outcome, app: App, requests: Sequence[Request], interface: Interface) -> Examination:
    """Return the finished examination; raises AppError for everything else, with the app's own words.

    What was answered before a crawl came to its end counts; its pages are as the only one of ``requests``.
    """
    report, name = outcome.report, app.entry.target
    if report is None:
        what = "did not end in time; this is where it was" if outcome.timed_out else f"died ({outcome.status})"
        raise AppError(f"{name}: {outcome.stage} {what}{_no_python(outcome, app)}", detail=outcome.rest)
    listed = report.get("survey")
    crawled = listed is not None and bool(listed["asked"])
    if report["failure"] and not (crawled and report["exchanges"]):
        raise _failed(outcome.stage, _with_last_words(report["failure"], outcome.rest), app)
    if found := report.get("object"):
        raise AppError(other_object(app.entry, found))
    asked = [requests[0]] * len(report["exchanges"]) if crawled else requests
    django = None if report["django"] is None else _django(report["django"])
    return Examination(
        entry=app.entry,
        root=app.root,
        interface=interface,
        python=_python(report["python"], app.python),
        django=django,
        host=report["host"],
        cut=_cut(outcome, report, app.root) if crawled else "",
        loading=PageTime(**report["loading"]) if report["loading"] else PageTime(),
        exchanges=tuple(
            _exchange(message, request) for message, request in zip(report["exchanges"], asked, strict=True)
        ),
        static=app.static or _static(django),
        written=tuple(map(Path, report.get("written", ()))),
        imported=tuple(map(Path, report.get("imported", ()))),
        lifespan=report.get("lifespan", False),
        connected=tuple(report.get("connected", ())),
        pool=_pool(report.get("pool")),
        survey=_survey(listed) if listed else Survey(),
    )


def _survey(report: SurveyReport) -> Survey:
    """Return the examiner's report as a value."""
    return Survey(
        pages=tuple(report["pages"]),
        asked=tuple(report["asked"]),
        unasked=report["unasked"],
        static={prefix: Path(folder) for prefix, folder in report["static"].items()},
        static_root=report["static_root"],
        databases=tuple(
            Database(engine=engine.rpartition(".")[2], place=place) for engine, place in report["databases"]
        ),
        caches=tuple(report["caches"]),
    )


def _pool(report: PoolReport | None) -> ThreadPool | None:
    return report and ThreadPool(framework=report["framework"], threads=int(report["threads"]))


def _no_python(outcome: Outcome, app: App) -> str:
    """Ask about an interpreter that never came to the examiner."""
    if app.python is None or outcome.stage != _STARTING:
        return ""
    return f"; is {app.python} Python 3? Give the app's interpreter with --python or [app] python"


def _cut(outcome: Outcome, report: Report, root: Path) -> str:
    if outcome.timed_out:
        return "no answer in time"
    if report["failure"]:
        return failure_words(report["failure"], root)
    return f"the app died ({outcome.status})" if outcome.status else ""


def _with_last_words(traceback: str, log: str) -> str:
    """Return the traceback; of an app that exits without a word, followed by what it logged last."""
    said = log.rstrip().rpartition("\n")[2].strip()
    return f"{traceback.rstrip()}: {said}" if said and _WORDLESS.search(traceback) else traceback


def _failed(stage: str, traceback: str, app: App) -> AppError:
    what = failure_words(traceback, app.root)
    return AppError(f"{app.entry.target}: {stage} failed: {what}{_hint(what, traceback, app)}", detail=traceback)


def _hint(what: str, traceback: str, app: App) -> str:
    if what == "LoadError: cannot load such file -- rack":
        return f"; {app.ruby} has no Rack: install ruby-rack, as stackrace install puma does, or set [app] ruby"
    if "cannot load such file -- " in what or "Bundler::" in what:
        return f"; it is not installed for {app.ruby} ([app] ruby)"
    return import_hint(traceback, app)


def _python(report: PythonReport | None, python: Path | None) -> PythonFacts | None:
    if report is None or python is None:
        return None
    return PythonFacts(
        version=report["version"],
        python=python,
        base=Path(report["base"]),
        site_packages=tuple(Path(folder) for folder in report["site_packages"]),
        distributions=report["distributions"],
    )


def _django(report: DjangoReport) -> DjangoFacts:
    return DjangoFacts(
        debug=report["debug"],
        allowed_hosts=tuple(report["allowed_hosts"]),
        static_url=report["static_url"],
        static_root=Path(report["static_root"]) if report["static_root"] else None,
        collected=Path(report["collected"]) if report["collected"] else None,
        media_url=report["media_url"],
        media_root=Path(report["media_root"]) if report["media_root"] else None,
        sends_static=report["sends_static"],
        https_header=report["https_header"],
        routes=tuple(report["routes"]),
        web_sockets=report.get("web_sockets", False),
    )


def _static(django: DjangoFacts | None) -> Mapping[str, Path]:
    """Return Django's own map; a STATIC_URL on another host is not ours to serve."""
    if django is None or django.static_root is None or not django.static_url.startswith("/"):
        return {}
    return {django.static_url: django.static_root}


def _exchange(message: ExchangeMessage, request: Request) -> Exchange:
    added = tuple((name, value) for name, value in message["added"])
    first = _reply(message["first"])
    return Exchange(
        request=replace(request, path=message["path"], headers=added + request.headers),
        first=first,
        second=_reply(message["second"], first),
        via=message["via"],
        added=tuple(name for name, _ in added),
        page=PageTime(wall_s=message["wall_s"], cpu_s=message["cpu_s"]),
    )


def _reply(message: ReplyMessage, before: Reply | None = None) -> Reply:
    headers, body = tuple((name, value) for name, value in message["headers"]), message["body"]
    return Reply(
        status=message["status"],
        headers=headers,
        body=before.body if body is None and before else base64.b64decode(body or ""),
        traceback=message["traceback"],
        excess=excess(headers, message["body_bytes"], message["endless"]),
    )
