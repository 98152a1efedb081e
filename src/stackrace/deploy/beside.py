"""The services an app needs, started privately beside the stacks and shared by all of them.

Stacks are loaded one at a time, so what a service spends during a slice was spent for that slice's stack.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.errors import InputError, LaunchError, MissingError
from ..services import Service, ServiceRecipe, services
from .guard import Guard
from .logs import OUTPUT, tail
from .privileges import hand_over, unprivileged

__all__ = ["Beside", "start_services"]

TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Running services: their processes by name, and the variables that tell the app where they are."""

    pids: Mapping[str, tuple[int, ...]]
    environment: Mapping[str, str]


def start_services(names: Sequence[str], guard: Guard, cores: Sequence[int]) -> Beside:
    """Start a private instance of each and wait until it answers; the guard ends them.

    Raises InputError for an unknown name, MissingError with the install command, LaunchError with its log.
    """
    known = services()
    for name in names:
        if name not in known:
            raise InputError(f"[app] services: no service is called {name!r}; known are {', '.join(sorted(known))}")
        if lack := known[name].missing():
            packages = " ".join(known[name].apt)
            raise MissingError(f"[app] services: {name} is not installed ({lack}); run: apt-get install {packages}")
    pids: dict[str, tuple[int, ...]] = {}
    environment: dict[str, str] = {}
    for name in names:
        directory = guard.directory / name
        directory.mkdir(mode=0o700)
        hand_over(directory)
        recipe = known[name].recipe(directory)
        pids[name] = (_start(known[name], recipe, directory, guard, cores),)
        environment |= recipe.environment
    return Beside(pids=pids, environment=environment)


def _start(service: Service, recipe: ServiceRecipe, directory: Path, guard: Guard, cores: Sequence[int]) -> int:
    for command in recipe.prepare:
        _run(service, command, directory)
    pid = guard.spawn(
        [*unprivileged(), *recipe.command],
        environment=os.environ,
        folder=directory,
        log=directory / OUTPUT,
        stop=recipe.stop,
    )
    guard.pin(pid, cores)
    deadline = time.monotonic() + TIMEOUT_S
    while _call(recipe.ready, directory).returncode:
        if guard.status([pid])[pid].code is not None or time.monotonic() > deadline:
            raise LaunchError(f"{service.name} did not start", detail=tail(directory))
        time.sleep(0.05)
    for command in recipe.after:
        _run(service, command, directory)
    return pid


def _run(service: Service, command: Sequence[str], directory: Path) -> None:
    done = _call(command, directory)
    if done.returncode:
        raise LaunchError(
            f"{service.name}: {Path(command[0]).name} ended with {done.returncode}",
            detail=(done.stdout + done.stderr).strip()[-2000:],
        )


def _call(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*unprivileged(), *command],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
