"""Have the app examined by its own interpreter, in a process that may hang, print or crash without harm.

Plain files have no interpreter: ``files`` answers for them.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from ..base.errors import AppError, InputError
from ..base.process import attended
from ..base.url_path import path_fault
from ..measure.workload import MOST_BODY_BYTES, Request
from ..stacks.stack import Interface
from .app import App, EntryKind
from .crawl import Crawl, OnProgress, unheard, watched
from .entry import entry_source
from .environment import app_environment, settings_module
from .examination import Examination, PythonFacts
from .examiner.messages import Order
from .examiner_report import Outcome, examination_of, read_outcome
from .files import examine_files

__all__ = ["examine", "python_facts"]

INTERPRETER_TIMEOUT_S = 60.0

_SCRIPTS = Path(__file__).with_name("examiner")
_GRACE_S = 5.0
"""The examiner ends itself when its time is over; this much later it is killed."""


def examine(
    app: App,
    requests: Sequence[Request] = (),
    *,
    host: str = "",
    follow: bool | None = None,
    survey: bool = False,
    timeout_s: float = 60.0,
    begin: Callable[[], None] | None = None,
    in_doubt: bool = False,
    crawl: Crawl | None = None,
    lifespan: bool = True,
) -> Examination:
    """Load ``app`` as the servers will, ask it every request at least twice, and return what was found out.

    Without ``requests`` it is asked for ``/``, and one redirect within the site is followed, as it is with
    ``follow``. Without a ``host``, ALLOWED_HOSTS decides. ``survey`` has the app list its pages. ``begin`` runs
    in the new process before the app's interpreter does. ``in_doubt`` each request is asked up to a thousand
    times. Without ``lifespan`` an ASGI app is not told that it starts. ``crawl`` has it asked for all of its
    pages, each with the headers of the first of ``requests``; Rack apps and plain files cannot. Raises AppError
    with the app's own traceback when it does not load, or not in time; answers are returned whatever their
    status: judging them is ``golden``'s.
    """
    asked = tuple(requests) or (Request(path="/"),)
    if app.entry.kind is EntryKind.FILES:
        return examine_files(app, asked, host=host)
    interface = _interface(app)
    order: Order = {
        "root": str(app.root.absolute()),
        "source": app.entry.target if interface is Interface.RACK else entry_source(app, interface, proxied=True),
        "interface": interface.value,
        "settings": settings_module(app),
        "host": host,
        "requests": [
            {
                "method": request.method,
                "path": _ascii(request.path),
                "headers": [list(pair) for pair in request.headers],
                "body": base64.b64encode(request.body).decode("ascii"),
            }
            for request in asked
        ],
        "follow": not requests if follow is None else follow,
        "survey": survey,
        "crawl": None,
        "in_doubt": in_doubt,
        "lifespan": lifespan,
        "timeout_s": timeout_s,
        "most_body_bytes": MOST_BODY_BYTES,
    }
    if crawl is not None:
        order["crawl"] = crawl.order(order["requests"][0])
        order["timeout_s"] += crawl.time_s
    hear = unheard if crawl is None else crawl.on_progress
    return examination_of(_run(app, order, begin, hear), app, asked, interface)


def python_facts(app: App) -> PythonFacts | None:
    """Return what ``app`` has for an interpreter, without loading the app; None for an app without Python.

    Raises AppError when it does not start.
    """
    if app.python is None:
        return None
    order: Order = {
        "root": str(app.root.absolute()),
        "source": "application = None",
        "interface": Interface.WSGI.value,
        "settings": "",
        "host": "",
        "requests": [],
        "follow": False,
        "survey": False,
        "crawl": None,
        "in_doubt": False,
        "lifespan": True,
        "timeout_s": INTERPRETER_TIMEOUT_S,
        "most_body_bytes": MOST_BODY_BYTES,
    }
    return examination_of(_run(app, order), app, (), Interface.WSGI).python


def _interface(app: App) -> Interface:
    """Return the interface it is asked through; Django has two, and answers alike through both."""
    others = {EntryKind.ASGI: Interface.ASGI, EntryKind.RACK: Interface.RACK}
    return others.get(app.entry.kind, Interface.WSGI)


def _ascii(path: str) -> str:
    if fault := path_fault(path):
        raise InputError(f"the path {path!r} {fault}")
    return path


def _run(
    app: App, order: Order, begin: Callable[[], None] | None = None, on_progress: OnProgress = unheard
) -> Outcome:
    """Start the examiner and read its report; whatever it started ends with it."""
    with (
        tempfile.TemporaryFile() as inlet,
        tempfile.TemporaryFile() as report,
        tempfile.TemporaryFile() as log,
    ):
        inlet.write(json.dumps(order).encode())
        inlet.seek(0)
        command = _command(app, report)
        try:
            status = attended(
                command,
                watched(report, on_progress, order["timeout_s"] + _GRACE_S),
                folder=app.root,
                environment=app_environment(app),
                stdin=inlet,
                stdout=log,
                kept_open=[report.fileno()],
                begin=begin,
            )
        except OSError as error:
            flag = "" if app.entry.kind is EntryKind.RACK else "--python, "
            raise AppError(
                f"{command[0]} cannot be started in {app.root}: {error.strerror} ({flag}[app] {_key(app)})"
            ) from error
        return read_outcome(_text(report), log=_text(log), status=status)


def _command(app: App, report: IO[bytes]) -> list[str]:
    rack = app.entry.kind is EntryKind.RACK
    interpreter, script = (app.ruby, "rack.rb") if rack else (app.python, "__main__.py")
    if interpreter is None:
        raise AppError(f"no interpreter for {app.entry.target}: give it as [app] {_key(app)}")
    return [str(interpreter), str(_SCRIPTS / script), str(report.fileno())]


def _key(app: App) -> str:
    return "ruby" if app.entry.kind is EntryKind.RACK else "python"


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
