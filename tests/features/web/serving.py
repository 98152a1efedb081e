"""The site, really served over a store."""

from __future__ import annotations

import http.cookiejar
import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.conftest import STACKRACE
from tests.ports import free_port


class Site(NamedTuple):
    """A site that is up."""

    address: str
    pid: int

    def get(self, path: str = "") -> str:
        """Return a page."""
        with urllib.request.urlopen(self.address + path, timeout=1800) as answer:
            return answer.read().decode()

    def refused(self, path: str, body: bytes | None = None) -> tuple[int, str]:
        """Return the status and the page of a request that is not answered with what it asks for."""
        try:
            urllib.request.urlopen(self.address + path, body, timeout=1800).close()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        raise AssertionError(f"{path} was answered")


@contextmanager
def served(store: str, *flags: str) -> Iterator[Site]:
    """Serve the site over ``store``; it must end well, and say nothing more than its address."""
    process = subprocess.Popen(
        [str(STACKRACE), "web", "--port", str(free_port()), "--store", store, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    with process.stdout as output:
        try:
            yield Site(re.search(r"http://\S+/", output.readline())[0], process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=1800) == 0
            said = output.read()
    assert "Traceback" not in said and "Error" not in said, said


def threads_of(pid: int) -> int:
    """Return how many threads a process has."""
    return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())


def listed(page: str) -> list[str]:
    """Return the ids of the races that the list has."""
    return re.findall(r'<a href="/races/([^/]+)/">', page)


def user_agent() -> urllib.request.OpenerDirector:
    """Return what opens addresses and keeps cookies."""
    return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))


@contextmanager
def watched(site: Site, race_id: str) -> Iterator[str]:
    """Open the events of a running race, as its page does, and yield the first ones; then go away."""
    url = urlsplit(site.address)
    with socket.create_connection((url.hostname, url.port), timeout=1800) as peer:
        peer.sendall(f"GET /races/{race_id}/events HTTP/1.0\r\nHost: {url.netloc}\r\n\r\n".encode())
        answer = b""
        while b"event: progress" not in answer:
            received = peer.recv(65536)
            assert received, answer
            answer += received
        assert b"Content-Type: text/event-stream" in answer
        yield answer.decode()
