"""`stackrace load` against real servers on loopback: what it prints is what happened."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import threading
from socketserver import ThreadingMixIn, UnixStreamServer

import jsonschema
import pytest
from tests.conftest import STACKRACE
from tests.http_servers import Hello, Server, serving
from tests.tls import secure_server

from stackrace.measure.engine.histogram import quantiles
from stackrace.report.load_result import schema

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))


class Handler(Hello):
    """Remembers what was asked; answers with a body of its own, /missing with 404, /cached as a cache would."""

    def respond(self) -> None:
        body = self._read()
        with self.server.lock:
            self.server.asked.append((self.command, self.path, dict(self.headers), body))
            number = len(self.server.asked)
        answer = f"<p>answer {number} to {self.headers.get('X-Nonce', 'nobody')}</p>".encode()
        age = [("Age", "7")] if self.path == "/cached" else []
        self.answer(answer, 404 if self.path == "/missing" else 200, *age, ("Set-Cookie", "visit=1; Path=/"))

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


def remembering(server):
    server.asked, server.lock = [], threading.Lock()
    return serving(server)


class UnixServer(ThreadingMixIn, UnixStreamServer):
    request_queue_size = 128
    daemon_threads = True


@pytest.fixture
def server():
    with remembering(Server(Handler)) as server:
        yield server


@pytest.fixture
def load(stackrace, tmp_path):
    """Run the command in an empty folder, without the engine's look at itself."""

    def call(*arguments, **environment):
        return stackrace("load", *arguments, "--no-ceiling", cwd=tmp_path, **environment)

    return call


def document(done, code=0):
    assert done.returncode == code, done.stderr
    found = json.loads(done.stdout)
    VALIDATOR.validate(found)
    assert found["scheduled"] == (
        found["ok"] + found["non2xx"] + sum(found["failed"].values()) + found["timed_out"] + found["in_flight"]
        + found["unsent"]
    )  # fmt: skip
    return found


def test_the_document_is_what_the_server_saw(load, server):
    done = load(server.url, "-n", "50", "-c", "3", "--json")
    found = document(done)
    assert (found["ok"], found["urls"], found["connections_opened"]) == (50, [server.url], 3)
    assert len(server.asked) == 50
    assert (found["load"]["loop"], found["load"]["requests"], found["ceiling_per_s"]) == ("closed", 50, None)
    again = quantiles([base64.b64decode(found["histogram"])])
    assert (again.count, again.p50, again.max) == (50, found["latency"]["p50"], found["latency"]["max"])
    assert done.stderr == ""


def test_the_engines_own_limit_is_told(stackrace, server):
    done = stackrace("load", server.url, "-n", "20")
    assert re.search(r"Its ceiling here is [\d,]+/s; this run used", done.stdout), done.stdout
    found = document(stackrace("load", server.url, "-n", "20", "--json"))
    assert found["ceiling_per_s"] > 0


def test_connections_beside_a_load_ask_once_or_never(load, server):
    found = document(load(server.url, "-n", "30", "-c", "2", "--silent", "3", "--idle", "4", "--json"))
    assert (found["load"]["silent"], found["load"]["idle"]) == (3, 4)
    assert (found["ok"], found["held"]) == (30, {"silent": 3, "idle": 4, "closed": 0})
    assert len(server.asked) == 34
    shown = load(server.url, "-n", "30", "--idle", "4").stdout
    assert "; beside the load: 4 idle connections; all stayed open\n" in shown


def test_too_many_connections_beside_a_load_are_refused(load, server):
    done = load(server.url, "--idle", "5001")
    assert (done.returncode, server.asked) == (2, [])
    assert "--idle" in done.stderr


def test_a_rate_is_kept_whatever_the_server_does(load, server):
    found = document(load(server.url, "--rate", "3k/min", "-n", "30", "--poisson", "--seed", "5", "--json"))
    assert found["load"] == found["load"] | {"loop": "open", "rate_per_s": 50.0, "poisson": True, "seed": 5}
    assert found["ok"] == 30
    assert found["lag"]["count"] == 30
    assert found["established_peak"] <= 30
    text = load(server.url, "--rate", "100", "-n", "10").stdout
    assert "answered, 100 requests/s offered" in text
    assert "\nlag " in text
    assert "Requests were sent " in text


def test_what_was_asked_for_is_what_was_sent(load, server):
    done = load(
        server.url, "-n", "3", "-c", "1", "--data", "a=1&b=2", "--method", "put", "-H", "X-Test: 1",
        "--host", "shop.example", "--chunked", "3B", "--json",
    )  # fmt: skip
    document(done)
    for method, path, headers, body in server.asked:
        assert (method, path, body) == ("PUT", "/", b"a=1&b=2")
        assert (headers["X-Test"], headers["Host"]) == ("1", "shop.example")
        assert headers["Transfer-Encoding"] == "chunked"
        assert headers["Content-Type"] == "application/x-www-form-urlencoded"


