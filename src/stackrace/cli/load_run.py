"""One run of the engine from the command line: refused, or watched to its end and shown."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

import click

from ..checks import LOAD, Observation, examine_run
from ..load.ceiling import ceiling
from ..load.engine import Monitor, run
from ..load.histogram import censored_count, slow
from ..model.errors import InputError, RefusedError
from ..model.host import MachineDelta
from ..model.load import Load, LoadResult
from ..model.race import Budget
from ..model.verdict import Verdict
from ..probe import difference, read_machine
from .load_limits import allow_files, engine_cores, open_connections, refuse_too_much
from .load_options import LoadOptions, refuse_contradictions
from .load_progress import ProgressLine
from .load_target import Target, target_of

__all__ = ["Ran", "run_and_show"]

REFRESH_S = 0.5


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


def run_and_show(options: LoadOptions) -> None:
    """Do what ``stackrace load`` was asked for. Raises InputError before anything is sent."""
    from .load_show import show

    ran = _ran(options)
    if options.hdr is not None:
        _write_hgrm(options.hdr, ran.result)
    show(ran, as_json=options.as_json)
    if ran.result.counts.scheduled and not ran.result.counts.ok and not ran.interrupted:
        why = "the document says how they failed" if options.as_json else "the reasons stand above"
        raise RefusedError(f"not one right answer came; {why}")


def _ran(options: LoadOptions) -> Ran:
    refuse_contradictions(options)
    target = target_of(options)
    _refuse_unwritable(options.hdr)
    allow_files()
    over_tcp = isinstance(target.address, tuple)
    load = options.load(open_connections(over_tcp))
    cores = engine_cores(options.threads)
    if options.spin and cores.shared:
        raise InputError("--spin would take the server's core; leave it out, give less --threads, or more cores")
    notes = (*target.notes, *refuse_too_much(load, cores, over_tcp=over_tcp))
    line = ProgressLine(load, options.warmup or 0.0, quiet=options.as_json)
    try:
        ceiling_per_s = None
        if not options.no_ceiling:
            line.say("measuring what the engine itself can do here …")
            ceiling_per_s = ceiling(
                load, cores=cores.generator_cores, server_cores=cores.stack_cores, threads=options.threads
            )
        result, machine, interrupted = _watched(options, target, load, cores, ceiling_per_s, line)
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
        unfinished=censored_count(result.histogram),
        pauses=target.pauses,
        words=LOAD,
    )
    return Ran(
        target=target,
        load=load,
        warmup_s=options.warmup or 0.0,
        result=result,
        verdict=examine_run(seen),
        notes=notes,
        interrupted=interrupted,
    )


def _watched(
    options: LoadOptions,
    target: Target,
    load: Load,
    cores: Budget,
    ceiling_per_s: float | None,
    line: ProgressLine,
) -> tuple[LoadResult, MachineDelta, bool]:
    """Run the engine in a thread of its own; Ctrl-C ends the run and keeps what was measured."""
    monitor = Monitor()
    outcome: list[LoadResult | BaseException] = []

    def work() -> None:
        try:
            outcome.append(
                run(
                    address=target.address,
                    workload=target.workload,
                    load=load,
                    tls=target.tls,
                    body_max_bytes=None if options.max_body is None else int(options.max_body),
                    warmup_s=options.warmup or 0.0,
                    cores=cores.generator_cores,
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


def _refuse_unwritable(path: Path | None) -> None:
    """Say before the run what would be a pity afterwards."""
    if path is not None and not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"--hdr {path} cannot be written; name another place")


def _write_hgrm(path: Path, result: LoadResult) -> None:
    from ..load.hgrm import percentile_distribution

    try:
        path.write_text(percentile_distribution(result.histogram), encoding="ascii")
    except OSError as error:
        # the result stands all the same
        click.echo(f"--hdr {path} could not be written: {error.strerror}", err=True)
