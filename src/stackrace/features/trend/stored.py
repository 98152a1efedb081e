"""A project's stored races, joined over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...app.revision import project_of
from ...base.errors import InputError, StoreError
from ...base.numbers import things
from ...race.results.race import Ending, Race
from ...race.results.standing import Standing
from ...report.result import standing_of
from ...store.lookup import Summary
from .changes import MOST
from .joining import joined
from .model import Absence, Trend

if TYPE_CHECKING:
    from ...store.store import Store

__all__ = ["OnRace", "trend_of"]

OnRace = Callable[[int, int], None]
"""Hears how many races are read, and of how many."""


def trend_of(project: str | None, store: Store, *, folder: Path, on_race: OnRace = lambda done, of: None) -> Trend:
    """Return the trend of ``project``: a folder, or an app by its name; None: the project in ``folder``.

    Raises InputError that names the projects with races where there is none of it.
    """
    known = store.list(None)
    if not known:
        raise StoreError("nothing has been raced yet; start with: stackrace run")
    meant = _races_of(project, known, folder)
    app = meant[0].app
    same = [race for race in meant if race.app == app]
    ended = [race for race in same if race.ending not in (None, Ending.INTERRUPTED)]
    chosen = ended[:MOST]
    trend = joined(app, _read(store, chosen, on_race))
    counts = {
        Absence.OTHER_APP: len(meant) - len(same),
        Absence.UNFINISHED: len(same) - len(ended),
        Absence.TOO_OLD: len(ended) - len(chosen),
    }
    left_out = {**trend.left_out, **{reason: count for reason, count in counts.items() if count}}
    return replace(trend, left_out=left_out)


def _races_of(project: str | None, known: Sequence[Summary], folder: Path) -> list[Summary]:
    """Return the project's races, newest first; at least one."""
    place = folder if project is None else Path(project)
    if project is not None and (named := [race for race in known if race.app == project]):
        return named
    if project is None or place.is_dir():
        identity = project_of(place)
        if found := [race for race in known if race.project == identity]:
            return found
    apps = Counter(race.app for race in known)
    names = ", ".join(f"{app!r} ({things(count, 'race')})" for app, count in apps.most_common(5))
    what = "the project in this folder" if project is None else f"{project!r}"
    raise InputError(f"no stored race is of {what}; name one of: {names}, or a project's folder")


def _read(store: Store, chosen: Sequence[Summary], on_race: OnRace) -> Iterator[tuple[Race, Standing]]:
    """Yield the races with their standings, the oldest first."""
    for done, summary in enumerate(reversed(chosen)):
        on_race(done, len(chosen))
        race = store.load(summary.id)
        yield race, standing_of(race)
    on_race(len(chosen), len(chosen))
