"""Present deployment of a project, as one of the stacks of a race."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...app.app import Entry
from ...app.environment import read_env_files
from ...base.errors import StackError
from ...deploy.installation import missing_from, unready
from ...race.preparation.contestants import CurrentStack
from ...race.preparation.installing import install_command, refusal
from ...race.request.request import RaceRequest
from ...stacks.servers import Catalogue
from ...stacks.setting import Interface
from ...stacks.stack_path import parse_stack
from .current_options import CurrentRequest
from .deployment import read_project


def current_stack(
    request: RaceRequest,
    catalogue: Catalogue,
    offered: frozenset[Interface],
    python: tuple[int, int] | None = None,
    entry: Entry | None = None,
    interpreter: Path | None = None,
) -> CurrentStack | None:
    """See `race.preparation.contestants.current_stack`."""
    part = request.parts.get(CurrentRequest)
    wanted = request.contestants if part is None or request.contestants is False else part.current
    if wanted is False or request.bundled is not None or (wanted is None and request.stacks is not None):
        return None
    file = wanted if isinstance(wanted, Path) else None
    given = {**read_env_files(request.env_files), **request.environment}
    deployment = read_project(request.folder, catalogue.specs, file, entry, interpreter, given).deployment
    if deployment is None:
        return None
    stack, problem = None, deployment.problem
    try:
        if deployment.stack:
            stack = parse_stack(deployment.stack, catalogue.specs, offered, request.folder)
    except StackError as error:
        problem = error.message
    if stack is not None and (missing := missing_from(stack, catalogue)):
        stack, problem = None, refusal("it", missing, install_command(missing, request.servers)).message
    elif stack is not None and (reason := unready(stack, catalogue, python)):
        stack, problem = None, reason
    variables = tuple(name for name in deployment.variables if name not in given)
    return CurrentStack(deployment=replace(deployment, problem=problem, variables=variables), stack=stack)
