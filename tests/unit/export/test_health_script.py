"""The health check's answer: a redirect is well, and while a stack starts so is a page that is not found."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from stackrace.export.health_script import problem


@pytest.fixture
def url():
    """Where each page answers with the status that its path names."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(int(self.path[1:]))
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


CASES = (
    (200, 400, ""),
    (302, 400, ""),
    (404, 400, "status 404"),
    (404, 500, ""),
    (400, 500, ""),
    (502, 500, "status 502"),
)


@pytest.mark.parametrize(("status", "below", "said"), CASES)
def test_what_is_below_the_limit_is_well(url, status, below, said):
    assert problem(f"{url}{status}", {}, below) == said
