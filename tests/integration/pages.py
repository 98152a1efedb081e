"""A small app with pages of each kind, for both interfaces of Python, hosted by the tests of all stacks.

It imports next to nothing, so that launching a stack takes what its servers take.
"""

import random
import time

TEXT, HTML = "text/plain", "text/html"


def page(method, path):
    """Return status, content type and body."""
    match path:
        case "/hello/" if method not in ("GET", "HEAD"):
            return 405, TEXT, b""
        case "/hello/":
            return 200, HTML, b"Hello, world!"
        case "/ctime/":
            return 200, TEXT, time.ctime().encode()
        case "/ten-kilobytes/":
            return 200, TEXT, b"x" * 10_000
        case "/random-row/":
            return 200, HTML, bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz", k=2_500))
        case "/static/pages/site.css":
            return 200, "text/css", CSS
    return 404, TEXT, b"nowhere"


CSS = b"a { color: green }\n" * 100
"""The same as in the folder of static files."""
WORDS = {200: "200 OK", 404: "404 Not Found", 405: "405 Method Not Allowed"}


def wsgi(environ, start_response):
    """PEP 3333."""
    environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    status, kind, body = page(environ["REQUEST_METHOD"], environ["PATH_INFO"])
    start_response(WORDS[status], [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]


async def asgi(scope, receive, send):
    """ASGI 3, with its lifespan."""
    while scope["type"] == "lifespan":
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
    while (await receive()).get("more_body"):
        pass
    status, kind, body = page(scope["method"], scope["path"])
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
