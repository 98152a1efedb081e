"""A race whose app runs from a copy of the project goes on from another copy, and leaves the project as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests import no_namespaces
from tests.conftest import BRIEF
from tests.raced import ended_launches, raced
from tests.writing_site import digest, make_site

RACE = f"""
[app]
python = "{sys.executable}"
prepare = ["cp -r style collected"]

[workload]
urls = ["/", "/static/site.css"]

[load]
concurrency = [1]
requests = 20

[race]
stacks = ["nginx/http/waitress"]
repeats = 3
twin = false
"""


@pytest.fixture
def call(tmp_path, temporary):
    """Start the command in the project, where namespaces are forbidden."""
    site = make_site(tmp_path / "user" / "site", tmp_path / "user" / "site")
    (site / "race.toml").write_text(RACE)
    folders = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CACHE_HOME": str(temporary), "TMPDIR": str(temporary)}

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, no_namespaces.__file__, *BRIEF, *arguments],
            cwd=site,
            env=os.environ | folders,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.exhaustive)], ids=["KILL", "INT"]
)
def test_it_goes_on(call, tmp_path, temporary, number):
    before = digest(tmp_path / "user")
    process = call("run", "race.toml")
    store = tmp_path / "data" / "stackrace" / "races.sqlite3"
    while process.poll() is None:
        if store.is_file() and any(ended_launches(f"sqlite:///{store}").values()):
            break
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=1800)
    assert process.returncode in (130, -signal.SIGKILL), said

    resumed = call("run", "--resume", "--json")
    text, said = resumed.communicate(timeout=1800)
    assert "going on with race" in said
    document = raced(subprocess.CompletedProcess([], resumed.returncode, text, said))
    assert (document["race"]["ending"], document["race"]["resumed"]) == ("completed", 1)
    whole = [one for one in document["launches"] if (one["failure"] or {}).get("code") != "interrupted"]
    assert len(whole) == 3
    assert any("The app ran in a copy of" in note for note in document["race"]["notes"])
    assert digest(tmp_path / "user") == before
    assert list(temporary.glob("stackrace-*")) == []
