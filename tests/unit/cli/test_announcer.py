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


def test_progress_that_changes_often_is_a_line_once_in_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    with Announcer() as announce:
        for number in range(100):
            announce(Preparing(step=Step.PAGES, subject=f"shop for its pages: {number} of 100, about 9 s left"))
    assert capsys.readouterr().err == "asking shop for its pages: 0 of 100, about 9 s left\n"
