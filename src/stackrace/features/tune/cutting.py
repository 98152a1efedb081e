"""Fewer configurations where the budget does not answer for all: spread over the same ranges."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from ...race.overhead import USUAL_LAUNCH_S
from ...race.preparation.prepared import PreparedRace
from .model import Knob, Tuning
from .stats.rounds import AT_ONCE, FIRST, largest_field, search_launches

__all__ = ["cut_to_budget", "thinned"]

AROUND_S = 1.5
"""What a launch takes beside its start and its slice: warming up, coming to rest, its share of stopping."""


def cut_to_budget(ready: PreparedRace, tuning: Tuning) -> PreparedRace:
    """Return ``ready`` with so many configurations of ``tuning`` as its budget can tell apart.

    The references stay. Numbers are thinned from the middle, so that the ranges stay as they are.
    """
    plan = ready.plan
    if plan.budget_s is None:
        return ready
    each_s = max(plan.loading.wall_s, USUAL_LAUNCH_S) + AROUND_S + (plan.slice_s or 0.0)
    launches = (plan.budget_s - (time.monotonic() - ready.begun_s)) / each_s
    paths = [stack.path for stack in plan.stacks]
    field = [path for path in paths if path in tuning.settings and path not in tuning.reserve]
    references = len({*tuning.references.values()} & {*paths})
    fitting = largest_field(launches, references, min(len(field), AT_ONCE))
    # of very many, a sampler proposes as many as there is time for
    if fitting >= min(len(field), FIRST if tuning.proposes else AT_ONCE):
        return ready
    knobs, kept = thinned(tuning, field, fitting)
    stays = {*kept, *tuning.references.values(), *_beyond(tuning, knobs)}
    cut = replace(
        tuning,
        knobs=knobs,
        settings={path: values for path, values in tuning.settings.items() if path in stays},
        reserve=tuple(path for path in tuning.reserve if path in stays),
        proposes=False,
        cut=len(field) - sum(path in stays for path in field),
        whole_s=search_launches(len(field), references) * each_s,
    )
    left = tuple(stack for stack in plan.stacks if stack.path in stays)
    return replace(
        ready,
        plan=replace(plan, stacks=left),
        race=replace(ready.race, stacks=tuple(stack.path for stack in left), parts=ready.race.parts.having(cut)),
    )


def thinned(tuning: Tuning, field: Sequence[str], most: int) -> tuple[tuple[Knob, ...], tuple[str, ...]]:
    """Return the knobs with fewer values, and those of the ``field`` that are left, ``most`` where that can be.

    The number with the nearest neighbours goes first, of the setting that has the most. The first and the last
    stay, and so does what is no number. What is then still too much is thinned evenly.
    """
    knobs = tuning.knobs
    while len(kept := _of(tuning, field, knobs)) > most:
        long = max(range(len(knobs)), key=lambda d: len(knobs[d].values) if knobs[d].numeric else 0)
        if not knobs[long].numeric or len(knobs[long].values) <= 2:
            named = [path for path in kept if path in tuning.references.values()]
            others = [path for path in kept if path not in named]
            wanted = max(most - len(named), 1)
            spread = {others[i * (len(others) - 1) // max(wanted - 1, 1)] for i in range(min(wanted, len(others)))}
            return knobs, tuple(path for path in kept if path in spread or path in named)
        knobs = (*knobs[:long], _without_one(knobs[long]), *knobs[long + 1 :])
    return knobs, kept


def _of(tuning: Tuning, field: Sequence[str], knobs: Sequence[Knob]) -> tuple[str, ...]:
    """Return those of the ``field`` with values that ``knobs`` have, and the references."""
    return tuple(
        path
        for path in field
        if path in tuning.references.values() or _has(knobs, tuning.settings[path], [k.values for k in knobs])
    )


def _beyond(tuning: Tuning, knobs: Sequence[Knob]) -> list[str]:
    """Return those of the reserve that go on from what ``knobs`` have."""
    return [path for path in tuning.reserve if _has(knobs, tuning.settings[path], [k.ladder for k in knobs])]


def _has(knobs: Sequence[Knob], values: Sequence[str | None], known: Sequence[Collection[str]]) -> bool:
    return all(value is None or value in some for value, some, _ in zip(values, known, knobs, strict=True))


def _without_one(knob: Knob) -> Knob:
    steps = [math.log(int(value) or 1) for value in knob.values]
    least = min(range(1, len(steps) - 1), key=lambda i: steps[i + 1] - steps[i - 1])
    return replace(knob, values=(*knob.values[:least], *knob.values[least + 1 :]))
