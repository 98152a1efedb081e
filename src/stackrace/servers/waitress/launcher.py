"""Starts Waitress; run by the app's Python, copied into the site's directory.

A launcher, since Waitress's own command line does not know TERM and sends the whole app's log to stderr,
with a warning for every request that finds all threads busy.
Usage: launcher.py ADDRESS MODULE THREADS BACKLOG KEEP_ALIVE_S, where ADDRESS is host:port or a path.
"""

from __future__ import annotations

import logging
import signal
import sys
from importlib import import_module

MOST_CONNECTIONS = 4096


def main(address: str, module: str, threads: str, backlog: str, keep_alive_s: str) -> None:
    """Serve until TERM."""
    is_tcp = ":" in address
    where = {"listen": address} if is_tcp else {"unix_socket": address, "unix_socket_perms": "666"}
    server = import_module("waitress").create_server(
        import_module(module).application,
        **where,
        threads=int(threads),
        backlog=int(backlog),
        channel_timeout=int(keep_alive_s),
        # Its own limit is 100, and its own loop select(), which cannot watch more than 1024.
        connection_limit=MOST_CONNECTIONS,
        asyncore_use_poll=True,
    )
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
