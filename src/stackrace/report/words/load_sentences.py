"""Sentences about one run of the load engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...base.numbers import connections, count, flag_value, number, percent, things
from ...base.units import DURATION, SIZE
from ...base.verdict import Effect, Finding
from ...measure.engine.load_run import FinishedRun
from ...measure.load import HeldConnections, Load, LoadResult
from ...measure.workload import Answer, Order
from ...validity.answers import STAGES
from .findings import LOAD, remedy, seen

_LOCAL_CERTIFICATE = "accept any certificate with --insecure, or trust its issuer with --cacert FILE"


def headline(ran: FinishedRun) -> str:
    """Return the throughput, and the offered rate if one was given."""
    rate = f"{number(ran.result.throughput_per_s)} requests/s"
    if ran.load.rate_per_s is None:
        return rate
    what = "sessions" if ran.target.workload.order is Order.SESSION else "requests"
    return f"{rate} answered, {number(ran.load.rate_per_s)} {what}/s offered"


def late_connections(unopened: int, connections: int) -> tuple[str, ...]:
    """Return a note if the server did not accept all connections before the run."""
    if not unopened:
        return ()
    return (
        f"{count(unopened)} of {count(connections)} connections could not be opened before the run: the server "
        "takes no more of them, or its queue of them is full (its backlog, and sysctl net.core.somaxconn)",
    )


def accounting(ran: FinishedRun) -> str:
    """Return the number of requests, their connections and their outcomes: every scheduled request once."""
    result, counts = ran.result, ran.result.counts
    fates = [f"{count(counts.ok)} right"]
    if counts.errors:
        fates.append(f"{count(counts.errors)} failed")
    if counts.in_flight:
        fates.append(f"{count(counts.in_flight)} unanswered at the end")
    if counts.unsent:
        fates.append(f"{count(counts.unsent)} never sent")
    stopped = " (interrupted)" if ran.interrupted else ""
    held = "" if result.held is None else f"; {held_words(ran.load, {'the server': [result.held]})}"
    return (
        f"{_target(ran)}: {things(counts.scheduled, 'request')} in {DURATION.format(result.duration_s)}{stopped} "
        f"over {_connections(ran.load, result)}: {', '.join(fates)}; "
        f"{SIZE.format(float(result.bytes_read))} read{held}"
    )


def held_words(load: Load, by_server: Mapping[str, Sequence[HeldConnections]]) -> str:
    """Return the clause about the connections beside a load, and what each server did with them."""
    did = []
    for who, held in by_server.items():
        closed, least = sum(each.closed for each in held), min(each.silent + each.idle for each in held)
        acts = [f"closed {connections(closed)}"] if closed else []
        acts += [f"left as few as {count(least)} open"] if least < load.silent + load.idle else []
        did += [f"{who} {' and '.join(acts)}"] if acts else []
    return f"beside the load: {load.held} connections; {', '.join(did) or 'all stayed open'}"


def failures(ran: FinishedRun) -> Iterator[str]:
    """Yield one line for each kind of failed requests, with a hint where to look."""
    counts = ran.result.counts
    if counts.non2xx:
        yield f"{things(counts.non2xx, 'answer')} had {_expected(ran)}{_status_counts(ran)}: {_status_hint(ran)}"
    for stage, failed in counts.failed.items():
        if failed:
            yield f"{count(failed)} failed at {_STAGE_NAMES.get(stage, stage)}: {_stage_hint(ran, stage)}"
    if counts.timed_out:
        limit = DURATION.format(ran.load.timeout_s)
        yield (
            f"{count(counts.timed_out)} timed out after {limit}, which is a lower bound of their latency; "
            f"--timeout {flag_value(2 * ran.load.timeout_s)} may show how long they take"
        )
    if counts.in_flight and not counts.ok:
        busy = "if all its workers wait for the silent connections, leaving out --silent frees them"
        slow = "a longer run tells whether it is slow or stuck (--duration 30s)"
        yield (
            f"{things(counts.in_flight, 'request')} got no answer by the end: the server took what came and said "
            f"nothing; {busy if ran.load.silent else slow}"
        )


def engine(ran: FinishedRun) -> Iterator[str]:
    """Yield the engine's own figures, so that its influence on the results can be judged."""
    result = ran.result
    answered = result.counts.ok + result.counts.non2xx + result.counts.failed.get("body", 0)
    worked_s = max(result.generator_cpu_s - result.generator_spin_s, 0.0)
    cost = f"{DURATION.format(worked_s / answered)} of CPU per request, " if answered else ""
    waited = result.generator_wait_s / result.duration_s if result.duration_s > 0 else 0.0
    yield (
        f"The engine used {cost}{percent(result.generator_busy)} of its busiest core, "
        f"and waited for a core {percent(waited)} of the time."
    )
    if ran.load.is_open and result.lag is not None and result.lag.count:
        yield f"Requests were sent {DURATION.format(result.lag.p50)} late at the median, {_late(result)} at p99."
    elif not ran.target.pauses:
        yield f"Its connections had no request under way {percent(max(result.dead_time, 0.0))} of the time."
    if result.ceiling_per_s:
        share = result.throughput_per_s / result.ceiling_per_s
        # such a short measurement justifies only two digits
        ceiling = count(float(f"{result.ceiling_per_s:.2g}"))
        yield (
            f"Its ceiling here is {ceiling}/s{' without TLS' if ran.target.tls else ''}; "
            f"this run used {percent(share)} of that."
        )


