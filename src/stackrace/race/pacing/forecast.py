"""Forecast of the time that a race needs for its answer, before anything is launched. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...stats.judge import blocks_expected
from ..plan import Cell
from ..run.twins import TWIN_BLOCKS
from .overhead import Overhead
from .pace import MOST_SLICE_S, SLICE_S, USUAL_LENGTHS, SliceLengths, lengths_of
from .schedule import MOST_BLOCKS, Extent, block_s

READY_S = 8.0
"""Time to examine the app and its stacks, before the first launch."""

_LAUNCH_S = 0.4
_WARMUP_S = 0.6
"""Seconds per stack of a quick app: 201 launches in default races on two cores took 0.33–0.4 and 0.58–0.62 s."""

_STOP_S = 1.0
"""Time to stop all stacks of a block together: the slowest servers take a second."""

_AROUND_S = 0.09
"""Other time around a slice, in the same races: the probe, the speed canary, the check that stacks are idle."""

_TOGETHER_BLOCKS = 2
"""Blocks after which usually half of the stacks are known not to be the best, and race no more."""

_SLACK = 1.15
"""Factor by which a forecast may exceed a budget: about half of the races end before their forecast."""

AGAIN = 2.0
"""Factor by which the times of an app may be longer when they are measured again: a busy machine doubles them."""

_FEWEST = 2
"""The fewest stacks that can be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInput:
    """Work for each stack of a race."""

    lengths: SliceLengths = USUAL_LENGTHS
    headline: int = 1
    """Slices of the headline level, in each pass."""
    sides: int = 0
    """Slices of other levels, once."""
    difference: float = 0.05
    """The difference that does not matter, 0.05 for 5 %."""
    twin: bool = True
    """True if one stack runs twice at first."""
    launch_s: float = _LAUNCH_S
    """Time of a launch, at least ``_LAUNCH_S``: see `overhead.launch_s`."""
    loading_s: float = 0.0
    """Time to load the app, once, before anything is launched."""


def forecast_input(
    cells: Sequence[Cell],
    cores: int,
    *,
    difference: float,
    twin: bool,
    fixed_slice_s: float | None = None,
    alike: bool = False,
    launch_s: float = _LAUNCH_S,
    loading_s: float = 0.0,
) -> ForecastInput:
    """Return the work that ``cells`` mean for each stack; all slices take ``fixed_slice_s`` if given."""
    levels = len({cell.level for cell in cells})
    return ForecastInput(
        lengths=lengths_of(cells, cores, alike=alike, fixed_s=fixed_slice_s),
        headline=levels if alike else 1,
        sides=0 if alike else levels - 1,
        difference=difference,
        twin=twin,
        launch_s=max(launch_s, _LAUNCH_S),
        loading_s=loading_s,
    )


def answer_s(race: ForecastInput, stacks: int) -> float:
    """Return roughly how many seconds a race of ``stacks`` stacks needs until it can name the best.

    The time is the sum of the preparation, which loads the app once, and of as many blocks as `blocks_expected`
    predicts, or ``MOST_BLOCKS`` if it cannot. All stacks race in the first ``_TOGETHER_BLOCKS`` blocks, then half
    of them. Each block has one pass, as in a race that is short of time. The result never falls as stacks are
    added, though a few more stacks sometimes need a block less.
    """
    return max(_answer_s(race, fewer) for fewer in range(1, stacks + 1))


def _answer_s(race: ForecastInput, stacks: int) -> float:
    lengths = race.lengths
    # queues are emptied before the next stack is measured
    overhead = Overhead(
        launch_s=race.launch_s,
        warmup_s=max(_WARMUP_S, lengths.response_s),
        stop_s=_STOP_S,
        rest_s=_AROUND_S + lengths.queue_s,
    )
    blocks = 1 if stacks < _FEWEST else blocks_expected(stacks, difference=race.difference) or MOST_BLOCKS
    twice = 1 if race.twin and stacks >= _FEWEST else 0
    left = max(-(-stacks // 2), min(stacks, _FEWEST))
    seconds = (
        READY_S + race.loading_s + _STOP_S + (stacks + twice) * race.sides * (lengths.side_s + overhead.between_s)
    )
    for number in range(blocks):
        racing = (stacks if number < _TOGETHER_BLOCKS else left) + (twice if number < TWIN_BLOCKS else 0)
        ahead = Extent(stacks=racing, headline=racing * race.headline)
        seconds += block_s(ahead, overhead, 1, lengths.slice_s)
    return seconds


def fits(race: ForecastInput, stacks: int, budget_s: float) -> bool:
    """Return True if ``budget_s`` is likely to be enough for ``stacks`` stacks."""
    return answer_s(race, stacks) <= _SLACK * budget_s


def enough_s(race: ForecastInput, stacks: int) -> float:
    """Return a budget that `fits` ``stacks`` stacks even if the app takes ``AGAIN`` times as long next time."""
    lengths = race.lengths
    if not lengths.fixed:
        lengths = replace(
            lengths,
            slice_s=_slice_again_s(lengths.slice_s),
            side_s=_slice_again_s(lengths.side_s),
            response_s=AGAIN * lengths.response_s,
            queue_s=AGAIN * lengths.queue_s,
        )
    again = replace(race, lengths=lengths, launch_s=AGAIN * race.launch_s, loading_s=AGAIN * race.loading_s)
    return answer_s(again, stacks) / _SLACK


def _slice_again_s(slice_s: float) -> float:
    return slice_s if slice_s <= SLICE_S else min(AGAIN * slice_s, MOST_SLICE_S)


def likely_stacks(race: ForecastInput, budget_s: float, most: int) -> int:
    """Return the number of stacks, at most ``most``, that ``budget_s`` likely decides between."""
    likely = [stacks for stacks in range(_FEWEST, most + 1) if fits(race, stacks, budget_s)]
    return max([*likely, min(_FEWEST, most)])
