"""Synthetic checks for everybody's tests: base and head of one stack, nothing measured."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.factories import make_load, make_race, make_result

from stackrace.model import ids
from stackrace.model.gate import TERMS, Contender, GateFacts
from stackrace.model.launch import HopUsage, Launch, MemorySample, Slice
from stackrace.model.race import Ending
from stackrace.model.stack import Side, side_path

STACK = "gunicorn:workers=4"
BASE = Contender(label="main", revision="a" * 40, python="3.12.1", stack=STACK)
HEAD = Contender(label="the work tree", revision="b" * 40, changed=2, python="3.12.1", stack=STACK)
ALLOWED = {str(response): terms.allowance for response, terms in TERMS.items()}


def make_check(
    blocks=8,
    *,
    slower=0.0,
    cpu=0.0,
    memory=0.0,
    start=0.0,
    errors=0,
    noise=0.002,
    slices=2,
    seed=1,
    rate=1000.0,
    **changes,
):
    """A check whose head is so much slower; ``errors`` is how many of its answers in a slice are wrong."""
    dice = random.Random(seed)
    load = make_load(10)
    launches, index = [], 0
    for block in range(blocks):
        for side in dice.sample([Side.BASE, Side.HEAD], 2):
            worse = side is Side.HEAD

            def about(value, share, worse=worse):
                return value * (1 + share * worse) * (1 + dice.gauss(0, noise))

            taken = []
            for _ in range(slices):
                speed = rate / about(1.0, slower)
                result = make_result(speed, load=load, errors=errors * worse)
                spent_s = about(0.0005 * result.counts.ok, cpu)
                usage = HopUsage(hop="gunicorn", cpu_s=spent_s, processes=4, threads=4,
                                 pss_bytes=10**7)  # fmt: skip
                taken.append(Slice(index=index, load=load, result=result, usage=(usage,)))
                index += 1
            launches.append(
                Launch(
                    id=ids.encode(dice.getrandbits(64)), block=block, stack=side_path(STACK, side),
                    ready_s=about(0.4, start), slices=tuple(taken),
                    memory=(MemorySample(at_s=1.0, pss_bytes={"gunicorn": round(about(5e7, memory))}),),
                )
            )  # fmt: skip
    race = make_race(2, levels=(10,), blocks=0)
    return replace(
        race,
        **{
            "stacks": tuple(side_path(STACK, side) for side in (Side.BASE, Side.HEAD)),
            "launches": tuple(launches),
            "loads": (load,),
            "facts": (),
            "elapsed_s": 8.0 * blocks,
            "ending": Ending.ANSWERED,
            "gate": GateFacts(base=BASE, head=HEAD, allowances=ALLOWED),
            **changes,
        },
    )
