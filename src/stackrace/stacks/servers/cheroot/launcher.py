"""Start Cheroot; copied into the site's directory and run by the app's Python.

Cheroot's own command line keeps at most ten connections alive and does not handle TERM.
Usage: launcher.py ADDRESS MODULE THREADS BACKLOG KEEP_ALIVE_S GRACEFUL_S, where ADDRESS is host:port or a path.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_MOST_CONNECTIONS = 4096


def main(address: str, module: str, threads: str, backlog: str, keep_alive_s: str, graceful_s: str) -> None:
    """Serve until TERM."""
    host, colon, port = address.rpartition(":")
    server = import_module("cheroot.wsgi").Server(
        (host, int(port)) if colon else address,
        _closing(import_module(module).application),
        numthreads=int(threads),
        request_queue_size=int(backlog),
        timeout=int(keep_alive_s),
        shutdown_timeout=int(graceful_s),
    )
    server.keep_alive_conn_limit = _MOST_CONNECTIONS
    signal.signal(signal.SIGTERM, _end)
    server.safe_start()


def _closing(application: Callable[..., Any]) -> Callable[..., Any]:
    """Announce the end of an HTTP/1.0 request's connection: Cheroot answers as HTTP/1.1 and just ends it."""

    def closing(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *error)

        return application(environ, start if environ["SERVER_PROTOCOL"] == "HTTP/1.0" else start_response)

    return closing


def _end(*_: object) -> None:
    """Exit, and ignore a second TERM, which would cut off answers in progress."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
