"""The workloads of a race: what was asked for becomes requests with their golden answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..apps import Examination, golden
from ..model.app import App
from ..model.errors import InputError
from ..model.page_time import PageTime, mean_time
from ..model.stack import Interface, Stack, original_path
from ..model.workload import Answer, Request, Workload
from ..servers import Catalogue
from ..spec.request import RaceRequest, WorkloadRequest
from ..spec.stack_path import parse_stack
from .sessions import session_workload

__all__ = ["limits_of", "meets", "met", "urls_of", "workloads_of"]


def urls_of(request: RaceRequest, urls: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the app is asked for before a race, where ``urls`` is what its only workload would be."""
    wanted = _wanted(request)
    if not wanted:
        return urls
    # recordings bring their own answers; the app has still to be seen to answer at all
    return tuple(dict.fromkeys(url for workload_request in wanted for url in workload_request.urls)) or ("/",)


def workloads_of(
    request: RaceRequest, app: App, examination: Examination
) -> tuple[tuple[Workload, ...], tuple[str, ...]]:
    """Return all workloads, and notes for the user. ``examination`` holds the answers to ``urls_of``.

    Raises AppError for a page that is no success, InputError for a recording that cannot be replayed.
    """
    wanted = _wanted(request)
    if not wanted:
        return (golden(examination),), ()
    whole = Workload(requests=(), answers=(), host=examination.host)
    if any(workload_request.urls for workload_request in wanted):
        whole = golden(examination)
    exchanges = examination.exchanges if whole.requests else ()
    known = {
        asked.path: (asked, answer, exchange.page)
        for asked, answer, exchange in zip(whole.requests, whole.answers, exchanges, strict=True)
    }
    headers = (*request.headers, *_added(examination))
    workloads: list[Workload] = []
    notes: list[str] = []
    for workload_request in wanted:
        if workload_request.session is None:
            workload = _in_turn(workload_request.urls, known, whole)
        else:
            workload, workload_notes = session_workload(
                workload_request.session, app, examination, headers, think=workload_request.think
            )
            notes += workload_notes
        # a name tells one workload from others; without others none is needed
        workloads.append(replace(workload, name=workload_request.name if len(wanted) > 1 else ""))
    return tuple(workloads), tuple(notes)


def _wanted(request: RaceRequest) -> tuple[WorkloadRequest, ...]:
    """Return the workloads that are more than URLs of the only one."""
    if request.session is not None:
        return (WorkloadRequest(name="", session=request.session, think=request.think),)
    return request.workloads


def _in_turn(
    urls: Sequence[str], known: Mapping[str, tuple[Request, Answer, PageTime]], whole: Workload
) -> Workload:
    """A URL that stands there twice is asked for twice as often."""
    asked = [known[url] for url in urls]
    return replace(
        whole,
        requests=tuple(request for request, _, _ in asked),
        answers=tuple(answer for _, answer, _ in asked),
        page=mean_time(page for _, _, page in asked),
    )


def _added(examination: Examination) -> tuple[tuple[str, str], ...]:
    """Return the headers that every request to this app needs, as they were found out."""
    first = examination.exchanges[0]
    return tuple(pair for pair in first.request.headers if pair[0] in first.added)


def limits_of(request: RaceRequest, servers: Catalogue) -> dict[str, tuple[str, ...]]:
    """Return the stacks, by canonical path, of each workload that is for some only."""
    if len(request.workloads) < 2:
        return {}
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
    """Return the workloads that any of ``stacks`` meets; raises InputError for a stack that meets none."""
    for stack in stacks:
        if not any(meets(stack, workload, limits) for workload in workloads):
            raise InputError(f"stack {stack.path} has no workload: add it to the stacks of one, or leave it out")
    return tuple(workload for workload in workloads if any(meets(stack, workload, limits) for stack in stacks))


def meets(stack: Stack, workload: Workload, limits: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether ``stack`` is one of those that ``workload`` is for."""
    return workload.name not in limits or original_path(stack.path) in limits[workload.name]
