"""A project, its files and its prefix of static files are called what no server expects: all cope."""

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.chains import is_legal, single_hops, two_hops
from tests.integration.farm import NO_FILES, Subject, ask, launchable, launcher_of, of_one_process, some_of

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.environment import app_environment
from stackrace.app.examiner.messages import PythonFacts
from stackrace.app.interpreter import find_ruby
from stackrace.base.http_syntax import by_prefix
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.installation import missing_item
from stackrace.deploy.launcher import LaunchFailed
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack_path import parse_stack

ODD = "50% \"odd\" 'n' $HOME ${PATH};{#} @(x)%d$(y) a:b=c\\ é"
"""The name of the project; a newline is added, and what is no UTF-8."""
FILES = (
    "a b.txt",
    "50%.txt",
    "50%25.txt",
    'say "hi" $1.txt',
    "q?x=1#f.txt",
    "a;b{c}.txt",
    "fotös.txt",
    "x+y&z=[1].txt",
)
TAKEN_FOR_ANOTHER = {"openlitespeed": ("50%25.txt",)}
"""Files by server that may arrive as another, whose encoded path is their name: docs/stacks.md warns of it."""
PREFIX = "/fot%C3%B6s%2Bv1.2,@a:c~/"
VALUE = "a\nb $HOME ${x} %d 'c' \"d\" @(e) \\ é"
HOME = str(Path.home())
HELLO = b"hello\n" + VALUE.encode() + HOME.encode()
BODY = b"a static file\n"

SPECS = catalogue().specs
SERVERS = [name for name, spec in SPECS.items() if Interface.FILES in spec.hosts]
WSGI, ASGI = frozenset({Interface.WSGI}), frozenset({Interface.ASGI})
HOSTS = [
    (path, offered)
    for offered in (WSGI, ASGI)
    for path in (*single_hops(SPECS, offered), "gunicorn:class=uvicorn")
    if is_legal(path, SPECS, offered)
]
OFTEN = ("gunicorn", "uwsgi", "apache+mod_wsgi", "uvicorn")
RACKS = [
    "apache+passenger" if entry.spec.inside else entry.spec.name
    for entry in catalogue()
    if Interface.RACK in entry.spec.hosts and not missing_item(entry)
]
FRONTS = [
    path
    for path in two_hops(SPECS, WSGI)
    if path.split("/")[0] not in NO_FILES and path.endswith(("/http/waitress", "/fastcgi/flup"))
]
HELLOS = Workload(
    requests=(Request(path="/"),),
    answers=(Answer(status=200, body=HELLO, content_type="text/plain", sameness=Sameness.BODY),),
)

PROGRAM = """
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def text():
    with open(os.path.join(HERE, "hello.txt"), "rb") as file:
        return file.read() + os.environb[b"ODD"] + os.path.expanduser("~").encode()


def wsgi(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(text())))])
    return [text()]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": text()})
"""

