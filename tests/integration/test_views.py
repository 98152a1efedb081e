"""A folder that is covered stays as it is, whatever is done in it; afterwards nothing of the cover is left."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from stackrace.deploy import databases
from stackrace.deploy.databases import bring_in, databases_below
from stackrace.deploy.guard import Guard


def inside(guard, folder, script):
    """Run ``script`` in a shell as the app's own commands are run; returns its output."""
    done = subprocess.run(
        ["sh", "-ec", script],
        preexec_fn=guard.view.entering(folder),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    """A project with a file and a folder in it; its name holds what separates the options of a mount."""
    folder = tmp_path / "a, b:c\\d é"
    (folder / "sub").mkdir(parents=True)
    (folder / "file").write_text("before")
    return folder


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.is_socket()
    }


def test_what_is_written_in_a_covered_folder_is_seen_by_all_who_run_in_it_and_by_nobody_else(guard, folder):
    before = content(folder)
    guard.cover([folder])
    log = guard.directory / "log"
    script = "echo after > file; echo new > new; rm -r sub; echo done"
    pid = guard.spawn(
        ["sh", "-ec", script], environment=dict(os.environ), folder=folder, log=log, stop=signal.SIGTERM
    )
    while guard.status([pid])[pid].code is None:
        time.sleep(0.01)
    assert log.read_text() == "done\n"
    assert inside(guard, folder, "ls; cat file") == "file\nnew\nafter\n"
    assert guard.view.path(folder / "new").read_text() == "new\n"
    assert content(folder) == before


def test_a_folder_is_covered_beside_those_that_are(guard, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    guard.cover([folder])
    guard.cover([other])
    inside(guard, folder, f"echo x > {other}/x; echo x > x; chmod 500 sub; test -e {other}/x")
    assert not (folder / "x").exists()
    assert not (other / "x").exists()


def test_the_run_directory_may_lie_in_the_project(temporary, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(temporary))
    with Guard() as guard:
        guard.cover([temporary])
        inside(guard, temporary, f"echo x > x; echo y > {guard.directory}/y")
        assert (guard.directory / "y").read_text() == "y\n"
        assert [path.name for path in temporary.iterdir()] == [guard.directory.name]
    assert not list(temporary.iterdir())


def test_what_is_to_be_kept_is_written_to(guard, folder):
    guard.cover([folder], [folder / "sub"])
    inside(guard, folder, "echo x > sub/x; echo x > x")
    assert (folder / "sub/x").exists()
    assert not (folder / "x").exists()


def test_a_service_of_the_users_that_listens_in_the_project_is_reached(guard, tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        guard.cover([tmp_path])
        ask = "import socket; socket.socket(socket.AF_UNIX).connect('s')"
        inside(guard, tmp_path, f'echo x > x; {sys.executable} -c "{ask}"')


HALF = """
import subprocess, sys
from stackrace.deploy.namespaces import cover, separate

separate()
subprocess.run(["mount", "--rbind", "/proc", "sub"], check=True)
try:
    cover([(sys.argv[1], sys.argv[2])], [])
except OSError as error:
    assert "/sub: " in str(error), error
    assert open("sub/self/comm").read()
"""


def test_a_folder_that_cannot_be_covered_as_a_whole_is_left_as_it_was(folder, tmp_path):
    """No overlay lies over /proc; a cover of the folder around it would hide it."""
    subprocess.run([sys.executable, "-c", HALF, folder, tmp_path / "layer"], cwd=folder, check=True)


def rows(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM visit").fetchone()[0]


def database(path, mode):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE visit (at)")
    connection.execute("INSERT INTO visit VALUES (1)")
    return connection


def insert(guard, folder, path):
    program = f"import sqlite3; c = sqlite3.connect('{path.name}'); c.execute('INSERT INTO visit VALUES (2)'); "
    program += "c.commit(); print(c.execute('SELECT count(*) FROM visit').fetchone()[0])"
    return inside(guard, folder, f'{sys.executable} -c "{program}"').strip()


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("is_open", [True, False])
def test_a_database_is_copied_as_it_is_now(guard, tmp_path, mode, is_open):
    path = tmp_path / "data.db"
    connection = database(path, mode)
    if not is_open:
        connection.close()
    before = content(tmp_path)
    (found,) = databases_below(tmp_path)
    guard.cover([tmp_path])
    bring_in(found, guard.view)
    if is_open:
        # what its owner writes now is no part of the race
        connection.execute("INSERT INTO visit VALUES (1)")
        connection.execute("INSERT INTO visit VALUES (1)")
        connection.close()
    assert insert(guard, tmp_path, path) == "2"
    assert rows(path) == (3 if is_open else 1)
    if not is_open and mode == "delete":
        assert content(tmp_path) == before


def test_what_a_crash_left_in_a_log_is_copied_too(guard, tmp_path):
    """A writer was killed: its last rows are in the log, and nobody has the database open."""
    program = (
        "import os, sqlite3; c = sqlite3.connect('data.db', isolation_level=None);"
        "c.execute('PRAGMA journal_mode=wal'); c.execute('CREATE TABLE visit (at)');"
        "c.execute('INSERT INTO visit VALUES (1)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    before = content(tmp_path)
    guard.cover([tmp_path])
    bring_in(tmp_path / "data.db", guard.view)
    assert insert(guard, tmp_path, tmp_path / "data.db") == "2"
    assert content(tmp_path) == before


def test_databases_are_known_by_their_content_and_those_of_packages_left_alone(tmp_path):
    for place in (".", "instance", ".hidden", "node_modules", "env"):
        (tmp_path / place).mkdir(exist_ok=True)
        database(tmp_path / place / "store", "delete").close()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "fake.sqlite3").write_bytes(b"x" * 4096)
    assert sorted(databases_below(tmp_path)) == [tmp_path / "instance/store", tmp_path / "store"]
    assert databases.size_bytes(tmp_path / "store") == (tmp_path / "store").stat().st_size
