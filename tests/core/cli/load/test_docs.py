"""docs/load.md names what there is; the help and the schema leave nothing out."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

from stackrace.cli.load.command import command
from stackrace.measure.load import Counters
from stackrace.report.load_result import schema as schema_of

PAGE = (Path(__file__).parents[4] / "docs" / "load.md").read_text(encoding="utf-8")


def test_every_option_in_the_page_exists() -> None:
    known = {name for parameter in command.params for name in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= known


def test_the_schema_explains_every_member_as_the_page_promises() -> None:
    schema = json.loads(schema_of())
    assert {field.name for field in fields(Counters)} <= set(schema["properties"])
    for shape in (schema, *schema["$defs"].values()):
        for name, member in shape["properties"].items():
            assert member.get("description"), name
