"""What the launchers of Cheroot and Waitress lay over the app, without these servers."""

from __future__ import annotations

import pytest

from stackrace.servers.cheroot import launcher as cheroot
from stackrace.servers.waitress import launcher as waitress


class Body:
    """Starts the response late, as a generator does, and remembers being closed."""

    def __init__(self, start_response):
        self.start_response = start_response
        self.closed = False

    def __iter__(self):
        self.start_response("200 OK", [])
        yield b"body"

    def close(self):
        self.closed = True


@pytest.mark.parametrize("launcher", [cheroot, waitress])
@pytest.mark.parametrize(("method", "sent"), [("HEAD", []), ("GET", [b"body"])])
def test_only_an_answer_to_head_loses_its_body(launcher, method, sent):
    bodies, started = [], []

    def application(environ, start_response):
        bodies.append(Body(start_response))
        return bodies[0]

    def start_response(status, headers):
        started.append(status)

    answer = launcher.without_body_for_head(application)({"REQUEST_METHOD": method}, start_response)
    assert list(answer) == sent
    assert started == ["200 OK"]
    assert bodies[0].closed is (method == "HEAD")
