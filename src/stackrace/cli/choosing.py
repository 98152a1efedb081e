"""Which stacks are raced: the ones asked for, or the most used of those that are ready."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..deploy.environments import Environments, Interpreter
from ..deploy.installation import require
from ..model.errors import InputError, MissingError, StackError
from ..model.stack import Interface, Stack
from ..servers import Catalogue
from ..spec.stack_path import parse_stack
from .defaults import MOST_STACKS, STACKS

__all__ = ["asked", "build", "most_used", "requirements_of"]

ANY = frozenset(Interface)


def asked(
    paths: Sequence[str],
    catalogue: Catalogue,
    offered: frozenset[Interface] = ANY,
    python: tuple[int, int] | None = None,
) -> tuple[Stack, ...]:
    """Return the stacks asked for; every server they need is installed.

    Raises StackError for a path that is not legal or given twice, MissingError with the install command.
    """
    stacks = [parse_stack(path, catalogue.specs, offered) for path in paths]
    for index, stack in enumerate(stacks):
        if stack in stacks[:index]:
            raise StackError(f"stack {stack.path!r} is given twice; give each once")
        require(stack, catalogue, python)
    return tuple(stacks)


def most_used(
    catalogue: Catalogue, offered: frozenset[Interface], python: tuple[int, int] | None
) -> tuple[Stack, ...]:
    """Return the ten most used stacks that are ready here and host the app; ``python`` is None for one without."""
    stacks: list[Stack] = []
    for path in STACKS:
        try:
            stack = parse_stack(path, catalogue.specs, offered)
            require(stack, catalogue, python)
        except (StackError, MissingError):
            continue
        stacks.append(stack)
    if not stacks:
        raise InputError("none of the most used stacks is ready here; see: stackrace stacks")
    return tuple(stacks[:MOST_STACKS])


def requirements_of(stack: Stack, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the PyPI requirements of all the stack's servers."""
    needed = {
        requirement
        for hop in stack.hops
        for requirement in catalogue.entries[hop.server].requirements(hop.settings)
    }
    return tuple(sorted(needed))


def build(stack: Stack, catalogue: Catalogue, environments: Environments, app: Interpreter | None) -> Path | None:
    """Return the folder of the environment that ``stack`` runs in, None without Python.

    Raises MissingError naming the stack whose packages cannot be installed.
    """
    if app is None:
        return None
    try:
        return environments.layered(app, requirements_of(stack, catalogue))
    except MissingError as error:
        raise MissingError(
            f"stack {stack.path!r}: its Python packages cannot be installed beside the app's; "
            "leave it out, or loosen the app's pins",
            detail=error.detail,
        ) from error
