"""What of the time before a race counts against its budget."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from stackrace.deploy.preparing import Preparing, Step
from stackrace.race.preparation import prepared
from stackrace.race.preparation.prepared import _FirstRaceTimer


def test_only_what_a_first_race_needs_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, heard = count(), []
    monkeypatch.setattr(prepared, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    stopwatch = _FirstRaceTimer(heard.append)
    for step in (Step.PACKAGES, Step.DATA, Step.ANSWERS):
        stopwatch(Preparing(step=step, subject="shop"))
    assert stopwatch.once_s() == 2.0
    assert [preparing.step for preparing in heard] == [Step.PACKAGES, Step.DATA, Step.ANSWERS]
