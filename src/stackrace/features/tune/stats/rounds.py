"""Which configurations are launched in the next block: all, then those that may be the best, then finalists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ....stats.limits import against_best, each
from ....stats.pairs import Array, pairs
from ....stats.selection import ALPHA
from ....stats.variances import measured
from .estimates import Launched, Surface, launched, surface
from .grid import Flags, Grid

AT_ONCE = 50
"""So many configurations at most are raced all; of more, batches are proposed."""

FINALISTS = 4
FINAL_LAUNCHES = 4
"""Every finalist is launched anew so often at least, beside what it was launched before."""
MOST_FINAL_LAUNCHES = 12

SMALL, SMALL_FINALISTS, SMALL_MOST_LAUNCHES = 12, 2, 6
"""Of so many configurations at most, so few come into the finals, right after the first block, and end them sooner:
else the finals would cost more than the search saves."""

_FAR = 3.0
"""So many standard deviations below the best, a configuration is left out after one launch."""

_SHARE = 0.6
"""Of the launches that finals leave over, the share that the next block may take where it cannot have all."""

FIRST, BATCH, GUIDES = 20, 8, 3
"""Of many configurations: how many are launched first, proposed at a time, and launched again beside those."""

_EXPLORING = 0.5
"""Of many configurations: the share of all launches that goes to proposals."""

_Propose = Callable[[Array, Flags, int], Sequence[int]]
"""Takes what is expected of each configuration (NaN: never launched), who may be proposed, and how many are
wanted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _State:
    grid: Grid
    known: Launched
    expected: Surface
    alive: Flags
    """Those that were launched and may still be the best."""
    proved: Array
    """(K, K): d_ij − H_ij."""

    def top(self, many: int, by: Array) -> list[int]:
        """Return the ``many`` of those alive with the most ``by``."""
        order = np.argsort(-np.where(self.alive, by, -np.inf), kind="stable")
        return [int(i) for i in order[: min(many, int(self.alive.sum()))]]

    @property
    def beside(self) -> list[int]:
        """The references that can be launched."""
        return [i for i in self.grid.references if i not in self.grid.out]


