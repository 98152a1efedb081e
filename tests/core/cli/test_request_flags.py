"""What the flags of a command say of a race, together."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stackrace.app.app import EntryKind
from stackrace.base.errors import InputError
from stackrace.cli.request_flags import _APP, APP_OPTIONS, RequestFlags, app_words, request_flags
from stackrace.cli.run.command import command as run
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.request.request import RaceRequest
from stackrace.stats.values import Question

OWN = {"race_file", "quick", "details", "resume", "store", "html", "as_json", "help", "no_current"}
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
    assert {option.name for option in show.params} <= {*_APP, "help"}


def test_every_flag_of_run_is_a_field_of_a_request_or_names_the_app() -> None:
    names = {parameter.name for parameter in run.params} - OWN
    assert names <= {field.name for field in fields(RaceRequest)} | set(EntryKind)


def test_every_flag_of_run_arrives_with_its_type(monkeypatch, tmp_path) -> None:
    requests = []
    monkeypatch.setattr("stackrace.cli.run.live.race_and_report", lambda request, output: requests.append(request))
    arguments = (
        "--stack waitress -c 5 -c 9 --close --budget 1min --slice 2s --question ranking --difference 3% --seed 0 "
        "--no-twin --cores 0-1 --engine-cores 2 --memory 1GiB --quota --host here --url /x --wsgi a:b --servers s "
        "--check status"
    )
    done = CliRunner().invoke(run, [*arguments.split(), "--project", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    (request,) = requests
    assert request.check == {"*": RightAnswer(likeness=Likeness.STATUS)}
    assert (request.stacks, request.concurrency, request.keep_alive) == (("waitress",), (5, 9), False)
    assert (request.budget_s, request.slice_s, request.seed, request.twin) == (60.0, 2.0, 0, False)
    assert (request.question, request.difference) == (Question.RANKING, 0.03)
    assert isinstance(request.question, Question)
    assert (request.cores, request.engine_cores, request.memory_bytes) == ((0, 1), (2,), 2**30)
    assert isinstance(request.memory_bytes, int)
    assert (request.quota, request.host, request.urls, request.folder) == (True, "here", ("/x",), tmp_path)


def test_where_the_project_lies_on_hosts_is_a_whole_path(tmp_path) -> None:
    with pytest.raises(InputError, match="--cluster-project app: hosts have another folder"):
        RequestFlags({"cluster_project": Path("app")}).over(RaceRequest(folder=tmp_path))
