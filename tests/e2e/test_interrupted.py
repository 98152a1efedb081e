"""Signals at random moments; ``benchmarks/interrupted`` sends a hundred of them to each verb."""

import random
import signal

import pytest
from benchmarks.interrupted import interrupt_often

ENDS = [("run", signal.SIGINT), ("up", signal.SIGTERM)]
ENDS += [
    pytest.param(*end, marks=pytest.mark.exhaustive)
    for end in (
        ("load", signal.SIGTERM),
        ("load", signal.SIGHUP),
        ("up", signal.SIGHUP),
        *((verb, signal.SIGINT) for verb in ("report-list", "init", "up", "load", "doctor", "install")),
    )
]


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("verb", "number"), ENDS, ids=lambda part: getattr(part, "name", part))
def test_a_signal_leaves_neither_a_traceback_nor_anything_else(verb, number, times):
    faults, codes = interrupt_often(verb, times, random.Random(verb), number)
    assert not faults, faults
    assert sum(codes.values()) == times