def next_round(grid: Grid, left: float, propose: _Propose | None = None) -> tuple[int, ...]:
    """Return who races in the next block, nobody where it is over; ``left`` is how many launches there is time for.

    Up to ``AT_ONCE`` configurations all race in the first block. Of more, ``propose`` names the first and, block by
    block, a batch that races beside the best so far. Then those race on that may be the best: one that is ``_FAR``
    below it leaves after a launch, one whose limits say so later (`_proved`). Where time is too short for all of
    them, those of which the most may be expected. At most ``FINALISTS`` remain, and are launched anew
    ``FINAL_LAUNCHES`` times at least, and until the limits name one or time is over. Of a ``SMALL`` field fewer do.
    Where the best lies at an end of the usual values, those of the reserve next to it race before the finals.
    """
    k = len(grid.values)
    possible = np.ones(k, dtype=bool)
    possible[[*grid.out, *grid.waiting]] = False
    if not grid.entered.any():
        return _first(grid, possible, propose)
    state = _state(grid)
    unheard = possible & grid.entered.any(axis=1) & (state.known.count == 0)
    fresh = possible & ~grid.entered.any(axis=1)
    if not state.alive.any():
        if propose is not None and fresh.any() and not unheard.any():
            # none of the first is possible: others may be
            return _joined(propose(np.full(k, np.nan), fresh, FIRST))
        return _joined(np.flatnonzero(unheard))
    final_blocks = finals(grid)
    if not final_blocks or _newcomers(grid)[-1]:
        wider = _wider(state, left) if propose is None or not _explores(state, left) else ()
        if wider:
            return _joined(state.top(GUIDES, state.expected.mean), wider)
    if final_blocks:
        return _final(state, final_blocks)
    if propose is not None and fresh.any() and _explores(state, left):
        seen = np.where(state.known.count > 0, state.expected.mean, np.nan)
        hopeful = np.where(fresh, state.expected.mean + state.expected.sd, -np.inf)
        ours = [int(i) for i in np.argsort(-hopeful, kind="stable")[: BATCH // 2] if fresh[i]]
        fresh[ours] = False
        batch = [*ours, *propose(seen, fresh, BATCH - len(ours))]
        return _joined(state.top(GUIDES, state.expected.mean), batch)
    # a configuration of which nothing could be believed is launched once more; then it is out
    screened = _screening(state, left)
    return _joined(screened, np.flatnonzero(unheard)) if unheard.any() else screened


def in_play(grid: Grid) -> tuple[Flags, Surface]:
    """Return who may be the best, and what is expected of each."""
    state = _state(grid)
    return state.alive, state.expected


def rivals(grid: Grid, index: int) -> tuple[int, ...]:
    """Return who may still be better than the configuration ``index`` by more than what matters."""
    state = _state(grid)
    near = state.proved[index] > -grid.delta
    return tuple(int(i) for i in np.flatnonzero(state.alive & ~near) if i != index)


def _first(grid: Grid, possible: Flags, propose: _Propose | None) -> tuple[int, ...]:
    if propose is None:
        return _joined(np.flatnonzero(possible))
    blank = np.full(len(grid.values), np.nan)
    beside = [i for i in grid.references if possible[i]]
    fresh = possible.copy()
    fresh[beside] = False
    return _joined(beside, propose(blank, fresh, FIRST))


def _explores(state: _State, left: float) -> bool:
    """Tell whether there is time for another batch: proposals have their share, and leave enough for finals."""
    done, batch = int(state.grid.entered.sum()), BATCH + GUIDES
    return done + batch <= _EXPLORING * (done + left) and left - batch >= _finals_cost(state)


def _wider(state: _State, left: float) -> tuple[int, ...]:
    """Return who waits in the reserve a step of one setting beyond the best; none where time is short."""
    grid = state.grid
    apart = grid.places - grid.places[state.top(1, state.expected.mean)[0]]
    waiting = [i for i in grid.waiting if i not in grid.out]
    near = tuple(i for i in waiting if np.isfinite(apart[i]).all() and np.abs(apart[i]).sum() == 1)
    return near if left - len(near) - GUIDES >= _finals_cost(state) else ()


def _newcomers(grid: Grid) -> Flags:
    """Return for each block whether anybody was launched in it for the first time, (B,)."""
    before = np.cumsum(grid.entered, axis=1) - grid.entered > 0
    return np.asarray((grid.entered & ~before).any(axis=0))


def search_launches(field: int, references: int) -> int:
    """Return how many launches a search among so many configurations takes, beside so many references.

    Each is launched once, half of a large field once more, and the finalists and references in the finals.
    """
    finalists = min(field, SMALL_FINALISTS if FINALISTS < field <= SMALL else FINALISTS)
    again = 0 if field <= SMALL else field // 2
    blocks = FINAL_LAUNCHES if field > FINALISTS else FINAL_LAUNCHES - 1
    return field + again + blocks * (finalists + references)


def largest_field(launches: float, references: int, most: int) -> int:
    """Return of how many configurations, ``most`` at most, so many launches find the best; no fewer than five."""
    fitting = (k for k in range(most, 0, -1) if search_launches(k, references) <= launches)
    return max(next(fitting, 0), min(most, FINALISTS + 1))


def _finals_cost(state: _State) -> int:
    """Return how many launches the finals take."""
    return FINAL_LAUNCHES * (min(_finalists(state.grid), int(state.alive.sum())) + len(state.beside))


def _screening(state: _State, left: float) -> tuple[int, ...]:
    alive = int(state.alive.sum())
    finalists = min(_finalists(state.grid), alive)
    spare = left - _finals_cost(state)
    if _is_small(state.grid) or alive <= FINALISTS or spare < FINALISTS + 1:
        return _joined(state.top(finalists, state.expected.mean), state.beside)
    hopeful = state.expected.mean + state.expected.sd
    many = alive if alive <= _SHARE * spare else max(int(_SHARE * spare), FINALISTS + 1)
    return tuple(sorted(state.top(many, hopeful)))


def _final(state: _State, blocks: int) -> tuple[int, ...]:
    last = state.grid.entered[:, -1]
    finalists = [int(i) for i in np.flatnonzero(state.alive & last)]
    if not finalists:
        return ()
    # launches that could not be believed are made up for
    believed = int(np.isfinite(state.grid.values[finalists, -blocks:]).sum(axis=1).min())
    settled = believed >= FINAL_LAUNCHES and (len(finalists) == 1 or _named(state, finalists))
    most = SMALL_MOST_LAUNCHES if _is_small(state.grid) else MOST_FINAL_LAUNCHES
    return () if settled or blocks >= most else _joined(finalists, state.beside)


def _is_small(grid: Grid) -> bool:
    """Tell whether finals are to be short; where all can be finalists, they are."""
    return FINALISTS < grid.field <= SMALL


def _finalists(grid: Grid) -> int:
    return SMALL_FINALISTS if _is_small(grid) else FINALISTS


def _named(state: _State, finalists: Sequence[int]) -> bool:
    """Tell whether one of them is proved to be the best, or within the difference that matters."""
    among = state.proved[np.ix_(finalists, finalists)]
    return bool(((among > -state.grid.delta) | np.eye(len(finalists), dtype=bool)).all(axis=1).any())


def finals(grid: Grid) -> int:
    """Return how many of the last blocks had no more than finalists and references; 0 before the finals.

    A block in which anybody is new is none. Where there are no more configurations than that, the first is one.
    """
    most = _finalists(grid) + len(grid.references)
    few = (grid.entered.sum(axis=0) <= most) & ~_newcomers(grid)
    if few.size and few[1:].all() and grid.field + len(grid.strangers) <= most:
        few[0] = True
    return len(few) if few.all() else int(np.argmin(few[::-1]))


def _state(grid: Grid) -> _State:
    known = launched(grid.values)
    expected = surface(known, grid.places)
    seen = known.count > 0
    alive = seen.copy()
    alive[[*grid.out, *grid.strangers]] = False
    proved = _proved(grid, alive)
    # until a configuration was launched again, what sets it apart from its neighbours may be chance
    mean = np.where(alive, expected.mean, -np.inf)
    sd = np.hypot(expected.sd, np.where(known.count < 2, expected.rough, 0.0))
    best = int(mean.argmax())
    if not alive.any():
        return _State(grid=grid, known=known, expected=expected, alive=alive, proved=proved)
    gap = mean[best] - mean
    far = (gap > _FAR * np.hypot(sd, sd[best])) & (gap > grid.delta)
    behind = (proved > -grid.delta) & (expected.mean[:, None] > expected.mean[None, :]) & alive[:, None]
    alive &= ~far & ~behind.any(axis=0)
    alive[best] = bool(np.isfinite(mean[best]))
    return _State(grid=grid, known=known, expected=expected, alive=alive, proved=proved)


def _proved(grid: Grid, alive: Flags) -> Array:
    """Return d_ij − H_ij as `selection.looks` has it, −∞ where two configurations met in fewer than two blocks.

    One-sided Dunnett limits for as many configurations as began. Source: see `selection.looks`.
    """
    k = len(grid.values)
    lower = np.full((k, k), -np.inf)
    met = np.flatnonzero(alive & (np.isfinite(grid.values).sum(axis=1) >= 2))
    if len(met) < 2:
        return lower
    found = pairs(grid.values[met])
    variance, nu = measured(found).of_pairs()
    width = each(
        against_best, min(int(grid.entered.any(axis=1).sum()), AT_ONCE), np.where(found.df > 0, nu, 0.0), ALPHA
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        limit = found.estimate - width * np.sqrt(variance / found.blocks)
    lower[np.ix_(met, met)] = np.where(np.isfinite(limit), limit, -np.inf)
    return lower


def _joined(*groups: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({int(i) for group in groups for i in group}))
