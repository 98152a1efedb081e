"""``stackrace record``: a browser's visit to a real app becomes a session that is loaded and raced."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from tests.conftest import STACKRACE
from tests.integration.csrf_site import running_site, visit
from tests.raced import raced, told
from tests.tls import secure_server

CHROMIUM = shutil.which("chromium")

APP = """
PAGE = b'<html><head><link rel=stylesheet href="/static/site.css"></head><a href="/two">two</a></html>'
CSS = b"a { color: green }"

def app(environ, start_response):
    body, kind = (CSS, "text/css") if environ["PATH_INFO"] == "/static/site.css" else (PAGE, "text/html")
    start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]
"""

OLD_AND_NEW = """
import os

def app(environ, start_response):
    own = "http://" + environ["HTTP_HOST"]
    if environ["PATH_INFO"] == "/die":
        os._exit(1)
    if environ["PATH_INFO"] == "/old":
        start_response("302 Found", [("Location", own + "/new"), ("Content-Length", "0")])
        return [b""]
    body = (own + "/x " + environ.get("HTTP_REFERER", "")).encode()
    start_response("200 OK", [("Content-Type", "text/html"), ("Content-Length", str(len(body))),
                              ("Set-Cookie", "a=b; Secure; Domain=shop.example; Path=/")])
    return [body]
"""

RACE = f"""
[app]
wsgi = "notes:app"
python = "{sys.executable}"
[workload]
session = "session.har"
[race]
stacks = ["waitress"]
"""


@contextmanager
def recording(*arguments, cwd, code=0):
    """Record until the block ends, then press Ctrl-C; gives the proxy's address. Output goes to ``cwd``."""
    with (cwd / "stdout").open("w") as output, (cwd / "stderr").open("w") as errors:
        process = subprocess.Popen(
            [str(STACKRACE), "record", *map(str, arguments)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
    try:
        yield address_of(process, cwd / "stderr")
        if not code:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == code, (cwd / "stderr").read_text()
    finally:
        process.kill()
        process.wait()


def address_of(process, errors):
    """Return where to browse; building the proxy's environment takes a while at first."""
    while process.poll() is None:
        if match := re.search(r"Browse http://(\S+)/ and", errors.read_text()):
            return match[1]
        time.sleep(0.1)
    raise AssertionError(errors.read_text())


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with running_site(tmp_path_factory.mktemp("site")) as address:
        yield address


def test_a_visit_with_a_login_and_forms_is_replayed_by_other_visitors(site, tmp_path, stackrace):
    with recording(f"http://{site}", "--out", "visit.har", "--json", cwd=tmp_path) as address:
        browser = visit(address)
        time.sleep(0.5)
        browser.ask("GET", "/note/")
    summary = json.loads((tmp_path / "stdout").read_text())
    assert summary["requests"] == 9
    assert summary["with_tokens"] == 5
    assert summary["pause_s"] >= 0.5
    assert summary["origin"] == f"http://{site}"
    assert (tmp_path / "visit.har").stat().st_mode & 0o777 == 0o600
    done = stackrace(
        "load", f"http://{site}", "--session", "visit.har", "--cookies", "--think", "none",
        "-c", "2", "-n", "36", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ok"] == 36


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_app_of_a_race_file_is_started_recorded_with_a_browser_and_raced(tmp_path, brief):
    (tmp_path / "notes.py").write_text(APP)
    (tmp_path / "race.toml").write_text(RACE)
    with recording("race.toml", "--json", cwd=tmp_path) as address:
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        flags = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}")
        command = [CHROMIUM, *flags, "--dump-dom", f"http://{address}/"]
        subprocess.run(command, capture_output=True, timeout=120, env=os.environ | home, check=True)
    summary = json.loads((tmp_path / "stdout").read_text())
    assert (summary["pages_and_calls"], summary["parts"]) in ((1, 1), (1, 2))
    few = ("-c", "4", "--no-twin", "--repeats", "1", "--requests", "40", "--json")
    document = raced(brief("run", "race.toml", *few, cwd=tmp_path))
    assert told(document) == {"waitress"}


def test_a_file_that_is_there_is_not_replaced(site, tmp_path, stackrace):
    (tmp_path / "session.har").write_text("mine")
    done = stackrace("record", f"http://{site}", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out session.har exists; name another file" in done.stderr
    assert (tmp_path / "session.har").read_text() == "mine"


def test_an_app_that_does_not_run_is_said(tmp_path, stackrace):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        done = stackrace("record", f"http://127.0.0.1:{probe.getsockname()[1]}/", cwd=tmp_path)
    assert done.returncode == 2
    assert "start your app first, or give its race file" in done.stderr


def test_the_browser_stays_with_the_proxy_until_the_app_dies_and_what_was_recorded_is_kept(tmp_path):
    """Redirects and links that name the app's own address lead back to the proxy; the app hears its own name."""
    (tmp_path / "notes.py").write_text(OLD_AND_NEW)
    (tmp_path / "race.toml").write_text(RACE.replace("[race]", 'host = "shop.example"\n[race]'))
    with recording("race.toml", cwd=tmp_path, code=2) as address:
        with urlopen(f"http://{address}/old") as answer:
            assert answer.url == f"http://{address}/new"
            assert answer.read().decode().startswith(f"http://{address}/x")
            assert answer.headers["Set-Cookie"] == "a=b; Path=/"
        with pytest.raises(HTTPError, match="502"):
            urlopen(f"http://{address}/die")
    assert "waitress" in (tmp_path / "stderr").read_text()
    entries = json.loads((tmp_path / "session.har").read_text())["log"]["entries"][:2]
    assert [entry["request"]["url"] for entry in entries] == ["http://shop.example/old", "http://shop.example/new"]
    assert [entry["response"]["status"] for entry in entries] == [302, 200]


def test_only_the_names_of_this_machine_get_through_and_an_app_of_it_may_have_any_certificate(
    certificate, tmp_path
):
    """A page that leads its own name here (DNS rebinding) is refused, as by the app's ALLOWED_HOSTS."""
    with (
        secure_server(certificate) as (host, secure_port),
        recording(f"https://{host}:{secure_port}", "--json", cwd=tmp_path) as address,
    ):
        port = int(address.rpartition(":")[2])

        def status(*hosts, method="GET"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.putrequest(method, "/login/", skip_host=True)
            for host in hosts:
                connection.putheader("Host", host)
            connection.endheaders()
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
            assert answer.status != 421 or f"http://{address}/" in body
            return answer.status

        for ours in (address, f"localhost:{port}", f"[::1]:{port}", "LOCALHOST", "127.0.0.1:9000"):
            assert status(ours) == 200, ours
        for hosts in (
            ("evil.example",), (f"evil.example:{port}",), ("127.0.0.1.evil.example",), ("localhost@evil.example",),
            (address, "evil.example"), ("127.0.0.10",), ("",), (),
        ):  # fmt: skip
            assert status(*hosts) == 421, hosts
        assert status("evil.example", method="POST") == 421
    entries = json.loads((tmp_path / "session.har").read_text())["log"]["entries"]
    assert [entry["response"]["status"] for entry in entries] == [200] * 5
    assert " 421" not in (tmp_path / "stderr").read_text()
    assert json.loads((tmp_path / "stdout").read_text())["origin"] == f"https://{host}:{secure_port}"
