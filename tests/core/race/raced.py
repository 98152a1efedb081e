"""Races by the true rates of their stacks, for the tests of what follows from them."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from tests.factories import make_finding, make_load, make_quantiles, make_race, make_result

from stackrace.base import ids
from stackrace.base.verdict import Effect, Verdict
from stackrace.measure.launch import HopUsage, Launch, Slice

GOOD, BAD = Verdict(), Verdict((make_finding("steal", Effect.REDOES),))


def merged(histograms):
    """A stand-in for the load room: what it was given can be read off the count."""
    return make_quantiles(count=len(histograms))


def slice_of(rate, *, load=None, workload="", verdict=GOOD, cpu=(("gunicorn", 1.0),), histogram=b"h", **result):
    load = load or make_load(20)
    seen = replace(make_result(rate, load=load, **result), histogram=histogram)
    usage = tuple(HopUsage(hop=hop, cpu_s=cpu_s, processes=1, threads=1, pss_bytes=1000) for hop, cpu_s in cpu)
    return Slice(index=0, load=load, result=seen, usage=usage, verdict=verdict, workload=workload)


def launch_of(stack, block, *slices, **changes):
    identifier = ids.encode(random.Random(f"{stack}{block}").getrandbits(64))
    return Launch(id=identifier, block=block, stack=stack, slices=slices, ready_s=0.5 + block, **changes)


def race_of(rates, *, blocks=10, sd=0.02, seed=1, last=None, levels=(20,), **changes):
    """A race of stacks by their true rates; ``last`` is the last block of those named in it."""
    dice = random.Random(seed)
    launches = []
    for block in range(blocks):
        weather = dice.gauss(0, 0.1)
        for stack, rate in rates.items():
            slices = [
                slice_of(rate * math.exp(weather + dice.gauss(0, sd)), load=make_load(level)) for level in levels
            ]
            if block <= (last or {}).get(stack, blocks):
                launches.append(launch_of(stack, block, *slices))
    race = make_race(stacks=list(rates), levels=levels, blocks=0)
    return replace(race, launches=tuple(launches), **changes)


def race_with_workloads(rates, *, blocks=10, levels=(20,), **changes):
    """``rates`` maps workloads to the true rates of the stacks that meet them."""
    dice = random.Random(3)
    stacks = list(dict.fromkeys(stack for own in rates.values() for stack in own))
    launches = []
    for block in range(blocks):
        for stack in stacks:
            slices = [
                slice_of(own[stack] * math.exp(dice.gauss(0, 0.02)), load=make_load(level), workload=name)
                for name, own in rates.items()
                for level in levels
                if stack in own
            ]
            launches.append(launch_of(stack, block, *slices))
    race = make_race(stacks=stacks, levels=levels, blocks=0, urls=())
    limits = {name: tuple(own) for name, own in rates.items() if list(own) != stacks}
    workloads = {name: (f"/{name}",) for name in rates}
    return replace(race, launches=tuple(launches), workloads=workloads, limits=limits, **changes)
