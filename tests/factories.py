"""Synthetic races and standings for everybody's tests: plausible, deterministic, nothing measured.

The figures follow a simple queueing model, so charts look like real ones: throughput rises with concurrency
until the stack's capacity, latency is what Little's law leaves, memory climbs while a stack warms up.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from stackrace.base import ids
from stackrace.base.numbers import Interval
from stackrace.base.verdict import Effect, Finding, Verdict
from stackrace.measure.engine.load_run import FinishedRun, Target
from stackrace.measure.host import Conditions, HostFacts, NetworkPath
from stackrace.measure.launch import Failure, FailureKind, HopUsage, Launch, MemorySample, Slice, StackFacts
from stackrace.measure.load import Counts, Load, LoadResult, Quantiles, SeriesBin
from stackrace.measure.resources import Resources
from stackrace.measure.workload import Workload
from stackrace.race.results.answer import Answer, AnswerKind
from stackrace.race.results.race import Ending, Race
from stackrace.race.results.standing import CpuTime, Level, Reason, Row, Standing, Withdrawal
from stackrace.stats.values import Question

STACKS = (
    "nginx/uwsgi/uwsgi:processes=4",
    "apache+mod_wsgi:mode=daemon,processes=4,threads=1",
    "gunicorn:workers=4",
    "nginx/http/gunicorn:workers=4,class=gthread,threads=8",
    "granian:workers=4",
    "nginx/fastcgi/flup:mode=prefork,processes=5",
    "apache/ajp/flup:processes=5",
    "nginx/http/cheroot:instances=5",
    "uwsgi:processes=4",
    "apache/http/nginx/uwsgi/uwsgi:processes=4,threads=2",
    "haproxy/http/gunicorn:workers=4",
    "waitress:threads=8",
    "caddy/http/granian:workers=4",
    "uvicorn:workers=4",
    "lighttpd/scgi/flup:mode=prefork,processes=5",
    "nginx/http/hypercorn:workers=4",
    "bjoern",
    "apache+mod_wsgi:mode=embedded",
)
HOST = HostFacts(
    system="Debian GNU/Linux 12",
    kernel="6.1.0",
    cpu="Example CPU @ 2.40GHz",
    cores=4,
    memory_bytes=8 * 1024**3,
    virtual="kvm",
    python="3.11.2",
    limits={"net.core.somaxconn": 4096, "nofile": 1048576},
)
TWO_SECONDS = 2.0


def hops_of(stack: str) -> tuple[str, ...]:
    """The servers of ``stack`` as usage names them: ``('nginx', 'gunicorn')``, ``('apache+mod_wsgi',)``."""
    bare = [piece.split(":")[0] for piece in stack.split("/")]
    return tuple(bare[::2])


def make_path(**changes: object) -> NetworkPath:
    """A line of 1 Gb/s to an engine in the next rack."""
    path = NetworkPath(
        engine="far", host="host", round_trip_s=0.002, round_trip_p99_s=0.003,
        engine_takes_bytes_per_s=100 * 2.0**20, engine_sends_bytes_per_s=50 * 2.0**20,
        host_sends_bytes_per_s=100 * 2.0**20,
        host_takes_bytes_per_s=50 * 2.0**20, retransmits=20, segments_sent=10_000,
    )  # fmt: skip
    return replace(path, **changes)  # type: ignore[arg-type]


def make_load(concurrency: int = 20, **changes: object) -> Load:
    """A closed loop of two seconds."""
    return replace(Load(concurrency=concurrency, duration_s=TWO_SECONDS), **changes)  # type: ignore[arg-type]


def make_quantiles(middle_s: float = 0.010, *, count: int = 4000, censored: Collection[str] = ()) -> Quantiles:
    """A right-skewed latency distribution around ``middle_s``."""
    return Quantiles(
        count=count, mean=middle_s * 1.15, p50=middle_s, p90=middle_s * 1.8, p99=middle_s * 3.4,
        p999=middle_s * 6.1, max=middle_s * 9.7, censored=frozenset(censored),
    )  # fmt: skip


def make_counts(ok: int = 4000, *, non2xx: int = 0, failed: Mapping[str, int] | None = None,
                timed_out: int = 0, in_flight: int = 0, unsent: int = 0) -> Counts:  # fmt: skip
    """Counts that satisfy the accounting identity."""
    stages = dict(failed or {})
    scheduled = ok + non2xx + sum(stages.values()) + timed_out + in_flight + unsent
    return Counts(scheduled=scheduled, ok=ok, non2xx=non2xx, failed=stages, timed_out=timed_out,
                  in_flight=in_flight, unsent=unsent)  # fmt: skip


NO_FINDINGS = Verdict()


def make_run(load: Load, result: LoadResult, *, verdict: Verdict = NO_FINDINGS, warmup_s: float = 0.0,
             notes: tuple[str, ...] = ()) -> FinishedRun:  # fmt: skip
    """A finished run of the engine against a server of this machine."""
    target = Target(
        urls=("http://127.0.0.1:8000/",),
        address=("127.0.0.1", 8000),
        workload=Workload(requests=(), answers=()),
        tls=None,
        is_local=True,
    )
    return FinishedRun(target=target, load=load, warmup_s=warmup_s, result=result, verdict=verdict, notes=notes)


def make_result(throughput_per_s: float = 2000.0, *, load: Load | None = None, started_at: float = 0.0,
                errors: int = 0, censored: Collection[str] = ()) -> LoadResult:  # fmt: skip
    """What a run of the engine at ``throughput_per_s`` would have seen."""
    load = load or make_load()
    duration = load.duration_s or TWO_SECONDS
    ok = round(throughput_per_s * duration)
    middle = load.concurrency / throughput_per_s / 1.15
    bins = round(duration * 10)
    return LoadResult(
        started_at=started_at, duration_s=duration,
        counts=make_counts(ok, non2xx=errors, in_flight=0),
        latency=make_quantiles(middle, count=ok, censored=censored),
        connect=make_quantiles(0.0001, count=load.concurrency),
        histogram=b"",
        series=tuple(
            SeriesBin(start_s=i / 10, ok=ok // bins, errors=0, in_flight=load.concurrency, p50_s=middle,
                      p99_s=middle * 3.4)
            for i in range(bins)
        ),
        status_classes={"2xx": ok, "5xx": errors} if errors else {"2xx": ok},
        bytes_read=ok * 10_240, connections_opened=load.concurrency, reconnects=0,
        established_peak=load.concurrency, generator_cpu_s=0.4, generator_wait_s=0.004, generator_busy=0.22,
        fairness=0.997, dead_time=0.004,
    )  # fmt: skip


def make_race(
    stacks: int | Sequence[str] = 4,
    levels: Sequence[int] = (1, 20, 100),
    blocks: int = 5,
    failures: Mapping[str, Failure] | Iterable[str] = (),
    seed: int = 7,
    **changes: object,
) -> Race:
    """A race of ``stacks`` (paths, or how many of :data:`STACKS`) at the concurrencies ``levels``.

    ``failures`` names stacks whose every launch failed, with the failure or without. ``changes`` replace
    fields of the race. The same arguments always give the same race.
    """
    paths = STACKS[:stacks] if isinstance(stacks, int) else tuple(stacks)
    loads = tuple(make_load(concurrency) for concurrency in levels)
    failing = dict(failures) if isinstance(failures, Mapping) else {s: make_failure() for s in failures}
    dice = random.Random(seed)
    capacity = {path: 4200 * 0.88**place * dice.uniform(0.95, 1.05) for place, path in enumerate(paths)}
    launches: list[Launch] = []
    index = 0
    for block in range(blocks):
        order = list(paths)
        dice.shuffle(order)
        for path in order:
            identifier = ids.encode(dice.getrandbits(64))
            if path in failing:
                launches.append(Launch(id=identifier, block=block, stack=path, failure=failing[path]))
                continue
            slices = tuple(_slice(dice, index + i, path, load, capacity[path]) for i, load in enumerate(loads))
            index += len(slices)
            launches.append(
                Launch(id=identifier, block=block, stack=path, ready_s=dice.uniform(0.3, 2.5),
                       warmup_s=dice.uniform(2, 6), slices=slices, memory=_memory(dice, path, len(levels)))
            )  # fmt: skip
    race = Race(
        id=ids.encode(random.Random(seed + 1).getrandbits(64)), started_at="2026-11-21T20:00:00+00:00",
        version="0.1.0", app="shop", urls=("/", "/items/?page=3"), stacks=paths, loads=loads,
        question=Question.WINNER, difference=0.05, budget_s=1200.0,
        cores=Resources(stack_cores=(0, 1), generator_cores=(2, 3)), seed=seed, host=HOST,
        notes=("The access log of every server was off.",),
        facts=tuple(make_facts(path) for path in paths), launches=tuple(launches),
        elapsed_s=37.0 * max(1, len(launches)), ending=Ending.ANSWERED,
    )  # fmt: skip
    return replace(race, **changes)  # type: ignore[arg-type]


def with_workloads(race: Race, *names: str) -> Race:
    """``race`` with every slice taken once for each of ``names``, a tenth slower each time."""
    launches = tuple(
        replace(launch, slices=tuple(
            replace(one, workload=name, index=one.index * len(names) + place,
                    result=replace(one.result, duration_s=one.result.duration_s * 1.1**place))
            for one in launch.slices
            for place, name in enumerate(names)
        ))
        for launch in race.launches
    )  # fmt: skip
    return replace(race, launches=launches, urls=(), workloads={name: (f"/{name}/",) for name in names})


def each_launch(race: Race, change: Callable[[Launch], Launch], *stacks: str) -> Race:
    """``race`` with every launch changed, or those of ``stacks``."""
    launches = (change(each) if not stacks or each.stack in stacks else each for each in race.launches)
    return replace(race, launches=tuple(launches))


def each_slice(race: Race, change: Callable[[Slice], Slice], *stacks: str) -> Race:
    """``race`` with every slice changed, or those of ``stacks``."""
    return each_launch(race, lambda one: replace(one, slices=tuple(map(change, one.slices))), *stacks)


def as_runs(race: Race, *, requests: int = 500) -> Race:
    """``race`` as one of runs: a launch for each slice, its memory with it."""
    launches = tuple(
        replace(launch, id=ids.encode(int(launch.id, 36) // 2 + one.index), slices=(one,), warmup_s=0.0)
        for launch in race.launches
        for one in launch.slices
    )
    loads = tuple(replace(load, duration_s=None, requests=requests) for load in race.loads)
    blocks = len({launch.block for launch in race.launches})
    return replace(race, launches=launches, loads=loads, repeats=blocks, budget_s=0.0, ending=Ending.COMPLETED)


def make_failure(kind: FailureKind = FailureKind.NOT_READY, message: str = "No answer within 30 s.",
                 log: str = "starting\nImportError: No module named 'shop'\n") -> Failure:  # fmt: skip
    """A failure with a log's tail."""
    return Failure(kind=kind, message=message, log=log)


