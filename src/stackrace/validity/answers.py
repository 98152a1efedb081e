"""Checks of the answers: all are right, and all arrive in time."""

from __future__ import annotations

from ..base.verdict import Effect, Finding, Verdict
from ..measure.workload import LARGE_HEAD
from .connections import LOWER_CONCURRENCY
from .declaration import Cause, Limits, on_slice, on_slice_and_run
from .observation import Observation

STAGES = {
    "connect": "connecting failed: is the backlog long enough, are ports and file descriptors left?",
    "tls": "the TLS handshake failed: look at the certificate and the server's log",
    "write": "the server closed while it was being asked: look at its log for workers that died",
    "read": "the server closed without an answer: look at its log for workers that died or were recycled",
    "protocol": f"the answer is no valid HTTP, or {LARGE_HEAD}: ask for it with curl -v",
}
"""Advice by the stage at which requests fail; wrong bodies have a check of their own."""

_GATEWAY = (502, 504)
"""Statuses that only a gateway answers with. Source: RFC 9110 sections 15.6.3 and 15.6.5."""

_FEW = 0.01
"""Largest share of wrong answers, to pages that changed in the app itself, with which a slice is only repeated."""

_FEWER = f"{LOWER_CONCURRENCY}, or give the {{knob.server}} more workers"
_LOWER_BOUNDS = "only lower bounds of {censored:list} are known: requests were unfinished at the end"


@on_slice(
    id="run-cut-off",
    effects=(Effect.WARNS,),
    threshold="all within {limit_s:duration}",
    rule="all requests in time",
    seen="{value:.0f} of {limit:.0f} requests were answered or failed in time",
    remedy="is the stack that slow, or does it hang? Give fewer [load] requests, or a larger [race] budget",
)
def _run_cut_off(observation: Observation) -> Finding | None:
    """A run with a fixed number of requests ended before all were sent.

    Its throughput is right, its length is not.
    """
    requests, limit_s = observation.load.requests, observation.limit_s
    if requests is None or observation.result.duration_s < limit_s:
        return None
    return _run_cut_off.finding(value=observation.tried, limit=requests, limit_s=limit_s)


@on_slice(
    id="nothing-right",
    number=25,
    cause=Cause.ERRORS,
    limits=Limits(invalidates=1),
    least=True,
    threshold="at least one",
    seen={
        "": "none of {scheduled:count} requests got the right answer",
        "unanswered": "none of {scheduled:count} requests was answered",
        "silent": "none of {scheduled:count} requests got an answer beside silent connections ({silent:count})",
        "idle": "no request was sent",
    },
    remedy={
        "": "look at the {knob.server}'s logs; if it is only slow, take {knob.longer} or " + LOWER_CONCURRENCY,
        "silent": "its workers probably wait for the silent connections to send a request: give it more threads "
        "than these, take a server or worker class with an event loop, or put a front end before it",
    },
    rule="one right answer",
)
def nothing_right(observation: Observation) -> Finding | None:
    """No answer was right, so there is nothing to measure.

    If connections beside the load are silent, and no request got even a wrong answer in twice the time of the page,
    the silent connections probably hold the workers.
    """
    counts, load = observation.result.counts, observation.load
    unanswered = not observation.answered and not sum(counts.failed.values())
    blocked = load.silent and unanswered and observation.result.duration_s > 2 * observation.page_s
    return nothing_right.judge(
        counts.ok,
        case="idle" if not counts.scheduled else "silent" if blocked else "unanswered" if unanswered else "",
        cure="silent" if blocked else "",
        scheduled=counts.scheduled,
        silent=load.silent,
        clients=load.concurrency,
    )


