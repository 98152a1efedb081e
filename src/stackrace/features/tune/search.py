"""Search for the best configuration: each block launches all, then those that may be the best, then finalists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...stats.contrasts import contrasts
from ...stats.limits import against_best
from ...stats.pairs import Array, Flags
from ...stats.selection import ALPHA
from .estimates import Grid, Launched, Surface, launched, surface

AT_ONCE = 50
"""The most configurations of a search."""

_FINALISTS = 4
FINAL_LAUNCHES = 4
"""The least number of launches of each finalist in the finals, beside its earlier launches."""
_MOST_FINAL_LAUNCHES = 12

_SMALL, _SMALL_FINALISTS, _SMALL_MOST_LAUNCHES = 12, 2, 6
"""The most configurations of a small field, its number of finalists, and the most launches of each in the finals.
The finals of a small field begin right after the first block, have fewer finalists and end sooner: otherwise they
would cost more than the search saves."""

_FAR = 3.0
"""A configuration that is more standard deviations than this below the best is left out after one launch."""

_SHARE = 0.6
"""Largest share of the remaining launches, without those that the finals need, for the next block."""

_GUIDES = 3
"""Number of the best configurations that are launched again beside those of the reserve."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class State:
    """State of a search."""

    grid: Grid
    known: Launched
    expected: Surface
    alive: Flags
    """(K,): True for launched configurations that may still be the best."""
    proved: Array
    """(K, K): d_ij − H_ij, the lower limit of how much better i is than j, in ln units; see `_proved`."""

    def top(self, many: int, by: Array) -> list[int]:
        """Return the ``many`` alive configurations with the highest ``by``."""
        order = np.argsort(-np.where(self.alive, by, -np.inf), kind="stable")
        return [int(i) for i in order[: min(many, int(self.alive.sum()))]]

    def rivals(self, index: int) -> tuple[int, ...]:
        """Return the configurations that may still be better than ``index`` by a difference that matters."""
        near = self.proved[index] > -self.grid.delta
        return tuple(int(i) for i in np.flatnonzero(self.alive & ~near) if i != index)

    @property
    def references(self) -> list[int]:
        """References that can be launched."""
        return [i for i in self.grid.references if i not in self.grid.out]

    @property
    def finalists(self) -> int:
        """Number of finalists."""
        return min(_finalists(self.grid.field), int(self.alive.sum()))

    @property
    def finals_cost(self) -> int:
        """Number of launches in the finals."""
        return FINAL_LAUNCHES * (self.finalists + len(self.references))


def state_of(grid: Grid) -> State:
    """Return the state of a search: the configurations that may be the best, and the expected response of each."""
    known = launched(grid.values)
    expected = surface(known, grid.places)
    alive = known.count > 0
    alive[[*grid.out, *grid.strangers]] = False
    proved = _proved(grid, alive)
    if alive.any():
        # after a single launch, a difference from the neighbours may be chance
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
    """Return d_ij − H_ij as in `stats.selection.looks`, −∞ if two configurations share fewer than two blocks.

    One-sided Dunnett limits for the number of configurations at the start. Source: see `stats.selection.looks`.
    """
    k = len(grid.values)
    lower = np.full((k, k), -np.inf)
    met = np.flatnonzero(alive & (np.isfinite(grid.values).sum(axis=1) >= 2))
    if len(met) < 2:
        return lower
    began = min(int(grid.entered.any(axis=1).sum()), AT_ONCE)
    found = contrasts(grid.values[met], robust_from=0).family(against_best, began, ALPHA)
    limit = found.estimate - found.half_width
    lower[np.ix_(met, met)] = np.where(np.isfinite(limit), limit, -np.inf)
    return lower


