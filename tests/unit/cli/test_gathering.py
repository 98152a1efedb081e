"""What options say, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, fields

import click
import pytest
from click.testing import CliRunner

from stackrace.cli.options import AppOptions, gathering
from stackrace.cli.run.budget_options import BudgetOptions
from stackrace.cli.run.command import command as run
from stackrace.cli.run.options import RunOptions
from stackrace.cli.run.race_options import Output, RaceOptions


@dataclass(frozen=True, kw_only=True)
class Ends:
    first: int
    last: int


def test_a_command_gets_its_options_together_and_keeps_its_help() -> None:
    @click.command()
    @click.option("--first", default=1)
    @click.option("--last", default=2)
    @click.option("--loud", is_flag=True)
    @gathering(ends=Ends)
    def count(ends: Ends, loud: bool) -> None:
        """Count."""
        click.echo(f"{ends} {loud}")

    done = CliRunner().invoke(count, ["--last", "5"])
    assert done.output.endswith("Ends(first=1, last=5) False\n")
    assert "Count." in CliRunner().invoke(count, ["--help"]).output


@pytest.mark.parametrize("kind", [AppOptions, BudgetOptions, Output, RaceOptions, RunOptions])
def test_every_field_is_an_option_of_run(kind: type) -> None:
    assert {field.name for field in fields(kind)} <= {parameter.name for parameter in run.params}
