"""What counts as a fault of a verb that was ended, whatever the clock says."""

import signal

import pytest
from benchmarks.interrupted.tries import fault_of
from benchmarks.interrupted.world import FIRST_LINE, hear

TRACEBACK = "Traceback (most recent call last):\nKeyboardInterrupt\n"


@pytest.mark.parametrize(("said", "code"), [(TRACEBACK, 1), ("", -2), (FIRST_LINE, 130)])
def test_what_python_says_before_our_first_line_is_no_fault(said, code):
    assert fault_of(said, code, (0, 130)) == ""


@pytest.mark.parametrize(
    ("said", "code", "fault"),
    [(TRACEBACK, 130, "a traceback"), ("Exception ignored in: <x>", 130, "a traceback"), ("", 1, "exit code 1")],
)
def test_afterwards_it_is_one(said, code, fault):
    assert fault_of(FIRST_LINE + said, code, (0, 130)).startswith(fault)


def test_a_verb_hears_what_nohup_keeps_from_us(monkeypatch):
    calls = {}
    monkeypatch.setattr(signal, "signal", calls.__setitem__)
    hear()
    assert calls == {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
