"""Processes that end before their caller goes on."""

import os
import signal

import pytest

from stackrace.process import attended, within


def test_the_exit_code_is_returned():
    assert attended(["sh", "-c", "exit 3"], within(60)) == 3


def test_a_process_that_takes_too_long_is_ended():
    pids = []

    def attend(process):
        pids.append(process.pid)
        return within(0)(process)

    assert attended(["sleep", "1000"], attend) is None
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_an_interruption_while_it_is_waited_for_ends_it():
    pids = []

    def attend(process):
        pids.append(process.pid)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        attended(["sleep", "1000"], attend)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interruption_while_it_is_being_ended_waits_until_it_has():
    pids = []

    def attend(process):
        pids.append(process.pid)
        process.poll = lambda: signal.raise_signal(signal.SIGINT)
        raise RuntimeError

    with pytest.raises(KeyboardInterrupt):
        attended(["sleep", "1000"], attend, spare=True)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
