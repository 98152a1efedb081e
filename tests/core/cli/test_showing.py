"""Reports as files: for their owner only, and never in folders that nobody made."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tests.factories import make_race

from stackrace.base.errors import InputError
from stackrace.cli.showing import write_html
from stackrace.report.result import standing_of

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
