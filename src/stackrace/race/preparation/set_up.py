"""Everything that launches need: the app examined, the stacks chosen, their environments built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...app.environment import app_environment
from ...app.examiner.crawl import MOST_RACED
from ...app.examiner.messages import PythonFacts
from ...base.errors import MissingError
from ...base.process.priority import NICE, can_raise
from ...deploy.confinement import Confinement, confined, current_group
from ...deploy.environments import Environments, cache_folder
from ...deploy.folder_templates import Templates
from ...deploy.guard import Guard
from ...deploy.launcher import Launcher
from ...deploy.local_machine import LocalMachine
from ...deploy.machine import RaceProcesses, RemoteEngine
from ...deploy.preparing import OnPreparing, ignore_step
from ...deploy.rendering import hosted
from ...deploy.seeding import Seeding
from ...deploy.sockets import LOOPBACK, require_loopback
from ...deploy.wrong_answers import KnownAnswers
from ...measure.engine.engine import EngineRun, Play, RunningEngine
from ...measure.resources import Resources
from ...measure.workload import Workload
from ...stacks.servers import Catalogue, Hosted, catalogue
from ...stacks.stack import Stack, original_path
from ..request.request import RaceRequest
from ..results.race import LeftOut
from .app_examination import ExaminedApp, examined_app
from .bursts import Bursts, pilots, pool_note
from .choosing import Choice, asked, choose
from .chosen_app import asked_app, protected_project
from .contestants import CurrentStack, current_stack
from .core_shares import cores_of
from .installing import require_all, services_of
from .machine_notes import notes_of_this_machine
from .workloads import limits_of, meets, met

_PRIORITY = (
    f"Load engine, stacks and services run at nice {NICE}, so that other programs can take next to nothing from "
    "them; --no-priority leaves them as they are."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything that launches need, ready."""

    guard: Guard
    """Guard that ends every process of the launches; its folder holds the run directories."""
    examined: ExaminedApp
    stacks: tuple[Stack, ...]
    """The stacks to race, in the order in which they were chosen."""
    left_out: tuple[Stack, ...]
    """Stacks that the budget is too short for."""
    unready: tuple[LeftOut, ...]
    """Stacks that cannot be raced here."""
    levels: tuple[int, ...]
    """Numbers of connections, ascending."""
    workloads: tuple[Workload, ...]
    limits: Mapping[str, tuple[str, ...]]
    """Paths of the only stacks that get a workload, by its name; workloads without an entry are for all stacks."""
    launcher: Launcher
    services: Mapping[str, Sequence[int]]
    """Process ids of the app's services, by service name."""
    cores: Resources
    notes: tuple[str, ...]
    """Notes for the user, one sentence each."""
    limit: tuple[str, ...] = ()
    """Sentence about a limit found by bursts that is not a server, such as a thread pool; empty if none was
    found."""
    raised: bool = False
    """True if everything measured runs at a priority that other programs cannot share."""
    current: CurrentStack | None = None
    """The project's current deployment; None if it was not searched for, or not found."""
    engine: Callable[[Play], EngineRun] = RunningEngine
    """Function that starts a run of the load engine."""

    def machine(
        self, kind: Callable[..., LocalMachine] = LocalMachine, *, processes: RaceProcesses | None = None
    ) -> LocalMachine:
        """Return this machine, where the stacks run, with the race's other ``processes`` on it."""
        if self.raised:
            _prioritise(self.guard, self.launcher.confinement)
        return kind(
            guard=self.guard,
            launcher=self.launcher,
            cores=self.cores,
            services=self.services,
            debug=self.examined.debug,
            processes=processes,
            engine=self.engine,
        )


