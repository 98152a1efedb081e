"""The recorded session that comes with the bundled Django app."""

import json

import pytest

from stackrace.apps import bundled
from stackrace.load.recording import read_recording
from stackrace.model.workload import Order

SESSION = bundled().sessions["browse"]
STATIC = {"/static/library/library.css", "/static/library/library.js", "/static/library/bookplate.png"}


@pytest.fixture(scope="module")
def workload():
    recording = read_recording(SESSION)
    assert recording.origin == "http://127.0.0.1:8000"
    assert recording.skipped == {}
    return recording.workload


def test_every_page_brings_a_style_sheet_a_script_and_an_image(workload):
    assert workload.order is Order.SESSION
    requests = workload.requests
    for page, *parts in zip(*(requests[first::4] for first in range(4)), strict=True):
        assert page.path.startswith("/browse/")
        assert not page.embedded
        assert {part.path for part in parts} == STATIC
        assert all(part.embedded for part in parts)


def test_it_turns_pages_and_looks_at_details(workload):
    pages = [request.path for request in workload.requests if not request.embedded]
    assert 10 <= len(pages) <= 16
    assert sum("?after=" in page for page in pages) >= 3
    assert sum("?last=" in page for page in pages) >= 1
    assert sum(page.rstrip("/").rpartition("/")[2].isdecimal() for page in pages) >= 3


def test_every_page_was_found(workload):
    assert {answer.status for answer in workload.answers} == {200}


def test_it_holds_neither_bodies_nor_cookies_nor_another_address():
    assert SESSION.stat().st_size < 300_000
    text = SESSION.read_text(encoding="utf-8")
    assert text.count("://") == text.count("http://127.0.0.1:8000/") > 64
    for entry in json.loads(text)["log"]["entries"]:
        assert "text" not in entry["response"]["content"]
        assert entry["request"]["cookies"] == entry["response"]["cookies"] == []
        names = {header["name"].lower() for header in entry["request"]["headers"]}
        assert not names & {"cookie", "host", "proxy-connection", "authorization"}


def test_a_browser_would_not_have_paused(workload):
    assert all(request.think_s < 0.01 for request in workload.requests)


def test_all_it_needs_comes_with_the_app(workload):
    ours = bundled()
    (folder,) = ours.static.values()
    assert all((folder / path.removeprefix("/static/")).is_file() for path in STATIC)
    assert set(ours.sessions) <= set(ours.seeds)