def next_round(grid: Grid, left: float) -> tuple[int, ...]:
    """Return the configurations of the next block, none at the end; ``left`` is the number of launches left.

    All configurations race in the first block. Then those that may be the best race on. A configuration leaves
    after one launch if it is ``_FAR`` below the best, and later if its limits exclude it (`_proved`). If time is
    short, only the most promising ones race. At most ``_FINALISTS`` remain, fewer in a ``_SMALL`` field. They are
    launched at least ``FINAL_LAUNCHES`` times more, until the limits name the best or time is over. If the best
    lies at an end of the usual values, its neighbours in the reserve race before the finals.
    """
    state = state_of(grid)
    possible, entered = np.ones(len(grid.values), dtype=bool), grid.entered.any(axis=1)
    possible[[*grid.out, *grid.waiting]] = False
    unheard = possible & entered & (state.known.count == 0)
    if not state.alive.any():
        return _joined(np.flatnonzero(unheard if unheard.any() else possible & ~entered))
    final_blocks = finals(grid)
    if (not final_blocks or _newcomers(grid)[-1]) and (wider := _wider(state, left)):
        return _joined(state.top(_GUIDES, state.expected.mean), wider)
    if final_blocks:
        return _final(state, final_blocks)
    # a configuration without a valid launch gets one more; then it is out
    return _joined(_screening(state, left), np.flatnonzero(unheard))


def _wider(state: State, left: float) -> list[int]:
    """Return the configurations of the reserve that are one step of one setting from the best.

    Empty if there are too few launches left.
    """
    grid = state.grid
    steps = np.abs(grid.places - grid.places[state.top(1, state.expected.mean)[0]]).sum(axis=1)
    near = [i for i in grid.waiting if i not in grid.out and steps[i] == 1]
    return near if left - len(near) - _GUIDES >= state.finals_cost else []


def _screening(state: State, left: float) -> list[int]:
    alive = int(state.alive.sum())
    spare = left - state.finals_cost
    if _is_small(state.grid.field) or alive <= _FINALISTS or spare < _FINALISTS + 1:
        return [*state.top(state.finalists, state.expected.mean), *state.references]
    many = alive if alive <= _SHARE * spare else max(int(_SHARE * spare), _FINALISTS + 1)
    return state.top(many, state.expected.mean + state.expected.sd)


def _final(state: State, blocks: int) -> tuple[int, ...]:
    finalists = [int(i) for i in np.flatnonzero(state.alive & state.grid.entered[:, -1])]
    if not finalists:
        return ()
    # invalid launches are repeated
    believed = int(np.isfinite(state.grid.values[finalists, -blocks:]).sum(axis=1).min())
    among = state.proved[np.ix_(finalists, finalists)] > -state.grid.delta
    is_named = bool((among | np.eye(len(finalists), dtype=bool)).all(axis=1).any())
    most = _SMALL_MOST_LAUNCHES if _is_small(state.grid.field) else _MOST_FINAL_LAUNCHES
    is_over = (believed >= FINAL_LAUNCHES and is_named) or blocks >= most
    return () if is_over else _joined(finalists, state.references)


def finals(grid: Grid) -> int:
    """Return how many blocks at the end had only finalists and references; 0 before the finals.

    A block with the first launch of a configuration does not count, except the first block if all configurations
    can be finalists.
    """
    most = _finalists(grid.field) + len(grid.references)
    few = (grid.entered.sum(axis=0) <= most) & ~_newcomers(grid)
    if few.size and few[1:].all() and grid.field + len(grid.strangers) <= most:
        few[0] = True
    return len(few) if few.all() else int(np.argmin(few[::-1]))


def _newcomers(grid: Grid) -> Flags:
    """Return a mask, (B,): True for each block with the first launch of a configuration."""
    before = np.cumsum(grid.entered, axis=1) - grid.entered > 0
    return np.asarray((grid.entered & ~before).any(axis=0))


def search_launches(field: int, references: int) -> int:
    """Return the number of launches of a search among ``field`` configurations and ``references``.

    Each configuration is launched once, half of a large field twice; the launches of the finals are added.
    """
    second = 0 if field <= _SMALL else field // 2
    blocks = FINAL_LAUNCHES if field > _FINALISTS else FINAL_LAUNCHES - 1
    return field + second + blocks * (min(field, _finalists(field)) + references)


def largest_field(launches: float, references: int, most: int) -> int:
    """Return the number of configurations, at most ``most``, for which ``launches`` suffice; no fewer than five."""
    fitting = (k for k in range(most, 0, -1) if search_launches(k, references) <= launches)
    return max(next(fitting, 0), min(most, _FINALISTS + 1))


def _is_small(field: int) -> bool:
    return _FINALISTS < field <= _SMALL


def _finalists(field: int) -> int:
    return _SMALL_FINALISTS if _is_small(field) else _FINALISTS


def _joined(*groups: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({int(i) for group in groups for i in group}))