RACK = """
text = File.binread(File.join(__dir__, "hello.txt")) + ENV["ODD"].b + Dir.home.b
run ->(env) { [200, { "content-type" => "text/plain" }, [text]] }
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("odd") / os.fsdecode(f"{ODD}\n".encode() + b"\xff")
    static = root / "st{a}tic $1%"
    static.mkdir(parents=True)
    (root / "hello.txt").write_bytes(b"hello\n")
    (root / "program.py").write_text(PROGRAM)
    (root / "config.ru").write_text(RACK)
    (root / "public").mkdir()
    for name in FILES:
        (static / name).write_bytes(BODY + name.encode())
    return root


@pytest.fixture(scope="module")
def odd_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / f"{ODD}\n"


def static(project):
    return by_prefix({PREFIX: project / "st{a}tic $1%"})


def made(project, interface):
    base = Path(sys._base_executable)
    kind = EntryKind(str(interface))
    app = App(
        name="odd", root=project, entry=entry_of(kind, f"program:{interface}"), python=base, static=static(project)
    )
    return Subject(
        app=app,
        interpreter=PythonFacts(version="3.11", python=base, base=base, site_packages=()),
        environments=Environments(cache_folder(), lambda _: None),
        environment={**app_environment(app), "ODD": VALUE},
        workload=HELLOS,
    )


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        pytest.param(path, offered, marks=[] if path in OFTEN else pytest.mark.exhaustive)
        for path, offered in HOSTS
        if launchable([path])
    ],
)
def test_a_host_starts_in_an_odd_folder(path, offered, project, guard):
    (interface,) = offered
    launcher = made(project, interface).launcher(guard)
    running = launcher.launch(parse_stack(of_one_process(path), SPECS, offered), timeout_s=60)
    stop(guard, [running])


@pytest.mark.parametrize("path", launchable(["uwsgi", "apache+mod_wsgi", "gunicorn"]))
def test_environments_may_lie_in_an_odd_folder(path, project, guard, odd_cache):
    subject = made(project, Interface.WSGI)
    subject = replace(subject, environments=Environments(odd_cache, lambda _: None))
    running = subject.launcher(guard).launch(parse_stack(of_one_process(path), SPECS, WSGI), timeout_s=60)
    stop(guard, [running])


@pytest.mark.skipif(shutil.which("ruby") is None, reason="no Ruby: stackrace install puma brings one")
@pytest.mark.parametrize("path", RACKS)
def test_a_rack_app_starts_in_an_odd_folder(path, project, guard):
    entry = entry_of(EntryKind.RACK, "config.ru")
    app = App(name="odd", root=project, entry=entry, ruby=find_ruby(project), static=static(project))
    launcher = launcher_of(guard, app, HELLOS, ODD=VALUE)
    running = launcher.launch(parse_stack(path, SPECS, frozenset({Interface.RACK})), timeout_s=60)
    stop(guard, [running])


@pytest.mark.skipif("apache+passenger" not in RACKS, reason="Passenger is not installed")
def test_what_a_configuration_cannot_say_is_the_stacks_own_failure(project, guard):
    app = App(
        name="odd",
        root=project,
        entry=entry_of(EntryKind.RACK, "config.ru"),
        ruby=find_ruby(project),
        environment={"RACK_ENV": "a\nb"},
    )
    launcher = launcher_of(guard, app, HELLOS)
    with pytest.raises(LaunchFailed, match="'a\\\\nb' has '\\\\n', which this server's configuration cannot say"):
        launcher.launch(parse_stack("apache+passenger", SPECS, frozenset({Interface.RACK})))


@pytest.mark.parametrize("path", some_of(FRONTS, [path for path in FRONTS if "/http/" in path]))
def test_a_front_end_sends_files_of_any_name(path, project, guard):
    launcher = made(project, Interface.WSGI).launcher(guard)
    running = launcher.launch(parse_stack(of_one_process(path), SPECS, WSGI), timeout_s=60)
    try:
        sends_all(running.port, quote("/fotös+v1.2,@a:c~/"))
        assert ask(running.port, "GET", "/other").body == HELLO
        outside = ask(running.port, "GET", quote("/fotös+v1.2,@a:c~") + "../program.py")
        assert b"HERE" not in outside.body
    finally:
        stop(guard, [running])


@pytest.mark.parametrize("path", [name for name in SERVERS if not missing_item(catalogue().entries[name])])
def test_a_folder_of_files_may_be_called_anything(path, project, guard):
    app = App(name="odd", root=project / "st{a}tic $1%", entry=entry_of(EntryKind.FILES, "."))
    answer = Answer(status=200, body=BODY + b"fot\xc3\xb6s.txt", content_type="text/plain", sameness=Sameness.BODY)
    launcher = launcher_of(guard, app, Workload(requests=(Request(path="/fot%C3%B6s.txt"),), answers=(answer,)))
    running = launcher.launch(parse_stack(path, SPECS, frozenset({Interface.FILES})), timeout_s=60)
    try:
        sends_all(running.port, "/", but=TAKEN_FOR_ANOTHER.get(path, ()))
    finally:
        stop(guard, [running])


def sends_all(port, folder, but=()):
    for name in [name for name in FILES if name not in but]:
        answer = ask(port, "GET", folder + quote(name))
        assert (answer.status, answer.body) == (200, BODY + name.encode()), name
