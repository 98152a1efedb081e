"""The services that an app needs, started privately beside the stacks and shared by all of them.

Stacks are loaded one at a time, so the work of a service during a slice belongs to that slice's stack.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.errors import InputError, LaunchError, MissingError, said_by
from ..base.files import remove_tree
from ..base.process import CommandResult, Deadline, run
from ..base.process.view import UNPROTECTED
from ..base.temporary import RUN, shortage
from ..base.text import nearest
from ..stacks.services import DATA, Service, ServiceRecipe, services
from .folder_templates import CACHE, Templates, copy, move
from .guard import Guard
from .preparing import Preparing, Step
from .privileges import hand_over, has_name, unprivileged
from .running_stack import OUTPUT, ended, tail

_POLL_S = 0.02


class Services:
    """Private instances of the services of an app, below a guard's directory; the guard ends them.

    Raises InputError for an unknown name, or if a service refuses this user, MissingError with the install command;
    nothing is started yet.
    """

    def __init__(self, names: Sequence[str], guard: Guard, cores: Sequence[int], templates: Templates) -> None:
        self._guard = guard
        self._cores = cores
        self._templates = templates
        if twice := {name for name in names if names.count(name) > 1}:
            raise InputError(
                f"[app] services: {sorted(twice)[0]!r} is named twice; call the second one memcached#2, or the like"
            )
        self._instances = tuple(_instance_of(name, guard.directory) for name in names)
        self._pids: dict[str, int] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables for the app. If two services set the same variable, the first service wins."""
        merged: dict[str, str] = {}
        for instance in self._instances:
            merged = {**instance.recipe.environment, **merged}
        return merged

    @property
    def pids(self) -> dict[str, tuple[int, ...]]:
        """Running processes, by service name."""
        return {name: (pid,) for name, pid in self._pids.items()}

    def identity(self) -> tuple[str, ...]:
        """Return everything that the data of these services depend on, the same for every race."""
        return tuple(word for instance in self._instances for word in (instance.name, *_identity(instance.service)))

    def start(self, folder: Path | None = None) -> None:
        """Start all services and wait until they answer.

        Their data come from ``folder``, where ``keep`` moved them; with None the services are empty.

        Raises LaunchError with the service's last output, InputError if the disk is full.
        """
        for instance in self._instances:
            instance.make()
            if folder is not None:
                copy(folder / instance.directory.name, instance.data, RUN)
            elif instance.recipe.prepare or instance.recipe.after:
                with self._empty(instance) as template:
                    # remove other files that building the template left
                    instance.make()
                    copy(template / DATA, instance.data, RUN)
            self._pids[instance.name] = self._start(instance)

    def pin(self) -> None:
        """Bind all services to their cores: they may use every core to start and fill, but not during a race."""
        for pid in self._pids.values():
            self._guard.pin(pid, self._cores)

    def settle(self) -> None:
        """Run the maintenance of all services now, after an app has filled them, so that none runs later."""
        for instance in self._instances:
            for command in instance.recipe.settle:
                instance.run(command)

    def stop(self) -> None:
        """Stop all services cleanly; raise LaunchError if one fails to stop."""
        for instance in reversed(self._instances):
            self._stop(instance, self._pids.pop(instance.name))

    def keep(self, folder: Path) -> None:
        """Move the data of the stopped services into the empty ``folder``."""
        for instance in self._instances:
            move(instance.data, folder / instance.directory.name, CACHE)

    def died(self) -> str:
        """Return a line for each service that ended unexpectedly, with its last output; empty if all run."""
        states = self._guard.status(list(self._pids.values()))
        return "\n".join(
            f"{instance.name} {ended(code)}; {tail(instance.logs)}"
            for instance in self._instances
            if instance.name in self._pids and (code := states[self._pids[instance.name]].code) is not None
        )

    def _empty(self, instance: _Instance) -> AbstractContextManager[Path]:
        """Return a context with the template: the data of a service that no app has used."""

        def build(folder: Path) -> None:
            self._templates.on_preparing(Preparing(step=Step.SERVICE, subject=instance.service.name))
            for command in instance.recipe.prepare:
                instance.run(command)
            if instance.recipe.after:
                pid = self._start(instance)
                for command in instance.recipe.after:
                    instance.run(command)
                self._stop(instance, pid)
            move(instance.data, folder / DATA, CACHE)

        return self._templates.holding(instance.service.name, _identity(instance.service), build)

    def _start(self, instance: _Instance) -> int:
        recipe = instance.recipe
        pid = self._guard.spawn(
            [*unprivileged(), *recipe.command],
            view=UNPROTECTED,
            environment=instance.environment,
            folder=instance.directory,
            log=instance.logs / OUTPUT,
            stop=recipe.stop,
        )
        deadline = Deadline(_READY_TIMEOUT_S, lambda: self._guard.status([pid])[pid].alive)
        while not instance.ready():
            code = self._guard.status([pid])[pid].code
            if code is not None or deadline.is_over:
                late = f"is not ready {deadline.when}"
                how = late if code is None else f"{ended(code)} at start"
                raise instance.failure(f"{instance.name} {how}")
            time.sleep(_POLL_S)
        return pid

    def _stop(self, instance: _Instance, pid: int) -> None:
        self._guard.signal(pid, instance.recipe.stop)
        deadline = Deadline(_READY_TIMEOUT_S, lambda: status.alive)
        while (status := self._guard.status([pid])[pid]).alive:
            if deadline.is_over:
                self._guard.kill(pid)
                break
            time.sleep(_POLL_S)
        if status.code:
            raise instance.failure(f"{instance.name} {ended(status.code)} when it was asked to stop")
        if status.alive:
            raise instance.failure(f"{instance.name} did not end {deadline.when}")


