"""Every stack, really launched: right answers through the whole chain, a clean stop, nothing left.

The chains are generated from the catalogue, so a new entry is proven by being there. ``-k nginx`` takes some.
``make test`` launches every link of a front end and of a host once, ``make test-all`` all chains.
"""

import shutil
import socket
import sys
from pathlib import Path

import pytest
from tests.chains import balanced, both, over_tcp, single_hops, two_hops
from tests.integration import pages
from tests.integration.farm import NO_FILES, UNRELIABLE, Farm, Subject, ask, head, head_is_bare, some_of
from tests.unprotected import examine

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.environment import app_environment
from stackrace.app.golden import golden
from stackrace.base.http_syntax import by_prefix
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.running_stack import facts_of
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Request
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
OFFERED = frozenset({Interface.WSGI, Interface.ASGI})

MODES = [
    "gunicorn:class=gthread,threads=4",
    "gunicorn:class=gevent",
    "gunicorn:class=uvicorn",
    "gunicorn:class=asgi",
    "gunicorn:class=asgi,--asgi-loop=asyncio",
    "gunicorn:--http-parser=python",
    "nginx/uwsgi/gunicorn:class=asgi",
    "nginx/uwsgi/gunicorn:class=gthread,socket=tcp",
    "nginx/uwsgi/uwsgi:instances=3",
    "lighttpd/uwsgi/uwsgi:socket=tcp",
    "gunicorn:class=gthread,preload=on,max_requests=500,max_requests_jitter=50,timeout=60,worker_connections=200",
    "uvicorn:max_requests=500,max_requests_jitter=50,keep_alive=5,--loop=asyncio,--http=h11,--limit-concurrency=500,"
    "--no-server-header",
    "hypercorn:max_requests=500,max_requests_jitter=50,--read-timeout=60",
    "granian:interface=asgi,loop=uvloop,backpressure=64,--task-impl=rust,--http=1,--http1-buffer-size=65536,"
    "--runtime-threads=2,--runtime-mode=mt",
    "granian:interface=asgi,loop=rloop",
    "granian:static=on,keep_alive=off",
    "waitress:connection_limit=100,keep_alive=5,--ident=x,--no-expose-tracebacks",
    "uwsgi:lazy_apps=on,max_requests=500,harakiri=60,--single-interpreter,--thunder-lock,--max-requests-delta=50,"
    "--socket-timeout=60",
    "uwsgi:static=on,http=socket,threads=2,--offload-threads=2",
    "nginx:sendfile=off,gzip=on,buffering=off,--tcp_nopush=off,--open_file_cache=max=100/http/gunicorn",
    "gunicorn:--worker-tmp-dir=/dev/shm,--reuse-port",
    "daphne:--http-timeout=60",
    "nginx:--client_max_body_size=10m,--multi_accept=on/uwsgi/uwsgi:--reuse-port",
    "nginx:worker_connections=512,keep_alive=5,upstream_connections=8/http/gunicorn:class=gthread",
    "unit:interface=asgi",
    "unit:keep_alive=5,max_requests=500",
    "caddy:keep_alive=5/http/cheroot:keep_alive=5",
    "haproxy:keep_alive=5/http/varnish:keep_alive=5/http/lighttpd:keep_alive=5/uwsgi/uwsgi",
    "apache+mod_wsgi:max_requests=500",
    "nginx/fastcgi/flup:mode=threaded",
    "nginx/http/uwsgi:socket=tcp,http=router",
    "nginx:upstream_keep_alive=off/http/waitress",
    "caddy:upstream_keep_alive=off/http/waitress",
    "haproxy:upstream_keep_alive=off/http/waitress",
    "h2o:upstream_keep_alive=off/http/waitress",
    "varnish:upstream_keep_alive=off/http/waitress",
    "apache:upstream_keep_alive=off/http/waitress",
    "varnish:cache=on/http/gunicorn",
    "apache+mod_wsgi:mode=embedded",
    "apache:mpm=prefork+mod_wsgi:mode=embedded",
    "apache+mod_wsgi:mode=daemon,processes=2,threads=4",
    "varnish/http/nginx/uwsgi/uwsgi",
    "haproxy/http/nginx/http/gunicorn",
    "haproxy/http/nginx:instances=2/http/gunicorn:instances=2",
    "caddy/http/apache/ajp/flup",
]
"""What the generated chains, all with default settings, do not reach."""

