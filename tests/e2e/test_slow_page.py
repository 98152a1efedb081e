"""A page that takes a second: whoever gives it a budget of hardly a block is told so before the race begins."""

import json
import signal
import subprocess
import sys

import pytest
from tests.conftest import STACKRACE

APP = """
import time

def app(environ, start_response):
    time.sleep(1)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "5")])
    return [b"hello"]
"""
TOLD = "Your page takes "


@pytest.mark.exhaustive
def test_the_user_is_told_beforehand_that_the_budget_is_short(stackrace, tmp_path):
    (tmp_path / "slow.py").write_text(APP)
    words = "run --wsgi slow:app --budget 90s -c 10 --stack gunicorn --stack waitress --no-twin --store r.sqlite3"
    command = [str(STACKRACE), *words.split(), "--python", sys.executable]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as race:
        said = []
        for line in race.stdout:
            said.append(line)
            if line.startswith("block 1"):
                race.send_signal(signal.SIGINT)
    before = "".join(said).partition("block 1")[0]
    if "too short: one block" in before:
        # a busy machine took most of the budget to prepare: it is refused at once, with the same way out
        assert race.returncode == 2
        assert "give more time" in before
        return
    assert TOLD in before, said
    assert "Give --budget " in before
    kept = json.loads(stackrace("report", "--json", "--store", "r.sqlite3", cwd=tmp_path).stdout)
    assert any(TOLD in note for note in kept["words"]["notes"])
