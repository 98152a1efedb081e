"""A check's blocks without a machine: simulated, or drawn from recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from stackrace.race.judge.looks import LOOKS
from stackrace.race.pacing.overhead import Overhead
from stackrace.race.pacing.pace import USUAL_LENGTHS, fixed_lengths
from stackrace.race.pacing.schedule import Extent, plan_block
from stackrace.race.results.comparison import Response
from stackrace.stats.summary import Buckets

Array = npt.NDArray[np.float64]
Dice = np.random.Generator

REQUESTS = 500
"""Of a launch: three slices of a page that gives 800 answers a second."""

WAIT_S = 0.05
"""What some requests of a head wait for."""

_SHAPE = 25.0
_P99 = 1.526
"""Of a gamma distribution of this shape whose mean is 1."""
_GRID = np.geomspace(1e-5, 100.0, 8000)

BLOCKS = LOOKS[-1]
"""A race makes no more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """What a check measured."""

    values: Mapping[Response, Array]
    """(blocks, 2): base and head, in the response's own unit; of p99 how slow each launch was."""
    ends_s: Array
    """When each block is over."""
    requests: int = REQUESTS
    """Of a side in a block."""
    waiting: float = 0.0
    """The share of the head's requests that wait for ``WAIT_S`` longer."""
    seed: int = 0
    """Of the single answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What a machine does to measurements, as standard deviations of their logarithms."""

    name: str
    launch: float
    """Of throughput and CPU time, drawn once for a launch."""
    slice: float
    """The same for a slice."""
    drift: float = 0.10
    """Of the machine's speed, an AR(1) with 0.95 from slice to slice."""
    hits: float = 0.02
    """The share of launches that lose 12 to 40 %."""
    lasting: float = 0.002
    """Of what two copies of one app differ by as long as a check lasts: other paths, other data."""


MODELS = (
    Noise(name="quiet", launch=0.01, slice=0.03, drift=0.03, hits=0.0),
    Noise(name="usual", launch=0.02, slice=0.06),
    Noise(name="noisy", launch=0.03, slice=0.10, hits=0.05),
    Noise(name="bursts", launch=0.02, slice=0.06, hits=0.15),
    Noise(name="lasting", launch=0.02, slice=0.06, lasting=0.004),
)
"""Launches of default races on a virtual machine varied by 2 to 3 %, slices by 6 to 10 %: docs/measurements.md."""

OVERHEAD = Overhead(launch_s=0.4, warmup_s=0.45, stop_s=0.3, rest_s=0.15)
"""What default races and checks measured: 94 launches of checks warmed up for 0.36 s."""


def simulated(
    noise: Noise, dice: Dice, *, budget_s: float, waits: bool = False, requests: int = REQUESTS
) -> Blocks:
    """Return a check of two equal sides of a page that is all CPU time, its slices as a race would plan them.

    Of a page that mostly ``waits`` the speed varies by a third of that, and its slices take a second. A launch
    answers ``requests``.
    """
    lengths = fixed_lengths(1.0) if waits else USUAL_LENGTHS
    felt = 1 / 3 if waits else 1.0
    extent = Extent(stacks=2, headline=2)
    ends, sides, at = [], [], 0.0
    moment = dice.normal(0, noise.drift)
    lasting = dice.normal(0, noise.lasting, 2)
    for number in range(BLOCKS):
        plan = plan_block(
            extent, remaining_s=budget_s - at, done=number, overhead=OVERHEAD, lengths=lengths, most=BLOCKS
        )
        if plan is None:
            break
        at += OVERHEAD.empty_block_s(2) + 2 * plan.passes * (plan.slice_s + OVERHEAD.between_s)
        launch = dice.normal(0, noise.launch, 2) + np.where(
            dice.random(2) < noise.hits, np.log(dice.uniform(0.6, 0.88, 2)), 0.0
        )
        speeds = np.zeros((plan.passes, 2))
        for each in range(plan.passes):
            for side in dice.permutation(2):
                moment = 0.95 * moment + np.sqrt(1 - 0.95**2) * dice.normal(0, noise.drift)
                speeds[each, side] = moment + dice.normal(0, noise.slice)
        sides.append(lasting + felt * (launch + speeds.mean(axis=0)))
        ends.append(at)
    return replace(
        _of_speed(np.array(sides), np.array(ends), noise, dice), requests=requests, seed=int(dice.integers(2**32))
    )


