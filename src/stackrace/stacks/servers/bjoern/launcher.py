"""Start bjoern; copied into the site's directory and run by the app's Python.

bjoern is a library without a program of its own, and does not handle TERM.
Usage: launcher.py ADDRESS MODULE BACKLOG, where ADDRESS is host:port or a path.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module


def main(address: str, module: str, backlog: str) -> None:
    """Serve until TERM."""
    bjoern = import_module("bjoern")
    application = import_module(module).application
    host, colon, port = address.rpartition(":")
    where = (host, int(port)) if colon else (f"unix:{address}",)
    bjoern.listen(application, *where, listen_backlog=int(backlog))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    bjoern.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
