"""A database is copied as it is at one moment, whoever writes to it meanwhile."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from tests.integration.test_views import content, inside

from stackrace.base.process.view import ProtectedView
from stackrace.deploy import sqlite_files
from stackrace.deploy.project_data import databases_below
from stackrace.deploy.sqlite_files import _copy_file, bring_in


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


WRITER = """
import os, sqlite3, sys, time

path, mode, pause_s, stop = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
connection = sqlite3.connect(path, isolation_level=None, timeout=60)
connection.execute(f"PRAGMA journal_mode = {mode}")
connection.execute("CREATE TABLE visit (at INTEGER PRIMARY KEY, more BLOB)")
connection.execute("CREATE INDEX more ON visit (more)")
written = 0
while not os.path.exists(stop):
    written += 1
    # old rows are written over: the file stays small, and all of it changes
    connection.execute("INSERT OR REPLACE INTO visit VALUES (?, randomblob(2000))", (written,))
    connection.execute("UPDATE visit SET more = randomblob(2000) WHERE at = ?", (written * 7 % 500,))
    if written == 5:
        print("writes", flush=True)
    time.sleep(pause_s)
print(written, connection.execute("SELECT count(*) FROM visit").fetchone()[0], flush=True)
"""


@pytest.fixture
def writer(tmp_path):
    """Start a program that writes to a database until its last word is asked for: rows written, and rows there."""
    started = []

    def start(path, mode, pause_s):
        stop = tmp_path / f"stop-{len(started)}"
        command = [sys.executable, "-c", WRITER, path, mode, str(pause_s), stop]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "writes\n"

        def last_word():
            stop.touch()
            return process.communicate(timeout=1800)[0].split()

        return last_word

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("mode", ["delete", "persist", "memory", "wal"])
@pytest.mark.parametrize("pause_s", [0, 0.001, 0.005])
def test_a_database_is_copied_whole_while_another_process_writes(writer, tmp_path, mode, pause_s):
    path, copies = tmp_path / "live" / "data.db", tmp_path / "copies"
    path.parent.mkdir()
    copies.mkdir()
    last_word = writer(path, mode, pause_s)
    before = 0
    for _ in range(4):
        sqlite_files._copy_to(path, copies / "data.db")
        with closing(sqlite3.connect(copies / "data.db")) as copied:
            assert copied.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows, last = copied.execute("SELECT count(*), max(at) FROM visit").fetchone()
        assert rows == last >= before, "what was committed before it is in the copy, and nothing of later alone"
        before = rows
    written, there = last_word()
    assert written == there


SHELL = """
import sqlite3, sys

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.stdin:
    print(connection.execute(line).fetchall(), flush=True)