def test_answers_are_held_against_what_was_expected(load, server, tmp_path):
    assert document(load(f"{server.url}missing", "-n", "4", "--expect-status", "404", "--json"))["ok"] == 4
    (tmp_path / "body").write_bytes(b"<p>answer 1 to nobody</p>")
    masked = ["--expect-body", "body", "--mask", r"\d+"]
    assert document(load(server.url, "-n", "4", *masked, "--json"))["ok"] == 4
    wrong = load(server.url, "-n", "4", "--expect-body", "body")
    assert wrong.returncode == 3
    assert "4 failed at comparing the body" in wrong.stdout
    assert "--mask" in wrong.stdout
    assert "no right answer" in wrong.stderr


def test_every_request_can_have_a_number_of_its_own(load, server):
    found = document(load(server.url, "-n", "20", "--nonce", "header:X-Nonce", "--json"))
    assert (found["ok"], found["nonces_lost"]) == (20, 0)
    assert len({headers["X-Nonce"] for _, _, headers, _ in server.asked}) == 20
    lost = load(server.url, "-n", "20", "--nonce", "query:n")
    assert "20 failed at comparing the body: 20 did not repeat their request's nonce" in lost.stdout
    assert len({path for _, path, _, _ in server.asked[20:]}) == 20


def test_answers_out_of_a_cache_are_doubted(load, server):
    text = load(f"{server.url}cached", "-n", "5").stdout
    assert "not to be believed: 5 answers came from a cache" in text


def test_a_unix_socket_is_a_server_like_any_other(load, tmp_path):
    with remembering(UnixServer(str(tmp_path / "shop.sock"), Handler)) as server:
        words = ("-n", "20", "--unix-socket", "shop.sock", "--idle", "1", "--json")
        found = document(load("http://shop.example/", *words))
        assert found["held"] == {"silent": 0, "idle": 1, "closed": 0}
        assert (found["ok"], len(server.asked)) == (20, 21)
        assert {headers["Host"] for _, _, headers, _ in server.asked} == {"shop.example"}


def test_the_latencies_are_written_for_other_plotters(load, server, tmp_path):
    assert load(server.url, "-n", "30", "--hdr", "out.hgrm").returncode == 0
    lines = (tmp_path / "out.hgrm").read_text().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert lines[-2].endswith(f"Total count    = {30:12d}]")


def test_a_server_that_is_not_there_is_no_result(load):
    done = load("http://127.0.0.1:9/", "-n", "3")
    assert done.returncode == 3
    assert "3 failed at connecting: does the server listen there?" in done.stdout
    assert "there was no right answer" in done.stderr
    assert document(load("http://127.0.0.1:9/", "-n", "3", "--json"), code=3)["failed"]["connect"] == 3


def test_a_server_that_is_not_there_is_asked_only_once(load):
    failed = document(load("http://127.0.0.1:9/", "-d", "1h", "--json"), code=3)["failed"]
    assert failed["connect"] == 1


def test_https_is_loaded_by_whom_the_certificate_is_for(load, certificate, tmp_path):
    with secure_server(certificate) as (_, port):
        url = f"https://localhost:{port}/"
        for trust in (
            ["--insecure"],
            ["--cacert", certificate.file],
            ["--cacert", certificate.file, "--tls", "1.2"],
        ):
            found = document(load(url, "-n", "10", "-c", "2", "--idle", "1", *trust, "--json"))
            assert (found["ok"], found["tls"]["count"], found["held"]["idle"]) == (10, 2, 1)
        refused = load(url, "-n", "2", SSL_CERT_FILE=str(certificate.file.parent / "absent"))
        assert refused.returncode in (2, 3)
        assert "--insecure" in refused.stdout + refused.stderr
        assert "--cacert" in refused.stdout + refused.stderr


