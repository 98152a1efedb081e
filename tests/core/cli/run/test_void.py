"""A void race shows all it measured, and then exits as a refused measurement does."""

import json
from dataclasses import replace

import pytest
from tests.core.race import test_void as made
from tests.factories import make_race

from stackrace.base.errors import RefusedError
from stackrace.cli.run.live import report_of
from stackrace.cli.run.output import Output
from stackrace.store import open_store


def twinned(rates, **told):
    """A race that the engine might have measured: without histograms, as there were none to merge."""
    race = made.twinned(rates, **told)
    bare = (
        replace(one, slices=tuple(replace(s, result=replace(s.result, histogram=b"")) for s in one.slices))
        for one in race.launches
    )
    return replace(race, launches=tuple(bare))


def shown_as_json(race, folder):
    with open_store(f"sqlite:///{folder / 'races.sqlite3'}") as store:
        report_of(race, store, Output(html=folder / "race.html", as_json=True))


def test_a_void_race_is_shown_and_then_refused(tmp_path, capsys):
    race = twinned({"a": 1000, "b": 1300}, ratio=1.3)
    with pytest.raises(RefusedError, match="the race is void"):
        shown_as_json(race, tmp_path)
    shown = json.loads(capsys.readouterr().out)
    assert shown["void"] is True
    assert shown["words"]["answer"].startswith("This race is void: ")
    assert {row["stack"] for row in shown["standing"]} == {"a", "b"}
    page = (tmp_path / "race.html").read_text(encoding="utf-8")
    assert "The race is void" in page


def test_a_race_that_measured_nothing_says_where_the_reason_stands(tmp_path, capsys):
    stacks = make_race(2, blocks=0).stacks
    with pytest.raises(RefusedError, match="; the document's answer says why"):
        shown_as_json(make_race(2, blocks=2, failures=stacks), tmp_path)
    assert json.loads(capsys.readouterr().out)["words"]["answer"].startswith("Nothing could be measured: ")


def test_a_race_that_is_sound_is_not_refused(tmp_path, capsys):
    shown_as_json(twinned({"a": 1000, "b": 1300}), tmp_path)
    assert json.loads(capsys.readouterr().out)["void"] is False
