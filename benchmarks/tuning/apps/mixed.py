"""An app that computes a little and waits a little: two queries of 5 ms, and a page made of them."""

import time

WAIT_S, ROUNDS = 0.005, 5_000


def app(environ, start_response):
    """Answer after both."""
    total = 0
    for _ in range(2):
        time.sleep(WAIT_S)
        total += sum(i * i % 7 for i in range(ROUNDS))
    body = b"%d" % total
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