def test_ctrl_c_keeps_what_was_measured(server, tmp_path):
    command = [str(STACKRACE), "load", server.url, "-d", "1h", "--no-ceiling", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        pause = threading.Event()
        while len(server.asked) < 50 and running.poll() is None:
            pause.wait(0.02)
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate(timeout=1800)
    found = json.loads(printed)
    VALIDATOR.validate(found)
    assert running.returncode == 0
    assert 0 < found["ok"] <= len(server.asked)
    assert found["duration_s"] < 3600


def test_an_engine_that_never_sleeps_tells_how_long_it_spun(load, server):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("it needs a core of its own")
    found = document(load(server.url, "-c", "1", "-n", "300", "--spin", "--json"))
    assert 0 < found["spin_s"] <= found["cpu_s"]


def test_a_warm_up_is_not_recorded(load, server):
    """However slow the machine is: what is sent first belongs to the warm-up."""
    found = document(load(server.url, "-n", "20", "--warmup", "1s", "-c", "2", "--json"))
    assert found["load"]["warmup_s"] == 1.0
    assert found["ok"] == 20
    assert len(server.asked) > 20


def test_a_visitor_returns_cookies_and_plays_in_order(load, server):
    document(load(server.url, f"{server.url}next", "-n", "20", "-c", "1", "--cookies", "--json"))
    assert [path for _, path, _, _ in server.asked] == ["/", "/next"] * 10
    assert all(headers.get("Cookie") is None for _, path, headers, _ in server.asked if path == "/")
    assert all(headers["Cookie"] == "visit=1" for _, path, headers, _ in server.asked if path == "/next")


def har(origin, *paths):
    """A recording of one visit: pages two seconds after each other, style sheets at once."""
    entries = [
        {
            "startedDateTime": f"2026-05-06T07:08:{2 * second:02}.000Z",
            "time": 1.0,
            "request": {"method": "GET", "url": f"{origin}{path}", "headers": [{"name": "X-Kept", "value": "1"}]},
            "response": {"status": 404 if path == "/missing" else 200, "content": {"mimeType": "text/html"}},
        }
        for second, path in enumerate(paths)
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def test_a_recorded_visit_is_played_against_this_server(load, server, tmp_path):
    recorded = har("http://shop.example", "/", "/missing", "/cart")
    (tmp_path / "visit.har").write_text(recorded.replace("[{", '[{"request": {"url": "data:,x"}}, {', 1))
    options = ["-n", "12", "-c", "1", "--cookies", "--think", "none", "-H", "X-Given: 2"]
    found = document(load(server.url, "--session", "visit.har", *options, "--json"))
    assert (found["ok"], found["urls"]) == (12, [server.url])
    assert {each["name"]: each["ok"] for each in found["targets"]} == {
        "GET /": 4, "GET /missing": 4, "GET /cart": 4,
    }  # fmt: skip
    for _, path, headers, _ in server.asked:
        assert (headers["Host"], headers["X-Kept"], headers["X-Given"]) == (server.url[7:-1], "1", "2")
        assert headers.get("Cookie") == (None if path == "/" else "visit=1")
    text = load(server.url, "--session", "visit.har", *options).stdout
    assert "--session visit.har is played but for 1 × " in text
    assert "GET /missing" in text


def test_pauses_are_as_recorded_or_as_told_and_no_dead_time(load, server, tmp_path):
    (tmp_path / "visit.har").write_text(har(server.url[:-1], "/", "/cart"))
    done = load("--session", "visit.har", "-n", "4", "-c", "1", "--think", "10ms")
    assert done.returncode == 0, done.stderr
    assert "no request under way" not in done.stdout
    assert len(server.asked) == 4


def test_an_access_log_needs_to_be_told_its_server(load, server, tmp_path):
    line = '192.0.2.7 - - [10/Oct/2026:13:55:00 +0000] "GET {} HTTP/1.1" 200 5\n'
    (tmp_path / "access.log").write_text("".join(line.format(path) for path in ("/", "/a", "/b")))
    assert document(load(server.url, "--session", "access.log", "-n", "9", "--json"))["ok"] == 9
    refused = load("--session", "access.log", "-n", "9")
    assert refused.returncode == 2
    assert "give its URL" in refused.stderr


def test_people_get_words_tables_and_a_drawing(load, server):
    done = load(server.url, f"{server.url}missing", "-n", "40", "-c", "2")
    assert done.returncode == 0, done.stderr
    for part in (
        "requests/s\n", "40 requests in", "20 right, 20 failed", "over 2 kept connections",
        "20 answers had a status other than 2xx (20 × 4xx)", "\nlatency ", "\nconnecting ",
        "GET /missing", "≤ ", "100 %", "CPU per request", "no request under way",
    ):  # fmt: skip
        assert part in done.stdout, part
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_two_results_are_compared(load, server, stackrace, tmp_path):
    for name, connections in (("a.json", 1), ("b.json", 2)):
        (tmp_path / name).write_text(load(server.url, "-n", "30", "-c", connections, "--json").stdout)
    done = stackrace("compare", "a.json", "b.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The loads differ in concurrency: 1 → 2" in done.stdout
