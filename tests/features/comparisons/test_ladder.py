"""The ladder without its services: what each rung says then, and its parts that need none."""

import subprocess
import sys
import threading
from importlib import import_module
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackrace.app.bundle import bundled

LADDER = bundled("ladder")

words = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable())


@pytest.fixture(scope="module", autouse=True)
def importable():
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(LADDER.root))
    patch.setattr(sys, "dont_write_bytecode", True)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "ladder"]:
        del sys.modules[name]
    patch.undo()


@pytest.fixture
def ask(importable):
    """Return a function that asks the application in process: status, headers, body."""
    application = import_module("ladder.wsgi").application

    def call(path, method="GET"):
        started = []
        body = application(
            {"PATH_INFO": path, "REQUEST_METHOD": method}, lambda status, headers: started.append((status, headers))
        )
        ((status, headers),) = started
        return status, dict(headers), b"".join(body)

    return call


def test_the_description_names_every_rung(importable):
    assert set(LADDER.pages) == set(import_module("ladder.wsgi").LOOKUPS)


def test_the_string_and_the_file_are_the_same_13_bytes(ask):
    file = (LADDER.static["/static/"] / "hello.txt").read_bytes()
    assert len(file) == 13
    for path in ("/string/", "/static/hello.txt"):
        assert ask(path) == ("200 OK", {"Content-Type": "text/plain", "Content-Length": "13"}, file)


@pytest.mark.parametrize(
    "path", ["", "/", "/string", "/mysql_c/", "/static/", "/static/../requirements.txt", "/\0/"]
)
def test_another_path_is_told_the_rungs(ask, path):
    status, _, body = ask(path)
    assert status == "404 Not Found"
    assert b"/mysql-c/" in body


def test_a_lookup_changes_nothing(ask):
    status, headers, _ = ask("/string/", "POST")
    assert (status, headers["Allow"]) == ("405 Method Not Allowed", "GET, HEAD")


def run(code):
    """Run code with an interpreter that has no packages at all."""
    start = f"import sys; sys.path.insert(0, {str(LADDER.root)!r}); sys.dont_write_bytecode = True\n"
    return subprocess.run([sys.executable, "-I", "-S", "-c", start + code], capture_output=True, text=True)


@pytest.mark.parametrize("rung", ["memcached", "mysql-c", "mysqldb", "sqlalchemy", "mix"])
def test_a_missing_driver_is_said_by_its_rung_with_the_way_out(rung):
    done = run(f"from ladder.wsgi import LOOKUPS; LOOKUPS['/string/'](); LOOKUPS['/{rung}/']()")
    assert f"LadderError: /{rung}/ lacks its driver (No module named" in done.stderr
    assert "stackrace install ladder brings what that needs" in done.stderr


@pytest.mark.parametrize(("rungs", "loaded"), [(None, True), ("string,memcached", True), ("string", False)])
def test_drivers_are_loaded_with_the_app_those_of_the_rungs_that_are_named(rungs, loaded):
    done = run(f"""
import os, types
os.environ.update({{}} if {rungs!r} is None else {{"LADDER_RUNGS": {rungs!r}}})
sys.modules["memcache"] = types.ModuleType("memcache")
from ladder.wsgi import LOOKUPS
print("ladder.rungs.memcached" in sys.modules, "/memcached/" in LOOKUPS, LOOKUPS["/string/"]())
""")
    assert done.stdout == f"{loaded} {loaded} Hello world!\n"


def test_a_rung_that_does_not_exist_is_said():
    done = run("import os; os.environ['LADDER_RUNGS'] = 'string,mysql'; import ladder.wsgi")
    assert "LadderError: LADDER_RUNGS names mysql; the rungs are string, memcached, mysql-c," in done.stderr


def test_preparing_without_drivers_says_so_in_one_line():
    done = run("import runpy; runpy.run_module('ladder.prepare', run_name='__main__')")
    assert done.returncode == 1
    assert done.stderr.startswith("ladder: python -m ladder.prepare lacks its driver")
    assert done.stderr.count("\n") == 1


@given(words, words, words, st.one_of(st.none(), st.integers(1, 65535)))
def test_a_database_url_reads_back(user, password, name, port):
    database = import_module("ladder.services").database
    colon = "" if port is None else f":{port}"
    parts = [quote(word, safe="") for word in (user, password, name)]
    found = database({"DATABASE_URL": f"mysql://{parts[0]}:{parts[1]}@db{colon}/{parts[2]}"})
    assert (found["user"], found["password"], found["database"]) == (user, password, name)
    assert (found["host"], found["port"]) == ("db", port or 3306)


def test_a_socket_keeps_the_case_of_its_path(importable):
    services = import_module("ladder.services")
    found = services.database({"DATABASE_URL": "mysql://root@localhost/app?unix_socket=/tmp/Ab"})
    assert found["unix_socket"] == "/tmp/Ab"
    assert "host" not in found
    assert services.memcached({"MEMCACHED_SOCKET": "/tmp/Ab"}) == ["unix:/tmp/Ab"]
    assert services.memcached({"MEMCACHED_SERVER": "10.0.0.3:11211"}) == ["10.0.0.3:11211"]


@pytest.mark.parametrize(
    ("function", "environ", "message"),
    [
        ("database", {}, "DATABASE_URL is not set"),
        ("database", {"DATABASE_URL": "postgresql://u@h/n"}, "has the scheme 'postgresql'"),
        ("memcached", {}, "MEMCACHED_SOCKET is not set"),
        ("memcached", {"MEMCACHED_SOCKET": ""}, "MEMCACHED_SOCKET is not set"),
    ],
)
def test_a_missing_service_is_named(importable, function, environ, message):
    with pytest.raises(import_module("ladder.errors").LadderError, match=message):
        getattr(import_module("ladder.services"), function)(environ)


def test_a_connection_is_used_again_but_not_after_a_failure(importable):
    made = []
    spare = import_module("ladder.spare").Spare(lambda: made.append(object()) or made[-1])
    assert spare.ask(lambda connection: connection) is spare.ask(lambda connection: connection)
    with pytest.raises(ZeroDivisionError):
        spare.ask(lambda connection: 1 / 0)
    assert spare.ask(lambda connection: connection) is made[1]
    assert len(made) == 2


def test_threads_never_share_a_connection(importable):
    spare = import_module("ladder.spare").Spare(object)
    together = threading.Barrier(8)
    used = []

    def question(connection):
        together.wait()
        used.append(connection)
        together.wait()

    threads = [threading.Thread(target=spare.ask, args=(question,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, used))) == 8


def test_its_build_needs_are_named_with_their_packages(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert LADDER.missing_item().packages[:3] == ("libmariadb-dev", "pkg-config", "gcc")


def test_the_string_alone_needs_neither_services_nor_drivers(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    string = bundled("ladder", {"LADDER_RUNGS": "string"})
    assert (string.services, string.missing_item(), string.prepare) == ((), None, ())
    assert "mysqlclient" not in string.requirements().read_text()
    assert bundled("ladder", {"LADDER_RUNGS": "string,memcached"}).services == LADDER.services


def test_it_brings_its_services_and_its_one_environment():
    assert LADDER.app(python=LADDER.root, data=LADDER.root, services=["redis", "mariadb"]).services == (
        "mariadb",
        "memcached",
        "redis",
    )
    assert LADDER.requirements(["mariadb"]) == LADDER.root / "requirements.txt"