@on_slice(
    id="wrong-body",
    number=27,
    limits=Limits(invalidates=0),
    effects=(Effect.REDOES, Effect.INVALIDATES),
    seen={
        "": "{value:count} answers had another body than the app gives without a server",
        "named": "{value:count} answers had another body than the app gives without a server: {wrongs}",
        "app": "{value:count} answers had another body than before, as the app itself has by now",
    },
    remedy={
        "": "does the page depend on session or process, or is a cache between? Bring the stack up by itself to "
        "look at it; say what a right answer is (--check status), or race a stable page",
        "app": "nothing: later slices are held against what still repeats; say what a right answer is "
        "(--check status)",
    },
    source="RFC 9110 section 6.4",
)
def wrong_body(observation: Observation) -> Finding | None:
    """An answer differs from the app's own answer.

    A stack that is fast and wrong is wrong. Parts that change by design were found before the race by asking the
    app several times, and the app is asked again before a stack is blamed. So one difference is enough.
    """
    wrong = observation.result.counts.failed.get("body", 0)
    if not wrong or wrong > observation.wrongly_accused:
        named = "named" if observation.wrongs else ""
        return wrong_body.judge(wrong, case=named, wrongs="; ".join(observation.wrongs))
    # a few wrong answers hardly change the throughput of the slice
    few = wrong <= _FEW * observation.answered
    limits = Limits(redoes=0) if few else Limits(invalidates=0)
    return wrong_body.judge(wrong, limits=limits, case="app", cure="app")


@on_slice(
    id="changing-page",
    number=27,
    limits=Limits(warns=0),
    seen="{pages:list}: the app itself answers otherwise than before the race, or than its other processes",
    remedy='say what a right answer is: check = "status", or a text that it must contain',
    source="RFC 9110 section 6.4",
)
def _changing_page(observation: Observation) -> Finding | None:
    """A page that was constant before the race changes in the app itself.

    The app was asked again when a stack gave a wrong answer. From then on less of each answer is compared: a
    length, or the status.
    """
    return _changing_page.judge(len(observation.changing), pages=observation.changing)


def changed_by(verdict: Verdict) -> tuple[str, ...]:
    """Return the pages, as ``GET /path``, that had changed in the app itself by the end of a slice."""
    found = [finding.facts["pages"] for finding in verdict.findings if finding.check == "changing-page"]
    return tuple(str(page) for pages in found if isinstance(pages, tuple) for page in pages)


@on_slice(
    id="unexpected-status",
    number=25,
    cause=Cause.ERRORS,
    limits=Limits(warns=0.0, invalidates=0.001),
    of="of answers",
    seen={
        "": "{wrong:count} answers ({value:percent}) had another status than expected ({classes:tally})",
        "named": "{wrong:count} answers ({value:percent}) had another status than expected: {wrongs}",
    },
    remedy={
        "": "ask for the page yourself and look at the app's log: login, CSRF, allowed hosts?",
        "refused": "the server turns requests away under this load: lower {knob.concurrency} or raise its queues",
    },
    source="RFC 9110 section 15; B. Beyer et al., Site Reliability Engineering, 2016, chapter 6",
)
def unexpected_status(observation: Observation) -> Finding | None:
    """Answers had another status than expected.

    Errors are cheaper than answers, so a stack that refuses work looks fast. Errors never count as throughput, but
    the time that they save helps the stack.
    """
    wrong = observation.result.counts.non2xx
    return unexpected_status.judge(
        wrong / max(1, observation.answered),
        case="named" if observation.wrongs else "",
        wrongs="; ".join(observation.wrongs),
        cure="refused" if observation.result.status_classes.get("5xx") else "",
        wrong=wrong,
        status=observation.wrong_status,
        server=_giver(observation),
        classes={name: number for name, number in sorted(observation.result.status_classes.items()) if number},
    )


def _giver(observation: Observation) -> str:
    """Return the title of the server that gave the wrong status if its Server header proves it; empty otherwise.

    A proxy may put its own header on an answer of the app. Only a proxy answers Bad Gateway or Gateway Timeout: the
    first of two hops.
    """
    hops = observation.stack.hops if observation.stack is not None else ()
    product = observation.wrong_server.partition("/")[0].lower()
    proved = len(hops) == 1 or (len(hops) == 2 and observation.wrong_status in _GATEWAY)
    if proved and product and product in (hops[0].spec.name, hops[0].spec.title.lower()):
        return hops[0].spec.title
    return ""


