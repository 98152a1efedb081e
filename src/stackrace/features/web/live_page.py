"""Events of a running race for its page: the time every second, the standing after each block.

The race knows nothing of its viewers. Small queries read the store every second; only after a block is everything
read and judged: then the next stacks start, and none is measured.
Source: HTML Standard, "Server-sent events".
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from django.utils.html import format_html

from ...base.errors import StackraceError
from ...base.numbers import things
from ...base.text import printable
from ...race.events import Activity
from ...race.results.race import Ending, Race
from ...report.exporter import kind_of
from ...report.html.page import draw_part, draw_sections
from ...report.html.race_page import board_drawings
from ...report.live import LiveState, time_words
from ...report.merged_standing import standing_so_far
from ...store import open_store
from ...store.race_lock import is_racing, made_here

if TYPE_CHECKING:
    from ...store.lookup import Progress
    from ...store.store import Store

_PAUSE_S = 1.0

_WAITING = "No standing yet: it comes after the first block."
_AT_THE_END = "Its result comes at the end."


def is_over(ending: Ending | None, race_id: str) -> bool:
    """Return True if nothing more will come of the race: it ended, or no process of this machine races it any more.

    A race of another machine, or of another user, may still run there.
    """
    return ending is not None or (made_here(race_id) and not is_racing(race_id))


def events(store_url: str | None, race_id: str) -> Iterator[str]:
    """Yield the events of the race until it is over; the last one is ``end``."""
    # if the race cannot be read, the page that is loaded at the end says why
    with suppress(StackraceError), open_store(store_url) as store:
        yield from _while_it_runs(store, race_id)
    yield _event("end", "over")


def _while_it_runs(store: Store, race_id: str) -> Iterator[str]:
    watch = _Watch(store.load(race_id))
    blocks, words = -1, ""
    while not is_over((progress := store.progress(race_id)).ending, race_id):
        if progress.blocks > blocks:
            blocks = progress.blocks
            yield _event("standing", watch.standing(store, blocks))
        said = watch.words(progress)
        # a browser that has gone is noticed only when something is sent
        yield _event("progress", said) if said != words else ":\n\n"
        words = said
        time.sleep(_PAUSE_S)


class _Watch:
    """View of one running race."""

    def __init__(self, race: Race) -> None:
        self._race = race
        self._spent_s, self._spent_at_s = -1.0, 0.0
        self._answer_at_s: float | None = None

    def standing(self, store: Store, blocks: int) -> str:
        """Return the HTML of the standing after ``blocks``, or that of another kind of result so far."""
        if not blocks:
            return _paragraph(_WAITING)
        race = store.load(self._race.id)
        after = _paragraph(f"After {things(blocks, 'block')}.")
        if (kind := kind_of(race)) is not None:
            return after + (draw_sections(kind.so_far(race)) or _paragraph(_AT_THE_END))
        standing = standing_so_far(race)
        needed_s = standing.answer.needed_s
        self._answer_at_s = None if needed_s is None else time.monotonic() + needed_s
        return after + draw_part("standing.html.j2", **board_drawings(race, standing))

    def words(self, progress: Progress) -> str:
        """Return the block, and the time that is left, in words."""
        elapsed_s, repeats = self._elapsed_s(progress.spent_s), self._race.repeats
        planned = 0 if repeats is None else repeats * self._runs_each()
        state = LiveState(
            activity=Activity.MEASURING,
            block=progress.blocks + 1,
            slices_done=progress.slices,
            slices_planned=planned,
            elapsed_s=elapsed_s,
            eta_s=self._left_s(elapsed_s, progress.slices, planned),
            answer_s=None if self._answer_at_s is None else max(self._answer_at_s - time.monotonic(), 0.0),
            unit="slices" if repeats is None else "runs",
            blocks=repeats,
        )
        words = f"{state.where}: {time_words(state)}"
        return words[:1].upper() + words[1:]

    def _elapsed_s(self, spent_s: float) -> float:
        """Return the time that the race has taken at least; a resumed one took none between."""
        now_s = time.monotonic()
        if spent_s != self._spent_s:
            self._spent_s, self._spent_at_s = spent_s, now_s
        after_blocks_s = spent_s + now_s - self._spent_at_s
        return after_blocks_s if self._race.resumed else max(after_blocks_s, _seconds_since(self._race.started_at))

    def _left_s(self, elapsed_s: float, done: int, planned: int) -> float | None:
        """Return the seconds left: of the budget at most, of runs by the time that earlier ones took."""
        budget_s = self._race.budget_s or None
        of_budget_s = None if budget_s is None else max(budget_s - elapsed_s, 0.0)
        if self._race.repeats is None:
            return of_budget_s
        if not done or self._race.resumed:
            return None
        of_runs_s = elapsed_s / done * max(planned - done, 0)
        return of_runs_s if of_budget_s is None else min(of_runs_s, of_budget_s)

    def _runs_each(self) -> int:
        """Return the number of cells: each stack, and the twin, at each load of each workload that it meets."""
        race = self._race
        stacks = [*race.stacks, *filter(None, [race.twin])]
        met = sum(stack in race.limits.get(name, stacks) for name in race.workloads or [""] for stack in stacks)
        return met * len(race.loads)


def _seconds_since(started_at: str) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(started_at)).total_seconds()
    except (TypeError, ValueError):
        # no moment, or one without its zone: an altered row
        return 0.0


def _paragraph(text: str) -> str:
    paragraph: str = format_html('<p class="words">{}</p>', text)
    return paragraph


def _event(name: str, data: str) -> str:
    lines = printable(data, words=False).split("\n")
    return f"event: {name}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"
