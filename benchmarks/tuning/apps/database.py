"""An app that sleeps 20 ms for each answer, in place of a database: meanwhile other threads may run."""

import time

WAIT_S = 0.02


def app(environ, start_response):
    """Answer after the wait."""
    time.sleep(WAIT_S)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"rows"]
