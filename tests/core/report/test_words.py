import doctest
from dataclasses import replace

import pytest
from tests.factories import STACKS, make_failure, make_finding, make_race, make_standing

from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.engine.histogram import quantiles
from stackrace.measure.launch import FailureKind
from stackrace.race.judge.ranking import standing
from stackrace.race.results.race import Ending
from stackrace.race.run.resume import going_on
from stackrace.race.run.stopwatch import Duty
from stackrace.report import characters, figures, paths
from stackrace.report.html import svg as scale
from stackrace.report.troubles import complaints, setbacks
from stackrace.report.words import race_words
from stackrace.report.words.race_words import raced


@pytest.mark.parametrize("module", [figures, paths, scale, characters])
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("ending", [None, *Ending])
def test_every_ending_has_its_sentence(ending):
    race = make_race(2, ending=ending)
    assert race_words.ending(race, make_standing(race, settled=False)).startswith("The race")


def test_failures_of_one_cause_are_told_once_with_their_number():
    race = make_race(2, blocks=3, failures=STACKS[:1])
    told = setbacks(race, make_standing(race))
    assert [(one.stack, one.launches, one.withdrawn) for one in told] == [(STACKS[0], 3, True)]


def test_deaths_whose_logs_end_differently_are_told_once_with_the_last():
    race = make_race(2, blocks=3)
    died = [
        replace(launch, failure=make_failure(FailureKind.DIED, f"it ended: worker {number} left", log="x"))
        for number, launch in enumerate(launch for launch in race.launches if launch.stack == STACKS[0])
    ]
    race = replace(race, launches=(*died, *(each for each in race.launches if each.stack != STACKS[0])))
    (only,) = setbacks(race, make_standing(race))
    assert (only.launches, only.message) == (3, "it ended: worker 2 left")


def test_a_stack_that_failed_once_keeps_its_place():
    race = make_race(2, blocks=3)
    launches = (replace(race.launches[0], slices=(), failure=make_failure()), *race.launches[1:])
    race = replace(race, launches=launches)
    assert [one.withdrawn for one in setbacks(race, make_standing(race))] == [False]


def test_a_withdrawal_without_a_failed_launch_is_told_too():
    race = make_race(2, failures=STACKS[:1])
    standing = make_standing(race)
    assert len(setbacks(replace(race, launches=()), standing)) == 1


def test_complaints_are_grouped_by_check_the_gravest_first():
    race = make_race(1, levels=(1, 20), blocks=1)
    first, second = race.launches[0].slices
    found = (
        replace(first, verdict=Verdict((make_finding("b"), make_finding("a", Effect.INVALIDATES)))),
        replace(second, verdict=Verdict((make_finding("b"), make_finding("c", Effect.REDOES)))),
    )
    race = replace(race, launches=(replace(race.launches[0], slices=found),))
    told = complaints(race, make_standing(race))
    assert [(one.check, one.count) for one in told] == [("a", 1), ("c", 1), ("b", 2)]
    assert told[2].headline == "2 slices warned about"


def test_warnings_that_slices_carry_are_told_once_by_their_title():
    race = make_race(1, levels=(1,), blocks=1)
    warned = replace(race.launches[0].slices[0], verdict=Verdict((make_finding("machine-speed"),)))
    race = replace(race, launches=(replace(race.launches[0], slices=(warned,)),))
    told = complaints(race, standing(race, merge=quantiles))
    assert [(complaint.check, complaint.count) for complaint in told] == [("machine speed", 1)]


def test_a_race_that_went_on_says_so_and_what_was_left_out():
    race = make_race(stacks=2, levels=(10,), blocks=3, ending=Ending.INTERRUPTED)
    went_on = replace(going_on(race, done=2, spent_s=1.0), ending=Ending.BUDGET)
    said = race_words._resumed(went_on)
    assert "was resumed once; left out: 2 launches of interrupted blocks" in said
    assert ", 4 launches in " in raced(went_on)
    assert race_words._resumed(race) == ""


def test_where_the_time_went_is_told_slices_first_and_trifles_left_out():
    race = make_race(2, duty=Duty(slices_s=80.0, sides_s=10.0, rewarming_s=50.0, resting_s=10.0, starting_s=49.9,
                                  stopping_s=0.1))  # fmt: skip
    assert race_words._duty(race) == (
        "Where the 3 min 20 s went: 40 % slices, 5 % slices at other levels, 25 % starting, "
        "30 % load and rest before slices."
    )
    assert race_words._duty(race) in race_words.notes(race, make_standing(race))
    assert "since the last interruption" in race_words._duty(replace(race, resumed=1))
    assert race_words._duty(make_race(2)) == ""
