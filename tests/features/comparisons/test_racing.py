"""A published comparison on the command line: what may be said of it, and what becomes of its parts."""

import json
import re
import shutil
from contextlib import suppress
from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.absent import nothing_installed
from tests.factories import make_race

from stackrace.base import ids
from stackrace.base.errors import InterruptedRace, MissingError, RefusedError, StackraceError, StoreError
from stackrace.cli.live_race import Output
from stackrace.cli.run import command
from stackrace.features.comparisons import raced_again
from stackrace.features.comparisons.raced_again import keep, latest, rerun_comparison
from stackrace.features.comparisons.reading import read_comparison
from stackrace.features.comparisons.rerun import Kept, Mode, PartOutcome
from stackrace.race.preparation import installing
from stackrace.race.results.race import Ending


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--quick"], "--quick is for published comparisons"),
        (["race.toml", "--quick"], "--quick is for published comparisons"),
        (["historic/lighttpd-2008/race", "--quick"], "--quick is for published comparisons"),
        (["historic/lighttpd-2008", "--budget", "2min"], "--quick --budget 2min"),
        (
            ["historic/lighttpd-2008", "--stack", "gunicorn"],
            "--stack would change the comparison historic/lighttpd-2008",
        ),
        (["historic/lighttpd-2008", "-c", "5"], "would change the comparison historic/lighttpd-2008"),
        (["historic/lighttpd-2008", "--quick", "--url", "/"], "--url would change"),
    ],
)
def test_flags_that_do_not_go_together_are_usage_errors(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 2
    assert said in done.output


@pytest.fixture
def racer(monkeypatch):
    """Stand in for racing: what each part gives is said beforehand. Everything else is real."""
    answers = []

    def raced(request, store, scheduling=None):
        asked.append(request)
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        store.begin(answer)
        return answer

    asked = raced.asked = []
    raced.answers = answers
    monkeypatch.setattr(raced_again, "raced", raced)
    monkeypatch.setattr(raced_again, "ready_stack", lambda path: ())
    monkeypatch.setattr(raced_again, "_missing_of_comparison", lambda comparison: None)
    monkeypatch.setattr(raced_again, "missing_items", lambda request, catalogue: ())
    return raced


@pytest.fixture
def folder(tmp_path, monkeypatch, new_store):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "stackrace").mkdir()
    shutil.copy(new_store, tmp_path / "stackrace")
    return tmp_path / "stackrace"


def run(folder, name="nginx-mod-wsgi-2007", asked=None, **shown):
    rerun_comparison(name, Mode.QUICK, Output(store=f"sqlite:///{folder}/races.sqlite3", **shown), asked or {})


def race_of(name, part, **changes):
    stacks = [one.path for one in read_comparison(name).techniques.values()]
    return make_race(stacks, levels=(20,) if part == 0 else (50, 100, 500), seed=part + 1, **changes)


def test_a_part_that_cannot_run_leaves_the_others_alone(folder, racer, capsys):
    racer.answers += [MissingError("postgresql is not installed"), race_of("nginx-mod-wsgi-2007", 1)]
    run(folder)
    text = capsys.readouterr().out
    assert "20 clients: not run: postgresql is not installed" in text
    assert "500 clients: Race" in text


def test_the_latest_run_is_shown_again(folder, racer, capsys):
    racer.answers += [race_of("nginx-mod-wsgi-2007", 0), race_of("nginx-mod-wsgi-2007", 1)]
    run(folder, as_json=True)
    first = json.loads(capsys.readouterr().out)
    store = f"sqlite:///{folder}/races.sqlite3"
    raced_again.show_comparison("nginx-mod-wsgi-2007", store_url=store, form=raced_again.Format.JSON, html=None)
    assert json.loads(capsys.readouterr().out) == first


def test_the_page_lands_where_it_is_said(folder, racer, capsys, tmp_path):
    racer.answers += [race_of("nginx-mod-wsgi-2007", 0), race_of("nginx-mod-wsgi-2007", 1)]
    run(folder, html=tmp_path / "here.html")
    assert f"The report: {tmp_path}/here.html" in capsys.readouterr().out
    assert (tmp_path / "here.html").read_text().startswith("<!doctype html>")


def test_an_interrupted_part_ends_it_and_what_was_measured_is_shown(folder, racer, capsys):
    racer.answers += [race_of("nginx-mod-wsgi-2007", 0, ending=Ending.INTERRUPTED)]
    with pytest.raises(InterruptedRace):
        run(folder)
    text = capsys.readouterr().out
    assert "500 clients: not run: it was interrupted" in text
    assert "stackrace report historic/nginx-mod-wsgi-2007" in text


