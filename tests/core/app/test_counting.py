"""The app's own count: per process, summed, and out of the way where it is not wanted."""

import asyncio
import importlib.util
import os
from pathlib import Path

import pytest

from stackrace import app as apps
from stackrace.deploy.shutdown import COUNT, served

SOURCE = Path(apps.__file__).with_name("counting.py")


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """Return a fresh copy of the module, counting below ``tmp_path``."""
    monkeypatch.setenv("STACKRACE_COUNT", str(tmp_path / "0" / COUNT))
    spec = importlib.util.spec_from_file_location("counting", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_was_ever_counted(tmp_path):
    assert served(tmp_path) is None


def test_requests_of_wsgi_are_counted_and_passed_on(counting, tmp_path):
    app = counting.counted(lambda environ, start: [environ["it"]], asgi=False)
    assert served(tmp_path) == 0
    assert [app({"it": number}, None) for number in range(3)] == [[0], [1], [2]]
    assert served(tmp_path) == 3


def test_requests_of_asgi_are_counted_and_lifespans_are_not(counting, tmp_path):
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    counted = counting.counted(app, asgi=True)
    assert asyncio.iscoroutinefunction(counted)
    for kind in ("lifespan", "http", "http", "websocket"):
        asyncio.run(counted({"type": kind}, None, None))
    assert seen == ["lifespan", "http", "http", "websocket"]
    assert served(tmp_path) == 2


def test_a_child_counts_into_a_file_of_its_own(counting, tmp_path):
    app = counting.counted(lambda environ, start: [], asgi=False)
    app({}, None)
    child = os.fork()
    if child == 0:
        app({}, None)
        os._exit(0)
    os.waitpid(child, 0)
    app({}, None)
    assert {path.name: path.read_bytes()[0] for path in (tmp_path / "0" / COUNT).iterdir()} == {
        str(os.getpid()): 2,
        str(child): 1,
    }
    assert served(tmp_path) == 3


def test_where_nothing_can_be_written_the_app_is_left_alone(counting, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("STACKRACE_COUNT", str(tmp_path / "file" / "folder"))

    def app(environ, start):
        return []

    assert counting.counted(app, asgi=False) is app
