"""A proxy on loopback that records what a browser does: mitmproxy, in a private environment of its own.

Source: mitmproxy's documentation, "Proxy Modes: Reverse Proxy" and "Options".
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import LaunchError
from ...base.files import read_bytes
from ...base.numbers import duration
from ...deploy.environments import byte_code
from ...deploy.guard import Guard
from ...deploy.running_stack import OUTPUT, ended, tail
from ...deploy.sockets import LOOPBACK, accepts, free_port
from ...stacks.servers import Endpoint
from ...stacks.stack import Protocol, Socket

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
            command, environment=environment, folder=self._folder, log=self._log, stop=signal.SIGINT
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
