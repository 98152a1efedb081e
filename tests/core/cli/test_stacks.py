"""What ``stackrace stacks`` and docs/stacks.md say of the catalogue.

``STACKRACE_UPDATE_GOLDEN=1 pytest tests/core/cli/test_stacks.py`` rewrites the page's tables and lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from textwrap import wrap

import pytest
from click.testing import CliRunner
from tests.golden_page import holds

from stackrace.cli.stacks import command
from stackrace.stacks.servers import catalogue
from stackrace.stacks.servers.contract import Entry


def test_a_server_that_is_offered_with_a_warning_says_so():
    shown = CliRunner().invoke(command, ["openlitespeed"], catch_exceptions=False)
    assert "Beware: Over AJP it loses and garbles answers" in shown.output
    assert "Beware" not in CliRunner().invoke(command, ["nginx"], catch_exceptions=False).output


def test_scripts_are_told_beside_which_values_a_setting_does_anything():
    shown = CliRunner().invoke(command, ["gunicorn", "--json"], catch_exceptions=False)
    (server,) = json.loads(shown.output)
    only = {setting["name"]: setting["only"] for setting in server["settings"]}
    assert only["threads"] == {"class": ["gthread"]}
    assert only["workers"] == {}


PAGE = Path(__file__).parents[3] / "docs" / "stacks.md"


def server_rows() -> list[str]:
    """The catalogue as a Markdown table."""
    rows = [row_of(entry) for entry in catalogue()]
    return table(("server", "listens to", "forwards", "balances", "hosts", "from"), rows)


def row_of(entry: Entry) -> tuple[str, ...]:
    """One server's row."""
    spec = entry.spec
    return (
        f"`{spec.name}`",
        " ".join(sorted(spec.listens)) or f"inside {' or '.join(sorted(spec.inside))}",
        " ".join(sorted(spec.forwards)),
        "yes" if spec.forwards and spec.balances else "no" if spec.forwards else "",
        " ".join(sorted(spec.hosts)),
        source_of(entry),
    )


def source_of(entry: Entry) -> str:
    """Where it comes from."""
    if entry.needs.elsewhere:
        return "your own build"
    pypi = entry.requirements({setting.name: setting.default for setting in entry.spec.settings})
    parts = [f"Debian: {' '.join(entry.needs.apt)}"] if entry.needs.apt else []
    return "; ".join(parts + ([f"PyPI: {' '.join(pypi)}"] if pypi else []))


def fault_lines(*, changes_request: bool) -> list[str]:
    """What is known not to work, a line per server or stack, out of the servers' own folders."""
    lines: dict[str, list[str]] = {}
    for entry in catalogue():
        for fault in entry.faults:
            if fault.changes_request is changes_request:
                lines.setdefault(fault.where or entry.spec.title, []).append(fault.text)
    whole = [f"- **{head}**: {' '.join(texts)}" for head, texts in lines.items()]
    return [line for text in whole for line in wrap(text, 120, subsequent_indent="  ", break_on_hyphens=False)]


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Write a Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (heads, ("---",) * len(heads), *rows)]


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("servers", server_rows),
        ("changes", partial(fault_lines, changes_request=True)),
        ("faults", partial(fault_lines, changes_request=False)),
    ],
)
def test_the_part_is_what_the_catalogue_says(part, rows):
    holds(PAGE, part, rows())


def test_every_server_without_a_package_is_told_of():
    page = PAGE.read_text(encoding="utf-8")
    for entry in catalogue():
        assert not entry.needs.elsewhere or entry.spec.title in page, entry.spec.title
