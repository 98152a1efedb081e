"""Reports as files, and help in sections."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.factories import make_race

from stackrace.api.load.options import LoadOptions
from stackrace.base.errors import InputError
from stackrace.cli.load.command import command
from stackrace.cli.options import SectionedCommand, section
from stackrace.cli.showing import write_html
from stackrace.report.merged_standing import standing_of

RACE = make_race(2, blocks=2)


def written(path: Path | None) -> Path:
    before = os.umask(0)
    try:
        return write_html(RACE, standing_of(RACE), path)
    finally:
        os.umask(before)


def test_a_report_is_for_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for path in (None, tmp_path / "report.html"):
        assert stat.S_IMODE(written(path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "stackrace" / "reports").stat().st_mode) == 0o700


def test_a_folder_that_nobody_made_stays_unmade(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="name another place"):
        written(tmp_path / "nowhere" / "report.html")
    assert not (tmp_path / "nowhere").exists()


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
