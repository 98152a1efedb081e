"""What the flags of a command say of a race, together."""

from __future__ import annotations

from dataclasses import fields

import click
from click.testing import CliRunner

from stackrace.cli.request_flags import APP_OPTIONS, RequestFlags, request_flags
from stackrace.cli.run.command import command as run
from stackrace.model.app import EntryKind
from stackrace.model.race import Question
from stackrace.spec.request import RaceRequest

OWN = {"race_file", "quick", "resume", "store", "html", "as_json", "help"}
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


def test_every_flag_of_run_is_a_field_of_a_request_or_names_the_app() -> None:
    names = {parameter.name for parameter in run.params} - OWN
    assert names <= {field.name for field in fields(RaceRequest)} | set(EntryKind)


def test_every_flag_of_run_arrives_with_its_type(monkeypatch, tmp_path) -> None:
    requests = []
    monkeypatch.setattr("stackrace.cli.run.live.race_and_report", lambda request, output: requests.append(request))
    arguments = (
        "--stack waitress -c 5 -c 9 --close --budget 1min --slice 2s --question ranking --difference 3% --seed 0 "
        "--no-twin --cores 0-1 --engine-cores 2 --memory 1GiB --quota --host here --url /x --wsgi a:b --servers s"
    )
    done = CliRunner().invoke(run, [*arguments.split(), "--project", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0
    (request,) = requests
    assert (request.stacks, request.concurrency, request.keep_alive) == (("waitress",), (5, 9), False)
    assert (request.budget_s, request.slice_s, request.seed, request.twin) == (60.0, 2.0, 0, False)
    assert (request.question, request.difference) == (Question.RANKING, 0.03)
    assert isinstance(request.question, Question)
    assert (request.cores, request.engine_cores, request.memory_bytes) == ((0, 1), (2,), 2**30)
    assert isinstance(request.memory_bytes, int)
    assert (request.quota, request.host, request.urls, request.folder) == (True, "here", ("/x",), tmp_path)
