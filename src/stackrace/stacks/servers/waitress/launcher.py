"""Start Waitress; copied into the site's directory and run by the app's Python.

Waitress's own command line does not handle TERM and sends the whole app's log to stderr, with a warning for
every request that finds all threads busy.
Usage: launcher.py ADDRESS MODULE THREADS BACKLOG KEEP_ALIVE_S CONNECTION_LIMIT PROXY PROXIES GRACEFUL_S [OPTION…],
where ADDRESS is host:port or a path, PROXY the trusted proxy, PROXIES the number of proxies in a row,
GRACEFUL_S the seconds a stop may take, and OPTION an option of Waitress's own, as --no-expose-tracebacks.
"""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

_UNKNOWN = ("HTTP_X_FORWARDED_PREFIX", "HTTP_X_FORWARDED_SSL")
"""Proxy headers that Waitress does not know, and so does not clear."""


def main(
    address: str,
    module: str,
    threads: str,
    backlog: str,
    keep_alive_s: str,
    connection_limit: str,
    proxy: str,
    proxies: str,
    graceful_s: str,
    *options: str,
) -> None:
    """Serve until TERM."""
    is_tcp = ":" in address
    where = {"listen": address} if is_tcp else {"unix_socket": address, "unix_socket_perms": "666"}
    arguments = {
        "threads": int(threads),
        "backlog": int(backlog),
        "channel_timeout": int(keep_alive_s),
        "connection_limit": int(connection_limit),
        # Its own loop uses select(), which cannot watch more than 1024.
        "asyncore_use_poll": True,
        "trusted_proxy": proxy,
        "trusted_proxy_count": int(proxies),
        "trusted_proxy_headers": "x-forwarded-for x-forwarded-proto",
        # the app may trust other headers, as X-Forwarded-Ssl or Forwarded
        "clear_untrusted_proxy_headers": proxy != "*",
        **dict(map(_argument, options)),
    }
    waitress = import_module("waitress")
    application = import_module(module).application
    if proxy != "*":
        application = _cleared(application)
    server = waitress.create_server(application, **where, **arguments)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    signal.signal(signal.SIGTERM, _end)
    try:
        server.asyncore.loop(timeout=1, map=server._map, use_poll=True)
    except (SystemExit, KeyboardInterrupt):
        # run() would end the threads at once, and nobody would send their answers
        _finish(server, float(graceful_s))
        server.task_dispatcher.shutdown()


def _cleared(application: Callable[..., Any]) -> Callable[..., Any]:
    def cleared(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        for name in _UNKNOWN:
            environ.pop(name, None)
        return application(environ, start_response)

    return cleared


def _end(*_: object) -> None:
    """Exit, and ignore a second TERM, which would cut off answers in progress."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _finish(server: Any, graceful_s: float) -> None:
    """Answer the requests in progress for at most ``graceful_s`` seconds; no new one is accepted."""
    server.accepting = False
    until = time.monotonic() + graceful_s
    while time.monotonic() < until and any(
        channel.requests or channel.total_outbufs_len for channel in server.active_channels.values()
    ):
        server.asyncore.loop(timeout=0.05, map=server._map, use_poll=True, count=1)


def _argument(option: str) -> tuple[str, str]:
    name, equals, value = option.removeprefix("--").partition("=")
    is_off = not equals and name.startswith("no-")
    name = name.removeprefix("no-") if is_off else name
    return name.replace("-", "_"), value if equals else ("false" if is_off else "true")


if __name__ == "__main__":
    main(*sys.argv[1:])
