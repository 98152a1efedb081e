"""Recorded faults, judged anew: each leads to the findings it was recorded for, and what is sound to none."""

import json

import pytest
from tests.core.validity.recording import FOLDER, launch, observation

from stackrace.report.words import findings as say
from stackrace.validity.registry import examine, examine_launch, examine_run

FILES = sorted(FOLDER.glob("*.json"))

WEATHER = {
    "CPU frequency", "clock stepped", "engine ceiling", "foreign CPU", "generator busy", "generator waited",
    "idle stacks busy", "machine speed", "major faults", "pressure", "retransmits", "shared cores", "steal",
    "stale dates", "unfinished requests", "dead time", "overheated",
}  # fmt: skip
"""Findings about the machine that recorded, which was busy with other things."""


def found(document):
    if "launch" in document:
        verdict = examine_launch(launch(document["launch"]))
    else:
        seen = observation(document["slice"])
        verdict = examine(seen) if seen.stack else examine_run(seen)
    return {say.title(finding): finding.effect.value for finding in verdict.findings}


def test_there_are_recordings():
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_fault_is_found_again(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    seen = found(document)
    assert {name: effect for name, effect in seen.items() if name not in WEATHER} == document["findings"]
