"""A recorded visit to a site with CSRF protection and a login is replayed by other visitors than the recorded."""

from dataclasses import replace

import pytest
from tests.integration.csrf_site import running_site, visit

from stackrace.features.recordings.recording import read_recording
from stackrace.measure.engine.engine import run
from stackrace.measure.engine.visitor import Visitor, difference, questions
from stackrace.measure.load import Load


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A site that runs, and the recording of a visit to it."""
    folder = tmp_path_factory.mktemp("site")
    with running_site(folder) as address:
        yield address, visit(address).save(folder / "visit.har")


def played(address, workload):
    host, port = address.split(":")
    return run(address=(host, int(port)), workload=workload, load=Load(concurrency=2, requests=32))


def test_visitors_send_the_tokens_of_their_own_pages(recorded):
    address, file = recorded
    workload = read_recording(file, cookies=True, think=False).at(f"http://{address}")
    result = played(address, workload)
    assert result.counts.ok == 32, [(target.name, target.counts) for target in result.targets]


def test_with_the_recorded_tokens_every_form_is_refused(recorded):
    address, file = recorded
    workload = read_recording(file, cookies=True, think=False).at(f"http://{address}")
    stale = tuple(replace(request, handouts=(), fills=()) for request in workload.requests)
    result = played(address, replace(workload, requests=stale))
    posts = [target for target in result.targets if target.name.startswith("POST")]
    assert posts
    assert all(target.counts.ok == 0 for target in posts)


def test_the_first_visitor_of_a_launch_sends_them_too(recorded):
    address, file = recorded
    workload = read_recording(file, cookies=True, think=False).at(f"http://{address}")
    host, port = address.split(":")
    visitor = Visitor(host, int(port), workload)
    asked = questions(workload)
    assert len(asked) == len(workload.requests) == 8
    assert [difference(visitor.ask(request, 20), golden) for request, golden in asked] == [""] * 8
