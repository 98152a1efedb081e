"""One private instance of a service: what it was asked for as, where it lies, and its commands."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..base.errors import InputError, LaunchError, MissingError
from ..base.foreign import said_by
from ..base.nearest import nearest
from ..base.process import CommandResult, run
from ..base.removal import remove_tree
from ..stacks.services import DATA, Service, ServiceRecipe, services
from .copies import RUN, shortage
from .privileges import hand_over, unprivileged
from .running_stack import ended, tail

__all__ = ["Instance", "identity", "instance_of", "service_of"]

READY_TIMEOUT_S = 60.0
COMMAND_TIMEOUT_S = 600.0

_NAME = re.compile(r"(?P<service>[^#]+)(#(?P<number>[2-9]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One of the services asked for."""

    name: str
    """As written: ``memcached#2``, say."""
    service: Service
    directory: Path
    recipe: ServiceRecipe

    @property
    def data(self) -> Path:
        """The folder of all it keeps."""
        return self.directory / DATA

    @property
    def logs(self) -> Path:
        """The folder of its output alone, away from files of its own that are only called logs."""
        return self.directory / "log"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user's shell: PGPORT, MYSQL_HOST and their like would change what a service does."""
        kept = {name: value for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if (value := os.environ.get(name))}
        return {**kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(self.directory)}

    def make(self) -> None:
        """Make its folders, empty."""
        remove_tree(self.directory)
        for folder in (self.directory, self.data, self.logs):
            folder.mkdir(mode=0o700)
            hand_over(folder)

    def ready(self) -> bool:
        """Tell whether it answers."""
        try:
            return self._call(self.recipe.ready, READY_TIMEOUT_S).code == 0
        except subprocess.TimeoutExpired:
            return False

    def run(self, command: Sequence[str]) -> None:
        """Run one of its commands to the end. Raises LaunchError with the command's last words and its own."""
        try:
            result = self._call(command, COMMAND_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LaunchError(f"{self.name} cannot be made ready: {said_by(error, where=True)}") from error
        if result.code:
            raise self.failure(f"{self.name}: {Path(command[0]).name} {ended(result.code)}", result.output)

    def failure(self, message: str, words: str = "") -> LaunchError:
        """Return the error that says ``message``, whether the disk is full, ``words`` and its own last words."""
        detail = "\n".join(filter(None, (words, tail(self.logs))))
        return LaunchError(f"{message}{shortage(self.directory, RUN)}", detail=detail)

    def _call(self, command: Sequence[str], timeout_s: float) -> CommandResult:
        return run(
            [*unprivileged(), *command],
            folder=self.directory,
            environment=self.environment,
            timeout_s=timeout_s,
        )


def instance_of(name: str, folder: Path) -> Instance:
    """Find the service that ``name`` asks for; the variables of a NAME#2 end in ``_2``.

    Raises InputError for an unknown name, MissingError with the install command.
    """
    service, number = service_of(name)
    if lack := service.missing():
        raise MissingError(
            f"[app] services: {service.name} is not installed ({lack}); run: stackrace install {service.name}"
        )
    directory = folder / name.replace("#", "-")
    recipe = service.recipe(directory)
    if number:
        recipe = replace(recipe, environment={f"{key}_{number}": to for key, to in recipe.environment.items()})
    return Instance(name=name, service=service, directory=directory, recipe=recipe)


def service_of(name: str) -> tuple[Service, str | None]:
    """Return the service that ``name`` asks for, and its number; raises InputError naming the nearest."""
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


def identity(service: Service) -> tuple[str, ...]:
    """Say what the data of a service depend on: its version, its recipe, and whose rights it runs with."""
    command = service.version()
    try:
        result = run(command, folder=Path("/"), environment=os.environ, timeout_s=READY_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{service.name} cannot be started: {said_by(error, where=True)}") from error
    if result.code:
        raise LaunchError(f"{service.name}: {' '.join(command)} {ended(result.code)}", detail=result.output)
    return (service.name, result.output, repr(service.recipe(Path("/run"))), *unprivileged(), str(os.geteuid()))
