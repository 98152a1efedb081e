"""Installing what races need: Debian's packages first, then Python's, each race's into its own environments."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.bundle import bundled
from ...app.examine import python_facts
from ...base.errors import Lack, MissingError
from ...deploy.environments import Environments, cache_folder
from ...deploy.installation import apt_command
from ...deploy.preparing import OnPreparing
from ...stacks.servers import Catalogue
from ...stacks.stack import Interface, Stack
from ..request.request import RaceRequest
from .app import find_app, offered_by, project_run
from .choosing import asked, most_used
from .environments import requirements_of
from .missing import Wanted

__all__ = ["InstallPlan", "install_python", "plan_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """What would be installed."""

    lacks: tuple[Lack, ...]
    """What Debian brings."""
    elsewhere: tuple[Lack, ...]
    """What Debian has no package of."""
    python: tuple[str, ...]
    """Requirements from PyPI, for private environments; some may be there already."""
    races: tuple[RaceRequest, ...]
    """Races, and bundled apps as races, whose environments are built."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages, in alphabetical order."""
        return tuple(sorted({package for lack in self.lacks for package in lack.packages}))

    @property
    def command(self) -> str:
        """The command that installs them; empty where there is nothing to install."""
        return " ".join(apt_command(self.packages)) if self.packages else ""


def plan_of(wanted: Wanted, known: Catalogue) -> InstallPlan:
    """Return what is to be done about ``wanted``; nothing is installed or started."""
    python = (requirement for race in wanted.races for requirement in _requirements(race, known))
    return InstallPlan(
        lacks=tuple(lack for lack in wanted.lacks if not lack.elsewhere),
        elsewhere=tuple(lack for lack in wanted.lacks if lack.elsewhere),
        python=tuple(dict.fromkeys(python)),
        races=wanted.races,
    )


def _requirements(race: RaceRequest, known: Catalogue) -> Iterator[str]:
    """Yield what a race takes from PyPI, its own app's requirements apart: only the app's project knows those."""
    if race.bundled is not None and Interface.RACK not in offered_by(race):
        file = bundled(race.bundled, race.environment).requirements(race.services)
        yield from _lines(file)
    servers = known.extended(race.servers)
    for stack in asked(race.stacks or (), servers, offered_by(race), folder=race.folder):
        yield from requirements_of(stack, servers)


def _lines(file: Path) -> Iterator[str]:
    """Yield the requirements in a file of ours, and in those that it includes."""
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from _lines(file.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            yield line


def install_python(races: Iterable[RaceRequest], known: Catalogue, on_preparing: OnPreparing) -> None:
    """Build the environments of ``races``, as their first run would; raises InputError and its kin."""
    for race in races:
        if Interface.WSGI in offered_by(race) or Interface.ASGI in offered_by(race):
            environments = Environments(cache_folder(), on_preparing, project_run(race))
            _build(race, known.extended(race.servers), environments, on_preparing)


def _build(race: RaceRequest, known: Catalogue, environments: Environments, on_preparing: OnPreparing) -> None:
    with tempfile.TemporaryDirectory() as data:
        app = find_app(race, environments, Path(data), on_preparing).app
        facts = python_facts(replace(app, environment={**app.environment, **race.environment}))
    if facts is None:
        return
    for stack in _stacks(race, known, facts.minor):
        environments.layered(facts, requirements_of(stack, known, facts))


def _stacks(race: RaceRequest, known: Catalogue, python: tuple[int, int]) -> tuple[Stack, ...]:
    """Return the stacks that are raced. One that cannot host this Python is the race's to refuse."""
    if race.stacks is None:
        return most_used(known, offered_by(race), python)
    try:
        return asked(race.stacks, known, offered_by(race), python, race.folder)
    except MissingError:
        return asked(race.stacks, known, offered_by(race), folder=race.folder)
