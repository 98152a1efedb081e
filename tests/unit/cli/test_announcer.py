"""What is said while a race is prepared."""

from __future__ import annotations

import pytest

from stackrace.cli.announcer import Announcer
from stackrace.model.preparing import Preparing, Step


def test_each_step_is_a_line_where_nobody_looks_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn"))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert capsys.readouterr().err == "installing uvicorn\nasking shop for its answers\n"
