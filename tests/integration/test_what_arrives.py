"""What a client asks arrives at the app as it was asked, through every front end, protocol and host.

PEP 3333 takes the variables from CGI: PATH_INFO is percent-decoded (RFC 3875 section 4.1.5), QUERY_STRING is not
(section 4.1.7), and an app at the root has an empty SCRIPT_NAME. Its bytes are latin-1 characters.
"""

import json
import shutil
import sys
from contextlib import suppress
from http.client import IncompleteRead
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.chains import single_hops, spanning, two_hops
from tests.integration.farm import UNRELIABLE, Farm, Subject, ask, head, head_is_bare, launchable, some_of

from stackrace.app.app import App, Entry, EntryKind
from stackrace.app.environment import app_environment
from stackrace.app.examiner.messages import PythonFacts
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.deploy.shutdown import stop
from stackrace.measure.workload import Answer, Request, Sameness, Workload
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Protocol
from stackrace.stacks.stack_path import parse_stack

SPECS = catalogue().specs
OFFERED = frozenset({Interface.WSGI})
HTTP_HOSTS = {"gunicorn", "uwsgi", "apache+mod_wsgi", "apache+mod_python"}
"""Behind a front end http is http: two hosts of each kind are enough; other protocols are tried with all."""

CHAINS = [
    path
    for path in two_hops(SPECS, OFFERED)
    if (path.split("/")[1] != Protocol.HTTP or path.split("/")[2] in HTTP_HOSTS) and not path.startswith(UNRELIABLE)
]
STACKS = [*single_hops(SPECS, OFFERED), *CHAINS]

ENCODED = {"apache/scgi/uwsgi", "apache+passenger"}
"""mod_proxy_scgi sends the path percent-encoded, and nothing in its configuration decodes it. Our launcher of flup
takes the path from REQUEST_URI instead; uWSGI does not. Passenger encodes the path again, and its loader of WSGI
apps leaves it so."""

RAW = {"cherokee/http/gunicorn"}
"""Cherokee's proxy sends the path decoded: gunicorn's parser refuses such bytes, Apache's and uWSGI's do not."""

DECODED_TWICE = "/uwsgi/gunicorn"
"""Stacks that end so: the front end decodes the path, as the protocol has it, and gunicorn once more."""

SOME = [*single_hops(SPECS, OFFERED), *spanning(launchable(CHAINS)), *ENCODED, *RAW]
"""Those that ``make test`` launches: every link of a front end and of a host, and what is known to go wrong."""

CUT_SHORT = "caddy/http/"
"""Stacks that begin so may cut an answer to a POST short when the machine stalls: docs/stacks.md has the reason."""
TRIES = 3


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    root = tmp_path_factory.mktemp("echo")
    shutil.copy(Path(__file__).with_name("echo.py"), root)
    base = Path(sys._base_executable)
    app = App(name="echo", root=root, entry=Entry(kind=EntryKind.WSGI, target="echo:application"), python=base)
    yield Subject(
        app=app,
        interpreter=PythonFacts(version="3.11", python=base, base=base, site_packages=()),
        environments=Environments(cache_folder(), lambda _: None),
        environment=app_environment(app),
        workload=Workload(
            requests=(Request(path="/"),),
            answers=(Answer(status=200, body=b"", content_type="application/json", sameness=Sameness.STATUS),),
        ),
    )


@pytest.fixture(scope="module")
def farm(request, subject):
    asked = [item.callspec.params["path"] for item in request.session.items if item.path == request.path]
    farm = Farm(asked, subject.launcher, launch_and_ask)
    yield farm
    farm.close()


@pytest.mark.parametrize("path", some_of(STACKS, SOME))
def test_what_is_asked_arrives(path, farm):
    farm.outcome(path)


def launch_and_ask(path, launcher):
    running = launcher.launch(parse_stack(path, SPECS, OFFERED), timeout_s=60)
    try:
        if path in ENCODED | RAW or path.endswith(DECODED_TWICE):
            # told when it is mended: then it leaves the list and docs/stacks.md
            with pytest.raises(AssertionError):
                a_path_is_decoded_once(running)
        else:
            a_path_is_decoded_once(running)
        a_query_stays_as_it_is(running)
        a_body_arrives_uncut(running) if path.startswith(CUT_SHORT) else a_body_arrives(running)
        if head_is_bare(path):
            assert head(running.port, "/") == (200, b"")
    finally:
        stop(launcher.guard, [running])


def echoed(running, method, target, body=None, headers=()):
    answer = ask(running.port, method, target, body, headers)
    assert answer.status == 200, answer
    seen = SimpleNamespace(**json.loads(answer.body))
    assert seen.REQUEST_METHOD == method  # noqa: SIM300 (a name of CGI, no constant)
    assert not seen.SCRIPT_NAME
    return seen


def a_path_is_decoded_once(running):
    seen = echoed(running, "GET", "/caf%C3%A9/x%20y")
    assert seen.PATH_INFO.encode("latin-1").decode() == "/café/x y"
    assert echoed(running, "GET", "/100%2525").PATH_INFO == "/100%25"


def a_query_stays_as_it_is(running):
    seen = echoed(running, "GET", "/a/b?a=%26b&c=d%20e+f")
    assert (seen.PATH_INFO, seen.QUERY_STRING) == ("/a/b", "a=%26b&c=d%20e+f")
    plain = echoed(running, "GET", "/")
    assert (plain.PATH_INFO, plain.QUERY_STRING) == ("/", "")


def a_body_arrives_uncut(running):
    for _ in range(TRIES - 1):
        with suppress(IncompleteRead):
            return a_body_arrives(running)
    return a_body_arrives(running)


def a_body_arrives(running):
    body = bytes(range(256)) * 40
    seen = echoed(running, "POST", "/form?a=%26b", body, [("Content-Type", "application/octet-stream")])
    assert seen.CONTENT_LENGTH == "10240"
    assert seen.CONTENT_TYPE == "application/octet-stream"
    assert seen.body.encode("latin-1") == body
    assert (seen.PATH_INFO, seen.QUERY_STRING) == ("/form", "a=%26b")
