"""A page that sleeps: two cores can stand for several machines, as nobody needs them."""

import time

SLEEP_S = 0.02


def app(environ, start_response):
    """Answer after a while; a stack with n threads answers n times in it."""
    time.sleep(SLEEP_S)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