def make_finding(check: str = "shared-cores", effect: Effect = Effect.WARNS) -> Finding:
    """A check's complaint."""
    return Finding(check=check, effect=effect, seen="generator and stack share core 1",
                   threshold="no shared core", remedy="Give the generator a core of its own.")  # fmt: skip


def make_facts(stack: str) -> StackFacts:
    """Versions, a rendered config and a command for ``stack``."""
    hops = hops_of(stack)
    return StackFacts(
        stack=stack,
        versions={hop: f"1.{place}.0" for place, hop in enumerate(hops)},
        configs={f"{hop}.conf": f"# {hop}\nlisten 127.0.0.1;\n" for hop in hops},
        commands=tuple(f"{hop} -c {hop}.conf" for hop in hops),
    )


def make_standing(
    race: Race,
    *,
    ties: int = 1,
    limits: bool = True,
    censored: Collection[str] = (),
    errors: int = 0,
    settled: bool = True,
    headline: int | None = None,
) -> Standing:
    """A standing for ``race``, made by plain averages: no statistics happen here.

    The first ``ties`` stacks of each level share tier 1, all others stand alone; ``limits`` False leaves
    every interval without limits; ``censored`` quantiles and ``errors`` go to the last row of each level.
    """
    levels = tuple(_level(race, load, ties, limits, frozenset(censored), errors) for load in race.loads)
    levels = tuple(level for level in levels if level.rows)
    failed = {launch.stack: launch.failure for launch in race.launches if launch.failure is not None}
    present = {row.stack for level in levels for row in level.rows}
    counted: dict[str, int] = {}
    for launch in race.launches:
        for one in launch.slices:
            for finding in one.verdict.findings:
                if finding.effect is Effect.WARNS:
                    counted[finding.check] = counted.get(finding.check, 0) + 1
    headline = len(levels) - 1 if headline is None else headline
    return Standing(
        answer=_answer(levels, headline, ties, settled), headline=max(0, headline), levels=levels,
        reason=Reason(first=CpuTime(stack=levels[headline].rows[0].stack, hops={"app": 0.5})) if levels else None,
        withdrawals=tuple(Withdrawal(stack=s, failure=f) for s, f in failed.items() if s not in present),
        warnings=counted, resolution=0.04 if limits and levels else None,
    )  # fmt: skip


