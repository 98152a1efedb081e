"""Plays a workload at a load level with the engine, and returns what it saw as a LoadResult."""

from __future__ import annotations

from collections.abc import Sequence

from stackrace.model.errors import InputError, RefusedError
from stackrace.model.load import Counts, Load, LoadResult, SeriesBin
from stackrace.model.workload import Answer, Request, Sameness, Workload

from . import _engine
from ._engine import Monitor
from .histogram import summary

__all__ = ["Monitor", "run"]

_NS = 1e-9


def run(
    *,
    address: tuple[str, int] | str,
    workload: Workload,
    load: Load,
    warmup_s: float = 0.0,
    cores: Sequence[int] = (),
    threads: int | None = None,
    monitor: Monitor | None = None,
) -> LoadResult:
    """Send ``workload`` to ``address`` at ``load`` and return what came back.

    ``address`` is an IP address with a port, or the path of a Unix socket. For the first ``warmup_s`` seconds
    load is applied but not recorded; requests under way when the window opens belong to it from then on.
    ``threads`` event loops run on ``cores``, one per core unless told otherwise; one loop anywhere when no
    cores are named. Every answer is held against its golden one, every byte of it where the golden answer
    repeats; a workload without golden answers accepts any 2xx.

    Blocks without holding the GIL, so run it in a thread while the main thread waits for Ctrl-C and calls
    ``monitor.cancel()``; the result then holds what was measured so far.

    InputError: the load or a request cannot be sent as it stands. RefusedError: this machine forbids it.
    """
    try:
        plan = _plan(address, workload, load, warmup_s, cores, threads)
        report = _engine.run(plan, monitor or Monitor())
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(f"this load cannot be applied: {error}") from error
    except OSError as error:
        raise RefusedError(f"this machine does not allow the load: {error}") from error
    return _result(report)


def _plan(
    address: tuple[str, int] | str,
    workload: Workload,
    load: Load,
    warmup_s: float,
    cores: Sequence[int],
    threads: int | None,
) -> _engine.Plan:
    return _engine.Plan(
        address=address,
        targets=_targets(workload),
        connections=load.concurrency,
        keep_alive=load.keep_alive,
        duration_s=load.duration_s,
        requests=load.requests,
        timeout_s=load.timeout_s,
        warmup_s=warmup_s,
        threads=min(threads or len(cores) or 1, max(load.concurrency, 1)),
        cores=list(cores),
    )


def _targets(workload: Workload) -> list[_engine.Target]:
    answers: Sequence[Answer | None] = workload.answers or [None] * len(workload.requests)
    if len(answers) != len(workload.requests):
        raise InputError(f"{len(workload.requests)} requests have {len(answers)} golden answers; give one for each")
    return [
        _target(request, answer, workload.host) for request, answer in zip(workload.requests, answers, strict=True)
    ]


def _target(request: Request, answer: Answer | None, host: str) -> _engine.Target:
    """An answer to HEAD never has a body, whatever its golden answer holds."""
    body_counts = answer is not None and request.method != "HEAD"
    sameness = answer.sameness if answer is not None and body_counts else Sameness.STATUS
    return _engine.Target(
        request.method,
        request.path,
        host,
        list(request.headers),
        request.body,
        status=answer.status if answer is not None else None,
        length=len(answer.body) if answer is not None and sameness is Sameness.LENGTH else None,
        exact=answer.body if answer is not None and sameness is Sameness.BODY else None,
    )


def _result(report: _engine.Report) -> LoadResult:
    return LoadResult(
        started_at=report.started_ns * _NS,
        duration_s=report.duration_ns * _NS,
        counts=_counts(report),
        latency=summary(report.latency),
        connect=summary(report.connect),
        histogram=report.latency.to_bytes(),
        series=_series(report),
        status_classes=report.status_classes,
        bytes_read=report.bytes_read,
        connections_opened=report.connections_opened,
        reconnects=report.reconnects,
        established_peak=report.established_peak,
        generator_cpu_s=report.cpu_ns * _NS,
        generator_wait_s=report.wait_ns * _NS,
        generator_busy=report.busiest,
        fairness=report.fairness,
        dead_time=report.dead_time,
    )


def _counts(report: _engine.Report) -> Counts:
    return Counts(
        scheduled=report.scheduled,
        ok=report.ok,
        non2xx=report.non2xx,
        failed=report.failed,
        timed_out=report.timed_out,
        in_flight=report.in_flight,
        unsent=report.unsent,
    )


def _series(report: _engine.Report) -> tuple[SeriesBin, ...]:
    width_s = report.bin_ns * _NS
    return tuple(
        SeriesBin(
            start_s=index * width_s,
            ok=each.ok,
            errors=each.errors,
            in_flight=each.in_flight,
            p50_s=each.p50_ns * _NS,
            p99_s=each.p99_ns * _NS,
        )
        for index, each in enumerate(report.series)
    )
