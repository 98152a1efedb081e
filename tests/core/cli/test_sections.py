"""Help in sections."""

from __future__ import annotations

import click
from click.testing import CliRunner

from stackrace.api.load.options import LoadOptions
from stackrace.cli.load.command import command
from stackrace.cli.sections import SectionedCommand, section


def test_options_stand_under_their_headings_in_order() -> None:
    first, second = section("First"), section("Second")

    @click.command(cls=SectionedCommand)
    @first("--one", type=click.IntRange(1, 5), help="One.")
    @second("--two", help="Two.")
    @first("--three", help="Three.")
    def verb(**_: object) -> None:
        """Do nothing."""

    text = CliRunner().invoke(verb, ["--help"]).output
    order = [text.index(word) for word in ("First:", "--one", "--three", "Second:", "--two", "Help:", "--help")]
    assert order == sorted(order)
    assert "1<=x" not in text


def test_every_option_of_load_has_a_field_and_a_section() -> None:
    own = {"schema", "as_json", "hdr", "stack", "workload", "words"}
    app = {option.name for option in command.params if getattr(option, "heading", "") == "The app of a stack"}
    names = {parameter.name for parameter in command.params} - own - app
    assert names == set(LoadOptions.__dataclass_fields__) - {"urls"}
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert getattr(parameter, "heading", ""), parameter.name
