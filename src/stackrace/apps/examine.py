"""Have the app examined by its own interpreter, in a process that may hang, print or crash without harm.

Plain files have no interpreter: ``files`` answers for them.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..model.app import App, EntryKind
from ..model.errors import AppError, InputError
from ..model.stack import Interface
from ..model.workload import Request
from .entry import entry_source
from .environment import app_environment, settings_module
from .examination import Examination
from .examiner.messages import Order
from .examiner_report import Outcome, examination_of, read_outcome
from .files import examine_files
from .leash import leash

__all__ = ["examine"]

_SCRIPTS = Path(__file__).with_name("examiner")
_GRACE_S = 5.0
"""The examiner ends itself when its time is over; this much later it is killed."""


def examine(app: App, requests: Sequence[Request] = (), *, host: str = "", timeout_s: float = 60.0) -> Examination:
    """Load ``app`` as the servers will, ask it every request at least twice, and return what was found out.

    Without ``requests`` it is asked for ``/``, and one redirect within the site is followed. Without a
    ``host``, ALLOWED_HOSTS decides. Raises AppError with the app's own traceback when it does not load, or
    not in time; answers are returned whatever their status: judging them is ``golden``'s.
    """
    asked = tuple(requests) or (Request(path="/"),)
    if app.entry.kind is EntryKind.FILES:
        return examine_files(app, asked, host=host)
    interface = _interface(app)
    order: Order = {
        "root": str(app.root.absolute()),
        "source": app.entry.target if interface is Interface.RACK else entry_source(app, interface),
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
        "follow": not requests,
        "timeout_s": timeout_s,
    }
    return examination_of(_run(app, order), app, asked, interface)


def _interface(app: App) -> Interface:
    """Return the interface it is asked through; Django has two, and answers alike through both."""
    others = {EntryKind.ASGI: Interface.ASGI, EntryKind.RACK: Interface.RACK}
    return others.get(app.entry.kind, Interface.WSGI)


def _ascii(path: str) -> str:
    if not path.isascii() or not path.startswith("/") or any(character.isspace() for character in path):
        raise InputError(f"{path!r} is not a path: start it with / and percent-encode what is not ASCII")
    return path


def _run(app: App, order: Order) -> Outcome:
    """Start the examiner and read its report; whatever it started ends with it."""
    with (
        tempfile.TemporaryFile() as inlet,
        tempfile.TemporaryFile() as report,
        tempfile.TemporaryFile() as log,
    ):
        inlet.write(json.dumps(order).encode())
        inlet.seek(0)
        process = _start(app, inlet, report, log)
        try:
            process.wait(order["timeout_s"] + _GRACE_S)
            timed_out = False
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _end(process)
        return read_outcome(_text(report), log=_text(log), status=process.returncode, timed_out=timed_out)


def _start(app: App, inlet: IO[bytes], report: IO[bytes], log: IO[bytes]) -> subprocess.Popen[bytes]:
    interpreter, script, key = app.python, "__main__.py", "python"
    if app.entry.kind is EntryKind.RACK:
        interpreter, script, key = app.ruby, "rack.rb", "ruby"
    if interpreter is None:
        raise AppError(f"no interpreter for {app.entry.target}: give it as [app] {key}")
    try:
        return subprocess.Popen(
            [str(interpreter), str(_SCRIPTS / script), str(report.fileno())],
            stdin=inlet,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=app.root,
            env=app_environment(app),
            pass_fds=(report.fileno(),),
            start_new_session=True,
            preexec_fn=leash,
        )
    except OSError as error:
        flag = "--python, " if key == "python" else ""
        raise AppError(
            f"{interpreter} cannot be started in {app.root}: {error.strerror} ({flag}[app] {key})"
        ) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
