"""docs/load.md leaves nothing out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from stackrace.cli.load.command import command
from stackrace.load.document import SCHEMA

PAGE = (Path(__file__).parents[4] / "docs" / "load.md").read_text(encoding="utf-8")


def test_every_option_is_in_the_table() -> None:
    rows = "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("|"))
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for name in parameter.opts:
                assert re.search(rf"`{re.escape(name)}\b", rows), name


def test_every_option_in_the_page_exists() -> None:
    known = {name for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= known


def test_every_member_of_the_document_is_in_the_table() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    nested = [
        member
        for name in ("load", "distribution", "bin", "finding")
        for member in schema["$defs"][name]["properties"]
    ]
    for member in (*schema["properties"], *nested):
        assert f"`{member}`" in PAGE, member