"""


@pytest.fixture
def shell(tmp_path):
    """Return a function that carries out SQL in another process, which has ``live.db`` open; it has one row."""
    command = [sys.executable, "-c", SHELL, tmp_path / "live.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def execute(*lines):
            for line in lines:
                process.stdin.write(f"{line}\n")
                process.stdin.flush()
                assert process.stdout.readline()

        yield execute
        process.kill()


MANY = "INSERT INTO visit SELECT randomblob(900) FROM (SELECT 1 FROM pragma_function_list LIMIT 90)"


def copied_rows(path):
    sqlite_files._copy_to(path, path.with_name("copy.db"))
    with closing(sqlite3.connect(path.with_name("copy.db"))) as copied:
        assert copied.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return copied.execute("SELECT count(*) FROM visit WHERE at != zeroblob(900)").fetchone()[0]


@pytest.mark.parametrize("mode", ["delete", "truncate", "wal", "memory"])
def test_an_unfinished_transaction_is_not_in_the_copy(shell, tmp_path, mode, monkeypatch):
    """Its rows are in the file already, for they do not fit into the cache."""
    monkeypatch.setattr(sqlite_files, "_WAIT_S", 0.0)
    path = tmp_path / "live.db"
    shell(f"PRAGMA journal_mode = {mode}", "CREATE TABLE visit (at)", MANY)
    rows = copied_rows(path)
    before = path.read_bytes()
    shell("PRAGMA cache_size = 1", "BEGIN", "UPDATE visit SET at = zeroblob(900)")
    assert (path.read_bytes() == before) == (mode == "wal")
    if mode == "memory":
        with pytest.raises(TimeoutError, match="all the time"):
            copied_rows(path)
        assert not path.with_name("copy.db").exists()
    else:
        assert copied_rows(path) == rows > 50
    shell("COMMIT")
    assert copied_rows(path) == 0


CHECKPOINT = "PRAGMA wal_checkpoint"


@pytest.mark.parametrize(
    ("between", "tries"),
    [
        ([MANY, CHECKPOINT], 1),
        ([MANY, CHECKPOINT, "INSERT INTO visit VALUES (3)"], 2),
        ([MANY, f"{CHECKPOINT}(TRUNCATE)"], 2),
    ],
)
def test_a_copy_is_made_anew_where_the_log_was_started_again(shell, tmp_path, between, tries, monkeypatch):
    path, tried = tmp_path / "live.db", []
    shell("PRAGMA journal_mode = wal", "CREATE TABLE visit (at)", "INSERT INTO visit VALUES (1)")

    def copy(source, target, until):
        _copy_file(source, target, until)
        if source == path:
            tried.append(source)
            if len(tried) == 1:
                shell(*between)

    monkeypatch.setattr(sqlite_files, "_copy_file", copy)
    assert copied_rows(path) > 50
    assert len(tried) == tries


def test_a_date_says_nothing_until_the_kernels_clock_went_on(tmp_path, monkeypatch):
    path = tmp_path / "data.db"
    database(path, "delete").close()
    for later_ns, is_settled in ((0, False), (1, True), (-10, False), (-(10**10), True)):
        now_ns = path.stat().st_ctime_ns + later_ns
        monkeypatch.setattr(sqlite_files.time, "clock_gettime_ns", lambda _, now_ns=now_ns: now_ns)
        assert sqlite_files._DatabaseStatus.at(path).is_settled == is_settled


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_a_copy_needs_no_quiet_moment(writer, tmp_path, mode, monkeypatch):
    """A large database is copied too slowly for that: then the locks of a reader hold off what would spoil it."""
    path = tmp_path / "data.db"
    last_word = writer(path, mode, 0)
    monkeypatch.setattr(sqlite_files, "_UNLOCKED_S", -1.0)
    monkeypatch.setattr(sqlite_files._DatabaseStatus, "agrees", only_held(sqlite_files._DatabaseStatus.agrees))
    copy = tmp_path / "copy"
    sqlite_files._copy_to(path, copy)
    with closing(sqlite3.connect(copy)) as copied:
        assert copied.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    written, there = last_word()
    assert written == there


def only_held(agrees):
    """Let the first try fail: whoever writes is faster than it."""
    tries = iter([False])

    def agree(look, later, *, held):
        return next(tries, True) and agrees(look, later, held=held)

    return agree


def test_what_is_written_all_the_time_is_left_out(guard, tmp_path, monkeypatch):
    path = tmp_path / "data.db"
    database(path, "delete").close()
    before = content(tmp_path)
    guard.cover([tmp_path])
    monkeypatch.setattr(sqlite_files._DatabaseStatus, "agrees", lambda *_, held: False)
    monkeypatch.setattr(sqlite_files, "_UNLOCKED_S", 0.0)
    assert not bring_in(path, guard.view)
    assert inside(guard, tmp_path, "ls") == ""
    assert content(tmp_path) == before


def test_a_database_that_this_process_has_open_keeps_its_locks(guard, tmp_path):
    """The last one who closes a database removes its log; without our locks another program believes to be that."""
    path = tmp_path / "data.db"
    with closing(database(path, "wal")) as ours:
        guard.cover([tmp_path])
        assert list(databases_below(tmp_path)) == [path]
        assert bring_in(path, guard.view)
        script = (
            "import sqlite3; c = sqlite3.connect('data.db'); c.execute('SELECT * FROM visit').fetchall(); c.close()"
        )
        subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
        assert path.with_name("data.db-wal").exists()
        ours.execute("INSERT INTO visit VALUES (3)")
        assert rows(path) == 2
    assert insert(guard, tmp_path, path) == "2"


def test_nothing_that_is_not_covered_is_written(tmp_path):
    path = tmp_path / "data.db"
    database(path, "delete").close()
    before = content(tmp_path)
    with pytest.raises(FileExistsError, match="is not covered"):
        bring_in(path, ProtectedView())
    assert content(tmp_path) == before


def test_databases_are_known_by_their_content_and_those_of_packages_left_alone(tmp_path):
    for place in (".", "instance", ".hidden", "node_modules", "env"):
        (tmp_path / place).mkdir(exist_ok=True)
        database(tmp_path / place / "store", "delete").close()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "fake.sqlite3").write_bytes(b"x" * 4096)
    assert sorted(databases_below(tmp_path)) == [tmp_path / "instance/store", tmp_path / "store"]
    assert sqlite_files.size_bytes(tmp_path / "store") == (tmp_path / "store").stat().st_size
