"""The services an app needs, started privately beside the stacks and shared by all of them.

Stacks are loaded one at a time, so what a service spends during a slice was spent for that slice's stack.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import InputError
from ..base.numbers import duration
from ..stacks.services import DATA
from .copies import CACHE, RUN, copy, move
from .guard import Guard
from .instance import READY_TIMEOUT_S, Instance, identity, instance_of
from .preparing import Preparing, Step
from .privileges import unprivileged
from .running_stack import OUTPUT, ended, tail
from .templates import Templates

__all__ = ["RunningServices", "Services"]

POLL_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServices:
    """Services that run for an app."""

    pids: Mapping[str, tuple[int, ...]]
    """Their processes, by the services' names."""
    environment: Mapping[str, str]
    """The variables that tell the app where they are."""


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
                f"[app] services: {sorted(twice)[0]!r} is named twice; call the second one memcached#2, or the like"
            )
        self._instances = tuple(instance_of(name, guard.directory) for name in names)
        self._pids: dict[str, int] = {}

    @property
    def environment(self) -> dict[str, str]:
        """The variables for the app. What two services would both set is the first one's."""
        merged: dict[str, str] = {}
        for instance in self._instances:
            merged = {**instance.recipe.environment, **merged}
        return merged

    @property
    def running(self) -> RunningServices:
        """What runs now."""
        pids = {name: (pid,) for name, pid in self._pids.items()}
        return RunningServices(pids=pids, environment=self.environment)

    def identity(self) -> tuple[str, ...]:
        """Say everything that data of these services depend on, the same for every race."""
        return tuple(word for instance in self._instances for word in (instance.name, *identity(instance.service)))

    def start(self, kept: Path | None = None) -> None:
        """Start all and wait until they answer: with what ``keep`` put into ``kept``, else empty.

        Raises LaunchError with the service's own last words, InputError when the disk is full.
        """
        for instance in self._instances:
            instance.make()
            if kept is not None:
                copy(kept / instance.directory.name, instance.data, RUN)
            elif instance.recipe.prepare or instance.recipe.after:
                with self._empty(instance) as template:
                    # what making the template left beside the data goes
                    instance.make()
                    copy(template / DATA, instance.data, RUN)
            self._pids[instance.name] = self._start(instance)

    def pin(self) -> None:
        """Bind all to their cores: starting and filling them may use every one, a race may not."""
        for pid in self._pids.values():
            self._guard.pin(pid, self._cores)

    def settle(self) -> None:
        """Have all do now what their maintenance would do later, after an app has filled them."""
        for instance in self._instances:
            for command in instance.recipe.settle:
                instance.run(command)

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

    def _empty(self, instance: Instance) -> AbstractContextManager[Path]:
        """Hold the template of an instance that nobody has used yet."""

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

        return self._templates.holding(instance.service.name, identity(instance.service), build)

    def _start(self, instance: Instance) -> int:
        recipe = instance.recipe
        pid = self._guard.spawn(
            [*unprivileged(), *recipe.command],
            environment=instance.environment,
            folder=instance.directory,
            log=instance.logs / OUTPUT,
            stop=recipe.stop,
        )
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not instance.ready():
            code = self._guard.status([pid])[pid].code
            if code is not None or time.monotonic() > deadline:
                late = f"is not ready after {duration(READY_TIMEOUT_S)}"
                how = late if code is None else f"{ended(code)} at start"
                raise instance.failure(f"{instance.name} {how}")
            time.sleep(POLL_S)
        return pid

    def _stop(self, instance: Instance, pid: int) -> None:
        self._guard.signal(pid, instance.recipe.stop)
        deadline = time.monotonic() + READY_TIMEOUT_S
        while (status := self._guard.status([pid])[pid]).alive:
            if time.monotonic() > deadline:
                self._guard.kill(pid)
                break
            time.sleep(POLL_S)
        if status.code:
            raise instance.failure(f"{instance.name} {ended(status.code)} when it was asked to stop")
        if status.alive:
            raise instance.failure(f"{instance.name} did not end within {duration(READY_TIMEOUT_S)}")
