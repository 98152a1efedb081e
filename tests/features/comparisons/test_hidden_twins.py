"""Published comparisons take no notice of a race's hidden twin."""

from dataclasses import replace

from tests.factories import make_race

from stackrace.features.comparisons.cells import survival, values
from stackrace.features.comparisons.model import CellName, Metric
from stackrace.stacks.stack import twin_path

CELL = CellName(technique="x", workload="", concurrency=20)


def test_a_twins_launches_are_nobodys():
    race = make_race(stacks=["a", "b"])
    beside = tuple(replace(one, id=one.id[::-1], stack=twin_path("a")) for one in race.launches if one.stack == "b")
    with_twin = replace(race, launches=(*race.launches, *beside), twin="a")
    for path in ("a", "b"):
        for metric in (Metric.THROUGHPUT, Metric.MEMORY):
            assert values(with_twin, path, CELL, metric) == values(race, path, CELL, metric)
        assert survival(with_twin, path, CELL) == survival(race, path, CELL)
