"""The health check's answer: a redirect is well, and while a stack starts so is a page that is not found."""

import os
import socket
import subprocess
import sys
from threading import Thread

import pytest

from stackrace.features.export import health_script
from stackrace.features.export.health_script import problem

CASES = (
    (200, 400, ""),
    (302, 400, ""),
    (404, 400, "status 404"),
    (404, 500, ""),
    (400, 500, ""),
    (502, 500, "status 502"),
)


@pytest.mark.parametrize(("status", "below", "said"), CASES)
def test_what_is_below_the_limit_is_well(status, below, said):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with server.accept()[0] as peer:
                asked.append(peer.recv(1000).splitlines()[0])
                peer.sendall(b"HTTP/1.1 %d x\r\nContent-Length: 0\r\n\r\n" % status)

        asked, other = [], Thread(target=answer)
        other.start()
        assert problem(f"http://127.0.0.1:{server.getsockname()[1]}/page?a=1", {}, below) == said
        other.join()
    assert asked == [b"GET /page?a=1 HTTP/1.1"]


def asked(*arguments, status=None, **variables):
    """Run the script against a server that answers with ``status``, or that is not there; what it was asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        heads = []

        def answer():
            with server.accept()[0] as peer:
                heads.append(peer.recv(1000).decode())
                peer.sendall(b"HTTP/1.1 %d x\r\nContent-Length: 0\r\n\r\n" % status)

        other = Thread(target=answer, daemon=True)
        port = server.getsockname()[1]
        if status is None:
            server.close()
        else:
            other.start()
        url = f"http://127.0.0.1:{port}/"
        done = subprocess.run(
            [sys.executable, health_script.__file__, *arguments, url],
            check=False, capture_output=True, text=True, env={**os.environ, **variables},
        )  # fmt: skip
    return done, "".join(heads)


def test_a_front_end_has_started_when_it_answers_at_all_though_the_app_is_down():
    assert asked("--below", "500", "--any", status=502)[0].returncode == 0
    assert asked("--below", "500", status=502)[0].returncode == 1
    assert asked("--below", "500", "--any")[0].returncode == 1


def test_a_host_that_is_refused_is_named_with_the_variable_that_gives_another():
    done, head = asked("--header", "Host: here.example", status=400)
    assert done.returncode == 1
    assert "does the app accept the Host here.example? HEALTH_HOST names another" in done.stderr
    done, head = asked("--header", "Host: here.example", status=200, HEALTH_HOST="there.example")
    assert done.returncode == 0
    assert "Host: there.example" in head
    assert "here.example\r\n" not in head.replace("there.example", "")
