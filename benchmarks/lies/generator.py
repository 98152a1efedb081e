"""A load generator that is too slow, late, or not alone."""

from __future__ import annotations

import os
from dataclasses import replace

from tests.core.validity.healthy import healthy, quantiles, result

from stackrace.measure.load import Load
from stackrace.measure.resources import Resources

from .fault import Fault, Found, How, fault, in_race, recorded
from .nuisance import hogs, interrupted
from .racing import liar, observed, runs, up

OPEN = Load(concurrency=500, duration_s=2.0, timeout_s=5.0, rate_per_s=500.0)
"""An open loop that any server keeps up with."""


def _last_core() -> int:
    return max(os.sched_getaffinity(0))


def _starved() -> Found:
    with hogs([_last_core()] * 3):
        return in_race(runs(liar("truth"), seconds=1.5))


def _stopped() -> Found:
    with up(liar("truth")) as running, interrupted(after_s=0.5, length_s=0.5):
        return running.found(OPEN)


def _overloaded() -> Found:
    return observed(liar("serial"), replace(OPEN, rate_per_s=1000.0, concurrency=100))


def _too_few() -> Found:
    """A closed loop is blind to a pause; an open one with two connections only cannot send what falls due."""
    return observed(liar("serial"), replace(OPEN, rate_per_s=400.0, concurrency=1))


def _shared() -> Found:
    core = _last_core()
    with up(liar("truth"), cores=Resources(stack_cores=(core,), generator_cores=(core,))) as running:
        return running.found(Load(concurrency=8, duration_s=1.0))


FAULTS: tuple[Fault, ...] = (
    fault("engine-starved", "three hogs on the engine's core", "generator waited", inject=_starved, how=How.TIMED),
    fault("engine-stopped", "SIGSTOP for half a second, open loop", "lag", inject=_stopped),
    fault("overload", "1000/s sent to what can do 250/s", "overload", inject=_overloaded),
    fault("too-few-connections", "an open loop that may have a single connection", "pool limit", "overload",
          inject=_too_few),
    fault("shared-core", "engine and stack on one core", "shared cores", inject=_shared),
    recorded("engine-busy", "a server faster than the engine", "generator busy",
             seen=healthy(result=result(generator_busy=0.97, generator_cpu_s=1.94))),
    recorded("engine-at-its-ceiling", "95 % of what the engine can do here", "engine ceiling",
             seen=healthy(result=result(generator_busy=0.8, generator_cpu_s=1.6), ceiling_per_s=10_500.0)),
    recorded("not-poisson", "random arrivals that all came in the first half", "arrivals",
             seen=healthy(load=replace(OPEN, poisson=True),
                          result=result(arrivals_distance=0.5, lag=quantiles(p50=1e-6, p99=2e-5)))),
    recorded("idle-connections", "an engine that leaves its connections idle for an eighth of the time",
             "dead time", seen=healthy(result=result(dead_time=0.12))),
)  # fmt: skip
