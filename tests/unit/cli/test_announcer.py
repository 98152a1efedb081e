"""What is said while a race is prepared, and what of that time counts."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from stackrace.cli import announcer
from stackrace.cli.announcer import Announcer
from stackrace.model.preparing import Preparing, Step


def test_only_what_a_first_race_needs_does_not_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = count()
    monkeypatch.setattr(announcer, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    with Announcer() as announce:
        announce(Preparing(step=Step.PACKAGES, subject="uvicorn"))
        announce(Preparing(step=Step.DATA, subject="shop: migrate"))
        announce(Preparing(step=Step.ANSWERS, subject="shop"))
    assert announce.installing_s == 2.0
    assert capsys.readouterr().err.splitlines()[0] == "installing uvicorn"
