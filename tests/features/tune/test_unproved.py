"""Why a tuning has no answer."""

from dataclasses import replace

from tests.features.tune.test_tuner import PATHS, refused, tune, tuning, with_launches

from stackrace.features.tune.model import Infeasible, TuningLimits, Unfit, tuning_of
from stackrace.features.tune.report.words import unproved
from stackrace.features.tune.result import tuned
from stackrace.measure.launch import MemorySample
from stackrace.race.results.parts import Parts

ONE = {"gunicorn:workers=4": ("4",)}


def said(race):
    return unproved(race, tuned(race))


def test_a_tuning_that_was_believed_is_an_answer():
    assert said(tune()[0]) == ""


def test_a_single_believed_launch_proves_nothing():
    race, _ = tune()
    once = replace(race, launches=tuple(launch for launch in race.launches if launch.block == 0))
    assert said(once).startswith("only one launch of waitress:threads=16 could be believed, which proves nothing; ")
    twice = replace(race, launches=tuple(launch for launch in race.launches if launch.block < 2))
    assert said(twice) == ""


def test_the_check_that_refused_most_is_named_with_what_to_do():
    race = with_launches(refused("errors"), asked=tuning(settings=ONE, references={}))
    assert "2 of 2 slices were refused, most of them for" in said(race)


def test_a_limit_that_all_exceed_is_told_by_the_nearest_whether_it_was_launched_or_not():
    limits = TuningLimits(connections=4)

    def many(launch):
        return replace(launch, memory=(MemorySample(at_s=1.0, pss_bytes={"gunicorn": 2**20}, connections=9),))

    race = with_launches(many, asked=tuning(limits=limits, settings=ONE, references={}))
    assert "gunicorn:workers=4 comes nearest and needs 9 connections" in said(race)
    failed = Infeasible(stack=PATHS[0], kind=Unfit.FAILED)
    also = replace(race, parts=Parts().having(replace(tuning_of(race), infeasible=(failed,))))
    assert "2 configurations left out: 1 for no believable measurement and 1 for more connections" in said(also)
