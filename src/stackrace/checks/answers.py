"""Were the answers right, and did they come?"""

from __future__ import annotations

from ..model.verdict import Effect, Finding
from .judge import count, judge, percent
from .observation import Observation

__all__ = [
    "STAGES",
    "books_unbalanced",
    "bytes_unaccounted",
    "failures",
    "nothing_right",
    "timeouts",
    "unexpected_status",
    "wrong_body",
]

STAGES = {
    "connect": "connecting failed: is the backlog long enough, are ports and file descriptors left?",
    "tls": "the TLS handshake failed: look at the certificate and the server's log",
    "write": "the server closed while it was being asked: look at its log for workers that died",
    "read": "the server closed without an answer: look at its log for workers that died or were recycled",
    "protocol": "the answer was no valid HTTP: ask for it with curl -v",
}
"""What to look at when requests fail at a stage; wrong bodies have a check of their own."""


def nothing_right(seen: Observation) -> Finding | None:
    """Not a single right answer came: there is nothing to measure.

    Source: none needed.
    """
    if seen.result.counts.ok > 0:
        return None
    return Finding(
        check="nothing right",
        effect=Effect.INVALIDATES,
        seen=f"none of {count(seen.result.counts.scheduled)} requests got the right answer",
        threshold="at least one",
        remedy=f"look at the {seen.words.server}'s logs; if it is only slow, take {seen.words.longer} or lower "
        f"{seen.words.concurrency} ({seen.load.concurrency})",
    )


def unexpected_status(seen: Observation) -> Finding | None:
    """Answers had another status than expected: any warns, more than 0.1 % invalidates.

    Errors are cheaper than answers, so a stack that refuses work looks fast. They never count as throughput,
    but the time they did not take does.

    Source: RFC 9110 section 15; B. Beyer et al., "Site Reliability Engineering", 2016, chapter 6, on counting
    failures apart from successes.
    """
    wrong = seen.result.counts.non2xx
    share = wrong / max(1, seen.answered)
    classes = ", ".join(
        f"{number} × {name}" for name, number in sorted(seen.result.status_classes.items()) if number
    )
    return judge(
        "unexpected status",
        share,
        warns=0.0,
        invalidates=0.001,
        seen=f"{count(wrong)} answers ({percent(share)}) had another status than expected ({classes})",
        remedy=f"the server turns requests away under this load: lower {seen.words.concurrency} or raise its queues"
        if seen.result.status_classes.get("5xx")
        else "ask for the page yourself and look at the app's log: login, CSRF, allowed hosts?",
    )


def failures(seen: Observation) -> Finding | None:
    """Requests failed before their answer was complete: any warns, more than 1 % invalidates.

    A worker that is recycled may cut off a request or two; a stack that loses one in a hundred is not
    measured but broken, and its failures leave the others more room. Wrong bodies have a check of their own.

    Source: RFC 9112 section 9.3.1 on requests that end with their connection.
    """
    stages = {stage: number for stage, number in seen.result.counts.failed.items() if number and stage != "body"}
    share = sum(stages.values()) / max(1, seen.tried)
    worst = max(stages, key=lambda stage: stages[stage], default="")
    return judge(
        "failures",
        share,
        warns=0.0,
        invalidates=0.01,
        seen=f"{count(sum(stages.values()))} requests failed ({percent(share)}): "
        + ", ".join(f"{number} at {stage}" for stage, number in stages.items()),
        remedy=STAGES.get(worst, f"look at the {seen.words.server}'s logs"),
    )


def timeouts(seen: Observation) -> Finding | None:
    """Requests ran into their timeout, or quantiles reach into unfinished ones: they are lower bounds ("≥").

    Dropping what never came back is how a server that hangs gets a perfect p99. What is merely under way when
    the slice ends is normal in a closed loop and no finding, even where it may bound the last per mille.

    Source: G. Tene, "How NOT to measure latency", 2013, on coordinated omission; censoring as in E. Kaplan,
    P. Meier, JASA 53 (1958).
    """
    timed_out = seen.result.counts.timed_out
    censored = sorted(seen.result.latency.censored & {"p50", "p90", "p99"})
    if not timed_out and not censored:
        return None
    parts = [f"{count(timed_out)} requests timed out after {seen.load.timeout_s:g} s"] if timed_out else []
    if censored:
        parts.append(f"{', '.join(censored)} reach into requests unfinished at the end: lower bounds")
    longer = "" if timed_out else f"{seen.words.longer}; or "
    return Finding(
        check="timeouts" if timed_out else "unfinished requests",
        effect=Effect.WARNS,
        seen="; ".join(parts),
        threshold="none",
        remedy=f"{longer}lower {seen.words.concurrency} ({seen.load.concurrency}), "
        f"or give the {seen.words.server} more workers",
    )


def wrong_body(seen: Observation) -> Finding | None:
    """An answer differed from what the app itself says.

    A stack that is fast and wrong is wrong. Parts that change by design were found before the race by asking
    the app twice, so one difference is enough.

    Source: RFC 9110 section 6.4: the content is the answer.
    """
    wrong = seen.result.counts.failed.get("body", 0)
    return judge(
        "wrong body",
        wrong,
        invalidates=0,
        seen=f"{count(wrong)} answers had another body than the app gives without a server",
        remedy="does the page depend on time, session or process, or is a cache between? Race a stable page, "
        "and bring the stack up by itself to look at it",
        unit=count,
    )


def books_unbalanced(seen: Observation) -> Finding | None:
    """The counts do not add up: scheduled = right + wrong + failed + timed out + under way + unsent.

    Then the engine lost track of requests, and no figure of the slice can be trusted.

    Source: the accounting identity that ``Counts`` states.
    """
    counts = seen.result.counts
    missing = counts.scheduled - (counts.ok + counts.errors + counts.in_flight + counts.unsent)
    if missing == 0:
        return None
    return Finding(
        check="books unbalanced",
        effect=Effect.INVALIDATES,
        seen=f"the fate of {count(abs(missing))} requests is {'unknown' if missing > 0 else 'counted twice'}",
        threshold="none",
        remedy="this is a fault of the load engine: please report it",
    )


def bytes_unaccounted(seen: Observation) -> Finding | None:
    """Bytes came that belong to no answer: any warns, more than 0.1 % of all bytes invalidates.

    The engine counts every byte it reads, and gives each to the answer it is part of. What is left over was sent
    beyond an answer's end, or while nothing was asked: answers that were given twice, or a length that lies. A
    server that says goodbye to an idle connection (408) sends a few, so few only warn.

    Source: RFC 9112 section 6.3 on where a message ends, and 9.3 on answers in the order of their requests.
    """
    surplus = seen.result.surplus_bytes
    return judge(
        "bytes unaccounted",
        surplus / max(1, seen.result.bytes_read),
        warns=0.0,
        invalidates=0.001,
        seen=f"{count(surplus)} of {count(seen.result.bytes_read)} bytes received belong to no answer",
        remedy="does the app send more than its Content-Length says, or a front end repeat an answer? "
        "Ask for the page with curl -v",
    )
