"""Forms and scripts send tokens of Django and Flask-WTF: so do other visitors than the recorded."""

import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration import flask_site
from tests.integration.csrf_site import Browser, running_site, token_of, visit

from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.features.recordings.recorded_sessions import read_recording
from stackrace.measure.engine.engine import run
from stackrace.measure.engine.visitor import Visitor, difference, questions
from stackrace.measure.load import Load

VISITS = 8


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    file = tmp_path_factory.mktemp("apps") / "requirements.txt"
    file.write_text(flask_site.REQUIREMENTS)
    try:
        return Environments(cache_folder(), lambda _: None).of_requirements(
            file, Path(sys._base_executable), UNPROTECTED
        )
    except InputError as error:
        pytest.skip(str(error))


@contextmanager
def served(python):
    with subprocess.Popen([str(python), flask_site.__file__], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield f"127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


def visit_flask(browser):
    token = token_of(browser.ask("GET", "/note/"), "csrf_token")
    browser.ask("POST", "/note/", {"text": "hello", "csrf_token": token})
    browser.ask("POST", "/call/", document={"a": 1}, X_CSRFToken=token)


@pytest.fixture(scope="module", params=["django", "flask"])
def replay(request, tmp_path_factory):
    """An app that runs, and the recording of a visit to it or to another process of it."""
    file = tmp_path_factory.mktemp("visit") / "visit.har"
    if request.param == "django":
        with running_site(tmp_path_factory.mktemp("site")) as address:
            yield address, replayed(visit(address).save(file), address)
        return
    python = request.getfixturevalue("python")
    with served(python) as address:
        browser = Browser(address)
        visit_flask(browser)
        browser.save(file)
    with served(python) as address:
        yield address, replayed(file, address)


def replayed(file, address):
    return read_recording(file, cookies=True, think=False).at(f"http://{address}")


def played(address, workload):
    host, port = address.split(":")
    requests = VISITS * len(workload.requests)
    return run(address=(host, int(port)), workload=workload, load=Load(concurrency=2, requests=requests))


def test_visitors_send_the_tokens_of_their_own_answers(replay):
    address, workload = replay
    result = played(address, workload)
    assert result.counts.ok == VISITS * len(workload.requests), [
        (target.name, target.counts) for target in result.targets
    ]


def test_with_the_recorded_tokens_every_such_request_is_refused(replay):
    address, workload = replay
    stale = tuple(replace(request, handouts=(), fills=()) for request in workload.requests)
    ok = {target.name: target.counts.ok for target in played(address, replace(workload, requests=stale)).targets}
    filled = {f"{request.method} {request.path}" for request in workload.requests if request.fills}
    assert len(filled) >= 2
    assert {name: ok[name] for name in filled} == dict.fromkeys(filled, 0)


def test_the_first_visitor_of_a_launch_sends_them_too(replay):
    address, workload = replay
    host, port = address.split(":")
    visitor = Visitor(host, int(port), workload)
    differences = [difference(visitor.ask(request, 20), golden) for request, golden in questions(workload)]
    assert differences == [""] * len(workload.requests)
