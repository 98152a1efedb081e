"""The services an app needs, started privately beside the stacks and shared by all of them.

Stacks are loaded one at a time, so what a service spends during a slice was spent for that slice's stack.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from ..model.errors import InputError, LaunchError, MissingError
from ..services import DATA, Service, ServiceRecipe, services
from .commands import Ended, run
from .copies import CACHE, RUN, copy, move, shortage
from .environments import cache_folder
from .guard import Guard
from .logs import OUTPUT, tail
from .privileges import hand_over, unprivileged
from .running import ended
from .templates import Templates

__all__ = ["Beside", "Services", "start_services"]

READY_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 600.0
POLL_S = 0.02

_NAME = re.compile(r"(?P<service>[^#]+)(#(?P<number>[2-9]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Running services: their processes by name, and the variables that tell the app where they are."""

    pids: Mapping[str, tuple[int, ...]]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance:
    """One of the services asked for; ``name`` is as written, ``memcached#2`` say."""

    name: str
    service: Service
    directory: Path
    recipe: ServiceRecipe

    @property
    def data(self) -> Path:
        return self.directory / DATA

    @property
    def logs(self) -> Path:
        return self.directory / "log"


class Services:
    """Private instances of what an app asked for, below a guard's directory; the guard ends them.

    Raises InputError for an unknown name, MissingError with the install command; nothing is started yet.
    """

    def __init__(self, names: Sequence[str], guard: Guard, cores: Sequence[int], templates: Templates) -> None:
        self._guard = guard
        self._cores = cores
        self._templates = templates
        if twice := {name for name in names if names.count(name) > 1}:
            raise InputError(
                f"[app] services: {sorted(twice)[0]!r} is asked for twice; a second one is called like memcached#2"
            )
        self._instances = tuple(_instance(name, guard.directory) for name in names)
        self._pids: dict[str, int] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The variables for the app. What two services would both set is the first one's."""
        merged: dict[str, str] = {}
        for instance in self._instances:
            merged = {**instance.recipe.environment, **merged}
        return merged

    @property
    def beside(self) -> Beside:
        """What runs now."""
        pids = {name: (pid,) for name, pid in self._pids.items()}
        return Beside(pids=pids, environment=self.environment)

    def identity(self) -> tuple[str, ...]:
        """Say everything that data of these services depend on, the same for every race."""
        return tuple(word for instance in self._instances for word in (instance.name, *_identity(instance.service)))

    def start(self, kept: Path | None = None) -> None:
        """Start all and wait until they answer: with what ``keep`` put into ``kept``, else empty.

        Raises LaunchError with the service's own last words, InputError when the disk is full.
        """
        for instance in self._instances:
            _make(instance)
            if kept is not None:
                copy(kept / instance.directory.name, instance.data, RUN)
            elif instance.recipe.prepare or instance.recipe.after:
                with self._empty(instance) as template:
                    copy(template / DATA, instance.data, RUN)
            self._pids[instance.name] = self._start(instance)
        for instance in self._instances:
            # a start may use every core; from here on they have the stacks'
            self._guard.pin(self._pids[instance.name], self._cores)

    def settle(self) -> None:
        """Have all do now what their maintenance would do later, after an app has filled them."""
        for instance in self._instances:
            for command in instance.recipe.settle:
                _run(instance, command)

    def stop(self) -> None:
        """End all cleanly. Raises LaunchError for one that does not."""
        for instance in reversed(self._instances):
            self._stop(instance, self._pids.pop(instance.name))

    def keep(self, folder: Path) -> None:
        """Move what the stopped services hold into the empty ``folder``."""
        for instance in self._instances:
            move(instance.data, folder / instance.directory.name, CACHE)

    def died(self) -> str:
        """Tell which services ended although nobody asked them to, with their last words; empty when none did."""
        states = self._guard.status(list(self._pids.values()))
        return "\n".join(
            f"{instance.name} {ended(code)}; {tail(instance.logs)}"
            for instance in self._instances
            if instance.name in self._pids and (code := states[self._pids[instance.name]].code) is not None
        )

    def _empty(self, instance: _Instance) -> AbstractContextManager[Path]:
        """Hold the template of an instance that nobody has used yet."""

        def build(folder: Path) -> None:
            self._templates.announce(f"building an empty {instance.service.name}")
            for command in instance.recipe.prepare:
                _run(instance, command)
            if instance.recipe.after:
                pid = self._start(instance)
                for command in instance.recipe.after:
                    _run(instance, command)
                self._stop(instance, pid)
            move(instance.data, folder / DATA, CACHE)
            _make(instance)

        return self._templates.holding(instance.service.name, _identity(instance.service), build)

    def _start(self, instance: _Instance) -> int:
        recipe = instance.recipe
        pid = self._guard.spawn(
            [*unprivileged(), *recipe.command],
            environment=_environment(instance),
            folder=instance.directory,
            log=instance.logs / OUTPUT,
            stop=recipe.stop,
        )
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not _ready(instance):
            code = self._guard.status([pid])[pid].code
            if code is not None or time.monotonic() > deadline:
                how = (
                    f"{ended(code)} at start" if code is not None else f"is not ready after {READY_TIMEOUT_S:.0f} s"
                )
                raise LaunchError(f"{instance.name} {how}{_room(instance)}", detail=tail(instance.logs))
            time.sleep(POLL_S)
        return pid

    def _stop(self, instance: _Instance, pid: int) -> None:
        self._guard.signal(pid, instance.recipe.stop)
        deadline = time.monotonic() + READY_TIMEOUT_S
        while (status := self._guard.status([pid])[pid]).family:
            if time.monotonic() > deadline:
                self._guard.kill(pid)
                break
            time.sleep(POLL_S)
        if status.code:
            message = f"{instance.name} {ended(status.code)} when it was asked to stop{_room(instance)}"
            raise LaunchError(message, detail=tail(instance.logs))
        if status.family:
            raise LaunchError(
                f"{instance.name} did not end within {READY_TIMEOUT_S:.0f} s{_room(instance)}",
                detail=tail(instance.logs),
            )


