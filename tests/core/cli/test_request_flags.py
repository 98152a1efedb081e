"""What the flags of a command say of a race, together and over a race file's request."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stackrace.app.app import Entry, EntryKind
from stackrace.base.errors import InputError
from stackrace.cli.request_flags import _APP, APP_OPTIONS, RequestFlags, app_words, request_flags
from stackrace.cli.run import command as run
from stackrace.cli.run import command as run_command
from stackrace.extensions import RequestPart, declared, load
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.request.request import RaceRequest, WorkloadRequest
from stackrace.stats.values import Question

OWN = {"as_lines", "help_all", "race_file", "quick", "details", "resume", "store", "html", "as_json", "help"}
"""Parameters of ``run`` that say nothing of a race."""


def test_a_command_gets_what_is_on_the_command_line_together_and_keeps_its_help() -> None:
    @click.command()
    @request_flags(*APP_OPTIONS)
    @click.option("--loud", is_flag=True)
    def show(flags: RequestFlags, loud: bool) -> None:
        """Show."""
        click.echo(f"{flags.given} {loud}")

    done = CliRunner().invoke(show, ["--url", "/a", "--url", "/b"])
    assert done.output == "{'urls': ('/a', '/b')} False\n"
    assert "Show." in CliRunner().invoke(show, ["--help"]).output


def test_a_url_that_cannot_be_asked_for_is_refused_with_a_right_one() -> None:
    for path, right in {"/a b": "/a%20b", "about": "/about", "http://localhost/a?b=ä": "/a?b=%C3%A4"}.items():
        with pytest.raises(InputError) as refused:
            RequestFlags({"urls": ("/", path)}).over(RaceRequest(folder=Path("/")))
        assert refused.value.message.startswith(f"--url {path!r} ")
        assert refused.value.message.endswith(f"; write {right}")


def test_what_was_said_of_the_app_can_be_typed_again() -> None:
    @click.command()
    @request_flags(*APP_OPTIONS)
    def show(flags: RequestFlags) -> None:
        click.echo("|".join(app_words()))

    words = ["--bundled", "--url", "/a", "--url", "/b c", "--check", "/a status", "--check", "contains:it's"]
    shown = CliRunner().invoke(show, words).output.strip().split("|")
    assert shown == ["--bundled", "django", *words[1:]]
    assert CliRunner().invoke(show, shown).output.strip().split("|") == shown
    # the pages that were chosen are kept
    assert {option.name for option in show.params} <= {*_APP, "new_pages", "help"}


def parameters(options):
    @request_flags(*options)
    def command(flags):
        pass

    return command.__click_params__


def test_every_flag_of_run_is_a_field_of_a_request_or_names_the_app() -> None:
    of_features = {parameter.name for part in declared(RequestPart) for parameter in parameters(load(part.flags))}
    names = {parameter.name for parameter in run.params} - OWN - of_features
    assert names <= {field.name for field in fields(RaceRequest)} | set(EntryKind)


def test_every_flag_of_run_arrives_with_its_type(monkeypatch, tmp_path) -> None:
    requests = []
    monkeypatch.setattr("stackrace.cli.live_race.race_and_report", lambda request, output: requests.append(request))
    arguments = (
        "--stack waitress -c 5 -c 9 --close --budget 1min --slice 2s --question ranking --difference 3% --seed 0 "
        "--no-twin --cores 0-1 --engine-cores 2 --memory 1GiB --quota --host here --url /x --wsgi a:b --servers s "
        "--check status --silent 4 --idle 200"
    )
    done = CliRunner().invoke(run, [*arguments.split(), "--project", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    (request,) = requests
    assert request.check == {"*": RightAnswer(likeness=Likeness.STATUS)}
    assert (request.stacks, request.concurrency, request.keep_alive) == (("waitress",), (5, 9), False)
    assert (request.silent, request.idle) == (4, 200)
    assert (request.budget_s, request.slice_s, request.seed, request.twin) == (60.0, 2.0, 0, False)
    assert (request.question, request.difference) == (Question.RANKING, 0.03)
    assert isinstance(request.question, Question)
    assert (request.cores, request.engine_cores, request.memory_bytes) == ((0, 1), (2,), 2**30)
    assert isinstance(request.memory_bytes, int)
    assert (request.quota, request.host, request.urls, request.folder) == (True, "here", ("/x",), tmp_path)


HERE = Path("/nowhere")
PLAIN = RaceRequest(folder=HERE)
SEVERAL = RaceRequest(folder=HERE, workloads=(WorkloadRequest(name="a", urls=("/",)),))
RUNS = RaceRequest(folder=HERE, repeats=3, run_requests_at={1: 10, 20: 50})


def over(request, **given):
    return RequestFlags(given).over(request)


def test_without_flags_a_request_stays_as_it_is():
    for request in (SEVERAL, RUNS, PLAIN):
        assert over(request) == request


def test_flags_replace_what_the_file_says():
    request = over(RaceRequest(folder=HERE, seed=3, quota=True, keep_alive=False), seed=0, cores=(0, 1))
    assert (request.seed, request.quota, request.keep_alive, request.cores) == (0, True, False, (0, 1))


def test_paths_are_absolute_whatever_becomes_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    request = over(PLAIN, folder=Path(), python=Path("venv/bin/python"))
    assert (request.folder, request.python) == (tmp_path, tmp_path / "venv/bin/python")


def test_an_app_takes_the_place_of_the_files():
    request = over(RaceRequest(folder=HERE, entry=Entry(kind=EntryKind.RACK, target="config.ru")), wsgi="notes:app")
    assert request.entry == Entry(kind=EntryKind.WSGI, target="notes:app")


def test_a_session_takes_the_place_of_every_other_workload():
    request = over(SEVERAL, session=HERE / "browse.har", think=True)
    assert (request.session, request.think, request.workloads, request.urls) == (
        HERE / "browse.har",
        True,
        (),
        None,
    )


def test_urls_take_the_place_of_a_session_and_of_several_workloads():
    assert over(SEVERAL, urls=("/x",)).workloads == ()
    recorded = RaceRequest(folder=HERE, session=HERE / "browse.har", think=True)
    request = over(recorded, urls=("/x",))
    assert (request.session, request.think) == (None, False)


def test_a_length_takes_the_place_of_the_files_lengths():
    request = over(RUNS, run_s=5.0)
    assert (request.run_s, request.run_requests, request.run_requests_at, request.repeats) == (5.0, None, {}, 3)
    assert over(RUNS, repeats=9).repeats == 9


@pytest.mark.parametrize(
    ("flags", "request_", "words"),
    [
        ({"session": HERE, "urls": ("/",)}, PLAIN, "give --session or --url"),
        ({"think": True}, PLAIN, "--think keeps the pauses of a recording"),
        ({"run_requests": 1, "run_s": 1.0, "repeats": 1}, PLAIN, "--requests or --duration"),
        ({"run_requests": 1}, PLAIN, "give the number of runs with --repeats"),
        ({"run_s": 1.0}, PLAIN, "give the number of runs with --repeats"),
        ({"repeats": 1}, PLAIN, "needs the length of a run; give --requests or --duration"),
        ({}, RaceRequest(folder=HERE, repeats=1, run_s=1.0, slice_s=1.0), "leave --slice out"),
        ({"wsgi": "a:b", "asgi": "a:b"}, PLAIN, "give only one of --wsgi, --asgi"),
        ({"folder": HERE}, PLAIN, "--project /nowhere is not a folder"),
    ],
)
def test_contradictions_name_the_flags_and_the_way_out(flags, request_, words):
    with pytest.raises(InputError, match=words):
        over(request_, **flags)


def test_an_app_of_the_users_and_a_bundled_one_replace_each_other():
    rack = RaceRequest(folder=HERE, entry=Entry(kind=EntryKind.RACK, target="config.ru"))
    assert (over(rack, bundled="django").entry, over(rack, bundled="django").bundled) == (None, "django")
    assert over(RaceRequest(folder=HERE, bundled="ladder"), wsgi="notes:app").bundled is None


def test_stacks_without_their_flag_get_it() -> None:
    done = CliRunner().invoke(run_command, ["race.toml", "gunicorn", "nginx/uwsgi/uwsgi"])
    assert done.exit_code == 2
    assert "stacks are given as --stack gunicorn --stack nginx/uwsgi/uwsgi" in done.output
