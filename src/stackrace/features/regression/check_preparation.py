"""Preparation of a check: both sides are set up on this machine, with one plan for the two."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...app.lock_files import changes_between
from ...base.errors import InputError, LimitError, StackraceError
from ...deploy.environments import Environments, cache_folder
from ...deploy.machine import RaceProcesses, Sides
from ...deploy.preparing import OnPreparing, ignore_step
from ...deploy.running_stack import versions_of
from ...deploy.wrong_answers import name_of
from ...measure.workload import Sameness
from ...race.judge.looks import LOOKS
from ...race.pacing.overhead import planned_overhead
from ...race.pacing.pace import planned_lengths, response_s
from ...race.plan import RacePlan
from ...race.preparation.chosen_app import asked_app, guarded_project
from ...race.preparation.leftovers import remembered
from ...race.preparation.prepared import PreparedRace, plan_of, wait_for_ports
from ...race.preparation.set_up import Deployment, set_up
from ...race.request.request import RaceRequest
from ...race.results.comparison import Response
from ...race.results.parts import Parts
from ...race.run.runner import check_budget
from ...report.words.findings import warning
from ...stacks.servers.site import versions_by_key
from ...stacks.stack import Side, Stack
from ...store.recorder import recorder
from ...validity.registry import check_limits
from .interpreters import on_stacks, with_interpreters
from .model import ON_REQUEST, TERMS, Contender, GateFacts
from .ruling import CHECKING
from .tails import least_answers
from .variants import Variant, VariantRequest, variants

if TYPE_CHECKING:
    from ...store.store import Store

_BUDGET_S = 600.0

_USUAL_CONCURRENCY = 10
"""Default number of connections: it keeps the usual two processes busy, and a request still waits for few
others, so that p99 is about the app."""


_ANSWERS = 200
"""Answers in a slice: with so many, counting only whole answers adds an SD of about 0.3 %."""

_MOST_SLICE_S = 1.0
"""The longest slice, unless a quantile needs longer ones: another launch is worth more than a longer slice."""

_BATCHES = 10
"""Number of batches of answers that decides most quantiles: for p99, 3,000 answers of each side."""

_LEAST_PAIRS = 25
"""Pairs of launches that must fit into the budget, however long slices are."""


def _judged_of(allowances: Mapping[Response, float | None]) -> dict[str, float]:
    """Return the allowance of each response that is judged, by name: the defaults, changed by ``allowances``.

    None leaves a response out.
    """
    usual = {response: terms.allowance for response, terms in TERMS.items() if response not in ON_REQUEST}
    return {str(each): allowed for each, allowed in {**usual, **allowances}.items() if allowed is not None}


@contextmanager
def ready_check(
    request: RaceRequest,
    own: Mapping[Side, VariantRequest],
    *,
    base: str | None,
    allowances: Mapping[Response, float | None],
    store: Store | None,
    on_preparing: OnPreparing = ignore_step,
) -> Iterator[PreparedRace]:
    """Prepare a check, to be stored in ``store``; no process and no file is left afterwards.

    ``request`` has the app, its pages and the load; a check uses only one of several stacks or levels. ``own`` has
    the options of each side, ``base`` is the revision to compare with: see `variants`. For ``allowances`` see
    `_judged_of`.

    Both sides have the same cores and memory, and separate services with separate data. The base is asked for the
    page that was found for the head. The budget counts from the first launch. Raises InputError and its subclasses
    with a remedy if there is nothing to compare; an error of one side names the side.
    """
    judged = _judged_of(allowances)
    if not judged:
        raise InputError("--allow: every response is left out, so there is nothing to check; leave one in")
    environments = Environments(cache_folder(), on_preparing, asked_app(request).project)
    with ExitStack() as held:
        found = held.enter_context(variants(_bounded(request), base, own))
        with guarded_project(found.sides[Side.HEAD].request, on_preparing) as project:
            both = on_stacks(with_interpreters(found, environments, project), project)
        named = both.sides
        after = held.enter_context(_deployed(Side.HEAD, named[Side.HEAD], on_preparing))
        alike = _alike(named[Side.BASE], after)
        before = held.enter_context(_deployed(Side.BASE, alike, on_preparing))
        deployments = {Side.BASE: before, Side.HEAD: after}
        _refuse_other_code(deployments, both.moved)
        sides = _contender(alike, before), _contender(named[Side.HEAD], after)
        facts = GateFacts(
            base=sides[0],
            head=sides[1],
            allowances=judged,
            packages=changes_between(_installed(before), _installed(after)),
            upgraded=_upgraded(before, after, sides) if both.alike else (),
            changed_rarely=_rarely_changing(before, after),
        )
        asked = named[Side.HEAD].request
        plan = _plan(asked, deployments, judged)
        wait_for_ports(on_preparing)
        folder, stacks = after.guard.directory, len(plan.stacks)
        warnings = check_limits(plan.race.loads, plan.race.cores, folder=folder, stacks=stacks)
        notes = (
            *dict.fromkeys((*both.notes, *after.notes, *before.notes, *plan.race.notes)),
            *map(warning, warnings),
        )
        processes = RaceProcesses()
        ready = PreparedRace(
            request=asked,
            plan=replace(plan, race=replace(plan.race, notes=notes, parts=Parts().having(facts))),
            machine=Sides(
                {side: each.machine(processes=processes) for side, each in deployments.items()},
                {side: each.workloads for side, each in deployments.items()},
                partial(_search_others, deployments),
            ),
            folder=folder,
            begun_s=time.monotonic(),
            scheduling=CHECKING,
        )
        folders = [each.guard.directory for each in deployments.values()]
        folders += [both.moved[1].parent] if both.moved else []
        held.enter_context(remembered(folders, cache_folder() / "checks"))
        check_budget(ready.plan, begun_s=ready.begun_s, scheduling=ready.scheduling)
        with recorder(store, plan.race.id) as keeper:
            yield replace(ready, keeper=keeper)


def _bounded(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with a budget and without a twin, which two sides of one app do not need.

    Raises InputError if it asks for runs: a check makes slices.
    """
    if request.repeats is not None:
        raise InputError("a check makes slices, not runs; leave repeats, requests and duration out")
    return replace(request, twin=False, exhaustive=False, budget_s=request.budget_s or _BUDGET_S)


