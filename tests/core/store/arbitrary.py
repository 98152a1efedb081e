"""Arbitrary races: every field of every type that a store keeps, with the values that hurt."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path

from hypothesis import strategies as st

from stackrace.app.revision import Source
from stackrace.base import ids
from stackrace.base.verdict import Effect, Finding, Unit, Verdict
from stackrace.measure.host import Conditions, HostFacts, NetworkPath
from stackrace.measure.launch import Failure, FailureKind, HopUsage, Lack, Launch, MemorySample, Slice
from stackrace.measure.load import (
    Counters,
    Counts,
    EngineShare,
    Load,
    LoadResult,
    Quantiles,
    SeriesBin,
    TargetResult,
)
from stackrace.measure.resources import Enforcement, Resources
from stackrace.measure.workload import Likeness, RightAnswer
from stackrace.race.results.parts import Parts
from stackrace.race.results.race import Ending, LeftOut, Race
from stackrace.race.stopwatch import Duty
from stackrace.stacks.facts import ChangeFact, SettingFact, StackFacts
from stackrace.stacks.native_options import Concern
from stackrace.stacks.stack import Origin
from stackrace.stats.values import Question

TEXT = st.text(st.characters(), max_size=12)  # NULs and lone surrogates included
REAL = st.floats(allow_nan=False)
COUNT = st.integers(0, 2**63 - 1)
BLOCK = st.integers(0, 2**31 - 1)


def few(values):
    return st.lists(values, max_size=3).map(tuple)


def mapping(values):
    return st.dictionaries(TEXT, values, max_size=3)


def whole(kind, /, **strategies):
    """Build ``kind`` from all of its fields: a field that is added to it and forgotten here fails at once."""
    assert {field.name for field in fields(kind)} == set(strategies), kind
    return st.builds(kind, **strategies)


LOAD = whole(
    Load,
    concurrency=COUNT,
    keep_alive=st.booleans(),
    duration_s=st.none() | REAL,
    requests=st.none() | COUNT,
    timeout_s=REAL,
    rate_per_s=st.none() | REAL,
    poisson=st.booleans(),
    seed=st.integers(0, 2**64 - 1),
    connect_timeout_s=st.none() | REAL,
    requests_per_connection=st.none() | COUNT,
)
QUANTILES = whole(
    Quantiles,
    count=COUNT, mean=REAL, p50=REAL, p90=REAL, p99=REAL, p999=REAL, max=REAL,
    censored=st.frozensets(st.sampled_from(["p50", "p90", "p99", "p999", "max"])),
)  # fmt: skip
COUNTS = whole(
    Counts,
    scheduled=COUNT, ok=COUNT, non2xx=COUNT, failed=mapping(COUNT), timed_out=COUNT, in_flight=COUNT,
    unsent=COUNT,
)  # fmt: skip
BIN = whole(SeriesBin, start_s=REAL, ok=COUNT, errors=COUNT, in_flight=COUNT, p50_s=REAL, p99_s=REAL)
TARGET = whole(TargetResult, name=TEXT, counts=COUNTS, latency=QUANTILES)
SHARE = whole(
    EngineShare,
    name=TEXT, connections=COUNT, answered=COUNT, bytes_read=COUNT, bytes_written=COUNT, late_s=REAL,
    clock_error_s=REAL, round_trip_s=REAL, lag_p99_s=REAL, busy=REAL, stalled_s=REAL, retransmits=COUNT,
    segments_sent=COUNT, timeouts=COUNT, lost=st.booleans(),
)  # fmt: skip
RESULT = whole(
    LoadResult,
    started_at=REAL, duration_s=REAL, counts=COUNTS, latency=QUANTILES, connect=QUANTILES,
    histogram=st.binary(max_size=64), series=few(BIN), status_classes=mapping(COUNT), established_peak=COUNT,
    generator_cpu_s=REAL,
    generator_wait_s=REAL, generator_busy=REAL, fairness=REAL, dead_time=REAL, service=st.none() | QUANTILES,
    lag=st.none() | QUANTILES, tls=st.none() | QUANTILES, pages=st.none() | QUANTILES, targets=few(TARGET),
    ceiling_per_s=st.none() | REAL, generator_spin_s=REAL, arrivals_distance=st.none() | REAL, engines=few(SHARE),
    **{field.name: COUNT for field in fields(Counters)},
)  # fmt: skip
USAGE = whole(HopUsage, hop=TEXT, cpu_s=REAL, processes=COUNT, threads=COUNT, pss_bytes=COUNT)
FACT = (
    TEXT
    | st.integers(0, 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | few(TEXT | st.integers(0, 2**40))
    | mapping(COUNT)
)
FINDING = whole(
    Finding,
    check=TEXT, effect=st.sampled_from(Effect), value=st.none() | REAL, limit=st.none() | REAL,
    unit=st.sampled_from(Unit), case=TEXT, cure=TEXT, facts=mapping(FACT), seen=TEXT, threshold=TEXT, remedy=TEXT,
)  # fmt: skip
CONDITIONS = whole(
    Conditions,
    elapsed_s=REAL,
    cores=COUNT,
    stolen_s=REAL,
    foreign_s=REAL,
    canary_before_ns=st.none() | REAL,
    canary_after_ns=st.none() | REAL,
)
SLICE = whole(
    Slice,
    index=COUNT,
    load=LOAD,
    result=RESULT,
    usage=few(USAGE),
    verdict=whole(Verdict, findings=few(FINDING)),
    workload=TEXT,
    conditions=st.none() | CONDITIONS,
)
FAILURE = whole(
    Failure,
    kind=st.sampled_from(FailureKind),
    before=st.none() | st.sampled_from(FailureKind),
    message=TEXT,
    log=TEXT,
    finding=st.none() | FINDING,
    lack=st.none() | st.sampled_from(Lack),
)
LAUNCH = whole(
    Launch,
    id=st.just(""),
    block=BLOCK,
    stack=TEXT,
    ready_s=st.none() | REAL,
    warmup_s=REAL,
    slices=few(SLICE),
    memory=few(whole(MemorySample, at_s=REAL, pss_bytes=mapping(COUNT), connections=st.none() | COUNT)),
    failure=st.none() | FAILURE,
    verdict=whole(Verdict, findings=few(FINDING)),
    machine=TEXT,
)
HOST = whole(
    HostFacts,
    system=TEXT, kernel=TEXT, cpu=TEXT, cores=COUNT, memory_bytes=COUNT, virtual=TEXT, python=TEXT,
    limits=mapping(st.integers()),
)  # fmt: skip
FACTS = whole(
    StackFacts, stack=TEXT, versions=mapping(TEXT), configs=mapping(TEXT), commands=few(TEXT),
    settings=few(whole(SettingFact, hop=TEXT, name=TEXT, value=TEXT, origin=st.sampled_from(Origin))),
    changes=few(whole(ChangeFact, hop=TEXT, key=TEXT, theirs=TEXT, concern=st.sampled_from(Concern))),
)  # fmt: skip
FEATURES = Path(__file__).parents[2] / "features"


def parts():
    """A strategy of what features keep with races: ``PART`` of each ``tests/features/NAME/arbitrary.py``."""
    names = sorted(path.parent.name for path in FEATURES.glob("*/arbitrary.py"))
    kinds = [import_module(f"tests.features.{name}.arbitrary").PART for name in names]
    return st.lists(st.one_of(*kinds), max_size=len(kinds)).map(
        lambda held: Parts({part.name: part for part in held})
    )


RACE = whole(
    Race,
    id=st.just(""),
    started_at=st.datetimes().map(lambda moment: moment.isoformat() + "+00:00"),
    version=TEXT,
    app=TEXT,
    urls=few(TEXT),
    stacks=few(TEXT),
    loads=few(LOAD),
    question=st.sampled_from(Question),
    # as in race files
    difference=st.floats(0, 1, exclude_min=True, exclude_max=True),
    budget_s=REAL,
    cores=whole(
        Resources,
        stack_cores=few(COUNT),
        generator_cores=few(COUNT),
        memory_bytes=st.none() | COUNT,
        enforced=st.sampled_from(Enforcement),
        quota=st.booleans(),
    ),
    seed=st.integers(),
    host=HOST,
    entry=TEXT,
    altered=TEXT,
    current=TEXT,
    checks=mapping(mapping(whole(RightAnswer, likeness=st.sampled_from(Likeness), text=TEXT))),
    notes=few(TEXT),
    left_out=few(whole(LeftOut, stack=TEXT, reason=TEXT)),
    facts=few(FACTS),
    launches=few(LAUNCH),
    elapsed_s=REAL,
    ending=st.none() | st.sampled_from(Ending),
    workloads=st.dictionaries(TEXT, few(TEXT), max_size=3),
    repeats=st.none() | COUNT,
    limits=st.dictionaries(TEXT, few(TEXT), max_size=3),
    exhaustive=st.booleans(),
    twin=TEXT,
    resumed=COUNT,
    duty=st.none() | whole(Duty, **dict.fromkeys((one.name for one in fields(Duty)), REAL)),
    network=few(
        whole(
            NetworkPath,
            engine=TEXT,
            host=TEXT,
            round_trip_s=REAL,
            round_trip_p99_s=REAL,
            engine_takes_bytes_per_s=REAL,
            engine_sends_bytes_per_s=REAL,
            host_sends_bytes_per_s=REAL,
            host_takes_bytes_per_s=REAL,
            retransmits=COUNT,
            segments_sent=COUNT,
        )
    ),
    source=st.none() | whole(Source, project=TEXT, commit=TEXT, committed_at=TEXT, changed=st.booleans()),
    parts=st.deferred(parts),
    unserved=few(TEXT),
)


def with_fresh_ids(race):
    launches = tuple(replace(launch, id=ids.generate()) for launch in race.launches)
    return replace(race, id=ids.generate(), launches=launches)
