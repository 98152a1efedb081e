"""docs/capacity.md leaves nothing out."""

from __future__ import annotations

import re
from pathlib import Path

import click

from stackrace.cli.load.command import command as load
from stackrace.features.capacity.verb import command

PAGE = (Path(__file__).parents[3] / "docs" / "capacity.md").read_text(encoding="utf-8")


def options(of: click.Command) -> set[str]:
    return {name for parameter in of.params if isinstance(parameter, click.Option) for name in parameter.opts}


def test_every_option_of_its_own_is_in_the_table() -> None:
    rows = "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("|"))
    for name in (options(command) - options(load)) | {"-c", "--seed", "--json"}:
        assert re.search(rf"`{re.escape(name)}\b", rows), name


def test_what_it_shares_with_load_is_all_but_what_the_page_names() -> None:
    line = PAGE.partition("#options), without ")[2].partition("\n\n")[0]
    left_out = set(re.findall(r"`(-[a-z-]+)`", line))
    assert options(load) - options(command) - {"--duration", "--requests", "--connections", "--schema"} == left_out
