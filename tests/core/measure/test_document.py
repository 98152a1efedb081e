"""The JSON document and its published schema."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import jsonschema
import pytest
from tests.factories import make_counts, make_finding, make_load, make_quantiles, make_result, make_run

from stackrace.base.verdict import Verdict
from stackrace.measure.load import Load, LoadResult, TargetResult
from stackrace.report.load_result import document, schema
from stackrace.report.words import findings as say

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))


def full() -> LoadResult:
    return replace(
        make_result(errors=3, censored=("p99", "p999", "max")),
        service=make_quantiles(),
        lag=make_quantiles(1e-5),
        tls=make_quantiles(0.001),
        pages=make_quantiles(0.1),
        targets=(TargetResult(name="GET /", counts=make_counts(5, failed={"body": 1}), latency=make_quantiles()),),
        ceiling_per_s=120_000.0,
        pool_waits=1,
        retried=2,
        nonces_lost=3,
        stale_dates=4,
        cached_answers=5,
        surplus_bytes=6,
        ports_exhausted=7,
        files_exhausted=8,
        arrivals_distance=0.5,
        histogram=b"\x00\xff",
    )


def _document(load: Load, result: LoadResult) -> dict[str, object]:
    verdict = Verdict((make_finding(),))
    return document(make_run(load, result, verdict=verdict, warmup_s=1.0, notes=("The app is warm.",)))


def check(load: Load, result: LoadResult) -> dict[str, object]:
    found = json.loads(json.dumps(_document(load, result), allow_nan=False))
    VALIDATOR.validate(found)
    return found


def test_the_schema_is_valid_and_names_its_version() -> None:
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)
    assert VALIDATOR.schema["properties"]["schema"]["const"] == "load-1"


@pytest.mark.parametrize("result", [make_result(), full()], ids=["plain", "full"])
@pytest.mark.parametrize(
    "load",
    [
        make_load(),
        make_load(requests=5, duration_s=None, keep_alive=False, connect_timeout_s=1.0),
        make_load(rate_per_s=200.0, poisson=True, seed=2**64 - 1, requests_per_connection=10),
    ],
)
def test_every_run_validates(load: Load, result: LoadResult) -> None:
    assert set(VALIDATOR.schema["required"]) <= set(check(load, result)) == set(VALIDATOR.schema["properties"])


def test_nothing_that_the_engine_saw_is_left_out() -> None:
    found = check(make_load(), full())
    elsewhere = {
        "generator_cpu_s": "cpu_s",
        "generator_spin_s": "spin_s",
        "generator_wait_s": "wait_s",
        "generator_busy": "busiest_thread",
        "counts": "scheduled",
    }
    # by a clock that means nothing to anybody else
    wanted = {field.name for field in fields(LoadResult)} - {"started_at"}
    assert {elsewhere.get(name, name) for name in wanted} <= set(found)


def test_what_is_to_doubt_is_told_as_in_the_terminal() -> None:
    found = check(make_load(), full())
    assert [one["check"] for one in found["findings"]] == [say.title(make_finding())]  # type: ignore[attr-defined]
    assert found["notes"] == ["The app is warm."]


def test_lower_bounds_are_named_as_people_name_quantiles() -> None:
    assert check(make_load(), full())["latency"]["censored"] == ["max", "p99", "p99.9"]  # type: ignore[index]


def test_what_is_not_a_number_is_null() -> None:
    found = check(make_load(), replace(make_result(), fairness=math.nan, dead_time=-math.inf))
    assert (found["fairness"], found["dead_time"]) == (None, None)


def test_only_a_loop_at_random_has_a_seed() -> None:
    assert check(make_load(seed=7), make_result())["load"]["seed"] is None  # type: ignore[index]
    assert check(make_load(rate_per_s=1.0, poisson=True, seed=7), make_result())["load"]["seed"] == 7  # type: ignore[index]


def test_unknown_members_are_refused_and_all_are_described() -> None:
    assert not VALIDATOR.is_valid({**check(make_load(), full()), "extra": 1})

    def undescribed(schema: dict[str, object], path: str) -> list[str]:
        members = schema.get("properties", {})
        missing = [f"{path}.{name}" for name, one in members.items() if "description" not in one]
        return missing + [gap for name, one in members.items() for gap in undescribed(one, f"{path}.{name}")]

    assert undescribed(VALIDATOR.schema, "") == []
    assert [gap for name, one in VALIDATOR.schema["$defs"].items() for gap in undescribed(one, name)] == []