def warning(finding: Finding) -> str:
    """Return a check's finding as one line."""
    grave = "not to be believed: " if finding.effect is Effect.INVALIDATES else ""
    return f"{grave}{seen(finding, LOAD)}. Way out: {remedy(finding, LOAD)}"


def losses(answers: Sequence[Answer], result: LoadResult) -> str:
    """Return the failed requests by kind, ``2 with status 5xx, 1 at connecting, 1 timed out``; empty without any.

    ``answers`` are the right ones.
    """
    counts, classes = result.counts, _wrong_classes(answers, result)
    kinds = {f"with status {name}": amount for name, amount in sorted(classes.items())}
    kinds["with another status"] = counts.non2xx - sum(classes.values())
    kinds |= {f"at {_STAGE_NAMES.get(stage, stage)}": failed for stage, failed in counts.failed.items()}
    kinds["timed out"] = counts.timed_out
    return ", ".join(f"{count(amount)} {kind}" for kind, amount in kinds.items() if amount)


_STAGE_NAMES = {
    "connect": "connecting",
    "tls": "the TLS handshake",
    "write": "sending",
    "read": "reading the answer",
    "protocol": "understanding the answer",
    "body": "comparing the body",
}


def _stage_hint(ran: FinishedRun, stage: str) -> str:
    nothing = not ran.result.counts.ok and not ran.result.counts.non2xx
    if stage == "connect" and nothing:
        return "does the server listen there?"
    if stage == "tls":
        return _tls_hint(ran)
    if stage == "body":
        return _body_hint(ran)
    return STAGES.get(stage, "look at the server's log")


def _body_hint(ran: FinishedRun) -> str:
    if lost := ran.result.nonces_lost:
        return (
            f"{count(lost)} did not repeat their request's nonce: they answer another request, "
            "or the app does not repeat it at all"
        )
    if not ran.target.workload.answers:
        return "they are longer than --max-body (default 256MiB)"
    return "does part of the page change by design? Give that part with --mask"


def _tls_hint(ran: FinishedRun) -> str:
    from ...measure.engine.url import why_refused

    reason = why_refused(ran.target.address, ran.target.tls) if ran.target.tls else None
    if reason is None:
        return STAGES["tls"]
    if "certificate" not in reason and "mismatch" not in reason:
        return f"{reason}; does the server speak TLS there, and a version that --tls allows?"
    return f"{reason}; {_LOCAL_CERTIFICATE}" if ran.target.is_local else f"{reason}; trust it with --cacert FILE"


def _expected(ran: FinishedRun) -> str:
    answers = ran.target.workload.answers
    wanted = {answer.status for answer in answers} or {None}
    if wanted == {None}:
        return "a status other than 2xx"
    return f"another status than {wanted.pop()}" if len(wanted) == 1 else "another status than expected"


def _status_counts(ran: FinishedRun) -> str:
    classes = _wrong_classes(ran.target.workload.answers, ran.result)
    listed = ", ".join(f"{count(amount)} × {name}" for name, amount in sorted(classes.items()))
    return f" ({listed})" if listed else ""


def _wrong_classes(answers: Sequence[Answer], result: LoadResult) -> dict[str, int]:
    """Return the number of wrong answers by status class; in a class that is also right, as far as known."""
    wanted = {f"{(answer.status or 200) // 100}xx" for answer in answers} or {"2xx"}
    others = {name: amount for name, amount in result.status_classes.items() if amount and name not in wanted}
    rest = result.counts.non2xx - sum(others.values())
    return others | ({wanted.pop(): rest} if rest > 0 and len(wanted) == 1 else {})


def _status_hint(ran: FinishedRun) -> str:
    if len({answer.status for answer in ran.target.workload.answers}) > 1:
        return "the recording had others; the table shows the pages. Is the app in another state than then?"
    classes = _wrong_classes(ran.target.workload.answers, ran.result)
    if "5xx" in classes:
        return "the server fails or turns requests away under this load; look at its log"
    if "3xx" in classes:
        return "redirects are not followed; load their target, or give --expect-status"
    return "ask for the page with curl -v: does it want a login, a --host, another --method?"


def _target(ran: FinishedRun) -> str:
    urls = ran.target.urls
    return urls[0] if len(urls) == 1 else f"{urls[0]} and {len(urls) - 1} more"


def _connections(load: Load, result: LoadResult) -> str:
    if not load.keep_alive:
        return f"a connection each, {count(load.concurrency)} at a time"
    is_kept = load.requests_per_connection is None
    each = "" if is_kept else f" of {things(load.requests_per_connection or 0, 'request')} each"
    kind = "kept connection" if is_kept else "connection"
    if load.is_open:
        return f"up to {things(result.established_peak, kind)}{each}"
    return f"{things(load.concurrency, kind)}{each}"


def _late(result: LoadResult) -> str:
    assert result.lag is not None
    return DURATION.format(result.lag.p99)
