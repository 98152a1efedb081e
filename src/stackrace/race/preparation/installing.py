"""Missing programs of a race, and their installation: the system's packages first, then Python's."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.bundle import bundled, bundled_names
from ...base.errors import InputError, MissingError, MissingItem
from ...base.platforms import Platform, this_platform
from ...base.temporary import temporary_folder
from ...base.text import did_you_mean, nearest
from ...deploy.environments import Environments, cache_folder, requirements_of
from ...deploy.guard import Guard
from ...deploy.installation import missing_from, missing_item
from ...deploy.preparing import OnPreparing
from ...deploy.started_services import service_of
from ...stacks.servers import Catalogue
from ...stacks.services import services
from ...stacks.setting import Interface
from ...stacks.stack import Stack
from ...stacks.stack_path import parse_stack
from ..request.named_races import file_of, known_names, source_of
from ..request.race_file import read_race_file, read_request
from ..request.request import RaceRequest
from .choosing import asked
from .chosen_app import AskedApp, asked_app, find_app, protected_project
from .defaults import most_used


def services_of(request: RaceRequest) -> tuple[str, ...]:
    """Return the requested services, after those that a bundled app needs."""
    own = () if request.bundled is None else bundled(request.bundled, request.environment).services
    return tuple(dict.fromkeys((*own, *request.services)))


def missing_items(
    request: RaceRequest, catalogue: Catalogue, app: AskedApp | None = None
) -> tuple[MissingItem, ...]:
    """Return everything that the race lacks here: servers of its stacks, services, needs of its bundled app.

    Packages of PyPI are not checked: races install them themselves. Raises StackError for an illegal stack.
    """
    paths = request.stacks or ()
    offered = (app or asked_app(request)).offered if paths else frozenset()
    stacks = [parse_stack(path, catalogue.specs, offered, request.folder) for path in paths]
    servers = [item for stack in stacks for item in missing_from(stack, catalogue)]
    own = None if request.bundled is None else bundled(request.bundled, request.environment).missing_item()
    service_items = (service_of(name)[0].missing_item() for name in services_of(request))
    return distinct([*filter(None, (own, *service_items)), *servers])


def distinct(missing: Iterable[MissingItem]) -> tuple[MissingItem, ...]:
    """Return each missing item once, in order."""
    return tuple({item.name: item for item in missing}.values())


def require_all(request: RaceRequest, catalogue: Catalogue, app: AskedApp) -> None:
    """Raise MissingError with everything that the race lacks, and the one command that installs it."""
    if missing := missing_items(request, catalogue, app):
        raise refusal("the race", missing, install_command(missing, request.servers))


def install_command(missing: Iterable[MissingItem], servers: Path | None = None) -> str:
    """Return the command that installs what has packages of ``missing``; empty if nothing has."""
    names = [item.name for item in missing if not item.elsewhere]
    folder = ["--servers", str(servers)] if servers is not None else []
    return shlex.join(["stackrace", "install", *names, *folder]) if names else ""


def refusal(subject: str, missing: Sequence[MissingItem], command: str) -> MissingError:
    """Return the error that lists what ``subject`` lacks, and how to get it."""
    listed = ", ".join(item.words for item in missing)
    ways = [f"run: {command}"] if command else []
    ways += [
        f"{item.name} has no {this_platform().package}: {item.elsewhere}" for item in missing if item.elsewhere
    ]
    return MissingError(f"{subject} needs what is not installed here: {listed}; {'; '.join(ways)}")


_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallPlan:
    """Packages and environments to install."""

    missing: tuple[MissingItem, ...]
    """Missing items that this system has packages for."""
    elsewhere: tuple[MissingItem, ...]
    """Missing items without such a package."""
    python: tuple[str, ...]
    """Requirements from PyPI, for private environments; some may be installed already."""
    races: tuple[RaceRequest, ...]
    """Races, and bundled apps as races, whose environments are built."""
    here: Platform = field(default_factory=this_platform)
    """The operating system."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Names of the system's packages, in alphabetical order."""
        return tuple(sorted({package for item in self.missing for package in item.packages}))

    @property
    def command(self) -> str:
        """The command that installs these packages; empty if there are none."""
        sudo = () if os.geteuid() == 0 else ("sudo", "-n")
        return " ".join([*sudo, *self.here.command(self.packages)]) if self.packages else ""


def installable(known: Catalogue) -> tuple[str, ...]:
    """Return the names of all servers, services and bundled apps, which can be installed by name."""
    return (*known.entries, *services(), *bundled_names())


