"""The health check's answer: a redirect is well, and while a stack starts so is a page that is not found."""

import socket
from threading import Thread

import pytest

from stackrace.export.health_script import problem

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
