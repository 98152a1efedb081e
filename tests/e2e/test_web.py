"""The results site, really served."""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from dataclasses import replace

import pytest
from tests.conftest import STACKRACE
from tests.factories import make_race
from tests.ports import free_port

from stackrace.store import open_store


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A store with one race, served; its address and the race's id."""
    store_url = f"sqlite:///{tmp_path_factory.mktemp('web') / 'races.sqlite3'}"
    race = make_race(3, blocks=2)
    odd = replace(make_race(1, blocks=1), id="0000000000001", app="\ud800\x1b]0;title", launches=())
    with open_store(store_url) as store:
        store.begin(race)
        store.begin(odd)
    process = subprocess.Popen(
        [str(STACKRACE), "web", "--port", str(free_port()), "--store", store_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    address = re.search(r"http://\S+/", process.stdout.readline())[0]
    yield address, race.id
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=1800) == 0
    said = process.stdout.read()
    process.stdout.close()
    assert "Traceback" not in said and "Error" not in said, said


def get(address):
    with urllib.request.urlopen(address, timeout=1800) as answer:
        return answer.read().decode()


def test_the_site_lists_races_and_shows_their_reports(site):
    address, race_id = site
    index = get(address)
    assert f'href="/races/{race_id}/"' in index and "\ufffd\ufffd]0;title" in index and index.endswith("</html>\n")
    assert race_id in get(f"{address}races/{race_id}/")
    assert json.loads(get(f"{address}races/{race_id}.json"))["race"]["id"] == race_id


def test_an_unknown_race_is_a_404(site):
    with pytest.raises(urllib.error.HTTPError) as raised:
        get(f"{site[0]}races/0000000000000/")
    assert raised.value.code == 404
    raised.value.close()


def raw(address, request):
    host, port = re.fullmatch(r"http://([^:]+):([0-9]+)/", address).groups()
    with socket.create_connection((host, int(port)), timeout=1800) as peer:
        peer.sendall(request)
        answer = b""
        while piece := peer.recv(65536):
            answer += piece
    return answer


@pytest.mark.parametrize("host", [b"evil.example", b"127.0.0.1.evil.example", b"a b", b"\x1b[31m", b""])
def test_a_strange_host_gets_400_and_the_terminal_no_traceback(site, host):
    answer = raw(site[0], b"GET / HTTP/1.0\r\nHost: %b\r\n\r\n" % host)
    assert answer.split()[1] == b"400"
    assert site[1].encode() not in answer


def test_browsers_may_only_show_what_the_site_says(site):
    address, race_id = site
    for path in ("", f"races/{race_id}/", f"races/{race_id}.json", "races/0000000000000/"):
        try:
            answer = urllib.request.urlopen(address + path, timeout=1800)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["X-Frame-Options"] == "DENY"
            page = answer.read()
        style = re.search(rb"<style>(.*?)</style>", page, re.DOTALL)
        if style:
            digest = base64.b64encode(hashlib.sha256(style[1]).digest()).decode()
            assert f"style-src 'sha256-{digest}'" in policy
        assert b" style=" not in page and b"<script" not in page
