"""One run of the engine against one server: watched to its end, and examined."""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass

from ...api.load.limits import allow_files, engine_cores
from ...api.load.options import LoadOptions, refuse_contradictions
from ...api.load.target import Target, target_of
from ...checks import LOAD, Observation, examine_run
from ...load.ceiling import ceiling
from ...load.engine import Monitor, run
from ...load.histogram import slow
from ...model.errors import InputError
from ...model.host import MachineDelta
from ...model.load import Load, LoadResult
from ...model.race import Budget
from ...model.verdict import Verdict
from ...probe import difference, read_machine
from .progress import ProgressLine

__all__ = ["Ran", "Setup", "measure", "set_up"]

REFRESH_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all runs of one command have in common."""

    options: LoadOptions
    target: Target
    cores: Budget

    @property
    def over_tcp(self) -> bool:
        """Whether connections take ports."""
        return isinstance(self.target.address, tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run that is over: what was asked for, what came of it, and what the checks say.

    ``notes`` are worth telling, one sentence each; ``interrupted``: the user ended it.
    """

    target: Target
    load: Load
    warmup_s: float
    result: LoadResult
    verdict: Verdict
    notes: tuple[str, ...] = ()
    interrupted: bool = False


def set_up(options: LoadOptions) -> Setup:
    """Return who is loaded from which cores; raises InputError before anything is sent."""
    refuse_contradictions(options)
    target = target_of(options)
    allow_files()
    cores = engine_cores(options.threads)
    if options.spin and cores.shared:
        raise InputError("--spin would take the server's core; leave it out, give less --threads, or more cores")
    return Setup(options=options, target=target, cores=cores)


def measure(
    setup: Setup, load: Load, line: ProgressLine, *, warmup_s: float = 0.0, notes: tuple[str, ...] = ()
) -> Ran:
    """Apply ``load`` after ``warmup_s`` seconds of it, showing its progress on ``line``; Ctrl-C ends it early."""
    options, cores = setup.options, setup.cores
    try:
        ceiling_per_s = None
        if not options.no_ceiling:
            line.say("measuring what the engine itself can do here …")
            ceiling_per_s = ceiling(
                load, cores=cores.generator_cores, server_cores=cores.stack_cores, threads=options.threads
            )
        result, machine, interrupted = _watched(setup, load, warmup_s, ceiling_per_s, line)
    finally:
        line.clear()
    seen = Observation(
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
        words=LOAD,
    )
    return Ran(
        target=setup.target,
        load=load,
        warmup_s=warmup_s,
        result=result,
        verdict=examine_run(seen),
        notes=notes,
        interrupted=interrupted,
    )


def _watched(
    setup: Setup, load: Load, warmup_s: float, ceiling_per_s: float | None, line: ProgressLine
) -> tuple[LoadResult, MachineDelta, bool]:
    """Run the engine in a thread of its own; Ctrl-C ends the run and keeps what was measured."""
    monitor, options = Monitor(), setup.options
    outcome: list[LoadResult | BaseException] = []

    def work() -> None:
        try:
            outcome.append(
                run(
                    address=setup.target.address,
                    workload=setup.target.workload,
                    load=load,
                    tls=setup.target.tls,
                    body_max_bytes=None if options.max_body is None else int(options.max_body),
                    warmup_s=warmup_s,
                    cores=setup.cores.generator_cores,
                    threads=options.threads,
                    spin=options.spin,
                    monitor=monitor,
                    ceiling_per_s=ceiling_per_s,
                )
            )
        except BaseException as error:
            outcome.append(error)
        finally:
            over.set()

    # an event: join() that Ctrl-C interrupts takes the thread for ended before Python 3.13 (bpo-46726)
    over = threading.Event()
    before = read_machine()
    # Ctrl-C waits until the engine can be told of it: the interpreter does not end before the engine's thread
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=work).start()
    while True:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            while not over.wait(REFRESH_S):
                line.draw(*monitor.snapshot())
            break
        except KeyboardInterrupt:
            monitor.cancel()
    machine = difference(before, read_machine())
    result = outcome[0]
    if isinstance(result, BaseException):
        raise result
    return result, machine, monitor.cancelled