def _alike(variant: Variant, head: Deployment) -> Variant:
    """Return the base with the pages that were found for the head, unless the user named pages."""
    request = variant.request
    if request.urls is not None or request.session is not None or request.workloads or request.bundled is not None:
        return variant
    paths = tuple(asked.path for asked in head.workloads[0].requests)
    return replace(variant, request=replace(request, urls=paths))


@contextmanager
def _deployed(side: Side, variant: Variant, on_preparing: OnPreparing) -> Iterator[Deployment]:
    """Set one side up; the message of an error names the side."""
    with ExitStack() as held:
        try:
            # if nobody named pages, one is enough: the base may lack the head's other pages
            bursts = side is Side.HEAD
            deployment = held.enter_context(set_up(variant.request, on_preparing, bursts=bursts, most_pages=1))
        except LimitError:
            raise
        except StackraceError as error:
            its = variant.contender
            commit = f", {its.revision[:10]}" if its.revision else ""
            raise InputError(
                f"the {side} ({its.label}{commit}) cannot be raced: {error.message}", detail=error.detail
            ) from error
        yield deployment


def _refuse_other_code(deployments: Mapping[Side, Deployment], moved: tuple[Path, Path] | None) -> None:
    if moved is None:
        return
    roots = {side: deployment.examined.project.root.resolve() for side, deployment in deployments.items()}
    if roots[Side.BASE] == roots[Side.HEAD]:
        raise InputError(
            f"both sides would run the code in {roots[Side.HEAD]}, which is not below {moved[0]}; set [app] "
            "root or --project to the folder of the repository"
        )


def _contender(variant: Variant, deployment: Deployment) -> Contender:
    interpreter, stack, launcher = deployment.examined.interpreter, deployment.stacks[0], deployment.launcher
    python = "" if interpreter is None else interpreter.version
    versions = versions_of(stack, launcher.catalogue, launcher.host_for(stack).runtime)
    return replace(variant.contender, python=python, stack=stack.path, versions=versions)


def _installed(deployment: Deployment) -> dict[str, str]:
    """Return the versions of the packages in the app's own environment; empty for an app without Python."""
    interpreter = deployment.examined.interpreter
    return {} if interpreter is None else versions_by_key(interpreter.distributions)


