"""A real CouchDB-compatible server (PouchDB Server) on loopback, as tools/install-test-tools has installed it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "tools" / "couchdb" / "server.js"
# read when tests are collected: later the cache folder is one of the test run's own
FOLDER = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stackrace" / "test-couchdb"
TIMEOUT_S = 1800


@contextmanager
def running_couchdb(*credentials: str):
    """Yield the server's address as ``127.0.0.1:port``; it asks for user and password if they are given."""
    node = shutil.which("node")
    if node is None or not (FOLDER / "node_modules").is_dir():
        pytest.skip("the CouchDB-compatible server is not installed: run tools/install-test-tools (it needs npm)")
    command = [node, str(SERVER), *credentials]
    with subprocess.Popen(
        command, cwd=FOLDER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            port = server.stdout.readline().strip()
            assert port.isdigit(), "the server did not start"
            yield f"127.0.0.1:{port}"
        finally:
            server.kill()


def request(url: str, method: str = "GET", document: object = None) -> dict:
    """Ask the server directly, as its other users do."""
    body = None if document is None else json.dumps(document).encode()
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(asked, timeout=TIMEOUT_S) as answer:
        return json.loads(answer.read())
