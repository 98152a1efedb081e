"""The results site, really served."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request

import pytest
from tests.conftest import STACKRACE
from tests.factories import make_race

from stackrace.store import open_store


@pytest.fixture
def site(tmp_path):
    """A store with one race, served; its address and the race's id."""
    store_url = f"sqlite:///{tmp_path / 'races.sqlite3'}"
    race = make_race(3, blocks=2)
    with open_store(store_url) as store:
        store.begin(race)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [str(STACKRACE), "web", "--port", str(port), "--store", store_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    address = re.search(r"http://\S+/", process.stdout.readline())[0]
    yield address, race.id
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=120) == 0
    process.stdout.close()


def get(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()


def test_the_site_lists_races_and_shows_their_reports(site):
    address, race_id = site
    assert f'href="/{race_id}/"' in get(address)
    assert race_id in get(f"{address}{race_id}/")
    assert json.loads(get(f"{address}{race_id}.json"))["race"]["id"] == race_id


def test_an_unknown_race_is_a_404(site):
    with pytest.raises(urllib.error.HTTPError) as raised:
        get(f"{site[0]}0000000000000/")
    assert raised.value.code == 404
    raised.value.close()
