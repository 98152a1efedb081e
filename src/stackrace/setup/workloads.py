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
    return tuple(dict.fromkeys(url for one in wanted for url in one.urls)) or ("/",)


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
    if any(one.urls for one in wanted):
        whole = golden(examination)
    exchanges = examination.exchanges if whole.requests else ()
    known = {
        asked.path: (asked, answer, exchange.page)
        for asked, answer, exchange in zip(whole.requests, whole.answers, exchanges, strict=True)
    }
    headers = (*request.headers, *_added(examination))
    found: list[Workload] = []
    notes: list[str] = []
    for one in wanted:
        if one.session is None:
            workload = _in_turn(one.urls, known, whole)
        else:
            workload, said = session_workload(one.session, app, examination, headers, think=one.think)
            notes += said
        # a name tells one workload from others; without others none is needed
        found.append(replace(workload, name=one.name if len(wanted) > 1 else ""))
    return tuple(found), tuple(notes)


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
        requests=tuple(one[0] for one in asked),
        answers=tuple(one[1] for one in asked),
        page=mean_time(one[2] for one in asked),
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
        one.name: tuple(parse_stack(path, servers.specs, frozenset(Interface)).path for path in one.stacks)
        for one in request.workloads
        if one.stacks is not None
    }


def met(
    workloads: Sequence[Workload], limits: Mapping[str, tuple[str, ...]], stacks: Sequence[Stack]
) -> tuple[Workload, ...]:
    """Return the workloads that any of ``stacks`` meets; raises InputError for a stack that meets none."""
    for stack in stacks:
        if not any(meets(stack, one, limits) for one in workloads):
            raise InputError(f"stack {stack.path} has no workload: add it to the stacks of one, or leave it out")
    return tuple(one for one in workloads if any(meets(stack, one, limits) for stack in stacks))


def meets(stack: Stack, workload: Workload, limits: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether ``stack`` is one of those that ``workload`` is for."""
    return workload.name not in limits or original_path(stack.path) in limits[workload.name]
