"""One run of the engine against one server, shown while it runs, and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from ...base.errors import InputError, LimitError
from ...base.unix import resource
from ...measure.engine.engine import Monitor, RunningEngine, ceiling, run
from ...measure.engine.histogram import slow
from ...measure.engine.load_run import FinishedRun, Target
from ...measure.host import MachineDelta
from ...measure.load import Load, LoadResult
from ...measure.probe import difference, network_limits, read_machine
from ...measure.resources import Resources
from ...race.preparation.core_shares import usable_cores
from ...report.words.findings import LOAD, refusal, warning
from ...report.words.load_sentences import late_connections
from ...validity.observation import Observation
from ...validity.preflight import SPARE_FILES
from ...validity.registry import check_limits, examine_run
from .options import LoadOptions, refuse_contradictions
from .target import nobody_listens, target_of

_OPEN_CONNECTIONS = 1000
"""Most connections of an open loop by default: enough for 1,000 requests/s that take a second each."""

_OURS = 128
"""Files that Python and the engine have open besides the connections."""


def allow_files() -> None:
    """Raise the soft limit of open files to the hard one: the soft limit only protects programs that use select(2).

    Source: getrlimit(2); systemd's NEWS for 240 on why the soft limit is low.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_connections(over_tcp: bool) -> int:
    """Return the most connections of an open loop by default."""
    limits = network_limits()
    ports = limits.ephemeral_ports if over_tcp else _OPEN_CONNECTIONS
    return max(min(_OPEN_CONNECTIONS, limits.descriptors - SPARE_FILES - _OURS, ports), 1)


def engine_cores(threads: int | None) -> Resources:
    """Return the last cores for the engine, one for each of its ``threads``, and all others for the server.

    If there are too few cores, both share them.
    """
    cores = usable_cores()
    mine = cores[-(threads or 1) :]
    return Resources(stack_cores=cores[: -len(mine)] or cores, generator_cores=mine)


def refuse_too_much(load: Load, cores: Resources, *, over_tcp: bool) -> tuple[str, ...]:
    """Return warnings, one sentence each; raise InputError if a limit of the machine forbids ``load``."""
    try:
        findings = check_limits((load,), cores, ours=False, sockets_each=1, over_tcp=over_tcp)
    except LimitError as error:
        raise InputError(refusal(error.finding, LOAD)) from error
    return tuple(warning(finding, LOAD) for finding in findings)


_REFRESH_S = 0.5
_OPENED_FIRST = 1000
"""Most connections opened within the run; more take so long that they are opened before its clock starts."""
_MOST_IN_VAIN = 10
"""Most requests that are sent to an address where no server listens."""
_PATIENCE_S = 5.0
"""Seconds without a new connection after which the run starts without the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSetup:
    """Settings that all runs of one command share."""

    options: LoadOptions
    target: Target
    cores: Resources
    """Cores of the engine, and of the server as far as they are known to be its own."""

    @property
    def over_tcp(self) -> bool:
        """True if connections take ports."""
        return isinstance(self.target.address, tuple)


class Watcher(Protocol):
    """Display of a run's progress."""

    def calibrating(self) -> None:
        """Show that the engine measures its own limit."""

    def connecting(self, opened: int, connections: int) -> None:
        """Show the number of connections that are open before the run."""

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """Show the right and wrong answers ``elapsed_s`` seconds after the start, warm-up included."""

    def clear(self) -> None:
        """Clear the display: the run is over."""


class Unwatched:
    """Watcher that shows nothing."""

    def calibrating(self) -> None:
        """Show nothing."""

    def connecting(self, opened: int, connections: int) -> None:
        """Show nothing."""

    def draw(self, ok: int, errors: int, elapsed_s: float) -> None:
        """Show nothing."""

    def clear(self) -> None:
        """Show nothing."""


def set_up_load(options: LoadOptions) -> LoadSetup:
    """Return options, target and cores of a load. Raise InputError if they cannot be used, before anything is
    sent."""
    refuse_contradictions(options)
    target = target_of(options)
    allow_files()
    cores = engine_cores(options.threads)
    if options.spin and cores.shared:
        fewer = len(usable_cores()) - 1
        way_out = f", or give --threads {fewer}" if fewer else ""
        raise InputError(f"--spin would take the server's core; leave it out{way_out}")
    return LoadSetup(options=options, target=target, cores=cores)


def measure(
    setup: LoadSetup, load: Load, watcher: Watcher, *, warmup_s: float = 0.0, notes: tuple[str, ...] = ()
) -> FinishedRun:
    """Run ``load`` after ``warmup_s`` seconds of it, and show the progress to ``watcher``; Ctrl-C ends it early.

    If no server listens, only a few requests are sent.
    """
    options, cores = setup.options, setup.cores
    in_vain = nobody_listens(setup.target.address)
    if in_vain:
        few = min(load.requests or 1, _MOST_IN_VAIN)
        load, warmup_s = replace(load, requests=few, duration_s=None, silent=0, idle=0), 0.0
    try:
        ceiling_per_s = None
        if not options.no_ceiling and not in_vain:
            watcher.calibrating()
            ceiling_per_s = ceiling(
                load, cores=cores.generator_cores, server_cores=cores.stack_cores, threads=options.threads
            )
        result, machine, interrupted, unopened = _run(setup, load, warmup_s, ceiling_per_s, watcher)
    finally:
        watcher.clear()
    observation = Observation(
        stack=None,
        load=load,
        result=result,
        usage=(),
        machine=machine,
        cores=cores,
        generator_threads=min(options.threads or 1, load.concurrency),
        ceiling_per_s=ceiling_per_s,
        slow=slow(result.histogram),
        pauses=setup.target.pauses,
    )
    return FinishedRun(
        target=setup.target,
        load=load,
        warmup_s=warmup_s,
        result=result,
        verdict=examine_run(observation),
        notes=(*notes, *late_connections(unopened, load.concurrency)),
        interrupted=interrupted,
    )


def _run(
    setup: LoadSetup, load: Load, warmup_s: float, ceiling_per_s: float | None, watcher: Watcher
) -> tuple[LoadResult, MachineDelta, bool, int]:
    """Run the engine; return its result, the machine's activity, True if Ctrl-C ended it, and the number of
    connections that were not open when the run began.
    """
    options, target = setup.options, setup.target
    opens_first = load.keep_alive and not load.is_open and load.concurrency > _OPENED_FIRST

    def look(ok: int, errors: int, elapsed_s: float) -> None:
        if opens_first and not elapsed_s:
            watcher.connecting(engine.opened, load.concurrency)
        else:
            watcher.draw(ok, errors, elapsed_s)

    def play(monitor: Monitor) -> LoadResult:
        return run(
            address=target.address,
            workload=target.workload,
            load=load,
            tls=target.tls,
            body_max_bytes=None if options.max_body is None else int(options.max_body),
            open_first_s=_PATIENCE_S if opens_first else None,
            warmup_s=warmup_s,
            cores=setup.cores.generator_cores,
            threads=options.threads,
            spin=options.spin,
            monitor=monitor,
            ceiling_per_s=ceiling_per_s,
        )

    # imports asyncio, which few loads need
    from ...measure.held_connections import holding

    before = read_machine()
    with (
        holding(target.address, target.workload, load, tls=target.tls, cores=setup.cores.generator_cores) as held,
        RunningEngine(play) as engine,
    ):
        engine.follow(_REFRESH_S, look)
        result = replace(engine.finish(), held=held.now)
        closed = load.concurrency - engine.opened if opens_first else 0
        return result, difference(before, read_machine()), engine.cancelled, closed
