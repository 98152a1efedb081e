"""Synthetic checks for everybody's tests: base and head of one stack, nothing measured."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.core.measure.encoded import encode
from tests.factories import make_failure, make_load, make_race, make_result

from stackrace.base import ids
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.features.regression.model import ON_REQUEST, TERMS, Contender, GateFacts
from stackrace.measure.launch import FailureKind, HopUsage, Launch, MemorySample, Slice
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending
from stackrace.stacks.stack import Side, side_path

STACK = "gunicorn:workers=4"
BASE = Contender(label="main", revision="a" * 40, python="3.12.1", stack=STACK)
HEAD = Contender(label="the work tree", revision="b" * 40, changed=2, python="3.12.1", stack=STACK)
ALLOWED = {str(each): terms.allowance for each, terms in TERMS.items() if each not in ON_REQUEST}


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
    slow=0.0,
    **changes,
):
    """A check whose head is so much slower; ``errors`` is how many of its answers in a slice are wrong, and a share
    ``slow`` of its requests takes six times as long."""
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
                waiting = sum(dice.random() < slow * worse for _ in range(result.counts.ok)) if slow else 0
                result = replace(result, histogram=_histogram(result, waiting))
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
            "parts": Parts().having(GateFacts(base=BASE, head=HEAD, allowances=ALLOWED)),
            **changes,
        },
    )


def _histogram(result, waiting):
    """The answers of a slice: up to a fifth off the middle, and some that take six times as long."""
    usual, middle_ns = result.counts.ok - waiting, 1e9 * result.latency.p50
    marks = [usual * step // 41 for step in range(42)]
    counts = {round(middle_ns * (0.8 + 0.01 * step)): marks[step + 1] - marks[step] for step in range(41)}
    return encode({**counts, round(6 * middle_ns): waiting})


def allowing(**allowances):
    """What a check keeps that judges only these responses."""
    return Parts().having(GateFacts(base=BASE, head=HEAD, allowances=allowances))


def falling(race, *blocks, side="head", kind=FailureKind.NOT_READY, died=False):
    """``race`` with failed launches; those that ``died`` had been measured before."""

    def fallen(launch):
        failed = replace(launch, failure=make_failure(kind=kind))
        return failed if died else replace(failed, slices=(), ready_s=None, memory=())

    launches = tuple(
        fallen(each) if each.stack.endswith(f"#{side}") and each.block in blocks else each for each in race.launches
    )
    return replace(race, launches=launches)


def grown(race, bytes_per_request):
    """``race`` whose head holds so much more after each request."""
    launches = []
    for launch in race.launches:
        served, slices = 0, []
        for each in launch.slices:
            served += each.result.counts.ok * launch.stack.endswith("#head")
            usage = tuple(replace(hop, pss_bytes=10**7 + round(bytes_per_request * served)) for hop in each.usage)
            slices.append(replace(each, usage=usage))
        launches.append(replace(launch, slices=tuple(slices)))
    return replace(race, launches=tuple(launches))


def without_memory(race):
    """``race`` whose launches were not asked for their memory."""
    return replace(race, launches=tuple(replace(each, memory=()) for each in race.launches))


def changing(race, *sides, page="GET /", since=0):
    """``race`` in which a page changes in the app of these sides from a block on."""
    finding = Finding(check="changing-page", effect=Effect.WARNS, facts={"pages": (page,)})

    def seen(launch):
        if launch.block < since or not launch.stack.endswith(tuple(f"#{side}" for side in sides)):
            return launch
        slices = (replace(each, verdict=Verdict((*each.verdict.findings, finding))) for each in launch.slices)
        return replace(launch, slices=tuple(slices))

    return replace(race, launches=tuple(map(seen, race.launches)))
