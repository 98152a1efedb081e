"""A trend in its four formats: the same sentences, escaped in each."""

import io
import json

import jsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rich.console import Console

from stackrace.base.numbers import Interval
from stackrace.features.regression.model import TERMS
from stackrace.features.regression.words import change
from stackrace.features.trend import words
from stackrace.features.trend.kind import KIND, openmetrics, schema
from stackrace.features.trend.model import (
    Absence,
    Measure,
    SeriesKey,
    Trend,
    TrendChange,
    TrendCheck,
    TrendPoint,
    TrendSeries,
)
from stackrace.race.results.comparison import Comparison, Outcome, Response, Ruling, State
from stackrace.report.exporter import Format, written
from stackrace.report.terminal import print_sections


def point(day, per_s, **values):
    return TrendPoint(
        race=f"race{day}",
        started_at=f"2026-11-{day:02}T12:00:00+00:00",
        source="abc1234" if day < 6 else "def5678+",
        values={Measure.THROUGHPUT: Interval(value=per_s, low=per_s * 0.9, high=per_s * 1.1), **values},
    )


KEY = SeriesKey(stack="nginx/uwsgi/uwsgi", workload="/<b>, /items/", pages="0", load="c=20", host="Some CPU, 8 GiB")
POINTS = tuple(point(day, 1000 if day < 6 else 800) for day in range(1, 12))
CHANGE = TrendChange(
    measure=Measure.THROUGHPUT, at=5, ratio=Interval(value=0.8, low=0.76, high=0.84), p=0.002,
    changed_too={"commit": ("abc1234", "def5678+"), "uwsgi": ("2.0.30", "2.0.31")},
)  # fmt: skip
SERIES = TrendSeries(
    key=KEY, points=POINTS, changes=(CHANGE,),
    unlike={Measure.MEMORY: Interval(value=1.5, low=1.2, high=1.9)},
)  # fmt: skip
RULING = Ruling(
    response=Response.CPU, state=State.SLOWER, terms=TERMS[Response.CPU], base=0.001, head=0.00112,
    change=Interval(value=0.12, low=0.1, high=0.14), blocks=6, alarm=4,
)  # fmt: skip
CHECK = TrendCheck(
    race="check1",
    started_at="2026-11-20T08:00:00+00:00",
    said=Comparison(
        base="main abc1234",
        head="work tree def5678+",
        stack="gunicorn",
        outcome=Outcome.FAILED,
        rulings=(RULING,),
        changes={Response.CPU: change(RULING)},
    ),
)
TREND = Trend(project="<shop>", races=11, series=(SERIES,), checks=(CHECK,), left_out={Absence.VOID: 2})


def screen(trend):
    console = Console(width=120, record=True, file=io.StringIO(), highlight=False)
    print_sections(KIND.sections(trend), console)
    return " ".join(console.export_text().split())


FORMATS = {"terminal": screen} | {
    form.value: lambda trend, form=form: written(KIND, trend, form) for form in Format if form is not Format.CSV
}


def test_the_page_escapes_foreign_text_and_draws_each_measure_with_its_change():
    page = written(KIND, TREND, Format.HTML)
    assert "<shop>" not in page
    assert "/<b>" not in page
    assert page.count('class="panel"') == 1  # the memory of one race is no course
    assert 'class="knee"' in page


def test_the_document_is_as_its_schema_says():
    jsonschema.Draft202012Validator(json.loads(schema())).validate(KIND.document(TREND))


@pytest.mark.parametrize(
    ("trend", "expected"),
    [
        (Trend(project="shop", races=0), "No race of it can be shown."),
        (Trend(project="shop", races=0, checks=(CHECK,)), "1 check, 1 found something slower."),
        (
            Trend(project="shop", races=4, needed=10, series=(TrendSeries(key=KEY, points=POINTS[:4]),)),
            "4 of at least 10"),
        (Trend(project="shop", races=11, series=(TrendSeries(key=KEY, points=POINTS),)), "No lasting change."),
    ],
    ids=["no race", "only a check", "few races", "many races"],
)  # fmt: skip
def test_without_a_change_the_headline_says_whether_one_could_be_told(trend, expected):
    assert expected in words.headline(trend)
    for export in FORMATS.values():
        assert export(trend)


def test_a_last_race_that_stands_out_is_said_with_what_to_do():
    assert "is 50 % (20–90 %) above the races before it" in screen(TREND)
    assert "race again" in screen(TREND)


def test_a_scraper_reads_the_last_race_of_each_series():
    families = {each.name: each for each in text_string_to_metric_families(openmetrics(TREND))}
    (sample,) = families["stackrace_trend_throughput"].samples
    assert (sample.labels["stack"], sample.value) == (KEY.stack, 800)
    assert families["stackrace_trend_memory_bytes"].samples == []
