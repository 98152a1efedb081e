"""Forms send tokens, and scripts those that they read anywhere: so do other visitors than the recorded."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration import token_apps
from tests.integration.csrf_site import Browser, running_site, visit

from stackrace.base.errors import InputError
from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments, cache_folder
from stackrace.features.recordings.recording import read_recording
from stackrace.measure.engine.engine import run
from stackrace.measure.engine.visitor import Visitor, difference, questions
from stackrace.measure.load import Load

VISITS = 8


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    file = tmp_path_factory.mktemp("apps") / "requirements.txt"
    file.write_text(token_apps.REQUIREMENTS)
    try:
        return Environments(cache_folder(), lambda _: None).of_requirements(
            file, Path(sys._base_executable), UNPROTECTED
        )
    except InputError as error:
        pytest.skip(str(error))


@contextmanager
def served(python, name):
    with subprocess.Popen([str(python), token_apps.__file__, name], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield f"127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


def visit_django(browser):
    for _ in range(2):
        token = json.loads(browser.ask("GET", "/session/"))["csrfToken"]
        browser.ask("POST", "/save/", document={"a": 1}, X_CSRFToken=token)
        browser.ask("POST", "/save-more/", document={"a": 1}, X_CSRFToken=browser.cookies["csrftoken"])


def visit_flask(browser):
    for name in ("meta", "script", "htmx"):
        page = browser.ask("GET", f"/{name}/")
        token = re.search(r"[\w-]+\.[\w-]+\.[\w-]{20,}", page)[0]
        browser.ask("POST", f"/{name}/save", document={"a": 1}, X_CSRFToken=token)


def visit_fastapi(browser):
    given = json.loads(browser.ask("POST", "/token", {"username": "ann", "password": "secret"}))
    given = json.loads(browser.ask("POST", "/refresh", document={"refresh_token": given["refresh_token"]}))
    bearer = {"Authorization": f"Bearer {given['access_token']}"}
    browser.ask("GET", "/me", **bearer)
    for _ in range(2):
        made = json.loads(browser.ask("POST", "/items", document={}, **bearer))
        browser.ask("GET", f"/items/{made['id']}", **bearer)


@pytest.fixture(scope="module", params=[None, visit_django, visit_flask, visit_fastapi])
def replay(request, tmp_path_factory):
    """An app that runs, and the recording of a visit to it or to another process of it."""
    file = tmp_path_factory.mktemp("visit") / "visit.har"
    if request.param is None:
        with running_site(tmp_path_factory.mktemp("site")) as address:
            yield address, replayed(visit(address).save(file), address)
        return
    python, name = request.getfixturevalue("python"), request.param.__name__.removeprefix("visit_")
    with served(python, name) as address:
        browser = Browser(address)
        request.param(browser)
        browser.save(file)
    with served(python, name) as address:
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
