"""A WSGI app that answers with what it was asked, as JSON; hosted by the tests of what arrives."""

import json

ECHOED = ("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "CONTENT_LENGTH", "CONTENT_TYPE")


def application(environ, start_response):
    """Echo the variables of PEP 3333 that a front end sets, and the body."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    echoed = {name: environ.get(name, "") for name in ECHOED} | {"body": body.decode("latin-1")}
    answer = json.dumps(echoed).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]
