"""How a race goes on from the command line, and how one that is void ends."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.core.race import test_void as made
from tests.factories import make_race

from stackrace.api.resuming import ResumedRace
from stackrace.base.errors import RefusedError
from stackrace.cli.racing import Output, _going_on, report_of
from stackrace.cli.run import command
from stackrace.store import open_store

RACE = make_race(stacks=2, levels=(10,), blocks=2, ending=None, elapsed_s=60.0)
RESUMED = ResumedRace(race=RACE, request=None, manifest=None, opening=None, done=1, left_s=None)


def test_what_is_told_at_the_start():
    assert _going_on(RESUMED) == f"going on with race {RACE.id} after 1 block"
    ahead = replace(RESUMED, done=3, left_s=40.4)
    assert _going_on(ahead) == f"going on with race {RACE.id} after 3 blocks, about 40 s to go"


@pytest.mark.parametrize(
    "flags",
    [["--stack", "gunicorn"], ["-c", "3"], ["--seed", "1"], ["--repeats", "2"], ["--slice", "1s"], ["--quick"],
     ["--question", "ranking"], ["--url", "/"], ["--close"], ["--difference", "3%"]],
)  # fmt: skip
def test_flags_that_would_change_the_race_are_refused(flags):
    done = CliRunner().invoke(command, ["--resume", "3m41c", *flags])
    assert done.exit_code == 2
    assert f"{flags[0]} would change" in done.output
    assert "--resume" in done.output


def test_a_race_file_is_refused_beside_it():
    done = CliRunner().invoke(command, ["race.toml", "--resume", "3m41c"])
    assert done.exit_code == 2
    assert "[RACE.toml] would change" in done.output


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
