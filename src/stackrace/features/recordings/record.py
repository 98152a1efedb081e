"""A proxy in front of an app that runs, or that is started for it, to record a browser's visit."""

from __future__ import annotations

import base64
import json
import os
import platform
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...api.one_stack import stack_up
from ...app.examiner.messages import PythonFacts
from ...base.errors import InputError, LaunchError
from ...base.files import read_bytes
from ...base.http_syntax import tells_of_tls
from ...base.numbers import duration
from ...base.process.view import UNPROTECTED
from ...base.secrets import masked
from ...deploy.environments import Environments, byte_code, cache_folder
from ...deploy.guard import Guard
from ...deploy.preparing import OnPreparing
from ...deploy.running_stack import OUTPUT, ended, tail
from ...deploy.sockets import LOOPBACK, accepts, free_port
from ...measure.engine.url import Url, parse
from ...measure.recording import Recording
from ...measure.workload import Workload
from ...race.preparation.app import asked_app
from ...race.preparation.defaults import most_used
from ...race.request.request import RaceRequest
from ...stacks.servers import Endpoint, catalogue
from ...stacks.stack import Protocol, Socket
from .recording import read_recording

REQUIREMENT = "mitmproxy>=10.2"
"""The first that writes HAR files by itself."""

_ADDON = Path(__file__).with_name("proxy_addon.py")
_HAR = "session.har"
_PATIENCE_S = 30.0
_MOST_BYTES = 1 << 30
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The app that is recorded."""

    upstream: str
    """Where it listens: http://127.0.0.1:8000."""
    origin: str
    """What it takes for its own address; differs where it stands behind a name."""
    headers: tuple[tuple[str, str], ...] = ()
    """What a front end adds to each request."""
    any_certificate: bool = False
    """Whether its certificate may be anyone's, as that of an app in development."""


def _options(side: Side, port: int, folder: Path) -> tuple[str, ...]:
    return (
        "--mode", f"reverse:{side.upstream}",
        "--listen-host", LOOPBACK,
        "--listen-port", str(port),
        "--scripts", str(_ADDON),
        # answers that the browser's cache has are no answers to a new visitor
        "--anticache",
        "--quiet",
        "--set", f"confdir={folder / 'settings'}",
        "--set", f"hardump={folder / _HAR}",
        "--set", "keep_host_header=true",
        "--set", "connection_strategy=lazy",
        "--set", "flow_detail=0",
        "--set", f"ssl_insecure={str(side.any_certificate).lower()}",
        # the addon marks what it refused
        "--set", "save_stream_filter=!~marked",
    )  # fmt: skip


class RecordingProxy:
    """One proxy in front of one app, below a guard's directory; the guard ends it at the latest."""

    def __init__(
        self,
        guard: Guard,
        programs: Path,
        side: Side,
        port: int | None,
        require_app: Callable[[], None] = lambda: None,
    ) -> None:
        """Start mitmproxy from the folder ``programs``, and wait until it listens.

        Any free ``port`` will do; ``require_app`` raises LaunchError if the app ended. Raises LaunchError with its
        own words.
        """
        port = free_port() if port is None else port
        self.origin = f"http://{LOOPBACK}:{port}"
        self.side = side
        self._guard = guard
        self._require_app = require_app
        self._folder = guard.directory / "proxy"
        self._log = self._folder / "log" / OUTPUT
        self._read = 0
        self._log.parent.mkdir(parents=True)
        order = {
            "browser": self.origin,
            "app": side.origin,
            "upstream": side.upstream,
            "headers": [list(pair) for pair in side.headers],
        }
        environment = {**os.environ, **byte_code(), "STACKRACE_RECORDING": json.dumps(order)}
        environment.pop("PYTHONPATH", None)
        command = (str(programs / "mitmdump"), *_options(side, port, self._folder))
        self._pid = guard.spawn(
            command,
            view=UNPROTECTED,
            environment=environment,
            folder=self._folder,
            log=self._log,
            stop=signal.SIGINT,
        )
        self._wait_listening(port)

    def _wait_listening(self, port: int) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        listening = Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, host=LOOPBACK, port=port)
        while not accepts(listening):
            self.require_alive()
            if time.monotonic() > deadline:
                raise LaunchError(f"the recording proxy does not listen after {duration(_PATIENCE_S)}")
            time.sleep(_LOOK_S)

    def require_alive(self) -> None:
        """Raise LaunchError, with the last words, when it or the app has ended."""
        self._require_app()
        code = self._guard.status([self._pid])[self._pid].code
        if code is not None:
            raise LaunchError(f"the recording proxy {ended(code)}", detail=tail(self._log.parent))

    def news(self) -> Iterator[str]:
        """Yield what was answered since it was last asked: ``GET /cart/ 200``."""
        with self._log.open("rb") as log:
            log.seek(self._read)
            for line in log:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                if line.startswith(b'{"method"'):
                    yield " ".join(map(str, json.loads(line).values()))

    def stop(self) -> bytes:
        """Stop it, and return what it recorded, a HAR document. Raises LaunchError where there is none."""
        self._guard.signal(self._pid, signal.SIGINT)
        deadline = time.monotonic() + _PATIENCE_S
        while self._guard.status([self._pid])[self._pid].alive and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
        try:
            return read_bytes(self._folder / _HAR, _MOST_BYTES)
        except OSError as error:
            raise LaunchError("the recording proxy left no recording", detail=tail(self._log.parent)) from error


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
