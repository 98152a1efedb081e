import tomllib
from dataclasses import replace

from tests.factories import make_race

from stackrace.report.repeat import race_file
from stackrace.spec.race_file import read_race_file


def test_the_race_file_asks_the_same_question(tmp_path):
    race = make_race(4, levels=(1, 20))
    path = tmp_path / "race.toml"
    path.write_text(race_file(race), encoding="utf-8")
    request = read_race_file(path, lambda stack: None)
    assert request.stacks == race.stacks
    assert request.urls == race.urls
    assert request.concurrency == (1, 20)
    assert (request.question, request.difference) == (race.question, race.difference)
    assert (request.budget_s, request.seed) == (race.budget_s, race.seed)


def test_a_connection_per_request_and_a_timeout_are_kept():
    race = make_race(1)
    race = replace(race, loads=tuple(replace(load, keep_alive=False, timeout_s=2.5) for load in race.loads))
    load = tomllib.loads(race_file(race))["load"]
    assert load["keep_alive"] is False
    assert load["timeout"] == "2.5s"
