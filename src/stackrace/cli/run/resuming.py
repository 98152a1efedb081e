"""``stackrace run --resume``: an interrupted race goes on."""

from __future__ import annotations

import click

from ...api.resumed import ResumedRace
from ...api.resuming import unfinished
from ...api.strategies import strategist_of
from ...base.units import DURATION
from ...store import open_store
from .live import raced, report_of
from .output import Output

__all__ = ["resume_and_report"]


def resume_and_report(prefix: str, budget_s: float | None, output: Output) -> None:
    """Go on with the race that ``prefix`` means, by default the last one that was interrupted, and show it.

    Raises InputError and StoreError where it cannot go on, before anything of it is changed.
    """
    with open_store(output.store) as store:
        store.need_writable()
        with unfinished(prefix, store, budget_s=budget_s) as resumed:
            click.echo(_going_on(resumed), err=True)
            race = raced(resumed.request, store, resumed=resumed)
        if (strategist := strategist_of(race)) is not None:
            strategist.show(race, html=output.html, as_json=output.as_json)
        else:
            report_of(race, store, output)


def _going_on(resumed: ResumedRace) -> str:
    blocks = f"{resumed.done} block{'' if resumed.done == 1 else 's'}"
    left = "" if resumed.left_s is None else f", about {DURATION.format(round(max(resumed.left_s, 1.0)))} to go"
    return f"going on with race {resumed.race.id} after {blocks}{left}"