def _upgraded(base: Deployment, head: Deployment, sides: tuple[Contender, Contender]) -> tuple[str, ...]:
    """Return the servers whose version differs; empty if anything else in the stacks or packages differs."""
    stacks = [each.stacks[0] for each in (base, head)]
    plain = [replace(each, hops=tuple(replace(hop, version="") for hop in each.hops)) for each in stacks]
    servers = {hop.spec.package for each in stacks for hop in each.hops}
    others = [{name: v for name, v in _installed(each).items() if name not in servers} for each in (base, head)]
    is_upgrade = plain[0].identity == plain[1].identity and others[0] == others[1]
    is_upgrade = is_upgrade and sides[0].python == sides[1].python
    return changes_between(sides[0].versions, sides[1].versions) if is_upgrade else ()


def _search_others(deployments: Mapping[Side, Deployment], side: Side, pages: Collection[str]) -> None:
    """Ask the app of the other side for ``pages`` that change on ``side``: perhaps they change on both sides."""
    for other, deployment in deployments.items():
        for workload in deployment.workloads if other is not side else ():
            deployment.launcher.known.search(workload, pages)


def _rarely_changing(before: Deployment, after: Deployment) -> tuple[str, ...]:
    """Return the pages that changed rarely while the head's app was examined, and do not change in the base's.

    A dozen answers seldom show such a change, so the base's app is asked again, many times.
    """
    pairs = (pair for each in before.workloads for pair in zip(each.requests, each.answers, strict=False))
    constant = {name_of(request) for request, answer in pairs if answer.sameness is Sameness.BODY}
    _search_others({Side.BASE: before}, Side.HEAD, constant & {*after.examined.rarely})
    changed = {page for each in before.workloads for page in before.launcher.known.pages(each)}
    return tuple(name for name in after.examined.rarely if name in constant - changed)


def _plan(request: RaceRequest, deployments: Mapping[Side, Deployment], judged: Mapping[str, float]) -> RacePlan:
    """Return one plan for both sides: each stack under its side's name, at one level."""
    plan = plan_of(request, deployments[Side.HEAD])
    stacks: tuple[Stack, ...] = tuple(deployment.stacks[0].on(side) for side, deployment in deployments.items())
    levels = [load.concurrency for load in plan.race.loads]
    wanted = (
        max(levels) if request.concurrency else max([c for c in levels if c <= _USUAL_CONCURRENCY] or levels[:1])
    )
    race = replace(
        plan.race,
        loads=tuple(load for load in plan.race.loads if load.concurrency == wanted),
        limits={},
        # every workload is judged, so all are measured alike
        exhaustive=len(plan.workloads) > 1,
        left_out=(),
        current="",
        unserved=(),
    )
    ahead = replace(plan, race=race, twin=False, most_blocks=LOOKS[-1]).among(stacks)
    return replace(ahead, slice_s=request.slice_s or slice_s(ahead, judged))


def slice_s(plan: RacePlan, judged: Iterable[str]) -> float | None:
    """Return the length of slices in seconds; None for the length that a race would choose.

    Only whole answers count, so a race's slices of a slow page have too few answers to show a difference of 1 %. A
    check's slices have ``_ANSWERS``, or last ``_MOST_SLICE_S``. They are longer if a quantile is ``judged`` and the
    budget would otherwise have less than ``_BATCHES`` of answers: with fewer launches, more of the time is load.
    """
    cores, concurrency = len(plan.race.cores.stack_cores), plan.race.loads[0].concurrency
    each_s = max(response_s(each.page, concurrency, cores) / concurrency for each in plan.workloads)
    quantiles = [quantile for response in judged if (quantile := Response(response).quantile) is not None]
    answers = max((_BATCHES * least_answers(quantile) for quantile in quantiles), default=0)
    wanted_s = max(min(_ANSWERS * each_s, _MOST_SLICE_S), _filling_s(plan, answers * each_s))
    return wanted_s if wanted_s > planned_lengths(plan).slice_s else None


def _filling_s(plan: RacePlan, loaded_s: float) -> float:
    """Return the length of slices with which the budget has ``loaded_s`` of load for each side and workload.

    A pair of launches takes e seconds beside its n slices of s, and a budget B has time for B/(e + n·s) pairs:
    s = loaded·e/(B − n·loaded). It is limited so that ``_LEAST_PAIRS`` fit into the budget.
    """
    assert plan.budget_s is not None
    sides = len(plan.stacks)
    slices = sides * len(plan.workloads)
    overhead = planned_overhead(plan, planned_lengths(plan))
    beside_s = overhead.empty_block_s(sides) + slices * overhead.between_s
    spare_s = plan.budget_s - slices * loaded_s
    most_s = (plan.budget_s / _LEAST_PAIRS - beside_s) / slices
    return min(loaded_s * beside_s / spare_s, most_s) if spare_s > 0 else most_s