def answers(blocks: Blocks) -> tuple[tuple[Buckets, Buckets], ...]:
    """Return the buckets of each side's answers, block by block.

    They are gamma distributed with a standard deviation of a fifth, and scaled for their p99 to be what the launch
    has: what varies from launch to launch is as in the model, or as it was recorded.
    """
    dice = np.random.default_rng(blocks.seed)
    number = blocks.values[Response.P99].shape[0]
    times = dice.gamma(_SHAPE, 1 / _SHAPE, (number, 2, blocks.requests)) / _P99
    times *= blocks.values[Response.P99][:, :, None]
    times[:, 1] += WAIT_S * (dice.random((number, blocks.requests)) < blocks.waiting)
    return tuple((_buckets(base), _buckets(head)) for base, head in times)


def _buckets(times: Array) -> Buckets:
    places, counts = np.unique(np.searchsorted(_GRID, times), return_counts=True)
    return tuple(zip(_GRID[places], counts.tolist(), strict=True))


def _of_speed(speed: Array, ends: Array, noise: Noise, dice: Dice) -> Blocks:
    """Return all responses of launches of the given ln speeds; each has noise of its own beside."""
    own = {
        name: dice.normal(0, sd, speed.shape)
        for name, sd in (("cpu", noise.launch / 2), ("p99", 4 * noise.launch), ("memory", 0.005), ("start", 0.06))
    }
    late = np.where(dice.random(speed.shape) < 0.03, np.log(1.5), 0.0)
    return Blocks(
        values={
            Response.THROUGHPUT: 1000 * np.exp(speed),
            Response.CPU: 1e-3 * np.exp(-0.9 * speed + own["cpu"]),
            Response.P99: 0.02 * np.exp(-speed + own["p99"]),
            Response.MEMORY: 5e7 * np.exp(own["memory"]),
            Response.ERRORS: np.zeros(speed.shape),
            Response.START: 0.4 * np.exp(own["start"] + late),
        },
        ends_s=ends,
    )


def drawn(
    recorded: Sequence[Mapping[str, Any]], dice: Dice, *, budget_s: float, requests: int = REQUESTS
) -> Blocks:
    """Return a check of blocks as one of the ``recorded`` races had them, its sides exchanged or not.

    They follow one another as they did, from a random one on, and again from the race's first after its last: what
    two deployments differ by as long as they last, and slow drift, stays in them. A recorded block has its
    ``race``, ``seconds``, and the two values of each response, of one app twice.
    """
    names = [name for name in Response if name in recorded[0]]
    values: dict[Response, list[list[float]]] = {name: [] for name in names}
    races = [block["race"] for block in recorded]
    begin = int(dice.integers(len(recorded)))
    own = [block for block, race in zip(recorded, races, strict=True) if race == races[begin]]
    first, order = begin - races.index(races[begin]), dice.permutation(2)
    ends, at = [], 0.0
    while len(ends) < BLOCKS:
        block = own[(first + len(ends)) % len(own)]
        at += float(block["seconds"])
        if at > budget_s:
            break
        for name in names:
            values[name].append([float(block[name][side]) for side in order])
        ends.append(at)
    return Blocks(
        values={name: np.array(pairs).reshape(-1, 2) for name, pairs in values.items()},
        ends_s=np.array(ends),
        requests=requests,
        seed=int(dice.integers(2**32)),
    )


def slowed(blocks: Blocks, share: float, *, sleeps: bool = False, waiting: float = 0.0) -> Blocks:
    """Return ``blocks`` with a head whose requests take ``share`` more CPU time, or sleep so much longer.

    A share of them that is ``waiting`` changes p99 alone: other requests are served meanwhile.
    """
    factors = {Response.THROUGHPUT: 1 / (1 + share), Response.P99: 1 + share}
    if not sleeps:
        factors[Response.CPU] = 1 + share
    changed = {name: pairs * np.array([1.0, factors.get(name, 1.0)]) for name, pairs in blocks.values.items()}
    return replace(blocks, values=changed, waiting=waiting)
