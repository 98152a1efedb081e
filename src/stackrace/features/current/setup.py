"""The stack that the project runs today, ready to be raced beside the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...app.app import Entry
from ...base.errors import StackError
from ...deploy.installation import missing_from, unready
from ...race.preparation.contestants import CurrentStack
from ...race.preparation.needs import install_command, refusal
from ...race.request.request import RaceRequest
from ...stacks.servers import Catalogue
from ...stacks.stack import Interface, Stack
from ...stacks.stack_path import parse_stack
from .deployment import current_deployment
from .model import CurrentDeployment

__all__ = ["current_stack"]


def current_stack(
    request: RaceRequest,
    catalogue: Catalogue,
    offered: frozenset[Interface],
    python: tuple[int, int] | None = None,
    entry: Entry | None = None,
    interpreter: Path | None = None,
) -> CurrentStack | None:
    """Return the stack that the project of ``request`` runs today, as its deployment files say.

    ``offered`` is what the app offers, ``python`` the minor version of its ``interpreter``, ``entry`` where it is,
    as far as that is known. None where nothing is found, nothing is to be looked for (``current`` of the request),
    or the app is a bundled one. Raises InputError for a file that the request names and that starts no server.
    """
    if request.current is False or request.bundled is not None:
        return None
    if request.current is None and request.stacks is not None:
        return None
    file = request.current if isinstance(request.current, Path) else None
    deployment = current_deployment(request.folder, catalogue.specs, file, entry, interpreter)
    if deployment is None:
        return None
    stack, problem = _parsed(deployment, request.folder, catalogue, offered)
    if stack is not None and (lacks := missing_from(stack, catalogue)):
        stack, problem = None, refusal("it", lacks, install_command(lacks, request.servers)).message
    elif stack is not None and (reason := unready(stack, catalogue, python)):
        stack, problem = None, reason
    return CurrentStack(deployment=replace(deployment, problem=problem), stack=stack)


def _parsed(
    deployment: CurrentDeployment, folder: Path, catalogue: Catalogue, offered: frozenset[Interface]
) -> tuple[Stack | None, str]:
    if not deployment.stack:
        return None, deployment.problem
    try:
        return parse_stack(deployment.stack, catalogue.specs, offered, folder), deployment.problem
    except StackError as error:
        return None, error.message
