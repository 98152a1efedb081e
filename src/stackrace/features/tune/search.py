"""Which configurations are launched in the next block: all, then those that may be the best, then finalists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...stats.limits import against_best, each
from ...stats.pairs import Array, pairs
from ...stats.selection import ALPHA
from ...stats.variances import measured
from .estimates import Grid, Launched, Surface, launched, surface
from .weather import Flags

AT_ONCE = 50
"""So many configurations at most are raced all; of more, batches."""

_FINALISTS = 4
FINAL_LAUNCHES = 4
"""Every finalist is launched anew so often at least, beside what it was launched before."""
_MOST_FINAL_LAUNCHES = 12

_SMALL, _SMALL_FINALISTS, _SMALL_MOST_LAUNCHES = 12, 2, 6
"""Of so many configurations at most, so few come into the finals, right after the first block, and end them sooner:
else the finals would cost more than the search saves. Where all can be finalists, they are."""

_FAR = 3.0
"""So many standard deviations below the best, a configuration is left out after one launch."""

_SHARE = 0.6
"""Of the launches that finals leave over, the share that the next block may take where it cannot have all."""

FIRST, _BATCH, _GUIDES = 20, 8, 3
"""Of many configurations: how many are launched first, how many at a time, and how many again beside those."""

_EXPLORING = 0.5
"""Of many configurations: the share of all launches that goes to such batches."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """How a search stands."""

    grid: Grid
    known: Launched
    expected: Surface
    alive: Flags
    """(K,): those that were launched and may still be the best."""
    proved: Array
    """(K, K): d_ij − H_ij."""

    def top(self, many: int, by: Array) -> list[int]:
        """Return the ``many`` of those alive with the most ``by``."""
        order = np.argsort(-np.where(self.alive, by, -np.inf), kind="stable")
        return [int(i) for i in order[: min(many, int(self.alive.sum()))]]

    def rivals(self, index: int) -> tuple[int, ...]:
        """Return who may still be better than the configuration ``index`` by more than what matters."""
        near = self.proved[index] > -self.grid.delta
        return tuple(int(i) for i in np.flatnonzero(self.alive & ~near) if i != index)

    @property
    def beside(self) -> list[int]:
        """The references that can be launched."""
        return [i for i in self.grid.references if i not in self.grid.out]

    @property
    def finalists(self) -> int:
        """How many come into the finals."""
        return min(_finalists(self.grid.field), int(self.alive.sum()))

    @property
    def finals_cost(self) -> int:
        """How many launches the finals take."""
        return FINAL_LAUNCHES * (self.finalists + len(self.beside))


def state_of(grid: Grid) -> State:
    """Return who may be the best, and what is expected of each."""
    known = launched(grid.values)
    expected = surface(known, grid.places)
    alive = known.count > 0
    alive[[*grid.out, *grid.strangers]] = False
    proved = _proved(grid, alive)
    if alive.any():
        # until a configuration was launched again, what sets it apart from its neighbours may be chance
        mean = np.where(alive, expected.mean, -np.inf)
        sd = np.hypot(expected.sd, np.where(known.count < 2, expected.rough, 0.0))
        best = int(mean.argmax())
        gap = mean[best] - mean
        far = (gap > _FAR * np.hypot(sd, sd[best])) & (gap > grid.delta)
        behind = (proved > -grid.delta) & (expected.mean[:, None] > expected.mean[None, :]) & alive[:, None]
        alive &= ~far & ~behind.any(axis=0)
        alive[best] = True
    return State(grid=grid, known=known, expected=expected, alive=alive, proved=proved)


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
    began = min(int(grid.entered.any(axis=1).sum()), AT_ONCE)
    width = each(against_best, began, np.where(found.df > 0, nu, 0.0), ALPHA)
    with np.errstate(invalid="ignore", divide="ignore"):
        limit = found.estimate - width * np.sqrt(variance / found.blocks)
    lower[np.ix_(met, met)] = np.where(np.isfinite(limit), limit, -np.inf)
    return lower


def next_round(grid: Grid, left: float, seed: int | None = None) -> tuple[int, ...]:
    """Return who races in the next block, nobody where it is over; ``left`` is how many launches there is time for.

    Up to ``AT_ONCE`` configurations all race in the first block. Of more, given a ``seed``, some that it draws do,
    and then, block by block, a batch of those of which the most may be expected races beside the best so far. Then
    those race on that may be the best: one that is ``_FAR`` below it leaves after a launch, one whose limits say so
    later (`_proved`). Where time is too short for all of them, those of which the most may be expected. At most
    ``_FINALISTS`` remain, and are launched anew ``FINAL_LAUNCHES`` times at least, and until the limits name one or
    time is over. Of a ``_SMALL`` field fewer do. Where the best lies at an end of the usual values, those of the
    reserve next to it race before the finals.

    Source: for the batches, Srinivas, Krause, Kakade & Seeger 2010, Gaussian process optimization in the bandit
    setting, ICML 27.
    """
    state = state_of(grid)
    possible = np.ones(len(grid.values), dtype=bool)
    possible[[*grid.out, *grid.waiting]] = False
    fresh = possible & ~grid.entered.any(axis=1)
    unheard = possible & ~fresh & (state.known.count == 0)
    if not state.alive.any():
        return _joined(np.flatnonzero(unheard)) if unheard.any() else _opening(grid, fresh, seed)
    final_blocks = finals(grid)
    explores = seed is not None and _explores(state, left)
    if not explores and (not final_blocks or _newcomers(grid)[-1]) and (wider := _wider(state, left)):
        return _joined(state.top(_GUIDES, state.expected.mean), wider)
    if final_blocks:
        return _final(state, final_blocks)
    if explores and fresh.any():
        hopeful = np.where(fresh, state.expected.mean + state.expected.sd, -np.inf)
        batch = [i for i in np.argsort(-hopeful, kind="stable")[:_BATCH] if fresh[i]]
        return _joined(state.top(_GUIDES, state.expected.mean), batch)
    # a configuration of which nothing could be believed is launched once more; then it is out
    return _joined(_screening(state, left), np.flatnonzero(unheard))


def _opening(grid: Grid, fresh: Flags, seed: int | None) -> tuple[int, ...]:
    if seed is None:
        return _joined(np.flatnonzero(fresh))
    beside = [i for i in grid.references if fresh[i]]
    return _joined(beside, np.random.default_rng(seed).permutation(np.flatnonzero(fresh))[:FIRST])


def _explores(state: State, left: float) -> bool:
    """Tell whether there is time for another batch: those have their share, and leave enough for finals."""
    done, batch = int(state.grid.entered.sum()), _BATCH + _GUIDES
    return done + batch <= _EXPLORING * (done + left) and left - batch >= state.finals_cost


def _wider(state: State, left: float) -> list[int]:
    """Return who waits in the reserve a step of one setting beyond the best; none where time is short."""
    grid = state.grid
    steps = np.abs(grid.places - grid.places[state.top(1, state.expected.mean)[0]]).sum(axis=1)
    near = [i for i in grid.waiting if i not in grid.out and steps[i] == 1]
    return near if left - len(near) - _GUIDES >= state.finals_cost else []


def _screening(state: State, left: float) -> list[int]:
    alive = int(state.alive.sum())
    spare = left - state.finals_cost
    if _is_small(state.grid.field) or alive <= _FINALISTS or spare < _FINALISTS + 1:
        return [*state.top(state.finalists, state.expected.mean), *state.beside]
    many = alive if alive <= _SHARE * spare else max(int(_SHARE * spare), _FINALISTS + 1)
    return state.top(many, state.expected.mean + state.expected.sd)


def _final(state: State, blocks: int) -> tuple[int, ...]:
    finalists = [int(i) for i in np.flatnonzero(state.alive & state.grid.entered[:, -1])]
    if not finalists:
        return ()
    # launches that could not be believed are made up for
    believed = int(np.isfinite(state.grid.values[finalists, -blocks:]).sum(axis=1).min())
    among = state.proved[np.ix_(finalists, finalists)] > -state.grid.delta
    is_named = bool((among | np.eye(len(finalists), dtype=bool)).all(axis=1).any())
    most = _SMALL_MOST_LAUNCHES if _is_small(state.grid.field) else _MOST_FINAL_LAUNCHES
    is_over = (believed >= FINAL_LAUNCHES and is_named) or blocks >= most
    return () if is_over else _joined(finalists, state.beside)


def finals(grid: Grid) -> int:
    """Return how many of the last blocks had no more than finalists and references; 0 before the finals.

    A block in which anybody is new is none. Where there are no more configurations than that, the first is one.
    """
    most = _finalists(grid.field) + len(grid.references)
    few = (grid.entered.sum(axis=0) <= most) & ~_newcomers(grid)
    if few.size and few[1:].all() and grid.field + len(grid.strangers) <= most:
        few[0] = True
    return len(few) if few.all() else int(np.argmin(few[::-1]))


def _newcomers(grid: Grid) -> Flags:
    """Return for each block whether anybody was launched in it for the first time, (B,)."""
    before = np.cumsum(grid.entered, axis=1) - grid.entered > 0
    return np.asarray((grid.entered & ~before).any(axis=0))


def search_launches(field: int, references: int) -> int:
    """Return how many launches a search among so many configurations takes, beside so many references.

    Each is launched once, half of a large field once more, and the finalists and references in the finals.
    """
    again = 0 if field <= _SMALL else field // 2
    blocks = FINAL_LAUNCHES if field > _FINALISTS else FINAL_LAUNCHES - 1
    return field + again + blocks * (min(field, _finalists(field)) + references)


def largest_field(launches: float, references: int, most: int) -> int:
    """Return of how many configurations, ``most`` at most, so many launches find the best; no fewer than five."""
    fitting = (k for k in range(most, 0, -1) if search_launches(k, references) <= launches)
    return max(next(fitting, 0), min(most, _FINALISTS + 1))


def _is_small(field: int) -> bool:
    return _FINALISTS < field <= _SMALL


def _finalists(field: int) -> int:
    return _SMALL_FINALISTS if _is_small(field) else _FINALISTS


def _joined(*groups: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({int(i) for group in groups for i in group}))
