"""Plays a workload at a load level with the engine, and returns what it saw as a LoadResult."""

from __future__ import annotations

from collections.abc import Sequence

from stackrace.model.errors import InputError, RefusedError
from stackrace.model.foreign import said_by
from stackrace.model.load import Load, LoadResult, Tls
from stackrace.model.workload import Answer, Fill, FillPart, Order, Request, Sameness, Workload

from . import _engine
from ._engine import Monitor
from .outcome import outcome

__all__ = ["FOLLOW_S", "Monitor", "run"]

FOLLOW_S = 0.2
"""How long load goes on, unrecorded, after a window bounded by time: until its oldest requests are answered."""


def run(
    *,
    address: tuple[str, int] | str,
    workload: Workload,
    load: Load,
    tls: Tls | None = None,
    body_max_bytes: int | None = None,
    open_first_s: float | None = None,
    warmup_s: float = 0.0,
    cores: Sequence[int] = (),
    threads: int | None = None,
    spin: bool = False,
    follow_s: float = FOLLOW_S,
    monitor: Monitor | None = None,
    ceiling_per_s: float | None = None,
) -> LoadResult:
    """Send ``workload`` to ``address`` at ``load`` and return what came back.

    ``address`` is an IP address with a port, or the path of a Unix socket; with ``tls`` the connection is
    encrypted. With ``open_first_s`` a closed loop opens all its connections before its clock starts, until none was
    opened for that long. For the first ``warmup_s`` seconds load is applied but not recorded; requests under way
    when the window opens belong to it from then on. After a window bounded by time load goes on for up to
    ``follow_s``, until those requests are answered that are older than most: they would leave lower bounds in the
    latencies.

    ``threads`` event loops run on ``cores``, one per core unless told otherwise; one loop anywhere when no cores
    are named. With ``spin`` they never sleep: an answer is seen when it comes and not once a core has woken. That
    is only for cores that nobody else needs.

    Every answer is held against its golden one, as far as that repeats; a workload without golden answers accepts
    any 2xx. An answer longer than ``body_max_bytes`` is a failure. ``ceiling_per_s`` (see ``ceiling``) is carried
    into the result as it is.

    Blocks without holding the GIL, so run it in a thread while the main thread waits for Ctrl-C and calls
    ``monitor.cancel()``; the result then holds what was measured so far.

    InputError: the load or a request cannot be sent as it stands. RefusedError: this machine forbids it.
    """
    if load.poisson and not load.is_open:
        raise InputError("poisson is for an open loop; give it a rate")
    try:
        plan = _engine.Plan(
            address=address,
            targets=_targets(workload),
            connections=load.concurrency,
            timeout_s=load.timeout_s,
            tls=(tls.name, tls.authorities, list(tls.versions)) if tls else None,
            session=workload.order is Order.SESSION,
            cookies=workload.cookies,
            nonce=(workload.nonce.place.value, workload.nonce.name) if workload.nonce else None,
            keep_alive=load.keep_alive,
            requests_per_connection=load.requests_per_connection,
            connect_timeout_s=load.connect_timeout_s,
            open_first_s=open_first_s,
            body_max_bytes=body_max_bytes,
            duration_s=load.duration_s,
            requests=load.requests,
            warmup_s=warmup_s,
            follow_s=follow_s if load.requests is None else 0.0,
            rate_per_s=load.rate_per_s,
            poisson_seed=load.seed if load.poisson else None,
            spin=spin,
            threads=min(threads or len(cores) or 1, max(load.concurrency, 1)),
            cores=list(cores),
        )
        report = _engine.run(plan, monitor or Monitor())
    except (ValueError, OverflowError, TypeError) as error:
        raise InputError(f"this load cannot be applied: {error}") from error
    except OSError as error:
        raise RefusedError(f"this machine does not allow the load: {said_by(error)}") from error
    return outcome(report, ceiling_per_s)


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
        chunk_bytes=request.chunk_bytes,
        expects_continue=request.expects_continue,
        think_s=request.think_s,
        embedded=request.embedded,
        status=answer.status if answer is not None else None,
        length=len(answer.body) if answer is not None and sameness is Sameness.LENGTH else None,
        exact=answer.body if answer is not None and sameness is Sameness.BODY else None,
        handouts=[(item.place.value, item.name, item.nth, item.slot) for item in request.handouts],
        fills=[(_part(fill), fill.start, fill.end, fill.source, fill.form) for fill in request.fills],
        parts=list(answer.parts) if answer is not None and sameness is Sameness.PARTS else None,
    )


def _part(fill: Fill) -> str:
    return f"header:{fill.header}" if fill.part is FillPart.HEADER else fill.part.value
