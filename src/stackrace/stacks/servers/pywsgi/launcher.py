"""Starts gevent's WSGI server; run by the app's Python, copied into the site's directory.

Usage: launcher.py ADDRESS MODULE BACKLOG GRACEFUL_S, where ADDRESS is host:port or a path.
"""

from __future__ import annotations

import signal
import socket
import sys
from importlib import import_module


def main(address: str, module: str, backlog: str, graceful_s: str) -> None:
    """Serve until TERM."""
    import_module("gevent.monkey").patch_all()
    gevent = import_module("gevent")
    host, colon, port = address.rpartition(":")
    if colon:
        listener = import_module("gevent.socket").create_server((host, int(port)), backlog=int(backlog))
    else:
        listener = import_module("gevent.socket").socket(socket.AF_UNIX)
        listener.bind(address)
        listener.listen(int(backlog))
    application = import_module(module).application
    server = import_module("gevent.pywsgi").WSGIServer(listener, application, log=None)
    gevent.signal_handler(signal.SIGTERM, server.stop, float(graceful_s))
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