@contextmanager
def set_up(
    request: RaceRequest,
    on_preparing: OnPreparing = ignore_step,
    *,
    remote: RemoteEngine | None = None,
    bursts: bool = False,
    all_named: bool = True,
    most_pages: int = MOST_RACED,
) -> Iterator[Deployment]:
    """Set up everything that launches need, yield it, and clean up afterwards.

    If ``bursts`` is True, short loads measure how many requests stacks serve at once, so that a race can be
    planned. If ``all_named`` is False and the budget is too short for all requested stacks, fewer of them are
    raced. With ``remote``, load engines run on other machines. ``most_pages`` is the number of pages to race if
    none is named. Stack paths are checked before anything is started. Raises InputError, or another StackraceError,
    that says what to do.
    """
    servers = catalogue().extended(request.servers)
    app = asked_app(request)
    asked(request.stacks or (), servers, app.offered, folder=request.folder)
    if any(part.files for part in request.asked_parts):
        # a wrong file is refused before anything is started
        current_stack(request, servers, app.offered)
    require_all(request, servers, app)
    require_loopback()
    environments = Environments(cache_folder(), on_preparing, app.project)
    templates = Templates(cache_folder(), on_preparing)
    cores = cores_of(request, remote_engine=remote is not None)
    raised = request.priority and can_raise()
    with confined(cores.memory_bytes) as confinement, Guard() as guard:
        cores = replace(cores, enforced=confinement.enforced)
        if raised and bursts:
            # otherwise the preparation would starve behind another race
            _prioritise(guard, confinement)
        seeding = Seeding(services_of(request), guard, cores.stack_cores, templates)
        examined = examined_app(
            request,
            app,
            environments,
            protected_project(request, app, guard, on_preparing),
            seeding.data,
            seeding.environment,
            on_preparing,
            seeding.bring_up,
            most_pages,
        )
        python = None if examined.interpreter is None else examined.interpreter.minor
        current = current_stack(
            request, servers, examined.interfaces, python, examined.app.entry, examined.app.python
        )
        limits = limits_of(request, servers)
        homes: dict[str, Path | None] = {}
        workloads = examined.workloads
        launcher = Launcher(
            guard=guard,
            catalogue=servers,
            host_for=partial(_hosted, examined, homes, guard),
            environment=app_environment(examined.app),
            workloads_for=lambda stack: [workload for workload in workloads if meets(stack, workload, limits)],
            cores=cores.stack_cores,
            confinement=confinement,
            known=KnownAnswers(examined.ask_again),
            debug=examined.debug,
            examination_s=examined.took_s,
            host=LOOPBACK if remote is None else remote.host,
        )

        def tried(candidates: Sequence[Stack]) -> tuple[Workload, ...]:
            def build(stack: Stack) -> None:
                homes[stack.path] = environments.of_stack(stack, servers, examined.interpreter)

            if raised:
                _prioritise(guard, confinement)
            tries = Bursts(launcher=launcher, build=build, request=request, cores=cores, on_preparing=on_preparing)
            return tries.measured(workloads, pilots(candidates, servers))

        choice = choose(
            request,
            examined,
            servers,
            cores,
            None if current is None else current.stack,
            measured=tried if bursts and request.repeats is None else None,
            all_named=all_named,
        )
        named = request.stacks is not None
        built, unbuilt = _build(choice, servers, environments, examined.interpreter, named=named)
        homes.update(built)
        stacks = tuple(stack for stack in choice.candidates if stack.path in built)
        launcher.forget(built)
        attempted = {*built, *(each.stack for each in unbuilt)}
        reasons = {each.stack: each.reason for each in unbuilt}
        current = (
            None if current is None else current.among(stacks, choice.current, reasons.get(choice.current, ""))
        )
        limits = limits_of(request, servers, choice.current)
        workloads = met(choice.workloads, limits, stacks)
        yield Deployment(
            guard=guard,
            examined=examined,
            stacks=stacks,
            left_out=tuple(stack for stack in choice.candidates if stack.path not in attempted),
            unready=(*choice.left_out, *(each for each in unbuilt if each.stack != choice.current)),
            levels=choice.levels,
            workloads=workloads,
            limits=limits,
            launcher=launcher,
            services=seeding.pids,
            cores=cores,
            notes=(
                *examined.notes,
                *notes_of_this_machine(cores),
                *_memory_note(confinement),
                *((_PRIORITY,) if raised else ()),
            ),
            limit=pool_note(examined.pool, workloads, len(cores.stack_cores)),
            raised=raised,
            current=current,
            engine=RunningEngine if remote is None else remote.engine,
        )


def _build(
    choice: Choice, catalogue: Catalogue, environments: Environments, app: PythonFacts | None, *, named: bool
) -> tuple[Mapping[str, Path | None], tuple[LeftOut, ...]]:
    """Build the environments of the stacks to race; return their folders by path, and the stacks that failed.

    If the user ``named`` the stacks, the first environment that cannot be built raises MissingError; otherwise the
    next candidate replaces its stack. The current stack counts as not named. The folder is None for a stack that
    needs no environment. Raises MissingError with all reasons if no environment can be built.
    """
    homes: dict[str, Path | None] = {}
    errors: dict[str, MissingError] = {}
    for stack in choice.candidates:
        if len(homes) == choice.number:
            break
        try:
            homes[stack.path] = environments.of_stack(stack, catalogue, app)
        except MissingError as error:
            if named and stack.path != choice.current:
                raise error.about(f"stack {stack.path!r}") from None
            errors[stack.path] = error
    if errors and not homes:
        raise _none_built(errors)
    return homes, tuple(LeftOut(stack=path, reason=error.message) for path, error in errors.items())


def _none_built(errors: Mapping[str, MissingError]) -> MissingError:
    """Return the first of ``errors``, which are by stack, with the other reasons in its detail."""
    first = next(iter(errors.values()))
    reasons: dict[str, str] = {}
    for path, error in errors.items():
        reasons.setdefault(error.message, f"stack {path!r}: {error.message}")
    _, *others = reasons.values()
    failure = MissingError(first.message, detail="\n".join(filter(None, (first.detail, *others))))
    failure.exit_code = first.exit_code
    return failure


def _prioritise(guard: Guard, confinement: Confinement) -> None:
    if not guard.raised:
        guard.prioritise(confinement.folder or current_group())


def _hosted(examined: ExaminedApp, homes: Mapping[str, Path | None], guard: Guard, stack: Stack) -> Hosted:
    return hosted(
        examined.app,
        stack.interface,
        home=homes[original_path(stack.path)],
        folder=guard.directory,
        app_packages=examined.interpreter.site_packages if examined.interpreter else (),
        versions={
            **(examined.interpreter.distributions if examined.interpreter else {}),
            **{hop.spec.package: hop.version for hop in stack.hops if hop.version},
        },
        view=guard.view,
        proxied=any(
            request.has("x-forwarded-proto") for workload in examined.workloads for request in workload.requests
        ),
    )


def _memory_note(confinement: Confinement) -> tuple[str, ...]:
    if confinement.memory_bytes is None or not confinement.why_not:
        return ()
    return (
        "What each stack holds is looked at between slices, and each of its processes is limited by itself: "
        f"no control group can be had, because {confinement.why_not}.",
    )