def _answer(levels: Sequence[Level], headline: int, ties: int, settled: bool) -> Answer:
    if not levels:
        return Answer(kind=AnswerKind.NOTHING)
    stacks = tuple(row.stack for row in levels[headline].rows)
    if not settled:
        return Answer(kind=AnswerKind.UNDECIDED, stacks=stacks[:1], rivals=stacks[1:2])
    if len(stacks) == 1:
        return Answer(kind=AnswerKind.ALONE, stacks=stacks)
    return Answer(kind=AnswerKind.ALIKE if ties > 1 else AnswerKind.BEST, stacks=stacks[: max(ties, 1)])


def _level(race: Race, load: Load, ties: int, limits: bool, censored: frozenset[str], errors: int) -> Level:
    taken: dict[str, list[Slice]] = {path: [] for path in race.stacks}
    for launch in race.launches:
        taken[launch.stack] += [one for one in launch.slices if one.load == load]
    measured = {path: slices for path, slices in taken.items() if slices}
    mean = {path: sum(s.result.throughput_per_s for s in got) / len(got) for path, got in measured.items()}
    order = sorted(mean, key=lambda path: -mean[path])
    rows = []
    for place, path in enumerate(order):
        slices, last = measured[path], place == len(order) - 1
        spread = 0.02 + 0.01 * (place % 3)
        ratio = mean[path] / mean[order[0]]
        latency = make_quantiles(
            load.concurrency / mean[path] / 1.15,
            count=sum(one.result.counts.ok for one in slices),
            censored=censored if last else (),
        )
        rows.append(Row(
            stack=path, tier=1 if place < ties else place - ties + 2,
            rank=(1, ties) if place < ties else (place + 1, place + 1),
            throughput_per_s=_interval(mean[path], spread, limits),
            ratio=_interval(ratio, spread, limits) if place else Interval(value=1.0, low=1.0, high=1.0),
            latency=latency, errors=errors if last else 0,
            requests=sum(s.result.counts.scheduled for s in slices),
            cpu_ms_per_request={u.hop: 1000 * u.cpu_s / slices[0].result.counts.ok for u in slices[0].usage},
            memory_bytes={u.hop: u.pss_bytes for u in slices[0].usage},
            launches=len(slices), slices=len(slices), ready_s=0.4 + 0.1 * place,
        ))  # fmt: skip
    return Level(load=load, rows=tuple(rows))


