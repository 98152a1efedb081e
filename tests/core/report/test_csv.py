import csv
import io
from dataclasses import replace

from tests.factories import make_race, make_standing

from stackrace.report.csv import _HEADER
from stackrace.report.exporter import Format, render

from .hostile import hostile_race, hostile_standing


def rows_of(race, standing):
    return list(csv.DictReader(io.StringIO(render(race, standing, Format.CSV))))


def test_the_table_parses_back_to_the_slices():
    race = make_race(3)
    slices = [(launch, one) for launch in race.launches for one in launch.slices]
    rows = rows_of(race, make_standing(race))
    assert len(rows) == len(slices)
    for row, (launch, one) in zip(rows, slices, strict=True):
        assert row["stack"] == launch.stack
        assert int(row["slice"]) == one.index
        assert float(row["throughput_per_s"]) == one.result.throughput_per_s
        assert float(row["latency_p99_s"]) == one.result.latency.p99


def test_each_row_tells_what_the_machine_did_and_nothing_where_nobody_knows():
    race = make_race(1, blocks=1)
    launch = race.launches[0]
    unknown = replace(launch.slices[0], conditions=None)
    race = replace(race, launches=(replace(launch, slices=(unknown, *launch.slices[1:])),))
    first, second, *_ = rows_of(race, make_standing(race))
    names = ("watched_s", "stack_cores", "stolen_cpu_s", "foreign_cpu_s", "canary_before_ns", "canary_after_ns")
    assert [second[name] for name in names] == ["2.0", "2", "0.02", "0.01", "250000.0", "255000.0"]
    assert [first[name] for name in names] == [""] * 6


def test_each_row_is_one_line_with_every_column_whatever_the_names():
    race = hostile_race()
    text = render(race, hostile_standing(race), Format.CSV)
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in rows} == {len(_HEADER)}
    assert len(rows) == len(text.splitlines())
    assert "\x1b" not in text


def test_column_names_are_unique():
    assert len(set(_HEADER)) == len(_HEADER)
