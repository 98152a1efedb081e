"""The workloads of a race: requests with their golden answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ...app.app import App
from ...app.examination import Examination, Exchange
from ...app.examine import examine
from ...app.golden import demanded, golden, rule_for
from ...base.errors import InputError
from ...measure.workload import Answer, Request, RightAnswers, Workload, mean_time
from ...stacks.servers import Catalogue
from ...stacks.setting import Interface
from ...stacks.stack import Stack, original_path
from ...stacks.stack_path import parse_stack
from ..request.request import RaceRequest, WorkloadRequest
from .sessions import Ask, refuse_strange_paths, session_workload


def urls_of(request: RaceRequest, urls: tuple[str, ...]) -> tuple[str, ...]:
    """Return the URLs to request from the app before a race; ``urls`` if no workload is given."""
    wanted = _asked_workloads(request)
    if not wanted:
        return urls
    # recordings bring their own answers, but the app must still prove that it answers
    return tuple(dict.fromkeys(url for workload_request in wanted for url in workload_request.urls)) or ("/",)


def workloads_of(
    request: RaceRequest, app: App, examination: Examination, ask: Ask = examine
) -> tuple[tuple[Workload, ...], tuple[str, ...]]:
    """Return all workloads, and notes for the user. ``examination`` holds the answers to ``urls_of``.

    Raises AppError for a page that does not succeed, InputError for a recording that cannot be replayed.
    """
    wanted = _asked_workloads(request)
    if not wanted:
        return (_checked(golden(examination), request.check, examination.exchanges),), ()
    whole = Workload(requests=(), answers=(), host=examination.host)
    if any(workload_request.urls for workload_request in wanted):
        whole = golden(examination)
    exchanges = examination.exchanges if whole.requests else ()
    known = {
        asked.path: (asked, answer, exchange)
        for asked, answer, exchange in zip(whole.requests, whole.answers, exchanges, strict=True)
    }
    headers = (*request.headers, *_added_headers(examination))
    workloads: list[Workload] = []
    notes: list[str] = []
    for workload_request in wanted:
        if workload_request.session is None:
            workload = _in_turn(workload_request.urls, known, whole, workload_request.check)
        else:
            workload, workload_notes = session_workload(
                workload_request.session,
                app,
                examination,
                headers,
                think=workload_request.think,
                check=workload_request.check,
                ask=ask,
            )
            notes += workload_notes
        # a single workload needs no name
        workloads.append(replace(workload, name=workload_request.name if len(wanted) > 1 else ""))
    return tuple(workloads), tuple(notes)


def _asked_workloads(request: RaceRequest) -> tuple[WorkloadRequest, ...]:
    if request.session is not None:
        return (WorkloadRequest(name="", session=request.session, think=request.think, check=request.check),)
    return request.workloads


def _in_turn(
    urls: Sequence[str],
    known: Mapping[str, tuple[Request, Answer, Exchange]],
    whole: Workload,
    check: RightAnswers,
) -> Workload:
    """Return a workload of ``urls`` in turn; a URL that is listed twice is requested twice as often."""
    asked = [known[url] for url in urls]
    workload = replace(
        whole,
        requests=tuple(request for request, _, _ in asked),
        answers=tuple(answer for _, answer, _ in asked),
        page=mean_time(exchange.page for _, _, exchange in asked),
    )
    return _checked(workload, check, tuple(exchange for _, _, exchange in asked))


def _checked(workload: Workload, check: RightAnswers, exchanges: Sequence[Exchange]) -> Workload:
    """Return ``workload`` with the demanded right answers; rules may name a page or its redirect."""
    refuse_strange_paths(check, [path for exchange in exchanges for path in _paths(exchange)])
    answers = []
    for answer, exchange in zip(workload.answers, exchanges, strict=True):
        rule = rule_for(check, *_paths(exchange))
        if rule is not None:
            own = tuple(each.body for each in (exchange.first, exchange.second) if each.status == answer.status)
            # the file's body if the app has none
            answer = demanded(answer, rule, exchange.request.path, own or (answer.body,))
        answers.append(answer)
    return replace(workload, answers=tuple(answers))


def _paths(exchange: Exchange) -> tuple[str, ...]:
    return (exchange.request.path, *filter(None, (exchange.via,)))


def _added_headers(examination: Examination) -> tuple[tuple[str, str], ...]:
    first = examination.exchanges[0]
    return tuple(pair for pair in first.request.headers if pair[0] in first.added)


def limits_of(request: RaceRequest, servers: Catalogue, current: str = "") -> dict[str, tuple[str, ...]]:
    """Return the paths of the only stacks that get a workload, by its name; workloads for all stacks have no entry.

    The stack with the path ``current``, which the user did not name, gets all workloads if it would get none.
    """
    if len(request.workloads) < 2:
        return {}
    limits = _limits_of(request, servers)
    unmet = current and len(limits) == len(request.workloads) and current not in {*chain(*limits.values())}
    return {name: (*paths, current) for name, paths in limits.items()} if unmet else limits


def _limits_of(request: RaceRequest, servers: Catalogue) -> dict[str, tuple[str, ...]]:
    return {
        workload.name: tuple(
            parse_stack(path, servers.specs, frozenset(Interface)).path for path in workload.stacks
        )
        for workload in request.workloads
        if workload.stacks is not None
    }


def met(
    workloads: Sequence[Workload], limits: Mapping[str, tuple[str, ...]], stacks: Sequence[Stack]
) -> tuple[Workload, ...]:
    """Return the workloads that any of ``stacks`` gets; raises InputError for a stack that gets none."""
    for stack in stacks:
        if not any(meets(stack, workload, limits) for workload in workloads):
            raise InputError(f"stack {stack.path} has no workload: add it to the stacks of one, or leave it out")
    return tuple(workload for workload in workloads if any(meets(stack, workload, limits) for stack in stacks))


def meets(stack: Stack, workload: Workload, limits: Mapping[str, tuple[str, ...]]) -> bool:
    """Return True if ``stack`` gets ``workload``."""
    return workload.name not in limits or original_path(stack.path) in limits[workload.name]
