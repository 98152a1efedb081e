"""The health check's answer: a redirect is well, and while a stack starts so is a page that is not found."""

import os
import socket
import subprocess
import sys
from threading import Thread

import pytest

from stackrace.features.export import health_script


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
        url = f"http://127.0.0.1:{port}/page?a=1"
        done = subprocess.run(
            [sys.executable, health_script.__file__, *arguments, url],
            check=False, capture_output=True, text=True, env={**os.environ, **variables},
        )  # fmt: skip
    return done, "".join(heads)


STARTS = ("--below", "500")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 200, ""),
        ((), 302, ""),
        ((), 404, "status 404"),
        (STARTS, 404, ""),
        (STARTS, 400, ""),
        (STARTS, 502, "status 502"),
        (STARTS, None, "refused"),
        # a front end has started when it answers at all, though the app is down
        ((*STARTS, "--any"), 502, ""),
        ((*STARTS, "--any"), None, "refused"),
    ],
)
def test_what_is_below_the_limit_is_well(arguments, status, said):
    done, head = asked(*arguments, status=status)
    assert (done.returncode, said in done.stderr) == (1 if said else 0, True)
    assert status is None or head.startswith("GET /page?a=1 HTTP/1.1\r\n")


def test_a_host_that_is_refused_is_named_with_the_variable_that_gives_another():
    done, head = asked("--header", "Host: here.example", status=400)
    assert done.returncode == 1
    assert "does the app accept the Host here.example? HEALTH_HOST names another" in done.stderr
    done, head = asked("--header", "Host: here.example", status=200, HEALTH_HOST="there.example")
    assert done.returncode == 0
    assert "Host: there.example" in head
    assert "here.example\r\n" not in head.replace("there.example", "")
