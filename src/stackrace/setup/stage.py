"""Everything set up for launches: the app loaded, the stacks chosen, their environments built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..apps import app_environment, bundled
from ..deploy.beside import Beside
from ..deploy.confinement import Confinement, confined
from ..deploy.environments import Environments, cache_folder
from ..deploy.guard import Guard
from ..deploy.here import Here
from ..deploy.hosting import hosted
from ..deploy.launcher import Launcher
from ..deploy.seeding import Seeding
from ..deploy.templates import Templates
from ..model.errors import MissingError
from ..model.preparing import OnPreparing, unheard
from ..model.race import Budget
from ..model.stack import Stack, original_path
from ..model.workload import Workload
from ..race.pace import hands_of
from ..servers import Catalogue, Hosted, catalogue
from ..spec.request import RaceRequest
from .choosing import asked, build, levels_for, most_used, number_for
from .cores import budget_of
from .loading import LoadedApp, load_app, offered_by
from .workloads import limits_of, meets, met

__all__ = ["Stage", "set_up"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What launches need, ready. ``notes`` are worth telling the user.

    ``limits`` names the only stacks, by path, that meet the workload of a name; ``left_out`` are stacks that nobody
    named and for which the budget is too short; ``levels`` the numbers of connections.
    """

    guard: Guard
    loaded: LoadedApp
    stacks: tuple[Stack, ...]
    left_out: tuple[Stack, ...]
    levels: tuple[int, ...]
    workloads: tuple[Workload, ...]
    limits: Mapping[str, tuple[str, ...]]
    launcher: Launcher
    beside: Beside
    cores: Budget
    notes: tuple[str, ...]

    def place(self, kind: Callable[..., Here] = Here) -> Here:
        """Return this machine as the place where the stacks run."""
        return kind(
            guard=self.guard, launcher=self.launcher, cores=self.cores, beside=self.beside, debug=self.loaded.debug
        )


@contextmanager
def set_up(request: RaceRequest, on_preparing: OnPreparing = unheard) -> Iterator[Stage]:
    """Set everything up, and leave nothing behind afterwards.

    Stack paths are checked before anything is started. Raises InputError and its kin with the way out.
    """
    servers = catalogue().extended(request.servers)
    asked(request.stacks or (), servers, offered_by(request))
    environments = Environments(cache_folder(), on_preparing)
    cores = budget_of(request)
    with confined(cores.memory_bytes) as confinement, Guard() as guard:
        cores = replace(cores, enforced=confinement.enforced)
        beside = Seeding(_services(request), guard, cores.stack_cores, Templates(cache_folder(), on_preparing))
        loaded = load_app(request, environments, beside.data, beside.environment, on_preparing, beside.bring_up)
        ready = _stacks(request.stacks, loaded, servers)
        levels = levels_for(request, loaded.workloads, hands_of(ready, cores))
        number = number_for(request, ready, loaded.workloads, levels, cores)
        notes = (*loaded.notes, *_told(confinement))
        homes: dict[str, Path | None] = {}
        broken: set[str] = set()
        for stack in ready:
            if len(homes) == number:
                break
            try:
                homes[stack.path] = build(stack, servers, environments, loaded.interpreter)
            except MissingError as error:
                if request.stacks is not None:
                    raise
                notes = (*notes, error.message)
                broken.add(stack.path)
        stacks = tuple(stack for stack in ready if stack.path in homes)
        limits = limits_of(request, servers)
        workloads = met(loaded.workloads, limits, stacks)

        def host_for(stack: Stack) -> Hosted:
            return hosted(
                loaded.app,
                stack.interface,
                home=homes[original_path(stack.path)],
                folder=guard.directory,
                app_packages=loaded.interpreter.site_packages if loaded.interpreter else (),
            )

        launcher = Launcher(
            guard=guard,
            catalogue=servers,
            host_for=host_for,
            environment=app_environment(loaded.app),
            workloads_for=lambda stack: [one for one in workloads if meets(stack, one, limits)],
            cores=cores.stack_cores,
            confinement=confinement,
        )
        yield Stage(
            guard=guard,
            loaded=loaded,
            stacks=stacks,
            left_out=tuple(one for one in ready if one.path not in homes and one.path not in broken),
            levels=levels,
            workloads=workloads,
            limits=limits,
            launcher=launcher,
            beside=beside.running,
            cores=cores,
            notes=notes,
        )


def _told(confinement: Confinement) -> tuple[str, ...]:
    """Say by what a budget of memory is held where the kernel does not hold it."""
    if confinement.memory_bytes is None or not confinement.why_not:
        return ()
    return (
        "What each stack holds is looked at between slices, and each of its processes is limited by itself: "
        f"no control group can be had, because {confinement.why_not}.",
    )


def _services(request: RaceRequest) -> tuple[str, ...]:
    """Return what is asked for, after what a bundled app cannot do without."""
    own = bundled(request.bundled).services if request.bundled is not None else ()
    return tuple(dict.fromkeys((*own, *request.services)))


def _stacks(paths: Sequence[str] | None, loaded: LoadedApp, servers: Catalogue) -> tuple[Stack, ...]:
    offered, python = loaded.app.interfaces, loaded.python_minor
    if paths is not None:
        return asked(paths, servers, offered, python)
    return most_used(servers, offered, python)
