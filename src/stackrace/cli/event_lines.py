"""Events of a race as lines of JSON, for programs that follow it while it runs."""

from __future__ import annotations

import json
from typing import Any

import click

from ..race import events
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..report.exporter import Format, render
from ..report.words.findings import failure_message
from ..stacks.stack import original_path


def print_event(event: events.Event, standing: Standing | None) -> None:
    """Print ``event`` as one line with its name and what is new; events that tell nobody anything print none.

    ``standing`` is the provisional one after the last block; None before it, and in races with another result.
    """
    if (line := _line(event, standing)) is not None:
        _print(line)


def print_result(race: Race, standing: Standing) -> None:
    """Print the last line of a race: its JSON document, as ``stackrace report --json`` prints it."""
    _print({"event": "result", "document": json.loads(render(race, standing, Format.JSON))})


def _print(line: dict[str, Any]) -> None:
    click.echo(json.dumps(line, allow_nan=False))


def _line(event: events.Event, standing: Standing | None) -> dict[str, Any] | None:
    match event:
        case events.RaceStarted(race=race) | events.RaceResumed(race=race):
            levels = [load.concurrency for load in race.loads]
            return {
                "event": "race", "id": race.id, "app": race.app, "urls": list(race.urls),
                "stacks": list(race.stacks), "concurrency": levels, "budget_s": race.budget_s or None,
            }  # fmt: skip
        case events.BlockStarted(block=block, stacks=stacks, eta_s=eta_s):
            racing = list(dict.fromkeys(map(original_path, stacks)))
            return {"event": "block", "block": block, "stacks": racing, "eta_s": eta_s}
        case events.Progress(activity=activity, stack=stack, cell=cell):
            path = None if stack is None else original_path(stack)
            return {
                "event": "activity", "activity": str(activity), "stack": path,
                "concurrency": None if cell is None else cell.load.concurrency,
            }  # fmt: skip
        case events.LaunchStarted(launch=launch):
            return {"event": "launch", "id": launch.id, "stack": original_path(launch.stack), "block": launch.block}
        case events.SliceEnded(launch_id=launch, slice=part):
            return {
                "event": "slice", "launch": launch, "concurrency": part.load.concurrency,
                "workload": part.workload, "valid": part.valid, "requests_per_s": part.throughput_per_s,
            }  # fmt: skip
        case events.LaunchEnded(launch=launch):
            failure = None if launch.failure is None else failure_message(launch.failure)
            return {"event": "launch ended", "id": launch.id, "failure": failure}
        case events.BlockEnded(block=block):
            return {"event": "standing", "blocks": block, "rows": _rows(standing)}
        case events.RaceEnded(ending=ending, elapsed_s=elapsed_s):
            return {"event": "race ended", "ending": str(ending), "elapsed_s": elapsed_s}
        case _:
            return None


def _rows(standing: Standing | None) -> list[dict[str, Any]]:
    """Return the provisional standing, best first: throughput and its ratio to the leader's with limits."""
    if standing is None or not standing.levels:
        return []
    return [
        {
            "stack": row.stack, "tier": row.tier, "requests_per_s": row.throughput_per_s.value,
            "ratio": row.ratio.value, "low": row.ratio.low, "high": row.ratio.high,
        }
        for row in standing.levels[standing.headline].rows
    ]  # fmt: skip
