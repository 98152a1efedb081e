"""A request that means the same wherever it is read: with absolute paths, but for the files that stacks name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ....base.errors import StackraceError
from ....race.preparation.app import offered_by
from ....race.request.request import RaceRequest
from ....stacks.servers import catalogue
from ....stacks.stack_path import parse_stack

__all__ = ["configs_of", "settled"]


def settled(request: RaceRequest) -> RaceRequest:
    """Return ``request`` with absolute paths; the configuration files of its stacks are relative to its folder."""
    request = replace(
        request,
        env_files=tuple(path.absolute() for path in request.env_files),
        static=request.static and {url: path.absolute() for url, path in request.static.items()},
        protect=tuple(path.absolute() for path in request.protect),
        servers=request.servers and request.servers.absolute(),
        current=request.current.absolute() if isinstance(request.current, Path) else request.current,
        session=request.session and request.session.absolute(),
        workloads=tuple(
            replace(workload, session=workload.session and workload.session.absolute())
            for workload in request.workloads
        ),
    )
    absolute = [config for config in configs_of(request) if config.is_absolute()]

    def relative(stack: str) -> str:
        for config in absolute:
            stack = stack.replace(str(config), os.path.relpath(config, request.folder.resolve()))
        return stack

    return replace(
        request,
        stacks=request.stacks and tuple(map(relative, request.stacks)),
        workloads=tuple(
            replace(workload, stacks=workload.stacks and tuple(map(relative, workload.stacks)))
            for workload in request.workloads
        ),
    )


def configs_of(request: RaceRequest) -> Iterator[Path]:
    """Yield the configuration files that the stacks name, as they name them; none of a stack that is not legal.

    What is wrong with such a stack the hosts say.
    """
    named = [*(request.stacks or ()), *(stack for each in request.workloads for stack in each.stacks or ())]
    if not named:
        return
    try:
        specs, offered = catalogue().extended(request.servers).specs, offered_by(request)
        stacks = [parse_stack(path, specs, offered, request.folder) for path in dict.fromkeys(named)]
    except StackraceError:
        return
    yield from dict.fromkeys(Path(hop.config) for stack in stacks for hop in stack.hops if hop.config)
