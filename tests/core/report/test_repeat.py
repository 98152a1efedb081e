import tomllib
from dataclasses import replace

from tests.factories import make_race

from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.request.race_file import read_race_file
from stackrace.report.repeat import race_file
from stackrace.report.words import race_words


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


def test_connections_beside_the_load_are_kept_and_told(tmp_path):
    race = make_race(1)
    race = replace(race, loads=tuple(replace(load, silent=4, idle=200) for load in race.loads))
    request = read(tmp_path, race)
    assert (request.silent, request.idle) == (4, 200)
    assert "connections beside 4 silent and 200 idle ones, " in race_words.raced(race)


def read(tmp_path, race):
    path = tmp_path / "race.toml"
    path.write_text(race_file(race), encoding="utf-8")
    return read_race_file(path, lambda stack: None)


def test_workloads_their_stacks_and_their_recordings_are_kept(tmp_path):
    recording = tmp_path / "a session é.har"
    recording.write_text("{}")
    race = make_race(3, urls=(), workloads={"static": ("/a.css", "/b.css"), "browse": (recording.as_uri(),)})
    race = replace(race, limits={"static": race.stacks[:2]}, exhaustive=True)
    request = read(tmp_path, race)
    static, browse = request.workloads
    assert (static.name, static.urls, static.stacks) == ("static", ("/a.css", "/b.css"), race.stacks[:2])
    assert (browse.name, browse.session, browse.stacks) == ("browse", recording, None)
    assert request.exhaustive
    assert request.urls is None


def test_a_recorded_session_is_named(tmp_path):
    recording = tmp_path / "browse.har"
    recording.write_text("{}")
    request = read(tmp_path, make_race(2, urls=(recording.as_uri(),)))
    assert (request.session, request.urls) == (recording, None)


def test_runs_keep_their_number_and_their_length(tmp_path):
    def runs(**length):
        race = make_race(2, levels=(1, 20), repeats=5, budget_s=0.0)
        loads = tuple(replace(load, duration_s=None, **length) for load in race.loads)
        return replace(race, loads=loads)

    counted = read(tmp_path, runs(requests=500))
    assert (counted.repeats, counted.run_requests, counted.run_s, counted.budget_s) == (5, 500, None, None)
    race = runs()
    one, twenty = race.loads
    race = replace(race, loads=(replace(one, requests=100), replace(twenty, requests=1000)))
    assert read(tmp_path, race).run_requests_at == {1: 100, 20: 1000}
    race = replace(race, loads=tuple(replace(load, duration_s=60.0) for load in (one, twenty)))
    timed = read(tmp_path, race)
    assert (timed.run_s, timed.run_requests) == (60.0, None)


def test_what_a_right_answer_was_is_kept_and_said(tmp_path):
    page = {"*": RightAnswer(likeness=Likeness.STATUS)}
    shop = {"/b": RightAnswer(likeness=Likeness.CONTAINS, text='Your "cart"'), "*": page["*"]}
    one = replace(make_race(2, urls=("/a",)), checks={"": page})
    assert read(tmp_path, one).check == page
    two = make_race(2, urls=(), workloads={"page": ("/a",), "shop": ("/a", "/b")})
    two = replace(two, checks={"page": page, "shop": shop})
    assert {workload.name: workload.check for workload in read(tmp_path, two).workloads} == two.checks
    said = " ".join(race_words._right_answers(two))
    assert "of page had to have: all pages: the right status." in said
    assert "/b: the right status and the text \u201cYour" in said
    assert not list(race_words._right_answers(make_race(2)))
