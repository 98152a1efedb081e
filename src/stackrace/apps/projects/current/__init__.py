"""What a project runs today, as the path of a stack: from its deployment files, which are read and never run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ....model.current import CurrentDeployment
from ....model.errors import InputError
from ....model.stack import ServerSpec
from ..deployment import DeploymentCommand, commands_of_file, deployment_commands
from .hop import ReadHop, read_hop
from .invocations import invocations
from .likelihood import likelihood

__all__ = ["current_deployment"]

_ALONE = {"gunicorn.conf.py": ("gunicorn", "-c"), "uwsgi.ini": ("uwsgi", "--ini")}
"""Servers' own files that say of themselves what is started, where nothing else does."""


def current_deployment(
    folder: Path, specs: Mapping[str, ServerSpec], file: Path | None = None
) -> CurrentDeployment | None:
    """Return what the project in ``folder`` runs today, by its deployment files or by ``file`` alone.

    ``specs`` is the catalogue by server name. None where no file starts one of its servers. Raises InputError for a
    ``file`` that is not there, or starts none.
    """
    root = folder.absolute()
    if file is not None and not file.is_file():
        raise InputError(f"there is no file {file} to take the current deployment from; correct --current")
    commands = deployment_commands(root) if file is None else _commands_of(file.absolute())
    hops = [read_hop(start, root) for command in commands for start in invocations(command, specs)]
    hops += [read_hop(start, root) for command in _alone(root, hops, file) for start in invocations(command, specs)]
    real = [hop for hop in hops if not hop.is_unlike or file is not None]
    if not real:
        if file is not None:
            raise InputError(f"{file} starts no server that Stackrace knows; name another file with --current")
        return None
    first, *others = sorted(real, key=lambda hop: _likelihood(hop, root))
    found = _deployment(first)
    return replace(found, others=_others(found, others))


def _commands_of(file: Path) -> Sequence[DeploymentCommand]:
    starts = next((words for name, words in _ALONE.items() if file.suffix == Path(name).suffix), None)
    found = commands_of_file(file)
    return found or ([DeploymentCommand(file=file, words=(*starts, str(file)), line=1)] if starts else [])


def _alone(root: Path, hops: Sequence[ReadHop], file: Path | None) -> list[DeploymentCommand]:
    """Return what servers' own files start that no command names."""
    if file is not None:
        return []
    named = {hop.config for hop in hops}
    return [
        DeploymentCommand(file=path, words=(*words, str(path.relative_to(root))), line=1)
        for name, words in _ALONE.items()
        for pattern in (name, f"*/{name}")
        for path in sorted(root.glob(pattern))
        if str(path.relative_to(root)) not in named
    ]


def _likelihood(hop: ReadHop, root: Path) -> tuple[int, int, int]:
    command = hop.invocation.command
    return (*likelihood(command.file, root, command.service), int(bool(hop.problem)))


def _deployment(hop: ReadHop) -> CurrentDeployment:
    file, line = hop.place
    return CurrentDeployment(
        stack="" if hop.problem else hop.text(),
        file=file,
        line=line,
        problem=hop.problem,
        changes=tuple(hop.changes),
        gaps=tuple(hop.gaps),
    )


def _others(found: CurrentDeployment, others: Sequence[ReadHop]) -> tuple[str, ...]:
    places = (_deployment(hop).place for hop in others)
    return tuple(place for place in dict.fromkeys(places) if place != found.place)
