"""The engine, asked from Python: what it sends and returns, and how it ends."""

from __future__ import annotations

import math
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from stackrace.base.errors import InputError, RefusedError
from stackrace.measure.engine.engine import Monitor, RunningEngine, run
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


RESULT = object()


def until_cancelled(monitor: Monitor) -> object:
    while not monitor.cancelled:
        time.sleep(0.001)
    return RESULT


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_a_run_that_ends_gives_its_result() -> None:
    with RunningEngine(lambda monitor: RESULT) as engine:
        assert engine.finish() is RESULT
    assert not engine.cancelled


def test_what_the_engine_raises_is_raised_where_it_is_waited_for() -> None:
    def play(monitor: Monitor) -> object:
        raise ValueError("no such load")

    with RunningEngine(play) as engine, pytest.raises(ValueError, match="no such load"):
        engine.finish()


def test_a_run_is_ended_at_its_limit_and_keeps_what_was_measured() -> None:
    with RunningEngine(until_cancelled) as engine:
        assert engine.finish(time.monotonic()) is RESULT
    assert engine.cancelled


def test_ctrl_c_while_it_is_followed_ends_it_early_and_keeps_what_was_measured() -> None:
    with RunningEngine(until_cancelled) as engine:
        engine.follow(0.01, lambda *_: interrupt())
        assert engine.finish() is RESULT
    assert engine.cancelled


def test_ctrl_c_before_anybody_waits_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), RunningEngine(until_cancelled) as engine:
        interrupt()
        engine.wait(math.inf)
    assert engine.cancelled
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_as_the_engine_starts_ends_it_early_whichever_thread_gets_the_signal() -> None:
    interrupted = threading.Event()

    def play(monitor: Monitor) -> object:
        interrupt()
        interrupted.set()
        return until_cancelled(monitor)

    leave = threading.Event()
    other = threading.Thread(target=leave.wait)  # blocks no signal, as numpy's threads do
    other.start()
    try:
        with RunningEngine(play) as engine:
            interrupted.wait()
            engine.follow(0.01, lambda *_: None)
            assert engine.finish() is RESULT
    finally:
        leave.set()
        other.join()
    assert engine.cancelled


def test_the_engine_is_over_when_an_error_leaves_the_context() -> None:
    with pytest.raises(LookupError), RunningEngine(until_cancelled) as engine:
        raise LookupError
    assert engine.cancelled


def test_signals_are_heard_again_where_no_thread_can_be_had(monkeypatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError), RunningEngine(until_cancelled):
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
