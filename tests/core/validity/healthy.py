"""A slice without fault, to be changed in the one place a test is about."""

from dataclasses import replace
from typing import Any

from stackrace.measure.host import MachineDelta
from stackrace.measure.launch import HopUsage
from stackrace.measure.load import Counts, Load, LoadResult, Quantiles
from stackrace.measure.resources import Resources
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface, Protocol
from stackrace.stacks.stack import Hop, Stack
from stackrace.validity.observation import Observation

SHARED = Resources(stack_cores=(0,), generator_cores=(0,))


def stack_of(server: str, **settings: Any) -> Stack:
    return Stack(path=server, hops=(hop_of(server, **settings),), interface=Interface.WSGI)


def hop_of(server: str, protocol: Protocol | None = Protocol.HTTP, **settings: Any) -> Hop:
    spec = catalogue().specs[server]
    defaults = {setting.name: setting.default for setting in spec.settings}
    return Hop(spec=spec, protocol=protocol, settings=defaults | settings)


def quantiles(**changes: Any) -> Quantiles:
    usual = Quantiles(count=20_000, mean=0.002, p50=0.002, p90=0.003, p99=0.004, p999=0.006, max=0.01)
    return replace(usual, **changes)


def counts(**changes: Any) -> Counts:
    """Counts that add up: what changes is taken from the right answers."""
    fates: dict[str, Any] = {"non2xx": 0, "failed": {}, "timed_out": 0, "in_flight": 20, "unsent": 0} | changes
    scheduled = fates.pop("scheduled", 20_020)
    others = sum(fates["failed"].values()) + sum(n for name, n in fates.items() if name not in ("failed", "ok"))
    return Counts(**({"ok": scheduled - others, "scheduled": scheduled} | fates))


def result(**changes: Any) -> LoadResult:
    usual = LoadResult(
        started_at=1.0,
        duration_s=2.0,
        counts=counts(),
        latency=quantiles(),
        connect=quantiles(count=0, mean=0.0),
        histogram=b"",
        series=(),
        status_classes={"2xx": 20_000},
        bytes_read=1_000_000,
        connections_opened=20,
        reconnects=0,
        established_peak=20,
        generator_cpu_s=0.4,
        generator_wait_s=0.0,
        generator_busy=0.2,
        fairness=0.999,
        dead_time=0.0,
    )
    return replace(usual, **changes)


def machine(**changes: Any) -> MachineDelta:
    usual = MachineDelta(
        elapsed_s=2.0, cores=4, busy_s=2.5, own_s=0.5, segments_sent=100_000, accepted=20, time_wait=3
    )
    return replace(usual, **changes)


def load(**changes: Any) -> Load:
    return replace(Load(concurrency=20, duration_s=2.0), **changes)


def healthy(**changes: Any) -> Observation:
    """A busy stack core, an engine at 20 %, four cores in all, 10 000/s over 20 connections."""
    usual = Observation(
        stack=stack_of("gunicorn", **{"class": "gthread", "workers": 2, "threads": 4}),
        load=load(),
        result=result(),
        usage=(HopUsage(hop="gunicorn", cpu_s=1.98, processes=3, threads=9, pss_bytes=90 << 20),),
        machine=machine(),
        cores=Resources(stack_cores=(0,), generator_cores=(1,)),
    )
    return replace(usual, **changes)
