"""Races with known rates and costs."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tests.factories import make_load, make_race, make_result

from stackrace.base import ids
from stackrace.measure.launch import HopUsage, Launch, Slice

MIB = 1024**2


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One stack: its rate by connections, CPU ms per request by hop, memory, failed requests a slice."""

    rates: Mapping[int, float]
    cpu: Mapping[str, float]
    memory_mib: float = 100
    errors: int = 0


def contest(entries: Mapping[str, Entry], *, blocks=10, sd=0.01, workload="", **changes):
    """A race over the levels of the first entry; every block has its own weather."""
    dice = random.Random(11)
    levels: Sequence[int] = tuple(next(iter(entries.values())).rates)
    launches = []
    for block in range(blocks):
        weather = dice.gauss(0, 0.1)
        for stack, entry in entries.items():
            slices = tuple(
                slice_of(entry, level, rate * math.exp(weather + dice.gauss(0, sd)), workload)
                for level, rate in entry.rates.items()
            )
            identifier = ids.encode(random.Random(f"{stack}{block}").getrandbits(64))
            launches.append(Launch(id=identifier, block=block, stack=stack, slices=slices))
    race = make_race(stacks=list(entries), levels=levels, blocks=0)
    return replace(race, launches=tuple(launches), **changes)


def slice_of(entry: Entry, level: int, rate: float, workload: str = "") -> Slice:
    load = make_load(level)
    result = replace(make_result(rate, load=load, errors=entry.errors), histogram=b"h")
    answered = result.counts.ok + result.counts.non2xx
    usage = tuple(
        HopUsage(hop=hop, cpu_s=cpu_ms * answered / 1000, processes=1, threads=1,
                 pss_bytes=round(entry.memory_mib * MIB / len(entry.cpu)))
        for hop, cpu_ms in entry.cpu.items()
    )  # fmt: skip
    return Slice(index=0, load=load, result=result, usage=usage, workload=workload)


def flat(rate, *levels):
    """The same rate at every level, 20 connections without any."""
    return dict.fromkeys(levels or (20,), rate)
