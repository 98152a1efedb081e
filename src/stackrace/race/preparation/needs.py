"""What a race needs on this machine and does not find, all of it at once, and the command that installs it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...app.bundle import bundled
from ...base.errors import Lack, MissingError
from ...deploy.installation import missing_from
from ...deploy.services import service_of
from ...stacks.servers import Catalogue
from ...stacks.stack_path import parse_stack
from ..request.request import RaceRequest
from .app import offered_by

__all__ = ["distinct", "install_command", "lacks_of", "refusal", "require_all", "services_of"]


def services_of(request: RaceRequest) -> tuple[str, ...]:
    """Return the services that are asked for, after those that a bundled app cannot do without."""
    own = () if request.bundled is None else bundled(request.bundled, request.environment).services
    return tuple(dict.fromkeys((*own, *request.services)))


def lacks_of(request: RaceRequest, catalogue: Catalogue) -> tuple[Lack, ...]:
    """Return everything that the race lacks here: servers of its stacks, services, what its bundled app needs.

    What comes from PyPI is not looked for: races install it themselves. Raises StackError for an illegal stack.
    """
    paths = request.stacks or ()
    offered = offered_by(request) if paths else frozenset()
    stacks = [parse_stack(path, catalogue.specs, offered, request.folder) for path in paths]
    servers = [lack for stack in stacks for lack in missing_from(stack, catalogue)]
    return distinct([*_of_app(request), *_of_services(services_of(request)), *servers])


def _of_app(request: RaceRequest) -> Iterable[Lack]:
    if request.bundled is not None and (lack := bundled(request.bundled, request.environment).lack()):
        yield lack


def _of_services(names: Sequence[str]) -> Iterable[Lack]:
    """Look for services; an unknown name is refused."""
    for name in names:
        service, _ = service_of(name)
        if lack := service.lack():
            yield lack


def distinct(lacks: Iterable[Lack]) -> tuple[Lack, ...]:
    """Return each lack once, in the order in which they come."""
    return tuple({lack.name: lack for lack in lacks}.values())


def require_all(request: RaceRequest, catalogue: Catalogue) -> None:
    """Raise MissingError with everything that the race lacks, and the one command that installs it."""
    if lacks := lacks_of(request, catalogue):
        raise refusal("the race", lacks, install_command(lacks, request.servers))


def install_command(lacks: Iterable[Lack], servers: Path | None = None) -> str:
    """Return the command that installs all of ``lacks`` that Debian has packages of; empty where it has of none."""
    names = [lack.name for lack in lacks if not lack.elsewhere]
    folder = ["--servers", str(servers)] if servers is not None else []
    return shlex.join(["stackrace", "install", *names, *folder]) if names else ""


def refusal(subject: str, lacks: Sequence[Lack], command: str) -> MissingError:
    """Return the error that says what ``subject`` lacks, and how to get it."""
    listed = ", ".join(lack.words for lack in lacks)
    ways = [f"run: {command}"] if command else []
    ways += [f"{lack.name} has no Debian package: {lack.elsewhere}" for lack in lacks if lack.elsewhere]
    return MissingError(f"{subject} needs what is not installed here: {listed}; {'; '.join(ways)}")