def _interval(value: float, spread: float, limits: bool) -> Interval:
    if not limits:
        return Interval(value=value)
    return Interval(value=value, low=value * (1 - spread), high=value * (1 + spread))


def _slice(dice: random.Random, index: int, path: str, load: Load, capacity: float) -> Slice:
    hops = hops_of(path)
    concurrency = load.concurrency
    saturated = concurrency / (concurrency + 2.5) / (1 + 0.0004 * concurrency)
    throughput = capacity * saturated * dice.lognormvariate(0, 0.03)
    result = make_result(throughput, load=load, started_at=float(index) * 2.6)
    whole_cpu = 1.9 * TWO_SECONDS * saturated
    shares = [0.12] * (len(hops) - 1) + [1 - 0.12 * (len(hops) - 1)]
    usage = tuple(
        HopUsage(hop=hop, cpu_s=whole_cpu * share, processes=2 if share < 0.5 else 5, threads=5,
                 pss_bytes=round((18 if share < 0.5 else 120 + 60 * (len(path) % 4)) * 1024**2))
        for hop, share in zip(hops, shares, strict=True)
    )  # fmt: skip
    findings = (make_finding(),) if index % 11 == 0 else ()
    return Slice(index=index, load=load, result=result, usage=usage, verdict=Verdict(findings),
                 conditions=make_conditions())  # fmt: skip


def make_conditions(*, stolen_s: float = 0.02, foreign_s: float = 0.01) -> Conditions:
    """A quiet slice of two seconds on two cores."""
    return Conditions(elapsed_s=TWO_SECONDS, cores=2, stolen_s=stolen_s, foreign_s=foreign_s,
                      canary_before_ns=250_000.0, canary_after_ns=255_000.0)  # fmt: skip


def _memory(dice: random.Random, path: str, levels: int) -> tuple[MemorySample, ...]:
    hops = hops_of(path)
    roof = (120 + 60 * (len(path) % 4)) * dice.uniform(0.97, 1.03)
    samples = []
    for i in range(8 * levels):
        app = roof * (0.55 + 0.45 * (1 - math.exp(-i / 6)))
        sizes = [18.0] * (len(hops) - 1) + [app]
        samples.append(MemorySample(at_s=i * 0.5, pss_bytes={
            hop: round(size * 1024**2) for hop, size in zip(hops, sizes, strict=True)}))  # fmt: skip
    return tuple(samples)
