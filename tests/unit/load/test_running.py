"""The engine's thread: its end, its errors, and Ctrl-C at any moment."""

from __future__ import annotations

import math
import os
import signal
import threading
import time

import pytest

from stackrace.measure.engine.engine import Monitor, RunningEngine

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
