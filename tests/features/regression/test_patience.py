"""A side of a check that is not ready, or slow to start, has other chances than a stack of a race."""

import math
from dataclasses import replace
from types import SimpleNamespace

from tests.factories import make_failure, make_race
from tests.features.regression.checks import make_check

from stackrace.measure.launch import FailureKind, Launch
from stackrace.race.ledger import Ledger
from stackrace.race.steps import Steps


def test_a_side_of_a_check_that_was_not_ready_has_other_chances():
    slow = Launch(id="0", block=0, stack="a", failure=make_failure(kind=FailureKind.NOT_READY))
    for race, given_up in ((make_race(stacks=2, blocks=0, facts=()), True), (make_check(blocks=0), False)):
        ledger = Ledger(race)
        ledger.enter(slow)
        assert ledger.given_up("a") is given_up
        for number in (1, 2):
            ledger.enter(replace(slow, id=str(number), block=number))
        assert ledger.given_up("a") is given_up
        ledger.enter(replace(slow, id="3", block=3))
        assert ledger.given_up("a")


def test_another_chance_of_a_side_of_a_check_takes_no_longer_than_expected():
    for race, is_short in ((make_race(stacks=2, blocks=0, facts=()), False), (make_check(blocks=0), True)):
        ledger = Ledger(race)
        steps = Steps(number=1, place=None, ledger=ledger, sink=None, deadline_s=math.inf, start_s=5.0)
        assert steps._patience_s(SimpleNamespace(path="a")) == math.inf
        ledger.enter(Launch(id="0", block=0, stack="a", failure=make_failure()))
        assert (steps._patience_s(SimpleNamespace(path="a")) == 10.0) is is_short
