"""A page that takes a fifth of a second: its slices are long enough to hold answers, and the user is told."""

import subprocess
import sys

import pytest
from tests.conftest import STACKRACE
from tests.raced import raced, slices_of

APP = """
import time

def app(environ, start_response):
    time.sleep(0.2)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.py").write_text(APP)
    words = "run --wsgi slow:app --budget 30s -c 10 --stack gunicorn --stack waitress --no-twin --json"
    return subprocess.run(
        [str(STACKRACE), *words.split(), "--python", sys.executable],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_every_slice_of_a_slow_page_holds_answers(done):
    slices = slices_of(raced(done))
    assert slices
    for one in slices:
        # two workers: ten answers a second, in slices of three seconds that may be shortened to three fifths
        assert one["duration_s"] > 1.7
        assert one["counts"]["ok"] > 5


def test_the_user_is_told_beforehand_that_the_budget_is_short(done):
    assert "Your page takes 20" in done.stderr
    assert "Give --budget " in done.stderr
    assert any("Your page takes 20" in note for note in raced(done)["words"]["notes"])