def start_services(names: Sequence[str], guard: Guard, cores: Sequence[int]) -> Beside:
    """Start empty services, with no app to be prepared, and wait until they answer; raises as Services does."""
    chosen = Services(names, guard, cores, Templates(cache_folder(), lambda what: None))
    chosen.start()
    return chosen.beside


def _instance(name: str, folder: Path) -> _Instance:
    """Find the service that ``name`` asks for; the variables of a NAME#2 end in ``_2``."""
    known = services()
    match = _NAME.fullmatch(name)
    if match is None or match["service"] not in known:
        raise InputError(
            f"[app] services: no service is called {name!r}; known are {', '.join(sorted(known))}, "
            "and a second one of a kind is called like memcached#2, up to #9"
        )
    service, number = known[match["service"]], match["number"]
    if lack := service.missing():
        packages = " ".join(service.apt)
        raise MissingError(
            f"[app] services: {service.name} is not installed ({lack}); run: apt-get install {packages}"
        )
    directory = folder / name.replace("#", "-")
    recipe = service.recipe(directory)
    if number:
        recipe = replace(recipe, environment={f"{key}_{number}": to for key, to in recipe.environment.items()})
    return _Instance(name=name, service=service, directory=directory, recipe=recipe)


def _identity(service: Service) -> tuple[str, ...]:
    """Say what the data of a service depend on: its version, its recipe, and whose rights it runs with."""
    command = service.version()
    try:
        done = run(command, folder=Path("/"), environment=os.environ, timeout_s=READY_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{service.name} cannot be started: {error}") from error
    if done.code:
        raise LaunchError(f"{service.name}: {' '.join(command)} {ended(done.code)}", detail=done.output)
    return (service.name, done.output, repr(service.recipe(Path("/run"))), *unprivileged(), str(os.geteuid()))


def _make(instance: _Instance) -> None:
    shutil.rmtree(instance.directory, ignore_errors=True)
    for folder in (instance.directory, instance.data, instance.logs):
        folder.mkdir(mode=0o700)
        hand_over(folder)


def _environment(instance: _Instance) -> dict[str, str]:
    """Nothing of the user's shell: PGPORT, MYSQL_HOST and their like would change what a service does."""
    kept = {name: value for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if (value := os.environ.get(name))}
    return {**kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(instance.directory)}


def _room(instance: _Instance) -> str:
    return shortage(instance.directory, RUN)


def _ready(instance: _Instance) -> bool:
    try:
        return _call(instance, instance.recipe.ready, READY_TIMEOUT_S).code == 0
    except subprocess.TimeoutExpired:
        return False


def _run(instance: _Instance, command: Sequence[str]) -> None:
    try:
        done = _call(instance, command, COMMAND_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{instance.name} cannot be made ready: {error}") from error
    if done.code:
        raise LaunchError(
            f"{instance.name}: {Path(command[0]).name} {ended(done.code)}{_room(instance)}",
            detail="\n".join(filter(None, (done.output, tail(instance.logs)))),
        )


def _call(instance: _Instance, command: Sequence[str], timeout_s: float) -> Ended:
    return run(
        [*unprivileged(), *command],
        folder=instance.directory,
        environment=_environment(instance),
        timeout_s=timeout_s,
    )
