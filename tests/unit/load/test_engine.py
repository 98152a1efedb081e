from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from stackrace.base.errors import InputError, RefusedError
from stackrace.measure.engine.engine import Monitor, run
from stackrace.measure.load import Load, LoadResult
from stackrace.measure.workload import Answer, Request, Sameness, Workload


@pytest.fixture
def refusing() -> Iterator[tuple[str, int]]:
    """An address that refuses connections as long as the test lasts: bound, but not listening."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()


def workload(*requests: Request, answers: tuple[Answer, ...] = ()) -> Workload:
    return Workload(requests=requests or (Request(path="/"),), answers=answers)


def play(address: tuple[str, int] | str, load: Load, **options: object) -> LoadResult:
    return run(address=address, workload=workload(), load=load, **options)  # type: ignore[arg-type]


def test_refused_connections_are_counted_not_raised(refusing: tuple[str, int]) -> None:
    result = play(refusing, Load(concurrency=2, requests=5))
    assert result.counts.failed["connect"] == 5
    assert (result.counts.scheduled, result.counts.ok, result.counts.errors) == (5, 0, 5)
    assert set(result.counts.failed) == {"connect", "tls", "write", "read", "protocol", "body"}
    assert (result.latency.count, result.connect.count, result.status_classes) == (0, 0, {})


def test_more_cores_than_connections_are_no_mistake(refusing: tuple[str, int]) -> None:
    result = play(refusing, Load(concurrency=1, requests=1), cores=(0, 0))
    assert result.counts.failed["connect"] == 1


def test_a_monitor_cancelled_beforehand_leaves_everything_unsent(refusing: tuple[str, int]) -> None:
    monitor = Monitor()
    monitor.cancel()
    result = play(refusing, Load(concurrency=1, requests=1000), monitor=monitor)
    assert result.counts.unsent + result.counts.errors + result.counts.in_flight == 1000
    assert monitor.cancelled
    assert monitor.snapshot()[0] == 0


@pytest.mark.parametrize(
    ("load", "complaint"),
    [
        (Load(concurrency=1), "exactly one"),
        (Load(concurrency=1, requests=1, duration_s=1.0), "exactly one"),
        (Load(concurrency=0, requests=1), "at least 1"),
        (Load(concurrency=-1, requests=1), "cannot be applied"),
        (Load(concurrency=1, duration_s=float("nan")), "duration_s"),
        (Load(concurrency=1, requests=1, timeout_s=0.0), "timeout"),
        (Load(concurrency=1, requests=1, rate_per_s=0.0), "rate"),
        (Load(concurrency=1, requests=1, rate_per_s=float("inf")), "rate"),
        (Load(concurrency=1, requests=1, poisson=True), "rate"),
        (Load(concurrency=1, requests=1, requests_per_connection=0), "requests_per_connection"),
        (Load(concurrency=1, requests=1, keep_alive=False, requests_per_connection=2), "keep_alive"),
        (Load(concurrency=1, requests=1, rate_per_s=1.0, poisson=True, seed=-1), "cannot be applied"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused(refusing: tuple[str, int], load: Load, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        play(refusing, load)


def test_a_request_that_would_break_its_line_is_refused(refusing: tuple[str, int]) -> None:
    for request in (Request(path="/a b"), Request(path="/", headers=(("X", "a\r\nY: b"),))):
        with pytest.raises(InputError, match="control characters"):
            run(address=refusing, workload=workload(request), load=Load(concurrency=1, requests=1))


def test_every_request_needs_its_golden_answer_or_none_does(refusing: tuple[str, int]) -> None:
    answer = Answer(status=200, body=b"", content_type="", sameness=Sameness.STATUS)
    both = workload(Request(path="/"), Request(path="/b"), answers=(answer,))
    with pytest.raises(InputError, match="one for each"):
        run(address=refusing, workload=both, load=Load(concurrency=1, requests=1))


def test_a_core_that_does_not_exist_is_named(refusing: tuple[str, int]) -> None:
    with pytest.raises(InputError, match="4000"):
        play(refusing, Load(concurrency=1, requests=1), cores=(4000,))


def test_too_many_connections_are_refused_with_the_remedy(refusing: tuple[str, int]) -> None:
    with pytest.raises(RefusedError, match="ulimit -n"):
        play(refusing, Load(concurrency=2_000_000_000, requests=1))
