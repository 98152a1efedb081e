"""A race file as a verb reads it, together with the folder of servers that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrace.base.errors import SpecError
from stackrace.race.preparation.race_file import read_request


def test_one_that_is_nested_too_deeply_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "race.toml"
    path.write_text("[race]\nstacks = " + "[" * 100_000 + "]" * 100_000)
    with pytest.raises(SpecError, match=r"race\.toml is nested too deeply"):
        read_request(path)
