"""A proxy in front of an app that runs, or that is started for it, to record a browser's visit."""

from __future__ import annotations

import base64
import json
import os
import platform
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...api.one_stack import stack_up
from ...app.examiner.messages import PythonFacts
from ...base.errors import InputError
from ...base.http_syntax import tells_of_tls
from ...base.secrets import masked
from ...deploy.environments import Environments, cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing
from ...measure.engine.url import Url, parse
from ...measure.recording import Recording
from ...measure.workload import Workload
from ...race.preparation.app import asked_app
from ...race.preparation.defaults import most_used
from ...race.request.request import RaceRequest
from ...stacks.servers import catalogue
from .recording import read_recording
from .recording_proxy import REQUIREMENT, RecordingProxy, Side


@contextmanager
def recording_url(url: str, port: int | None, on_preparing: OnPreparing) -> Iterator[RecordingProxy]:
    """Record what is asked of the app that runs at ``url``; raises InputError where nobody answers there."""
    where = parse(url, target_is_mine=True)
    side = Side(upstream=where.origin, origin=where.origin, any_certificate=where.is_local)
    _require_somebody(where, url)
    programs = _programs(on_preparing)
    with Guard() as guard:
        yield RecordingProxy(guard, programs, side, port)


@contextmanager
def recording_app(request: RaceRequest, port: int | None, on_preparing: OnPreparing) -> Iterator[RecordingProxy]:
    """Start the app of ``request`` on its first stack, and record what is asked of it."""
    stack = (
        request.stacks[0] if request.stacks else most_used(catalogue(), asked_app(request).offered, None)[0][0].path
    )
    # what it is raced with may be the very session that is not recorded yet
    alone = replace(request, stacks=(stack,), session=None, workloads=())
    programs = _programs(on_preparing)
    with stack_up(alone, on_preparing) as up:
        side = _side(f"http://{up.running.host}:{up.running.port}", up.deployment.workloads[0])
        yield RecordingProxy(up.deployment.guard, programs, side, port, up.refuse_dead)


def _side(upstream: str, workload: Workload) -> Side:
    """Return the app as it is asked in a race: by its own name, and with what a front end says of https."""
    headers = workload.requests[0].headers
    forwarded = tuple(
        pair for pair in headers if pair[0].lower().startswith("x-forwarded-") or tells_of_tls([pair])
    )
    origin = f"http{'s' if tells_of_tls(forwarded) else ''}://{workload.host}"
    return Side(upstream=upstream, origin=origin, headers=forwarded)


def _require_somebody(where: Url, url: str) -> None:
    assert not isinstance(where.address, str)
    try:
        # by name: an app may listen on one of its addresses only, and the proxy finds that one, too
        socket.create_connection((where.name, where.address[1]), timeout=5.0).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {url} ({error.strerror or error}); start your app first, or give its race file"
        ) from error


def _programs(on_preparing: OnPreparing) -> Path:
    """Return the folder of mitmproxy's programs; it is installed when it is first needed."""
    own = Path(sys._base_executable)  # type: ignore[attr-defined]
    alone = PythonFacts(version=platform.python_version(), python=own, base=own, site_packages=())
    return Environments(cache_folder(), on_preparing).layered(alone, (REQUIREMENT,)) / "bin"


def keep(har: bytes, side: Side, out: Path) -> Recording:
    """Write what was recorded to ``out``, whole or not at all, and return it as it will be replayed.

    It holds cookies and what was typed, so nobody else may read it; the app's secrets in its answers are masked.
    Raises InputError where nothing was recorded that can be replayed, or where it cannot be written.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=out.absolute().parent, prefix=f".{out.name}.")
        draft = Path(name)
    except OSError as error:
        raise _unwritable(out, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_as_the_app_knows_it(har, side))
        recording = read_recording(draft)
        draft.replace(out)
    except OSError as error:
        raise _unwritable(out, error) from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
    return recording


def _unwritable(out: Path, error: OSError) -> InputError:
    return InputError(f"the recording cannot be written to {out}: {error.strerror}; name another place with --out")


def _as_the_app_knows_it(har: bytes, side: Side) -> bytes:
    """Return the document with the app's own origin in its URLs, and without what only the front end added."""
    document = json.loads(har)
    entries = [entry for entry in document["log"]["entries"] if entry["response"].get("status")]
    if not entries:
        raise InputError("nothing was recorded: no request was answered; browse through the proxy while it runs")
    added = {name.lower() for name, _ in side.headers}
    for entry in entries:
        request = entry["request"]
        parts = urlsplit(request["url"])
        request["url"] = side.origin + parts._replace(scheme="", netloc="").geturl()
        request["headers"] = [pair for pair in request["headers"] if pair["name"].lower() not in added]
        _keep_bytes(request)
        entry["response"] = _masked(entry["response"])
    document["log"]["entries"] = entries
    return json.dumps(document, indent=1).encode()


def _masked(said: Any) -> Any:
    """Return what the app said without its secrets; a body in Base64, too, where it has any."""
    match said:
        case {"encoding": "base64", "text": str() as text}:
            body = base64.b64decode(text).decode("utf-8", "surrogateescape")
            if (shown := masked(body)) == body:
                return said
            return {**said, "text": base64.b64encode(shown.encode("utf-8", "surrogateescape")).decode()}
        case dict():
            return {name: _masked(each) for name, each in said.items()}
        case list():
            return [_masked(each) for each in said]
        case str():
            return masked(said)
    return said


def _keep_bytes(request: dict[str, Any]) -> None:
    """Write a body that is no text, such as an upload, in Base64: mitmproxy makes each byte a letter of Latin-1."""
    data = request.get("postData") or {}
    letters = data.get("text") or ""
    if not letters.isascii() and len(letters) == request.get("bodySize") and max(letters) <= "\xff":
        data |= {"text": base64.b64encode(letters.encode("latin-1")).decode(), "encoding": "base64"}
