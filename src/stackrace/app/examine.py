"""Have the app examined by its own interpreter, in a process that may hang, print or crash without harm.

Plain files have no interpreter: the answer to a request is the content of the file.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO
from urllib.parse import quote, unquote

from ..base.errors import AppError, InputError, said_by
from ..base.files import read_bytes, walk
from ..base.http_syntax import path_fault
from ..base.process import Deadline, OverdueError, tree
from ..base.process.view import ProtectedView
from ..base.temporary import temporary_file
from ..measure.workload import MOST_BODY_BYTES, Request
from ..stacks.setting import Interface
from .app import App, EntryKind
from .entry import entry_source
from .environment import app_environment, settings_module
from .examination import Examination, Exchange, excess_of
from .examiner.messages import CrawlOrder, Order, PythonFacts, Reply
from .examiner_report import examination_of

_INDEX = "index.html"
_MOST_FILES = 20


def _examine_files(app: App, requests: Sequence[Request], *, host: str = "") -> Examination:
    """Return the answers of the folder ``app.root`` to ``requests``; raise AppError if it cannot be read."""
    try:
        # links stay unresolved: a resolved path would lead out of the race's view of the folder
        root = app.root.absolute()
        root.stat()
        replies = ((request, _reply(root, request)) for request in requests)
        exchanges = tuple(Exchange(request=request, first=reply, second=reply) for request, reply in replies)
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


def _reply(root: Path, request: Request) -> Reply:
    """Answer as web servers do: a folder gives its index.html, and redirects to the path with a final slash."""
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
        file /= _INDEX
    elif path.endswith("/"):
        return _status(404)
    if not file.is_file():
        return _status(404)
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    headers, size_bytes = (("Content-Type", kind),), file.stat().st_size
    if request.method == "HEAD":
        return Reply(status=200, headers=headers)
    reply = Reply(status=200, headers=headers, body_bytes=size_bytes)
    return reply if excess_of(reply) else replace(reply, body=read_bytes(file, MOST_BODY_BYTES))


def _status(status: int, *headers: tuple[str, str]) -> Reply:
    return Reply(status=status, headers=headers)


def _paths(root: Path) -> Iterator[str]:
    for folder, folders, names in walk(root):
        folders.sort()
        for name in sorted(names):
            yield "/" + quote(os.fsencode((Path(folder) / name).relative_to(root)))


_LOOK_S = 0.2
_LOOKED_FOR = (b"progress", b"limit")


_OnProgress = Callable[[int, int, float], None]
"""Function that gets the progress of a crawl: pages done, all pages, and the expected rest in seconds."""


def _unheard(done: int, pages: int, left_s: float) -> None:
    """Ignore the progress."""


def _watched(
    report: IO[bytes], on_progress: _OnProgress, timeout_s: float
) -> Callable[[subprocess.Popen[bytes]], int]:
    """Return a function that waits for the exit code of the examiner's process.

    It passes on the progress in ``report``, and a limit in ``report`` replaces the time limit so far. It raises
    OverdueError when the limit is exceeded.
    """
    read = 0

    def look() -> float | None:
        """Pass on new progress, and return the new limit in seconds, if there is one."""
        nonlocal read
        # the process writes at the file's position, so reading must not move it
        text = os.pread(report.fileno(), os.fstat(report.fileno()).st_size - read, read)
        whole = text.rpartition(b"\n")[0]
        read += len(whole)
        lines = (line.partition(b" ") for line in whole.splitlines())
        last = {kind: rest.split() for kind, _, rest in lines if kind in _LOOKED_FOR}
        if b"progress" in last:
            done, pages, left_s = last[b"progress"]
            on_progress(int(done), int(pages), float(left_s))
        return float(last[b"limit"][0]) + _GRACE_S if b"limit" in last else None

    def wait(process: subprocess.Popen[bytes]) -> int:
        limit_s: float | None = timeout_s + _GRACE_S
        while True:
            if limit_s is not None:
                deadline = Deadline(limit_s, lambda: tree(process.pid))
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(_LOOK_S, deadline.left_s))
            limit_s = look()
            if limit_s is None and deadline.is_over:
                raise OverdueError(["the examiner"], deadline)

    return wait


_INTERPRETER_TIMEOUT_S = 60.0

_SCRIPTS = Path(__file__).with_name("examiner")
_GRACE_S = 1.0
"""Seconds from the time limit, at which the examiner writes a traceback, until the examiner is killed."""


def examine(
    app: App,
    requests: Sequence[Request] = (),
    *,
    view: ProtectedView,
    host: str = "",
    follow: bool | None = None,
    survey: bool = False,
    timeout_s: float = 60.0,
    in_doubt: bool = False,
    crawl: CrawlOrder | None = None,
    on_progress: _OnProgress = _unheard,
    lifespan: bool = True,
) -> Examination:
    """Load ``app`` in ``view`` as the servers will, send every request at least twice, and return the examination.

    Without ``requests``, ``/`` is requested. Redirects within the site are followed if ``follow`` is True, or if it
    is None and there are no ``requests``. Without a ``host``, ALLOWED_HOSTS decides. With ``survey``, the app
    lists its pages. With ``in_doubt``, each request is sent up to a thousand times. Without ``lifespan``, an ASGI
    app gets no startup event. With ``crawl``, all pages are requested, and ``on_progress`` gets the progress; Rack
    apps and plain files cannot be crawled. Raises AppError with the app's own traceback if it does not load, or not
    in time. Answers are returned whatever their status: ``golden`` judges them.
    """
    asked = tuple(requests) or (Request(path="/"),)
    if app.entry.kind is EntryKind.FILES:
        return _examine_files(app, asked, host=host)
    interface = _interface(app)
    order = Order(
        root=str(view.relocation.path(app.root.absolute())),
        source=app.entry.target if interface is Interface.RACK else entry_source(app, interface, proxied=True),
        interface=interface.value,
        timeout_s=timeout_s + (crawl["time_s"] if crawl else 0.0),
        settings=settings_module(app),
        host=host,
        requests=[
            {
                "method": request.method,
                "path": _ascii(request.path),
                "headers": [list(pair) for pair in request.headers],
                "body": base64.b64encode(request.body).decode("ascii"),
            }
            for request in asked
        ],
        follow=not requests if follow is None else follow,
        survey=survey,
        crawl=crawl,
        in_doubt=in_doubt,
        lifespan=lifespan,
        most_body_bytes=MOST_BODY_BYTES,
    )
    return _run(app, order, asked, interface, view, on_progress)


def python_facts(app: App, view: ProtectedView) -> PythonFacts | None:
    """Return facts about the interpreter of ``app``, without loading the app; None for an app without Python.

    The interpreter starts in ``view``, because it loads code of its environment. Raises AppError if that fails.
    """
    if app.python is None:
        return None
    order = Order(
        root=str(view.relocation.path(app.root.absolute())),
        source="application = None",
        interface=Interface.WSGI.value,
        timeout_s=_INTERPRETER_TIMEOUT_S,
    )
    return _run(app, order, (), Interface.WSGI, view).python


def _interface(app: App) -> Interface:
    """Return the interface that the examiner uses; Django has two, and answers alike through both."""
    others = {EntryKind.ASGI: Interface.ASGI, EntryKind.RACK: Interface.RACK}
    return others.get(app.entry.kind, Interface.WSGI)


def _ascii(path: str) -> str:
    if fault := path_fault(path):
        raise InputError(f"the path {path!r} {fault}")
    return path


def _run(
    app: App,
    order: Order,
    asked: Sequence[Request],
    interface: Interface,
    view: ProtectedView,
    on_progress: _OnProgress = _unheard,
) -> Examination:
    with (
        view.naming_originals(),
        temporary_file() as inlet,
        temporary_file() as report,
        temporary_file() as log,
    ):
        inlet.write(json.dumps(vars(order)).encode())
        inlet.seek(0)
        command = _command(app, report)
        status, waiting = None, ""
        try:
            status = view.attended(
                command,
                _watched(report, on_progress, order.timeout_s),
                folder=app.root,
                environment=app_environment(app),
                stdin=inlet,
                stdout=log,
                pass_fds=[report.fileno()],
            )
        except OverdueError as error:
            waiting = error.waiting
        except OSError as error:
            flag = "" if app.entry.kind is EntryKind.RACK else "--python, "
            raise AppError(
                f"{command[0]} cannot be started in {app.root}: {error.strerror} ({flag}[app] {_key(app)})"
            ) from error
        return examination_of(_text(report), app, asked, interface, log=_text(log), status=status, waiting=waiting)


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
