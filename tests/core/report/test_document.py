import gzip
import json
import math
from dataclasses import fields, replace
from pathlib import Path

import jsonschema
import pytest
from tests.factories import STACKS, make_counts, make_quantiles, make_race, make_standing

from stackrace.base.numbers import Interval
from stackrace.measure.load import LoadResult, TargetResult
from stackrace.race.results.race import Ending
from stackrace.race.run.stopwatch import Duty
from stackrace.report.document import document, schema

from .hostile import hostile_race, hostile_standing

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))
RECORDED = sorted(Path(__file__).parents[2].glob("frozen/golden/race-*/document.json.gz"))


def check(race, standing, **options):
    VALIDATOR.validate(json.loads(json.dumps(document(race, standing, **options), allow_nan=False)))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_what_was_recorded_validates(path):
    VALIDATOR.validate(json.loads(gzip.decompress(path.read_bytes())))


def with_everything(race):
    """The race with all that the engine can tell of a slice."""

    def told(one):
        result = replace(
            one.result, service=make_quantiles(), lag=make_quantiles(1e-5), tls=make_quantiles(),
            pages=make_quantiles(),
            targets=(TargetResult(name="GET /\x1b[31m", counts=make_counts(3), latency=make_quantiles()),),
            ceiling_per_s=1e5, pool_waits=1, retried=2, nonces_lost=3, stale_dates=4, cached_answers=5,
        )  # fmt: skip
        load = replace(one.load, rate_per_s=100.0, poisson=True, connect_timeout_s=1.0, requests_per_connection=9)
        return replace(one, result=result, load=load)

    launches = tuple(replace(each, slices=tuple(map(told, each.slices))) for each in race.launches)
    return replace(race, launches=launches)


def test_all_that_the_engine_tells_validates():
    race = with_everything(make_race(2))
    check(race, make_standing(make_race(2)))
    one = document(race, make_standing(make_race(2)))["launches"][0]["slices"][0]
    assert one["lag"]["p50_s"] == 1e-5
    assert one["targets"][0]["name"] == "GET /"
    assert (one["ceiling_per_s"], one["cached_answers"], one["load"]["rate_per_s"]) == (1e5, 5, 100.0)
    # a moment of this machine's own clock, a histogram that only the store keeps, and what is told when asked for
    assert {field.name for field in fields(LoadResult)} - {"started_at", "histogram", "series"} <= set(one)


def test_a_slice_tells_what_the_machine_did_and_null_where_nobody_knows():
    race = make_race(2)
    launch = race.launches[0]
    unknown, half = launch.slices[:2]
    half = replace(half, conditions=replace(half.conditions, canary_after_ns=None, foreign_s=-0.001))
    slices = (replace(unknown, conditions=None), half, *launch.slices[2:])
    race = replace(race, launches=(replace(launch, slices=slices), *race.launches[1:]))
    check(race, make_standing(race))
    told = [one["conditions"] for one in document(race, make_standing(race))["launches"][0]["slices"]]
    assert told[0] is None
    assert told[1] == {
        "elapsed_s": 2.0, "cores": 2, "stolen_s": 0.02, "foreign_s": -0.001,
        "canary_before_ns": 250_000.0, "canary_after_ns": None,
    }  # fmt: skip


def test_hostile_text_validates():
    race = hostile_race()
    check(race, hostile_standing(race))


def test_a_race_that_has_not_begun_validates():
    race = make_race(2, blocks=0, ending=None)
    check(race, make_standing(race))


@pytest.mark.parametrize("member", ["budget_s", "elapsed_s"])
@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_a_race_with_numbers_that_json_has_not_validates(member, number):
    race = replace(make_race(2), **{member: number})
    check(race, make_standing(make_race(2)))


def test_what_is_not_a_number_becomes_null():
    race = make_race(2)
    standing = make_standing(race)
    level = standing.levels[0]
    row = replace(level.rows[0], ratio=Interval(value=math.nan, low=-math.inf, high=math.inf), ready_s=math.nan)
    standing = replace(standing, levels=(replace(level, rows=(row,)), *standing.levels[1:]))
    check(race, standing)
    assert document(race, standing)["levels"][0]["rows"][0]["ratio"] == {"value": None, "low": None, "high": None}


def test_every_member_is_described():
    def undescribed(schema, path):
        for name, member in schema.get("properties", {}).items():
            if not ({"description", "$ref", "anyOf"} & set(member)):
                yield f"{path}.{name}"
            yield from undescribed(member, f"{path}.{name}")

    missing = list(undescribed(VALIDATOR.schema, ""))
    for name, shape in VALIDATOR.schema["$defs"].items():
        missing += undescribed(shape, name)
    assert missing == []


def test_where_the_time_went_validates_and_sums_up():
    race = replace(make_race(2), duty=Duty(slices_s=30.0, sides_s=5.0, other_s=15.0))
    check(race, make_standing(race))
    told = document(race, make_standing(race))["race"]["duty"]
    assert set(told) == {*(one.name for one in fields(Duty)), "total_s"}
    assert (told["slices_s"], told["total_s"]) == (30.0, 50.0)
    assert document(make_race(2), make_standing(race))["race"]["duty"] is None


@pytest.mark.parametrize("limits", [True, False])
def test_a_race_validates(limits):
    race = make_race(5, failures=STACKS[4:5])
    check(race, make_standing(race, limits=limits, censored=("p99", "max"), errors=3))


@pytest.mark.parametrize("ending", [None, *Ending])
def test_a_race_in_which_nothing_was_measured_validates(ending):
    race = make_race(2, failures=STACKS[:2], ending=ending, facts=())
    check(race, make_standing(race))