_READY_TIMEOUT_S = 60.0
_COMMAND_TIMEOUT_S = 600.0

_NAME = re.compile(r"(?P<service>[^#]+)(#(?P<number>[2-9]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    name: str
    """Name as written: ``memcached#2``, for example."""
    service: Service
    directory: Path
    recipe: ServiceRecipe

    @property
    def data(self) -> Path:
        """Folder of all data of the service."""
        return self.directory / DATA

    @property
    def logs(self) -> Path:
        """Folder of the service's output; its data may contain other files that are called logs."""
        return self.directory / "log"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables without the user's: PGPORT and the like would change the service's behaviour."""
        kept = {name: value for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if (value := os.environ.get(name))}
        return {**kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.directory)}

    def make(self) -> None:
        """Create the folders of the service, empty; remove old ones."""
        remove_tree(self.directory)
        for folder in (self.directory, self.data, self.logs):
            folder.mkdir(mode=0o700)
            hand_over(folder)

    def ready(self) -> bool:
        """Tell whether the service answers."""
        try:
            return self._call(self.recipe.ready, _READY_TIMEOUT_S).code == 0
        except subprocess.TimeoutExpired:
            return False

    def run(self, command: Sequence[str]) -> None:
        """Run ``command`` to its end; raise LaunchError with the output of command and service if it fails."""
        try:
            result = self._call(command, _COMMAND_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LaunchError(f"{self.name} cannot be made ready: {said_by(error, where=True)}") from error
        if result.code:
            raise self.failure(f"{self.name}: {Path(command[0]).name} {ended(result.code)}", result.output)

    def failure(self, message: str, words: str = "") -> LaunchError:
        """Return an error with ``message``, a note if the disk is full, ``words`` and the service's last output."""
        detail = "\n".join(filter(None, (words, tail(self.logs))))
        return LaunchError(f"{message}{shortage(self.directory, RUN)}", detail=detail)

    def _call(self, command: Sequence[str], timeout_s: float) -> CommandResult:
        return run(
            [*unprivileged(), *command],
            folder=self.directory,
            environment=self.environment,
            timeout_s=timeout_s,
        )


def _instance_of(name: str, folder: Path) -> _Instance:
    """Return the instance that ``name`` asks for; the variables of a NAME#2 end in ``_2``.

    Raises InputError for an unknown name and for a service that refuses this user, MissingError with the install
    command.
    """
    service, number = service_of(name)
    if item := service.missing():
        raise MissingError(
            f"[app] services: {service.name} is not installed ({item}); run: stackrace install {service.name}"
        )
    if service.needs_user_name and not has_name():
        raise InputError(
            f"[app] services: {service.name} does not run as user {os.geteuid()}, who has no name in /etc/passwd; "
            "run stackrace as a user with a name, or in a container add: -v /etc/passwd:/etc/passwd:ro"
        )
    directory = folder / name.replace("#", "-")
    recipe = service.recipe(directory)
    if number:
        recipe = replace(recipe, environment={f"{key}_{number}": to for key, to in recipe.environment.items()})
    return _Instance(name=name, service=service, directory=directory, recipe=recipe)


def service_of(name: str) -> tuple[Service, str | None]:
    """Return the service that ``name`` asks for, and its number, None without ``#``.

    Raises InputError with the nearest names if there is no such service.
    """
    known = services()
    kind = name.partition("#")[0]
    match = _NAME.fullmatch(name)
    if kind not in known:
        near = nearest(kind, known)
        way_out = f"known are {', '.join(sorted(known))}"
        if near:
            way_out = f'did you mean services = ["{near[0]}{name.removeprefix(kind)}"]?'
        raise InputError(f"[app] services: there is no service {name!r}; {way_out}")
    if match is None:
        way_out = f'further ones of a kind are numbered: services = ["{kind}", "{kind}#2"]'
        raise InputError(f"[app] services: {name!r} is not numbered 2 to 9; {way_out}")
    return known[match["service"]], match["number"]


def _identity(service: Service) -> tuple[str, ...]:
    """Return what the data of a service depend on: its version, its recipe, and the rights it runs with."""
    command = service.version()
    try:
        result = run(command, folder=Path("/"), environment=os.environ, timeout_s=_READY_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{service.name} cannot be started: {said_by(error, where=True)}") from error
    if result.code:
        raise LaunchError(f"{service.name}: {' '.join(command)} {ended(result.code)}", detail=result.output)
    return (service.name, result.output, repr(service.recipe(Path("/run"))), *unprivileged(), str(os.geteuid()))