def install_plan(words: Iterable[str], known: Catalogue, servers: Path | None = None) -> InstallPlan:
    """Return the plan to install what ``words`` lack here; nothing is installed or started.

    ``servers`` is a folder with the user's own servers, for race files. Raises InputError naming the nearest known
    word for an unknown one, SpecError for a wrong race file.
    """
    found: list[MissingItem] = []
    races: list[RaceRequest] = []
    for word in words:
        if word in known.entries:
            found += _as_tuple(missing_item(known.entries[word]))
        elif word in services():
            found += _as_tuple(services()[word].missing_item())
        elif not Path(word).is_file() and re.split("[@:/+]", word)[0] in known.entries:
            (stack,) = asked([word], known)
            found += missing_from(stack, known)
        else:
            named = _races(word, known, servers)
            found += (item for race in named for item in missing_items(race, known.extended(race.servers)))
            races += named
    missing = distinct(found)
    python = (each for race in races for each in _requirements(race, known))
    return InstallPlan(
        missing=tuple(item for item in missing if not item.elsewhere),
        elsewhere=tuple(item for item in missing if item.elsewhere),
        python=tuple(dict.fromkeys(python)),
        races=tuple(races),
    )


def _as_tuple(item: MissingItem | None) -> tuple[MissingItem, ...]:
    return () if item is None else (item,)


def _races(word: str, known: Catalogue, servers: Path | None) -> list[RaceRequest]:
    if word in bundled_names():
        return [RaceRequest(folder=Path.cwd(), bundled=word, stacks=())]
    if (source := source_of(word)) is not None:
        return [read_race_file(file, lambda path: None) for file in source.files_of(word)]
    file = file_of(Path(word))
    if not file.is_file() and file.suffix != ".toml":
        names = (*installable(known), *known_names())
        raise InputError(f"there is no server, service, bundled app or race file {word!r}{_meant(word, names)}")
    return [read_request(file, servers, recordings=False)]


def _meant(word: str, names: Sequence[str]) -> str:
    """Return a suggestion to append to the message that ``word`` cannot be installed."""
    if nearest(word, names) or not _PACKAGE.fullmatch(word):
        return did_you_mean(word, names)
    return (
        f"; this installs servers and services of races (see: stackrace stacks). What your app imports belongs "
        f"into the app's own environment: pip install {word}"
    )


def _requirements(race: RaceRequest, known: Catalogue) -> Iterator[str]:
    """Yield a race's requirements from PyPI, except those of the user's own app, which only its project knows."""
    offered = asked_app(race).offered
    if race.bundled is not None and Interface.RACK not in offered:
        file = bundled(race.bundled, race.environment).requirements(race.services)
        yield from _requirement_lines(file)
    servers = known.extended(race.servers)
    for stack in asked(race.stacks or (), servers, offered, folder=race.folder):
        yield from requirements_of(stack, servers)


def _requirement_lines(file: Path) -> Iterator[str]:
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            yield from _requirement_lines(file.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            yield line


def install_python(races: Iterable[RaceRequest], known: Catalogue, on_preparing: OnPreparing) -> None:
    """Build the environments of ``races``, as their first run would. Raises InputError, or another
    StackraceError."""
    for race in races:
        app = asked_app(race)
        if app.offered & {Interface.WSGI, Interface.ASGI}:
            _build(race, app, known.extended(race.servers), on_preparing)


def _build(race: RaceRequest, app: AskedApp, known: Catalogue, on_preparing: OnPreparing) -> None:
    environments = Environments(cache_folder(), on_preparing, app.project)
    with tempfile.TemporaryDirectory(dir=temporary_folder()) as data, Guard() as guard:
        project = protected_project(race, app, guard, on_preparing)
        found = find_app(race, app, environments, project, Path(data), on_preparing).app
        facts = project.facts(replace(found, environment={**found.environment, **race.environment}))
    if facts is None:
        return
    for stack in _stacks(race, app.offered, known, facts.minor):
        environments.layered(facts, requirements_of(stack, known, facts))


def _stacks(
    race: RaceRequest, offered: frozenset[Interface], known: Catalogue, python: tuple[int, int]
) -> tuple[Stack, ...]:
    """Return the stacks to race, even if one cannot host this Python: the race itself rejects it."""
    if race.stacks is None:
        return most_used(known, offered, python)[0]
    try:
        return asked(race.stacks, known, offered, python, race.folder)
    except MissingError:
        return asked(race.stacks, known, offered, folder=race.folder)