@on_slice(
    id="failures",
    number=25,
    cause=Cause.ERRORS,
    limits=Limits(warns=0.0, invalidates=0.01),
    of="of requests",
    seen="{failed:count} requests failed ({value:percent}): {stages:stages}",
    remedy={"": "look at the {knob.server}'s logs", **STAGES},
    source="RFC 9112 section 9.3.1",
)
def failures(observation: Observation) -> Finding | None:
    """Requests failed before their answer was complete.

    A worker that is recycled may cut off a request or two. A stack that loses one in a hundred is broken, and its
    failures leave more room for its other requests. Wrong bodies have a check of their own.
    """
    stages = {
        stage: number for stage, number in observation.result.counts.failed.items() if number and stage != "body"
    }
    failed = sum(stages.values())
    worst = max(stages, key=lambda stage: stages[stage], default="")
    return failures.judge(
        failed / max(1, observation.tried), cure=worst if worst in STAGES else "", failed=failed, stages=stages
    )


@on_slice(
    id="timeouts",
    number=26,
    cause=Cause.ERRORS,
    limits=Limits(warns=0),
    seen={
        "": "{value:count} requests timed out after {timeout_s:g} s",
        "bounded": f"{{value:count}} requests timed out after {{timeout_s:g}} s; {_LOWER_BOUNDS}",
    },
    remedy=_FEWER,
    source="G. Tene, How NOT to measure latency, 2013",
)
def _timeouts(observation: Observation) -> Finding | None:
    """Requests timed out.

    If requests without an answer were dropped, a server that hangs would get a perfect p99.
    """
    censored = _censored(observation)
    return _timeouts.judge(
        observation.result.counts.timed_out,
        case="bounded" if censored else "",
        timeout_s=observation.load.timeout_s,
        censored=censored,
        clients=observation.load.concurrency,
    )


@on_slice(
    id="unfinished-requests",
    number=26,
    limits=Limits(warns=0),
    rule="none in p50, p90 and p99",
    seen=_LOWER_BOUNDS,
    remedy=f"{{knob.longer}}; or {_FEWER}",
    source="E. Kaplan, P. Meier, JASA 53 (1958), on censoring",
)
def _unfinished_requests(observation: Observation) -> Finding | None:
    """Quantiles that include requests unfinished at the end are lower bounds ("≥").

    In a closed loop it is normal that requests are under way when the slice ends; this is no finding, even if they
    may bound the last per mille. If requests timed out, the check on timeouts reports instead.
    """
    if observation.result.counts.timed_out:
        return None
    censored = _censored(observation)
    return _unfinished_requests.judge(len(censored), censored=censored, clients=observation.load.concurrency)


def _censored(observation: Observation) -> tuple[str, ...]:
    return tuple(sorted(observation.result.latency.censored & {"p50", "p90", "p99"}))


@on_slice_and_run(
    id="books-unbalanced",
    number=28,
    limits=Limits(invalidates=0),
    seen={
        "lost": "the fate of {value:count} requests is unknown",
        "twice": "the fate of {value:count} requests is counted twice",
    },
    remedy="this is a fault of the load engine: please report it",
    source="the accounting identity that `Counts` states",
)
def _books_unbalanced(observation: Observation) -> Finding | None:
    """The counts do not add up: scheduled = right + wrong + failed + timed out + under way + unsent.

    The engine lost track of requests, so no figure of the slice can be trusted.
    """
    counts = observation.result.counts
    missing = counts.scheduled - (counts.ok + counts.errors + counts.in_flight + counts.unsent)
    return _books_unbalanced.judge(abs(missing), case="lost" if missing > 0 else "twice")


@on_slice_and_run(
    id="bytes-unaccounted",
    number=28,
    limits=Limits(warns=0.0, invalidates=0.001),
    of="of bytes",
    seen="{surplus_bytes:count} of {read_bytes:count} bytes received belong to no answer",
    remedy="does the app send more than its Content-Length says, or a front end repeat an answer? "
    "Ask for the page with curl -v",
    source="RFC 9112 sections 6.3 and 9.3",
)
def _bytes_unaccounted(observation: Observation) -> Finding | None:
    """Some received bytes belong to no answer.

    The engine counts every byte that it reads, and assigns it to an answer. The rest was sent beyond an answer's
    end, or while no request was open: an answer was sent twice, or a length is wrong. A server that closes an idle
    connection with status 408 sends a few bytes, so a few bytes only warn.
    """
    surplus, read = observation.result.surplus_bytes, observation.result.bytes_read
    return _bytes_unaccounted.judge(surplus / max(1, read), surplus_bytes=surplus, read_bytes=read)
