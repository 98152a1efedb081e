"""The Python environments of the stacks that are raced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ...app.examiner.messages import PythonFacts
from ...base.errors import MissingError
from ...deploy.environments import Environments
from ...stacks.servers import Catalogue
from ...stacks.servers.site import versions_by_key
from ...stacks.stack import Stack
from ..results.race import LeftOut
from .choosing import Choice

UNBUILT = "its Python packages cannot be installed beside the app's; leave it out, or loosen the app's pins"


def build_stacks(
    choice: Choice, catalogue: Catalogue, environments: Environments, app: PythonFacts | None, *, named: bool
) -> tuple[Mapping[str, Path | None], tuple[LeftOut, ...]]:
    """Build the environments of as many stacks as are raced; return their folders by path, and who has none.

    Where the user ``named`` them, the first that cannot be built raises MissingError; else the next replaces it.
    The current one was named by nobody. Without Python there is no folder.
    """
    homes: dict[str, Path | None] = {}
    unbuilt: list[LeftOut] = []
    for stack in choice.candidates:
        if len(homes) == choice.number:
            break
        try:
            homes[stack.path] = build_stack(stack, catalogue, environments, app)
        except MissingError:
            if named and stack.path != choice.current:
                raise
            unbuilt.append(LeftOut(stack=stack.path, reason=UNBUILT))
    return homes, tuple(unbuilt)


def build_stack(
    stack: Stack, catalogue: Catalogue, environments: Environments, app: PythonFacts | None
) -> Path | None:
    """Return the folder of the environment that ``stack`` runs in, None without Python.

    Raises MissingError naming the stack whose packages cannot be installed.
    """
    if app is None:
        return None
    try:
        return environments.layered(app, requirements_of(stack, catalogue, app))
    except MissingError as error:
        raise MissingError(
            f"stack {stack.path!r}: {UNBUILT}",
            detail=error.detail,
        ) from error


def requirements_of(stack: Stack, catalogue: Catalogue, app: PythonFacts | None = None) -> tuple[str, ...]:
    """Return the PyPI requirements of all the stack's servers; what ``app`` has is wanted in any version.

    An app that brings a server is raced with that one, however old: an environment is layered over its own, and
    nothing of it is replaced.
    """
    brought = {} if app is None else versions_by_key(app.distributions)
    needed = {
        _any_version(requirement) if _package(requirement) in brought else requirement
        for hop in stack.hops
        for requirement in catalogue.entries[hop.server].requirements(hop.settings)
    }
    return tuple(sorted(needed))


def _any_version(requirement: str) -> str:
    """Turn ``uvicorn[standard]>=0.22`` into ``uvicorn[standard]``."""
    return re.split(r"[<>=!~ ;]", requirement, maxsplit=1)[0]


def _package(requirement: str) -> str:
    return next(iter(versions_by_key({_any_version(requirement).partition("[")[0]: ""})))
