"""Settings that a published comparison needs, really in force."""

import socket
import time
import urllib.request
from contextlib import contextmanager

import pytest
from tests.integration.farm import launchable, some_of

from stackrace.app.app import EntryKind, entry_of
from stackrace.deploy.running_stack import facts_of
from stackrace.deploy.shutdown import stop
from stackrace.race.preparation.set_up import set_up
from stackrace.race.request.request import RaceRequest
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Origin

APP = """
import os


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ.get("QUERY_STRING") == "variable":
        return [str(int("OF_ITS_FILE" in os.environ)).encode()]
    if environ.get("QUERY_STRING") == "process":
        return [str(os.getpid()).encode()]
    return [b"hello"]
"""


REPLACING = [
    "gunicorn:workers=1,max_requests=3",
    "uwsgi:processes=1,max_requests=3",
    "unit:processes=1,max_requests=3",
    "apache+mod_wsgi:processes=1,max_requests=3",
]
CLOSING = [
    "caddy:keep_alive=1/http/gunicorn",
    "cheroot:keep_alive=1",
    "gunicorn:class=gthread,keep_alive=1",
    "haproxy:keep_alive=1/http/gunicorn",
    "lighttpd:keep_alive=1/uwsgi/uwsgi",
    "nginx:keep_alive=1/http/gunicorn",
    "unit:keep_alive=1",
    "varnish:keep_alive=1/http/gunicorn",
    "waitress:keep_alive=1",
]
OFTEN = ("gunicorn:class=gthread,keep_alive=1", "nginx:keep_alive=1/http/gunicorn")
"""A host and a front end for an ordinary run; waitress looks for idle connections every half minute only."""
GROWING = {
    "uwsgi:processes=4,cheaper=1": 1,
    "uwsgi:processes=4,cheaper=1,--cheaper-initial=3": 3,
    "uwsgi:processes=4,http=auto": 4,
}
"""How many workers a pool of uWSGI starts with."""
OTHERS = [
    "nginx/fastcgi/flup:mode=threaded,threads=50,min_spare=2,max_spare=5",
    "nginx/scgi/flup:processes=5",
    "nginx/http/cheroot:instances=5",
    "apache/http/cheroot:instances=5,socket=tcp",
    "nginx/http/bjoern:instances=2",
    "apache/http/bjoern:socket=tcp",
    "apache+passenger:max_pool_size=4,pool_idle_time=0,stat_throttle_rate=300",
]
CHUNKED = ["gunicorn", "nginx/http/gunicorn", "unit"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory, django_python):
    """One stage for all stacks, which host a small WSGI app."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.py").write_text(APP)
    paths = tuple(launchable([*REPLACING, *CLOSING, *GROWING, *OTHERS, *CHUNKED]))
    with staged(folder, django_python, *paths) as made:
        yield made


def staged(folder, python, *paths):
    entry = entry_of(EntryKind.WSGI, "small:app")
    return set_up(RaceRequest(folder=folder, entry=entry, python=python, stacks=paths))


@contextmanager
def up(made, path):
    """Launch a stack of the stage, and stop it without a complaint."""
    running = made.launcher.launch(next(stack for stack in made.stacks if stack.path == path), timeout_s=60)
    yield running
    assert stop(made.guard, [running]) == {}


def number(running, query):
    """Return the number that the app answers to ``query``."""
    with urllib.request.urlopen(f"http://{running.host}:{running.port}/?{query}", timeout=1800) as answer:
        return int(answer.read())


@pytest.mark.parametrize("path", some_of(REPLACING, ("uwsgi:processes=1,max_requests=3",)))
@pytest.mark.exhaustive
def test_a_process_is_replaced_after_as_many_requests_as_asked(path, stage):
    with up(stage, path) as running:
        first, until = number(running, "process"), time.monotonic() + 1800
        while number(running, "process") == first and time.monotonic() < until:
            pass
        assert number(running, "process") != first


@pytest.mark.parametrize("path", some_of(CLOSING, OFTEN))
def test_an_idle_connection_ends_after_the_seconds_asked(path, stage):
    # all wait 75 s unless told otherwise
    with (
        up(stage, path) as running,
        socket.create_connection((running.host, running.port), timeout=1800) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while connection.recv(65536):
            pass


def has_family(guard, running, members):
    """Tell whether the stack's only server comes to have so many processes: the first may answer before the last
    is there."""
    ((_, pid),) = running.parts
    until = time.monotonic() + 1800
    while (many := len(guard.status([pid])[pid].alive)) != members and time.monotonic() < until:
        time.sleep(0.05)
    return many == members


@pytest.mark.parametrize("path", GROWING)
def test_a_growing_pool_of_uwsgi_starts_with_what_was_asked(path, stage):
    with up(stage, path) as running:
        # beside the workers there are the master and the HTTP router
        assert has_family(stage.guard, running, GROWING[path] + 2)


@pytest.mark.parametrize("path", launchable(OTHERS))
def test_a_stack_launches_with_them(path, stage):
    with up(stage, path):
        pass


OWN_FILES = {
    "gunicorn.conf.py": "import os\nbind = ':80'\nuser = 'nobody'\ndaemon = True\nraw_env = ['OF_ITS_FILE=1']\n"
    "os.environ['OF_ITS_FILE'] = os.environ.setdefault('OTHER', '1')\n"
    "workers = os.getpid() * 0 + 3",
    "uwsgi.ini": "[uwsgi]\nhttp = :80\nuid = nobody\nenv = OF_ITS_FILE=1\nworkers = 3\nmodule = nothing\n"
    "socket-timeout = 60\n",
}


@pytest.mark.parametrize("server", ["gunicorn", "uwsgi"])
def test_a_configuration_of_the_users_is_in_force_but_for_what_is_decided(server, tmp_path, django_python):
    name = next(name for name in OWN_FILES if name.startswith(server))
    (tmp_path / "small.py").write_text(APP)
    (tmp_path / name).write_text(OWN_FILES[name])
    path = f"{server}:config={name}"
    with staged(tmp_path, django_python, path) as made, up(made, path) as running:
        # its three workers, the master, and uWSGI's router
        assert has_family(made.guard, running, {"gunicorn": 4, "uwsgi": 5}[server])
        facts = facts_of(running, catalogue())
        assert {fact.origin for fact in facts.settings if fact.name == "config"} == {Origin.OWN}
        assert {"bind", "http"} & {change.key for change in facts.changes}
        # what the app gets is the same with every stack
        assert {"raw_env", "env"} & {change.key for change in facts.changes}
        assert not number(running, "variable")
        if server == "gunicorn":
            assert "OF_ITS_FILE, OTHER" in {change.theirs for change in facts.changes}
        assert OWN_FILES[name].split("workers")[1].strip().splitlines()[0] in "".join(facts.configs.values())


def test_a_gunicorn_conf_that_nobody_named_is_not_in_force(tmp_path, django_python):
    (tmp_path / "small.py").write_text(APP)
    (tmp_path / "gunicorn.conf.py").write_text("raise SystemExit('read')")
    with staged(tmp_path, django_python, "gunicorn") as made, up(made, "gunicorn"):
        pass


@pytest.mark.parametrize("path", launchable(CHUNKED))
def test_a_body_in_chunks_is_answered(path, stage):
    with up(stage, path) as running:
        url = f"http://{running.host}:{running.port}/"
        # without a length, urllib sends an iterable in chunks
        request = urllib.request.Request(url, data=iter([b"a" * 1000, b"b"]), method="POST")
        with urllib.request.urlopen(request, timeout=1800) as answer:
            assert answer.status == 200