SOME = [*single_hops(SPECS, OFFERED), *both(SPECS, OFFERED), *MODES]
STACKS = [*SOME, *two_hops(SPECS, OFFERED), *balanced(SPECS, OFFERED), *over_tcp(SPECS, OFFERED)]

PAGES = ("/hello/", "/ctime/", "/ten-kilobytes/", "/random-row/", "/static/pages/site.css")
"""Those of pages.py: the same each time, with a part that changes, long, of one length, and a static file."""

CLOSES_EARLY = "granian"
"""It closes the connection when the app has answered without reading the body, as RFC 9112 (9.6) lets it. A front
end that is still sending may lose the answer then: Caddy says 502 in 2 of 3,000."""


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    root = tmp_path_factory.mktemp("pages")
    shutil.copy(pages.__file__, root)
    (root / "static" / "pages").mkdir(parents=True)
    (root / "static" / "pages" / "site.css").write_bytes(pages.CSS)
    wsgi, asgi = (
        App(
            name="pages",
            root=root,
            entry=entry_of(EntryKind(interface), f"pages:{interface}"),
            python=Path(sys._base_executable),
            static=by_prefix({"/static/": root / "static"}),
        )
        for interface in ("wsgi", "asgi")
    )
    examination = examine(wsgi, [Request(path=path) for path in PAGES])
    return Subject(
        app=wsgi,
        asgi=asgi,
        interpreter=examination.python,
        environments=Environments(cache_folder(), lambda _: None),
        environment=app_environment(wsgi),
        workload=golden(examination),
    )


@pytest.fixture(scope="module")
def farm(request, subject):
    asked = [item.callspec.params["path"] for item in request.session.items if item.path == request.path]
    farm = Farm(asked, subject.launcher, launch_ask_and_stop)
    yield farm
    farm.close()


@pytest.mark.parametrize("path", some_of(STACKS, SOME))
def test_a_stack_launches_answers_rightly_and_leaves_nothing(path, farm):
    farm.outcome(path)


def launch_ask_and_stop(path, launcher):
    stack = parse_stack(path, SPECS, OFFERED)
    # launch() itself compares every page of the app, the static file among them, with the golden answer
    running = launcher.launch(stack, timeout_s=60)
    try:
        if not path.startswith(UNRELIABLE):
            answers_are_right(running)
        facts = facts_of(running, catalogue())
        assert all(facts.versions[hop.server] for hop in stack.hops), facts.versions
        assert facts.commands
        assert launcher.failure_of(running) is None
    finally:
        complaints = stop(launcher.guard, [running])
    assert not complaints, "\n".join(f"{one.message}\n{one.log}" for one in complaints.values())
    nothing_is_left(running, launcher.guard)


def answers_are_right(running):
    if head_is_bare(running.stack.path):
        assert head(running.port, "/hello/") == (200, b"")
    assert ask(running.port, "GET", "/nowhere/").status == 404
    tries = 3 if running.stack.hops[-1].server == CLOSES_EARLY else 1
    posted = [ask(running.port, "POST", "/hello/", body=b"x" * 10_000).status for _ in range(tries)]
    assert set(posted) & {200, 403, 405}, posted
    hellos = [ask(running.port, "GET", "/hello/?page=3") for _ in range(20)]
    assert {(page.status, page.body) for page in hellos} == {(200, b"Hello, world!")}
    if running.stack.hops[0].server in serving_files() and len(running.stack.hops) > 1:
        # a front end serves static files itself: the app, asked for one, sends no ETag
        assert "etag" in ask(running.port, "GET", "/static/pages/site.css").headers
        assert "etag" not in hellos[0].headers


def serving_files():
    return {name for name, spec in SPECS.items() if spec.forwards} - NO_FILES


def nothing_is_left(running, guard):
    for _, pid in running.parts:
        assert guard.status([pid])[pid].alive == ()
    assert not running.directory.exists()
    with socket.socket() as probe:
        assert probe.connect_ex((running.host, running.port)) != 0