def test_interrupting_the_preparation_keeps_the_parts_before(folder, racer, capsys):
    racer.answers += [race_of("nginx-mod-wsgi-2007", 0), KeyboardInterrupt()]
    with pytest.raises(InterruptedRace):
        run(folder)
    assert len(list((folder / "historic").glob("*.json"))) == 1


def test_a_comparison_without_any_race_is_refused_and_not_kept(folder, racer, capsys):
    racer.answers += [MissingError("a"), MissingError("b", detail="x\nlast line")]
    with pytest.raises(RefusedError):
        run(folder)
    assert "500 clients: not run: b (last line)" in capsys.readouterr().out
    assert not (folder / "historic").exists()


def test_budget_and_seed_reach_every_part(folder, racer):
    racer.answers += [race_of("nginx-mod-wsgi-2007", 0), race_of("nginx-mod-wsgi-2007", 1)]
    run(folder, asked={"budget_s": 30.0, "seed": 5}, as_json=True)
    assert [(one.budget_s, one.seed) for one in racer.asked] == [(30.0, 5)] * 2


def test_where_every_part_lacks_something_the_refusal_is_all_that_is_said(folder, monkeypatch, tmp_path, capsys):
    nothing_installed(monkeypatch, tmp_path)
    with pytest.raises(MissingError) as refused:
        run(folder, name="nginx-mod-wsgi-2007")
    assert refused.value.message.endswith("run: stackrace install historic/nginx-mod-wsgi-2007")
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""


def test_parts_that_can_run_do_and_the_command_for_the_others_stands_at_the_top(
    folder, monkeypatch, tmp_path, capsys
):
    def raced(request, store, scheduling=None):
        races.append(request)
        return race_of("nginx-mod-wsgi-2007", 0)

    races = []
    monkeypatch.setattr(raced_again, "raced", raced)
    # all servers are here
    monkeypatch.setattr(raced_again, "ready_stack", lambda path: ())
    monkeypatch.setattr(installing, "missing_from", lambda stack, catalogue: ())
    nothing_installed(monkeypatch, tmp_path)
    with suppress(StackraceError):
        run(folder, name="mod-wsgi-2009")
    assert [request.bundled for request in races] == ["ladder"]
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("historic/mod-wsgi-2009 needs what is not installed here: ")
    assert first.endswith("run: stackrace install historic/mod-wsgi-2009")
    assert second == "mod-wsgi-2009: A static file, embedded, daemon"


# What is kept


def make_kept(**changes):
    kept = Kept(
        id=ids.generate(),
        name="sample-2001",
        made_at="2026-11-22T03:00:00+00:00",
        mode=Mode.QUICK,
        parts=(
            PartOutcome(part="a", race="0" * 13, left_out=("x is left out",)),
            PartOutcome(part="b", trouble="mariadb is not installed"),
        ),
    )
    return replace(kept, **changes)


def test_what_is_kept_comes_back(tmp_path):
    kept = make_kept()
    keep(kept, tmp_path / "new")
    assert latest("sample-2001", tmp_path / "new") == kept


def test_the_one_that_was_kept_last_comes_back_although_the_clock_was_set_back(tmp_path):
    times = ("2026-11-22T03:00:00+00:00", "2026-11-23T03:00:00+00:00", "2026-11-21T03:00:00+00:00")
    for made_at in times:
        keep(make_kept(made_at=made_at), tmp_path)
    assert latest("sample-2001", tmp_path).made_at == times[-1]


def test_other_comparisons_are_others(tmp_path):
    keep(make_kept(name="sample-2001-more"), tmp_path)
    with pytest.raises(StoreError, match="stackrace run historic/sample-2001"):
        latest("sample-2001", tmp_path)


def test_nothing_was_run_yet(tmp_path):
    with pytest.raises(StoreError, match="has not been run yet"):
        latest("sample-2001", tmp_path / "nowhere")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[:-20],
        lambda text: text.replace('"quick"', '"slow"'),
        lambda text: text.replace('"parts"', '"parst"'),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: json.dumps([1]),
        lambda text: re.sub(r'\[\s*"x is left out"\s*\]', "7", text),
    ],
)
def test_a_file_that_cannot_be_understood_is_named(tmp_path, spoil):
    path = keep(make_kept(), tmp_path)
    path.write_text(spoil(path.read_text()))
    with pytest.raises(StoreError) as raised:
        latest("sample-2001", tmp_path)
    assert str(path) in raised.value.message and "move it away" in raised.value.message


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreError, match="XDG_DATA_HOME"):
        keep(make_kept(), blocked)
