"""The engine against real servers on loopback: what it reports is what they did."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer

import pytest
from tests import http_servers
from tests.http_servers import Hello, serving
from tests.tls import Certificate, secure_server

from stackrace.measure.engine.engine import Monitor, ceiling, run
from stackrace.measure.engine.histogram import distribution, merge, quantiles
from stackrace.measure.engine.visitor import ask
from stackrace.measure.load import Load, LoadResult, Tls
from stackrace.measure.workload import LARGE_HEAD, Answer, Nonce, NoncePlace, Request, Sameness, Workload

PADDING = {"/most": (997, 1), "/beyond": (998, 1), "/long": (990, 1000), "/beyond-long": (990, 1100)}
"""How many further fields an answer has, and of how many bytes, by path."""


class Handler(Hello):
    """Answers /hello always alike, /count with a body that changes in content only, /missing with 404."""

    def respond(self) -> None:
        if self.command == "POST":
            assert self.rfile.read(int(self.headers["Content-Length"])) == b"a=1"
        with self.server.lock:  # type: ignore[attr-defined]
            self.server.served += 1  # type: ignore[attr-defined]
            served = self.server.served  # type: ignore[attr-defined]
        body = b"%08d" % served if self.path == "/count" else b"hello"
        number, size = PADDING.get(self.path, (0, 0))
        # Server, Date and Content-Length make three more
        self.answer(body, 404 if self.path == "/missing" else 200, *[("X-Padding", "x" * size)] * number)


class Server(http_servers.Server):
    def __init__(self) -> None:
        super().__init__(Handler)
        self.served = 0
        self.lock = threading.Lock()

    @property
    def address(self) -> tuple[str, int]:
        return self.socket.getsockname()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


def golden(body: bytes = b"hello", *, sameness: Sameness = Sameness.BODY, status: int = 200) -> Answer:
    return Answer(status=status, body=body, content_type="text/plain", sameness=sameness)


def one(path: str, answer: Answer, **request: object) -> Workload:
    return Workload(requests=(Request(path=path, **request),), answers=(answer,))  # type: ignore[arg-type]


def play(server: Server, workload: Workload, load: Load, **options: object) -> LoadResult:
    result = run(address=server.address, workload=workload, load=load, **options)  # type: ignore[arg-type]
    counts = result.counts
    assert counts.scheduled == counts.ok + counts.errors + counts.in_flight + counts.unsent
    return result


def test_client_and_server_count_the_same(server: Server) -> None:
    result = play(server, one("/hello", golden()), Load(concurrency=3, requests=200))
    assert (result.counts.ok, server.served) == (200, 200)
    assert (result.connections_opened, result.established_peak, result.reconnects) == (3, 3, 0)
    assert result.status_classes == {"2xx": 200}
    assert (result.latency.count, result.connect.count) == (200, 3)
    assert 0 < result.latency.p50 <= result.latency.p99 <= result.latency.max
    assert result.latency.censored == frozenset()
    assert 0 < result.fairness <= 1


def test_without_keep_alive_every_request_opens_a_connection(server: Server) -> None:
    result = play(server, one("/hello", golden()), Load(concurrency=2, requests=50, keep_alive=False))
    assert (result.counts.ok, result.connections_opened, result.reconnects) == (50, 50, 0)


def test_a_run_by_time_covers_its_window_in_bins_of_100_ms(server: Server) -> None:
    load = Load(concurrency=2, duration_s=0.5)
    result = play(server, one("/hello", golden()), load, warmup_s=0.2, cores=(0,))
    assert result.duration_s == pytest.approx(0.5)
    assert [each.start_s for each in result.series] == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
    assert sum(each.ok for each in result.series) == result.counts.ok > 0
    assert server.served > result.counts.ok, "the warm-up is not counted"
    assert result.generator_cpu_s > 0
    assert 0 < result.generator_busy <= 1
    assert result.throughput_per_s == pytest.approx(result.counts.ok / 0.5)


def test_bodies_are_held_against_the_golden_answer_as_far_as_they_repeat(server: Server) -> None:
    load = Load(concurrency=1, requests=10)
    assert play(server, one("/hello", golden(b"jello")), load).counts.failed["body"] == 10
    counting = golden(b"00000000", sameness=Sameness.LENGTH)
    assert play(server, one("/count", counting), load).counts.ok == 10
    longer = golden(b"000000000", sameness=Sameness.LENGTH)
    assert play(server, one("/count", longer), load).counts.failed["body"] == 10
    anything = golden(b"", sameness=Sameness.STATUS)
    assert play(server, one("/count", anything), load).counts.ok == 10


@pytest.mark.parametrize(
    ("path", "is_taken"), [("/most", True), ("/long", True), ("/beyond", False), ("/beyond-long", False)]
)
def test_the_same_heads_are_taken_in_a_load_and_when_it_is_asked_once(
    server: Server, path: str, is_taken: bool
) -> None:
    request = Request(path=path)
    status, fields, body, beyond = ask(server.address, request, "x", timeout_s=60)
    asked = (status, len(fields), body, beyond)
    assert asked == ((200, PADDING[path][0] + 3, b"hello", "") if is_taken else (0, 0, b"", LARGE_HEAD))
    workload = Workload(requests=(request,), answers=())
    counts = run(address=server.address, workload=workload, load=Load(concurrency=1, requests=3)).counts
    assert (counts.ok, counts.failed.get("protocol", 0)) == ((3, 0) if is_taken else (0, 3))


def test_of_a_long_answer_the_beginning_is_kept(server: Server) -> None:
    *_, body, beyond = ask(server.address, Request(path="/hello"), "x", timeout_s=60, most_bytes=4)
    assert (body, beyond) == (b"hell", "is larger than 0 MiB: it has 5 bytes")


def test_who_does_not_answer_is_an_error_in_the_systems_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = nobody.getsockname()
    with pytest.raises(ConnectionRefusedError, match="Connection refused"):
        ask(address, Request(path="/"), "x", timeout_s=60)


def test_status_is_always_held_against_the_golden_answer(server: Server) -> None:
    load = Load(concurrency=1, requests=5)
    result = play(server, one("/missing", golden()), load)
    assert (result.counts.non2xx, result.status_classes) == (5, {"4xx": 5})
    assert play(server, one("/missing", golden(status=404)), load).counts.ok == 5
    without_answers = Workload(requests=(Request(path="/missing"),), answers=())
    assert play(server, without_answers, load).counts.non2xx == 5


def test_requests_of_all_kinds_take_turns(server: Server) -> None:
    requests = (
        Request(path="/hello"),
        Request(path="/hello", method="HEAD"),
        Request(path="/hello", method="POST", body=b"a=1", headers=(("X-Test", "1"),)),
    )
    workload = Workload(requests=requests, answers=(golden(),) * 3, host="example.org")
    assert play(server, workload, Load(concurrency=2, requests=99)).counts.ok == 99


@pytest.mark.parametrize("backlog", [1, 128])
def test_a_unix_socket_can_be_loaded_even_if_its_queue_is_short(tmp_path: Path, backlog: int) -> None:
    class UnixServer(ThreadingMixIn, UnixStreamServer):
        request_queue_size = backlog
        daemon_threads = True
        served = 0
        lock = threading.Lock()

    path = tmp_path / "http.sock"
    load = Load(concurrency=30, requests=300, keep_alive=False)
    with serving(UnixServer(str(path), Handler)):
        result = run(address=str(path), workload=one("/hello", golden()), load=load)
    assert (result.counts.ok, result.connections_opened) == (300, 300)


def test_distributions_of_runs_merge(server: Server) -> None:
    first, second = (play(server, one("/hello", golden()), Load(concurrency=1, requests=n)) for n in (20, 30))
    assert quantiles([first.histogram]) == first.latency
    both = quantiles([first.histogram, second.histogram])
    assert both.count == 50
    assert both.max == max(first.latency.max, second.latency.max)
    buckets = distribution(merge([first.histogram, second.histogram]))
    assert sum(bucket.count for bucket in buckets) == 50
    assert [bucket.value_s for bucket in buckets] == sorted(bucket.value_s for bucket in buckets)


def test_a_server_that_never_answers_leaves_lower_bounds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        workload = one("/hello", golden())
        load = Load(concurrency=4, duration_s=1.0)
        result = run(address=silent.getsockname(), workload=workload, load=load)
        assert (result.counts.scheduled, result.counts.in_flight) == (4, 4)
        assert {"p50", "p90", "p99", "p999", "max"} <= result.latency.censored
        assert quantiles([result.histogram]) == result.latency, "lower bounds survive the encoding"
        load = Load(concurrency=4, requests=8, timeout_s=0.5)
        assert run(address=silent.getsockname(), workload=workload, load=load).counts.timed_out == 8


def test_another_thread_watches_and_cancels(server: Server) -> None:
    monitor, results = Monitor(), []

    def work() -> None:
        load = Load(concurrency=2, duration_s=3600.0)
        results.append(play(server, one("/hello", golden()), load, monitor=monitor))

    thread = threading.Thread(target=work)
    thread.start()
    pause = threading.Event()
    while monitor.snapshot()[0] == 0 and thread.is_alive():
        pause.wait(0.02)
    monitor.cancel()
    thread.join()
    (result,) = results
    assert result.counts.ok > 0
    assert result.counts.errors == 0
    assert result.duration_s < 3600


def test_the_parts_of_latency_are_told_apart(server: Server) -> None:
    result = play(server, one("/hello", golden()), Load(concurrency=2, requests=50), ceiling_per_s=1e5)
    assert result.service is not None
    assert result.lag is not None
    assert (result.service.count, result.lag.count, result.lag.max) == (50, 50, 0.0)
    assert (result.tls, result.pages, result.targets, result.ceiling_per_s) == (None, None, (), 1e5)


def test_each_url_has_books_of_its_own(server: Server) -> None:
    workload = Workload(
        requests=(Request(path="/hello"), Request(path="/missing"), Request(path="/hello")), answers=()
    )
    result = play(server, workload, Load(concurrency=1, requests=30))
    assert [(each.name, each.counts.ok, each.counts.non2xx) for each in result.targets] == [
        ("GET /hello", 20, 0),
        ("GET /missing", 0, 10),
    ]
    assert result.targets[0].latency.count == 20
    assert 0 < result.targets[0].latency.p50 <= result.targets[0].latency.max


def test_bodies_may_differ_between_their_fixed_parts(server: Server) -> None:
    def parts(*fixed: bytes) -> Answer:
        return Answer(status=200, body=b"", content_type="", sameness=Sameness.PARTS, parts=fixed)

    load = Load(concurrency=1, requests=10)
    assert play(server, one("/hello", parts(b"h", b"o")), load).counts.ok == 10
    assert play(server, one("/hello", parts(b"", b"ll", b"")), load).counts.ok == 10
    assert play(server, one("/hello", parts(b"", b"x", b"")), load).counts.failed["body"] == 10


def test_connections_carry_as_many_requests_as_they_are_told(server: Server) -> None:
    load = Load(concurrency=1, requests=20, requests_per_connection=5)
    result = play(server, one("/hello", golden()), load)
    assert (result.counts.ok, result.connections_opened, result.reconnects) == (20, 4, 0)


def test_answers_that_repeat_no_nonce_are_wrong(server: Server) -> None:
    workload = Workload(
        requests=(Request(path="/hello"),), answers=(), nonce=Nonce(place=NoncePlace.HEADER, name="X-Nonce")
    )
    result = play(server, workload, Load(concurrency=1, requests=10))
    assert (result.counts.failed["body"], result.nonces_lost) == (10, 10)


def test_the_engines_own_limit_is_measured_once() -> None:
    load = Load(concurrency=4, duration_s=1.0)
    first = ceiling(load, cores=(0,), server_cores=(0,))
    assert first > 0
    assert ceiling(load, cores=(0,), server_cores=(0,)) == first
    assert ceiling(Load(concurrency=4, requests=9), cores=(0,), server_cores=(0,)) == first


def test_https_is_loaded_like_http(certificate: Certificate) -> None:
    trusted = Tls(name="localhost", authorities=certificate.file.read_bytes())
    workload = Workload(requests=(Request(path="/"),), answers=(golden(),))
    with secure_server(certificate) as address:
        for tls in (trusted, Tls(name="example.org", authorities=None, versions=("1.2",))):
            result = run(address=address, workload=workload, load=Load(concurrency=2, requests=20), tls=tls)
            assert (result.counts.ok, result.connect.count) == (20, 2)
            assert result.tls is not None
            assert result.tls.count == 2
        stranger = Tls(name="example.org", authorities=trusted.authorities)
        result = run(address=address, workload=workload, load=Load(concurrency=1, requests=3), tls=stranger)
        assert result.counts.failed["tls"] == 3
