"""What the tests of races share."""

import pytest
from tests.core.race.simulated import Clock

from stackrace.base.errors import SpecError
from stackrace.race.request.race_file import read_race_file
from stackrace.race.run import block


@pytest.fixture
def clock(monkeypatch):
    """The clock that every step of a race looks at."""
    clock = Clock()
    monkeypatch.setattr(block.time, "monotonic", clock)
    return clock


@pytest.fixture
def read(tmp_path):
    """Return what reads a race file of this text; its stacks may be anything."""

    def read(text, check_stack=str):
        path = tmp_path / "race.toml"
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        return read_race_file(path, check_stack)

    return read


@pytest.fixture
def problems(read):
    """Return what tells what is said of a race file of this text, which is refused."""

    def problems(text, check_stack=str):
        with pytest.raises(SpecError) as refused:
            read(text, check_stack)
        return refused.value.message

    return problems
