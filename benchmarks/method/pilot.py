"""What the first block's pilot saves where slices vary much: limits, answers and errors with and without it.

    python -m benchmarks.method.pilot               some five minutes of one idle core
    python -m benchmarks.method.pilot --races 50    a smoke test

Simulated default races of 180 s. Slices vary within launches by one sd, launches by another; in the rows with hits
one slice in twenty loses 10 to 50 %. ``behind`` is how far the leader may be behind the best in the end, the median
of all races.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from stackrace.race.pacing.overhead import REWARM_S, Overhead
from stackrace.race.pacing.schedule import MOST_PASSES, Extent, plan_block
from stackrace.stats.selection import LOOKS, looks

from .noise import Array, Dice
from .trials.answers import BUDGET_S, RULE, ending
from .trials.drawn import DELTA, NARROW, REALISTIC, WITHIN, Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Flicker:
    """Noise of slices within launches and of launches, sd of ln(throughput) each, and the share of hit slices."""

    slices: float
    launches: float
    hits: float = 0.0

    def values(self, dice: Dice, shape: tuple[int, int], passes: int) -> Array:
        """Return the slices of one launch of each stack of each race, (races, stacks, passes)."""
        lost = np.log(dice.uniform(0.5, 0.9, (*shape, passes)))
        hit = np.where(dice.random((*shape, passes)) < self.hits, lost, 0.0)
        return dice.normal(0, self.launches, (*shape, 1)) + dice.normal(0, self.slices, (*shape, passes)) + hit


FLICKERS = (
    Flicker(slices=0.03, launches=0.02),
    Flicker(slices=0.03, launches=0.02, hits=0.05),
    Flicker(slices=0.08, launches=0.08),
    Flicker(slices=0.11, launches=0.02),
    Flicker(slices=0.15, launches=0.03),
    Flicker(slices=0.23, launches=0.0),
    Flicker(slices=0.23, launches=0.05),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Shares of races answered, with a wrong winner, with a false order; medians of seconds and limits."""

    answered: float
    wrong: float
    false: float
    seconds: float
    behind: float
    passes: float


def outcome(noise: Flicker, truth: Truth, stacks: int, races: int, *, pilot: bool) -> Outcome:
    """Return what becomes of so many races; with a ``pilot`` the first two slices of a block tell the passes."""
    dice = np.random.default_rng([2026, stacks])
    speeds = truth.drawn(dice, races, stacks)
    first = noise.values(dice, (races, stacks), MOST_PASSES)
    changes = first[..., 1] - first[..., 0]
    apart = np.abs(changes - np.median(changes, axis=-1, keepdims=True))
    within = (1.4826 * np.median(apart, axis=-1)) ** 2 / 2
    passes = np.array([_passes(stacks, each if pilot else None) for each in within])
    found = [
        _raced(dice, noise, speeds[passes == each], first[passes == each], int(each)) for each in np.unique(passes)
    ]
    answered, wrong, false, seconds, behind = (np.concatenate(each) for each in zip(*found, strict=True))
    return Outcome(
        answered=float(answered.mean()),
        wrong=float(wrong.mean()),
        false=float(false.mean()),
        seconds=float(np.median(seconds)),
        behind=math.expm1(float(np.nanmedian(behind))),
        passes=float(passes.mean()),
    )


_LAUNCHES = Overhead(launch_s=RULE.launch_s, warmup_s=0.0, stop_s=0.0, rest_s=RULE.gap_s - REWARM_S)


def _passes(stacks: int, within: float | None) -> int:
    """Return the passes of a block as a race has them."""
    plan = plan_block(
        Extent(stacks=stacks, headline=stacks),
        remaining_s=BUDGET_S - RULE.before_s,
        done=0,
        overhead=_LAUNCHES,
        within=within,
    )
    assert plan is not None
    return plan.passes


def _raced(dice: Dice, noise: Flicker, speeds: Array, first: Array, passes: int) -> tuple[Array, ...]:
    """Return of each race: is it answered, wrongly, is an order false, after how long, how far behind at most."""
    blocks = [noise.values(dice, speeds.shape, passes).mean(axis=-1) for _ in range(LOOKS[-1])]
    blocks[0] = first[..., :passes].mean(axis=-1)
    values = speeds[..., None] + np.stack(blocks, axis=-1)
    end = ending(values, replace(RULE, passes=(passes,)), BUDGET_S)
    answered, lag = end.winner >= 0, speeds.max(axis=-1, keepdims=True) - speeds
    lost = np.take_along_axis(lag, np.maximum(end.winner, 0)[:, None], axis=-1)[:, 0]
    false = (end.order & (speeds[:, :, None] < speeds[:, None, :])).any(axis=(-2, -1))
    behind = np.full(len(speeds), np.nan)
    for seen in looks(values, DELTA):
        behind = np.where(end.blocks >= seen.blocks, seen.ahead().max(axis=-1), behind)
    return (
        answered,
        answered & (lost > DELTA),
        false,
        end.seconds,
        np.where(answered, np.minimum(behind, DELTA), behind),
    )


def rows(races: int) -> Iterator[str]:
    """Yield the table's lines."""
    yield "| stacks | truth | sd of slices, launches | hits | without pilot | with | passes | wrong, false order |"
    yield "|---|---|---|---|---|---|---|---|"
    for stacks in (3, 7, 12):
        for truth in (REALISTIC, WITHIN, NARROW):
            for noise in FLICKERS:
                no, yes = (outcome(noise, truth, stacks, races, pilot=pilot) for pilot in (False, True))
                shown = (f"{one.answered:.0%}, {one.seconds:.0f} s, {one.behind:.1%}" for one in (no, yes))
                yield (
                    f"| {stacks} | {truth.name} | {noise.slices:.0%}, {noise.launches:.0%} | {noise.hits:.0%} | "
                    f"{' | '.join(shown)} | {no.passes:.0f} → {yes.passes:.1f} | "
                    f"{no.wrong:.1%} → {yes.wrong:.1%}, {no.false:.1%} → {yes.false:.1%} |"
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=1000, help="simulated races per cell (default: 1000)")
    for row in rows(parser.parse_args().races):
        print(row, flush=True)


if __name__ == "__main__":
    main()
