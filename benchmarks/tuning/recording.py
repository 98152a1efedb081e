"""An exhaustive grid of one app on one server, launched for real: every configuration once in each block."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from stackrace.api.racing import ready_race
from stackrace.app.app import Entry, EntryKind
from stackrace.deploy.preparing import ignore_step
from stackrace.features.tune.measurements import places_of
from stackrace.features.tune.model import Reference, Tuning
from stackrace.features.tune.tuning_preparation import under_goal
from stackrace.features.tune.tuning_request import TuneRequest, candidates
from stackrace.measure.launch import Launch
from stackrace.race.judge.levels import blocks_of, throughput
from stackrace.race.plan import Cell
from stackrace.race.preparation.prepared import PreparedRace
from stackrace.race.request.request import RaceRequest
from stackrace.race.results.race import Race
from stackrace.race.run.runner import run_prepared
from stackrace.race.run.scheduling import ChosenCells

APPS = ("cpu", "database", "mixed")
SERVERS = ("gunicorn", "uwsgi", "granian")
PAIRS = tuple(f"{app}/{server}" for app in APPS for server in SERVERS)
CONNECTIONS = 64

_FOLDER = Path(__file__).with_name("apps")


def asked(pair: str, *, budget_s: float, vary: tuple[str, ...] = (), seed: int = 1) -> TuneRequest:
    """Return what is asked of a tuner for a pair of app and server."""
    app, _, server = pair.partition("/")
    race = RaceRequest(
        folder=_FOLDER,
        entry=Entry(kind=EntryKind.WSGI, target=f"{app}:app"),
        urls=("/",),
        concurrency=(CONNECTIONS,),
        budget_s=budget_s,
        slice_s=0.5,
        seed=seed,
    )
    return TuneRequest(race=race, stack=server, vary=vary)


def record(pair: str, *, budget_s: float, each: int, vary: tuple[str, ...] = ()) -> Iterator[dict[str, object]]:
    """Yield a row for each launch: its response, and what it took with all around it.

    It ends when every configuration was launched ``each`` times, or with its budget.
    """
    request, tuning = candidates(asked(pair, budget_s=budget_s, vary=vary))

    def adapt(fresh: PreparedRace) -> PreparedRace:
        shaped = under_goal(fresh, tuning)
        # no tuner, and nobody leaves: every configuration in every block
        plan, race = shaped.plan, shaped.plan.race
        race = replace(race, parts=race.parts.lacking(Tuning), exhaustive=True)
        return replace(shaped, plan=replace(plan, race=race))

    def until_enough(race: Race, cells: Sequence[Cell]) -> Sequence[Cell]:
        return () if len(blocks_of(race)) >= each else cells

    with ready_race(
        request,
        None,
        ignore_step,
        scheduling=ChosenCells(until_enough),
        adapt=adapt,
        first=len(request.stacks or ()),
    ) as ready:
        begun = time.monotonic()
        race = run_prepared(ready, lambda event: None)
        each_s = (time.monotonic() - begun) / max(len(race.launches), 1)
    yield from _rows(pair, race, tuning, each_s)


def _rows(pair: str, race: Race, tuning: Tuning, each_s: float) -> Iterator[dict[str, object]]:
    given = tuning.references[Reference.DEFAULT]
    named = {"default": given, "formula": _by_formula(tuning, len(race.cores.stack_cores))}
    own = {launch.id: _own_s(launch) for launch in race.launches}
    beside_s = each_s - sum(own.values()) / max(len(own), 1)
    for launch in race.launches:
        valid = [one for one in launch.slices if one.verdict.valid and launch.verdict.valid]
        slices = [
            (r.started_at + r.duration_s / 2, throughput(launch, one), one.cpu_s / r.duration_s)
            for one in valid
            for r in (one.result,)
        ]
        yield {
            "pair": pair, "race": race.id, "block": launch.block, "stack": launch.stack,
            "response": fmean(one[1] for one in slices) if slices else None,
            "moment_s": fmean(one[0] for one in slices) if slices else None,
            "slices": slices, "took_s": own[launch.id] + max(beside_s, 0.0),
            "references": [name for name, path in named.items() if path == launch.stack],
        }  # fmt: skip


def _by_formula(tuning: Tuning, cores: int) -> str:
    """Return the configuration of the documented formula; without one that of about two workers a core and one."""
    documented = tuning.references.get(Reference.FORMULA)
    if documented is not None:
        return documented
    given = tuning.settings[tuning.references[Reference.DEFAULT]]
    workers = min(tuning.knobs[0].values, key=lambda value: abs(int(value) - 2 * cores - 1))
    wanted = (workers, *given[1:])
    return next(path for path, values in tuning.settings.items() if values == wanted)


def _own_s(launch: Launch) -> float:
    return (launch.ready_s or 0.0) + launch.warmup_s + sum(one.result.duration_s for one in launch.slices)


def places(pair: str, vary: tuple[str, ...] = ()) -> dict[str, tuple[float, ...]]:
    """Return where each configuration of a pair lies on the grid, in steps."""
    _, tuning = candidates(asked(pair, budget_s=3600.0, vary=vary))
    paths = tuple(tuning.settings)
    return dict(zip(paths, map(tuple, places_of(paths, tuning)), strict=True))
