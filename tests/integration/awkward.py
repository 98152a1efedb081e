"""A race with everything that a database could spoil: names, numbers, sizes."""

from __future__ import annotations

import math

from stackrace.base import ids
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.host import HostFacts
from stackrace.measure.launch import Failure, FailureKind, HopUsage, Launch, MemorySample, Slice, StackFacts
from stackrace.measure.load import Counts, Load, LoadResult, Quantiles, SeriesBin
from stackrace.measure.resources import Resources
from stackrace.race.results.race import Ending, Race
from stackrace.stats.values import Question

AWKWARD = "NUL \0, surrogate \udc80, escape \x1a, astral 🏁, backslash \\u0000, 'quotes\""


def make_slice(index):
    latency = Quantiles(
        count=2**62, mean=0.1 + 0.2, p50=5e-324, p90=1.7976931348623157e308, p99=math.inf, p999=math.inf,
        max=1e22, censored=frozenset({"p99", "p999"}),
    )  # fmt: skip
    load = Load(concurrency=20, keep_alive=False, requests=2**40)
    result = LoadResult(
        started_at=1 / 3, duration_s=2.000000000000001,
        counts=Counts(
            scheduled=2**53 + 1, ok=1, non2xx=2, failed={"connect": 3, AWKWARD: 4}, timed_out=5, in_flight=6,
            unsent=7,
        ),
        latency=latency, connect=latency, histogram=bytes(range(256)) * 20,
        series=(SeriesBin(start_s=0.1, ok=1, errors=0, in_flight=1, p50_s=0.001, p99_s=math.inf),),
        status_classes={"2xx": 1, "5xx": 2}, bytes_read=2**63 - 1, connections_opened=1, reconnects=2,
        established_peak=3, generator_cpu_s=0.30000000000000004, generator_wait_s=5e-300, generator_busy=-0.0,
        fairness=1e-9, dead_time=-math.inf,
    )  # fmt: skip
    finding = Finding(
        check="fairness", effect=Effect.WARNS, seen=AWKWARD, threshold="≥ 0.8", remedy="raise\nthe backlog"
    )
    usage = HopUsage(hop="apache+mod_wsgi", cpu_s=1e-9, processes=5, threads=9, pss_bytes=2**40)
    return Slice(index=index, load=load, result=result, usage=(usage,), verdict=Verdict((finding,)))


def make_launch():
    return Launch(
        id=ids.generate(),
        block=3,
        stack="apache+mod_wsgi:mode=daemon",
        ready_s=0.1,
        warmup_s=3.0000000000000004,
        slices=(make_slice(0), make_slice(1)),
        memory=(MemorySample(at_s=0.1, pss_bytes={"apache+mod_wsgi": 2**40}),),
        failure=Failure(kind=FailureKind.DIED, message=AWKWARD, log=AWKWARD * 100),
    )


def make_race():
    return Race(
        id=ids.generate(),
        started_at="2024-05-06T07:08:09.123456+00:00",
        version="0.1.0",
        app="demo",
        urls=("/", "/?q=ä%00"),
        stacks=("apache+mod_wsgi:mode=daemon",),
        loads=(make_slice(0).load,),
        question=Question.RANKING,
        difference=0.05,
        budget_s=1200.0,
        cores=Resources(stack_cores=(0, 1), generator_cores=(2,)),
        seed=2**127 - 1,
        host=HostFacts(
            system="Linux",
            kernel="6",
            cpu=AWKWARD,
            cores=2,
            memory_bytes=2**40,
            virtual="",
            python="3.11",
            limits={"nofile": 2**64},
        ),
        notes=(AWKWARD,),
        facts=(StackFacts(stack="nginx", versions={"nginx": "1.22"}, configs={"nginx.conf": AWKWARD}),),
        launches=(make_launch(), make_launch()),
        elapsed_s=0.1 + 0.7,
        ending=Ending.EXHAUSTED,
    )
