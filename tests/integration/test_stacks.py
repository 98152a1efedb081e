"""Every stack, really launched: right answers through the whole chain, a clean stop, nothing left."""

import http.client
import socket
import sys
from pathlib import Path

import pytest

from stackrace.apps import app_environment, bundled, examine, golden
from stackrace.deploy.environments import Environments, Interpreter, cache_folder
from stackrace.deploy.facts import facts_of
from stackrace.deploy.guard import Guard
from stackrace.deploy.hosting import hosted, prepare
from stackrace.deploy.installation import require
from stackrace.deploy.launcher import Launcher
from stackrace.deploy.stopping import stop
from stackrace.model.errors import MissingError
from stackrace.model.stack import Interface
from stackrace.model.workload import Request
from stackrace.servers import catalogue
from stackrace.spec.stack_path import parse_stack

STACKS = [
    "gunicorn:workers=2",
    "gunicorn:workers=2,class=gthread,threads=4",
    "gunicorn:class=gevent",
    "gunicorn:class=uvicorn",
    "uwsgi:processes=2",
    "granian",
    "granian:interface=asgi",
    "waitress",
    "cheroot",
    "uvicorn",
    "hypercorn",
    "daphne",
    "nginx/http/gunicorn",
    "nginx/http/waitress:socket=tcp",
    "nginx/http/cheroot:instances=3",
    "nginx/uwsgi/uwsgi",
    "nginx/uwsgi/uwsgi:socket=tcp,threads=2",
    "nginx/fastcgi/uwsgi",
    "nginx/fastcgi/flup:mode=prefork,processes=3",
    "nginx/fastcgi/flup:mode=threaded",
    "nginx/scgi/flup",
    "apache+mod_wsgi:mode=embedded",
    "apache+mod_wsgi:mode=daemon,processes=2,threads=4",
    "apache:mpm=prefork+mod_wsgi:mode=embedded",
    "nginx/http/apache+mod_wsgi:mode=daemon",
    "apache+mod_python",
    "apache/ajp/flup",
    "apache/fastcgi/flup",
    "apache/scgi/flup",
    "apache/uwsgi/uwsgi",
    "apache/http/gunicorn",
    "lighttpd/fastcgi/flup",
    "lighttpd/scgi/flup",
    "lighttpd/http/gunicorn",
]


@pytest.fixture(scope="module")
def guard():
    with Guard() as running:
        yield running
    assert not running.directory.exists()


@pytest.fixture(scope="module")
def environments():
    return Environments(cache_folder(), lambda _: None)


@pytest.fixture(scope="module")
def app(guard, environments):
    ours = bundled()
    data = guard.directory / "data"
    data.mkdir()
    python = environments.of_requirements(ours.requirements(), Path(sys._base_executable))
    app = ours.app(python=python, data=data)
    prepare(app)
    return app


@pytest.fixture(scope="module")
def examination(app):
    return examine(app, [Request(path=page) for page in bundled().pages])


@pytest.fixture(scope="module")
def launcher(guard, environments, app, examination):
    facts = examination.python
    interpreter = Interpreter(
        python=facts.python, base=facts.base, site_packages=facts.site_packages, installed=facts.distributions
    )

    def host_for(stack):
        needed = {
            requirement
            for hop in stack.hops
            for requirement in catalogue().entries[hop.server].requirements(hop.settings)
        }
        home = environments.layered(interpreter, sorted(needed))
        return hosted(
            app, stack.interface, home=home, folder=guard.directory, app_packages=interpreter.site_packages
        )

    return Launcher(
        guard=guard,
        catalogue=catalogue(),
        host_for=host_for,
        environment=app_environment(app),
        workloads_for=lambda stack: (golden(examination),),
        cores=(),
    )


def ask(running, method, path, body=None):
    connection = http.client.HTTPConnection(running.host, running.port, timeout=20)
    connection.request(method, path, body=body)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def etag(running, path):
    connection = http.client.HTTPConnection(running.host, running.port, timeout=20)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.getheader("ETag")


@pytest.mark.parametrize("path", STACKS)
def test_a_stack_launches_answers_rightly_and_leaves_nothing(path, launcher, guard):
    stack = parse_stack(path, catalogue().specs, frozenset({Interface.WSGI, Interface.ASGI}))
    try:
        require(stack, catalogue(), sys.version_info[:2])
    except MissingError as error:
        pytest.skip(error.message)
    # launch() itself compares every page of the bundled app, the static file among them, with the golden answer
    running = launcher.launch(stack, timeout_s=60)
    assert ask(running, "HEAD", "/hello/") == (200, b"")
    assert ask(running, "GET", "/nowhere/")[0] == 404
    assert ask(running, "POST", "/hello/", body=b"x" * 10_000)[0] in (200, 403, 405)
    assert {ask(running, "GET", "/hello/?page=3") for _ in range(20)} == {(200, b"Hello, world!")}

    if len(stack.processes) > 1 or stack.hops[0].server == "apache":
        # a front end serves static files itself: the app, asked for one, sends no ETag
        assert etag(running, "/static/pages/site.css")
        assert not etag(running, "/hello/")

    facts = facts_of(running, catalogue())
    assert all(facts.versions[hop.server] for hop in stack.hops), facts.versions
    assert facts.commands

    assert launcher.failure_of(running) is None
    assert stop(guard, [running]) == {}
    for _, pid in running.parts:
        assert guard.status([pid])[pid].family == ()
    assert not running.directory.exists()
    with socket.socket() as probe:
        assert probe.connect_ex((running.host, running.port)) != 0
