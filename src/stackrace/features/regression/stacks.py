"""The stack that both sides of a check are raced on, which is decided once."""

from __future__ import annotations

from dataclasses import replace

from ...base.errors import InputError, StackError
from ...race.preparation.app import offered_by
from ...race.preparation.choosing import most_used
from ...race.preparation.contestants import beside_current, current_stack
from ...race.request.request import RaceRequest
from ...stacks.servers import Catalogue, catalogue
from ...stacks.stack import Protocol, Side, Stack
from ...stacks.stack_path import parse_stack, stack_text
from .interpreters import version_of
from .variants import Variant, Variants

__all__ = ["on_stacks"]

_WAY_OUT = "to compare servers, give --base-stack and --head-stack"


def on_stacks(both: Variants) -> Variants:
    """Return both sides with the stack each is raced on.

    It is the one asked for, of a side or of both. Else the head's tree decides: what the project runs today, or the
    first of the most used stacks that is ready. The base has the same servers, with its own configuration where its
    own tree describes them; what else differs is said. Raises InputError for more than one stack.
    """
    notes: list[str] = []
    paths = {side: _asked(variant.request) for side, variant in both.sides.items()}
    if not all(paths.values()):
        usual = _usual(both.sides[Side.HEAD].request)
        paths[Side.HEAD] = paths[Side.HEAD] or usual.path
        if not paths[Side.BASE]:
            paths[Side.BASE] = usual.path
            if both.moved is not None:
                paths[Side.BASE], notes = _of_base(both.sides[Side.BASE].request, usual)
    sides = {side: _with_stack(variant, paths[side]) for side, variant in both.sides.items()}
    return replace(both, sides=sides, notes=(*both.notes, *notes))


def _asked(request: RaceRequest) -> str:
    stacks = request.stacks or ()
    if len(stacks) > 1:
        raise InputError(f"a check races one stack; choose with --stack: {', '.join(stacks)}")
    return stacks[0] if stacks else ""


def _with_stack(variant: Variant, path: str) -> Variant:
    request = variant.request
    meeting = [each for each in request.workloads if each.stacks is None or path in each.stacks]
    workloads = tuple(replace(each, stacks=None) for each in meeting or request.workloads)
    return replace(variant, request=replace(request, stacks=(path,), workloads=workloads))


def _usual(request: RaceRequest) -> Stack:
    """Return the stack that the project runs today, else the first of the most used ones that fits."""
    servers = catalogue().extended(request.servers)
    python = version_of(request)
    current = _current(request, servers, python)
    return most_used(servers, offered_by(request), python)[0] if current is None else current


def _current(request: RaceRequest, servers: Catalogue, python: tuple[int, int] | None = None) -> Stack | None:
    found = current_stack(beside_current(request), servers, offered_by(request), python, request.entry)
    return None if found is None else found.stack


def _of_base(request: RaceRequest, usual: Stack) -> tuple[str, list[str]]:
    """Return the path of the base's stack, which has the servers of ``usual``, and what is to be said of it."""
    servers = catalogue().extended(request.servers)
    own = _current(request, servers)
    if own is not None and _servers(own) == _servers(usual):
        return own.path, []
    notes = []
    if own is not None:
        notes.append(
            f"The base's own files run {own.path}, and the head runs {usual.path}: both are raced on the head's "
            f"servers; {_WAY_OUT}."
        )
    try:
        return parse_stack(usual.path, servers.specs, offered_by(request), request.folder).path, notes
    except StackError:
        files = [hop.config for hop in usual.hops if hop.config]
        if not files:
            raise
    path = stack_text([replace(hop, config="", file=None) for hop in usual.hops])
    notes.append(f"The base lacks {', '.join(files)}, so it is raced as {path}, the head as {usual.path}.")
    return path, notes


def _servers(stack: Stack) -> list[tuple[str, Protocol | None]]:
    return [(hop.server, hop.protocol) for hop in stack.hops]
