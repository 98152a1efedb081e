"""An app that computes: a few milliseconds of Python for each answer."""

ROUNDS = 20_000


def app(environ, start_response):
    """Answer after a sum that no cache shortens."""
    total = sum(i * i % 7 for i in range(ROUNDS))
    body = b"%d" % total
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
