"""Which app a stack that is loaded starts with: the flags of a race, and what a URL makes of them."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from stackrace.app.app import EntryKind
from stackrace.base.errors import InputError
from stackrace.cli.load.command import command as load
from stackrace.cli.run import command as run
from stackrace.cli.up import command as up
from stackrace.features.capacity.verb import command as capacity

VERBS = {
    "load": (load, "cli.load.run.run_and_show", ()),
    "capacity": (capacity, "features.capacity.capacity_report.find_and_show", ("--p99", "5ms")),
}


@pytest.fixture(params=VERBS)
def verb(request, monkeypatch):
    """Return what a verb makes of words: the target that it would load."""
    command, place, goal = VERBS[request.param]
    targets = []
    monkeypatch.setattr(f"stackrace.{place}", lambda options, target, *_, **__: targets.append(target))

    def call(*words):
        CliRunner().invoke(command, [*goal, *map(str, words)], catch_exceptions=False, standalone_mode=False)
        return targets[-1]

    return call


def test_all_verbs_that_run_an_app_know_it_by_the_same_flags() -> None:
    known = {command.name: {option.opts[0] for option in command.params} for command in (run, up, load, capacity)}
    app = {option.opts[0] for option in run.params if getattr(option, "heading", "") == "The app of a stack"}
    assert {"--wsgi", "--asgi", "--django", "--project", "--python", "--env-file", "--bundled", "--host"} <= app
    assert [verb for verb, flags in known.items() if app - flags] == []


def test_a_stack_is_loaded_with_the_app_that_the_flags_name(verb, tmp_path) -> None:
    (tmp_path / ".env").write_text("A=1\n")
    words = ("--stack", "gunicorn", "--wsgi", "a:b", "--project", tmp_path, "--env-file", tmp_path / ".env")
    target = verb(*words, "--url", "/x", "--python", "python3", "--check", "status")
    request = target.request
    assert (request.entry.kind, request.entry.target, request.folder) == (EntryKind.WSGI, "a:b", tmp_path)
    assert (request.urls, request.env_files) == (("/x",), (tmp_path / ".env",))
    assert (target.stack, list(request.check)) == ("gunicorn", ["*"])
    assert verb("--stack", "gunicorn", "--bundled").request.bundled == "django"


def test_flags_stand_above_the_race_file(verb, tmp_path) -> None:
    (tmp_path / "race.toml").write_text('[app]\nwsgi = "a:b"\n[race]\nstacks = ["gunicorn"]\n')
    assert verb(tmp_path / "race.toml", "--asgi", "c:d").request.entry.target == "c:d"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://127.0.0.1:9/", "--wsgi", "a:b"], "leave --wsgi out, or give --stack gunicorn instead of the URL"),
        (["http://127.0.0.1:9/", "--project", "."], "--project is about the app of a stack"),
        (["http://127.0.0.1:9/", "--servers", "."], "--servers is about"),
        (["http://127.0.0.1:9/", "--stack", "gunicorn"], "give a URL or --stack, not both"),
        (["--stack", "gunicorn", "--wsgi", "a:b", "--asgi", "a:b"], "give only one of --wsgi, --asgi"),
        (["--workload", "a", "--stack", "gunicorn"], "give the file, too"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_flag(verb, words, said) -> None:
    with pytest.raises(InputError, match=said):
        verb(*words)


def test_a_recording_and_a_path_are_refused_together(tmp_path) -> None:
    words = ["--stack", "gunicorn", "--session", "a.har", "--url", "/"]
    with pytest.raises(InputError, match="give --session or --url, not both"):
        CliRunner().invoke(load, words, catch_exceptions=False, standalone_mode=False)
