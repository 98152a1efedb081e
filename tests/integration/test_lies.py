"""Some of the lies that are named whatever the machine does meanwhile, one of each kind, and all recorded ones.

The rest of the suite takes minutes, or a clock decides in it: ``make bench-lies``.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from benchmarks.lies.fault import CannotInject, How, in_race
from benchmarks.lies.racing import runs
from benchmarks.lies.suite import FAULTS

QUICK = {
    "aged", "daemon", "error-page", "few-clients", "few-ports", "one-percent500", "silent-close", "surplus",
    "truncated", "wrong-body",
}  # fmt: skip
REQUESTS = 500
CERTAIN = [fault for fault in FAULTS if fault.how is How.REPLAYED or fault.name in QUICK]
TOLD = [fault for fault in CERTAIN if fault.told is not None]
OTHERS = [fault for fault in CERTAIN if fault.told is None]


def bounded(**options):
    """Return the options of runs that take a number of requests, as some machines send few in a time."""
    return options if "seconds" in options else {"requests": REQUESTS, **options}


@pytest.fixture(scope="module")
def said():
    """What was said of each liar: those that want the same race share one, in which one runs after another."""
    alike = defaultdict(list)
    for fault in TOLD:
        alike[fault.told.options].append(fault.told.stack)
    races = {options: runs(*stacks, **bounded(**dict(options))) for options, stacks in alike.items()}
    return {fault.name: in_race(races[fault.told.options], fault.told.stack) for fault in TOLD}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", TOLD, ids=lambda fault: fault.name)
def test_a_lie_is_named(fault, said):
    assert {*fault.expects} & {*said[fault.name]}, said[fault.name]


@pytest.mark.parametrize("fault", OTHERS, ids=lambda fault: fault.name)
def test_a_fault_is_named(fault):
    try:
        found = fault.inject()
    except CannotInject as reason:
        pytest.skip(str(reason))
    assert {*fault.expects} & {*found}, found


def test_there_are_enough_of_them_and_no_two_of_a_name():
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 30
