"""A project with an environment on this machine, and a host of which the cache lies elsewhere."""

import sqlite3
import subprocess
import venv
from contextlib import closing

import pytest

from stackrace.features.cluster.settings import Member, Role
from stackrace.features.cluster.shipping import receiving
from stackrace.race.request.request import RaceRequest


@pytest.fixture
def project(tmp_path):
    """A project with a virtual environment, an ignored database, and an ignored file of variables."""
    root = tmp_path / "me" / "site"
    (root / "src").mkdir(parents=True)
    (root / "app.py").write_text("application = None\n")
    (root / "settings.ini").write_text(f"[paths]\ndata = {root}/data\n")
    (root / ".gitignore").write_text(".venv\n.env\n*.sqlite3\nlogs/\n")
    (root / ".env").write_text("KEY=secret\n")
    (root / "logs").mkdir()
    (root / "logs" / "old.log").write_text("old")
    with closing(sqlite3.connect(root / "db.sqlite3")) as database:
        database.execute("CREATE TABLE t (x)")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    venv.create(root / ".venv", symlinks=True)
    packages = next((root / ".venv" / "lib").glob("python3*/site-packages"))
    (packages / "editable.pth").write_text(f"{root}/src\n")
    script = root / ".venv" / "bin" / "tool"
    script.write_text(f"#!{root}/.venv/bin/python\nimport sys; print(sys.prefix)\n")
    script.chmod(0o755)
    return root


@pytest.fixture
def request_of(project):
    def make(**more):
        from stackrace.app import entry_named
        from stackrace.app.app import EntryKind

        entry = entry_named(EntryKind.WSGI, "app:application", project)
        return RaceRequest(folder=project, entry=entry, cluster="tcp://127.0.0.1:1", **more)

    return make


@pytest.fixture
def host(tmp_path, monkeypatch):
    """The cache of a host, which does not have the project under the same path."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "host"))
    monkeypatch.setattr(receiving, "_is_here", lambda parcel, shipment: False)
    return tmp_path / "host" / "stackrace" / "shipped"


class Wire:
    """A connection that calls here, and counts what it carries."""

    def __init__(self):
        self.calls = []

    def call(self, member, function, *args):
        self.calls.append((function.__name__, args))
        return function(*args)

    @property
    def pieces(self):
        return [args[-1] for name, args in self.calls if name == "take"]


@pytest.fixture
def wire():
    return Wire()


@pytest.fixture
def member():
    return Member(
        name="host-1", contact="tcp://host-1:1", host="host-1", roles=frozenset({Role.STACK}), version="1",
        python="3.12.1", kernel="6.1", cpu="a CPU", cores=(0, 1), memory_bytes=2**30, machine="host-1", clock=None,
    )  # fmt: skip
