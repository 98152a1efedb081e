"""A present deployment as it was read, and its record: its stack path, and what a race changes and leaves out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...app.app import Entry, EntryKind
from ...app.projects.deployment_command import shown
from ...app.projects.detection import VARIABLE, settings_set_by
from ...base.files import is_file
from ...stacks.native_files import Concern, Weight
from ...stacks.stack import ServerSpec
from .fronts import Front, front_gaps
from .hop import ReadHop
from .model import CurrentDeployment, CurrentGap
from .options import miss_variable, said_at
from .running import Observation

Place = tuple[str, int]
"""A file, relative to the project's folder, and a line; 0 for the whole file."""
Found = Iterator[tuple[Place, Mapping[str, object]]]
"""Places of mistakes, each with the facts of its sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A deployment as it was read from its files: the input for all kinds of mistakes."""

    hop: ReadHop
    front: Front | None
    """Front end that is raced before it; None without one."""
    others: Sequence[ReadHop]
    """Other deployments of the project that are as likely."""
    servers: Sequence[ServerSpec]
    """All servers of the catalogue."""
    running: Observation | None = None
    """The running server that was observed; None for a deployment of files only."""


_NO_FRONT = "nothing in the project balances the load over them, so one is raced"


def _left_out(hop: ReadHop) -> Iterator[CurrentGap]:
    """Yield gaps for the parts of the server's documents that a race goes without, and for those left open."""
    for gap in hop.command.omissions:
        file, weight = shown(gap.file or hop.command.known_by, hop.root), gap.weight
        if weight is Weight.VARIABLES:
            weight = Weight.SIZE if hop.takes_workers else Weight.PLAIN
        yield CurrentGap(file=file, line=gap.line, what=gap.what, why=gap.why, weight=weight)


def front_of(hop: ReadHop, before: Sequence[Front]) -> Front | None:
    """Return the front end in ``before`` that can reach the server; None without one, or for a server inside it."""
    reaching = [each for each in before if each.wire(hop.speaks)]
    # two front ends of a project may be for two ways to start the app
    reaching.sort(key=lambda front: front.reading is not None and front.is_unix != hop.is_unix)
    return None if hop.native.is_inside else next(iter(reaching), None)


def recorded(
    hop: ReadHop, before: Sequence[Front], front: Front | None, root: Path, base: Path
) -> CurrentDeployment:
    """Return the record of the deployment ``hop`` behind ``front``, the one of the front ends ``before`` it."""
    file, line = hop.location
    documents, instances = hop.command.documents, hop.command.instances
    gaps = list(hop.gaps)
    if not hop.native.is_inside:
        gaps += front_gaps(hop, before, front)
        if front is None and "http" not in hop.speaks:
            why = "no front end that speaks it was found, so the server is raced by itself, over http"
            gaps.append(CurrentGap(file=file, line=line, what=" and ".join(sorted(hop.speaks)), why=why))
    if instances > 1 and front is None:
        gaps.append(CurrentGap(file=file, line=line, what=f"{instances} of them", why=_NO_FRONT))
    effective, at_once = hop.effective
    return CurrentDeployment(
        read=tuple(os.path.relpath(path, root) for path in documents if {*documents} - {hop.command.file}),
        stack="" if hop.problem else _path(hop, front, instances, root, base),
        file=file,
        line=line,
        problem=hop.problem,
        said=hop.said_settings,
        effective=effective,
        at_once=at_once,
        queue=hop.queue,
        variables=tuple(name for name in hop.command.environment if not hop.native.reads(name)),
        env_files=tuple(shown(path, root) for path in hop.command.env_files if is_file(path)),
        changes=(*hop.changes, *(front.changes if front else ())),
        gaps=(*gaps, *_left_out(hop)),
    )


def _path(hop: ReadHop, front: Front | None, instances: int, root: Path, base: Path) -> str:
    if front is None:
        return hop.text(base)
    behind = {} if front.is_unix else {"socket": "tcp"}
    behind |= {"instances": str(instances)} if instances > 1 else {}
    return f"{front.text(root, base)}/{front.wire(hop.speaks)}/{hop.text(base, behind)}"


def take_settings_variable(hop: ReadHop, entry: Entry | None) -> None:
    """Record a gap if the deployment of the Django app ``entry`` has another settings module than the race."""
    in_files = (
        re.search(rf"\b{VARIABLE}=([\w.]+)", change.theirs)
        for change in hop.changes
        if change.concern is Concern.VARIABLES
    )
    said = next(filter(None, in_files), None)
    theirs = said[1] if said else hop.command.variables.get(VARIABLE, "")
    if entry is None or entry.kind is not EntryKind.DJANGO:
        return
    ours = f"the race has the settings {entry.target}: "
    if theirs not in ("", entry.target):
        miss_variable(hop, VARIABLE, said_at(hop, VARIABLE), ours)
    module = hop.app.module if hop.app is not None else ""
    if theirs or not module or VARIABLE in hop.environment:
        return
    named = settings_set_by(module, hop.folder)
    if named and entry.target not in named and (usual := named[0]):
        hop.gap(f"settings {usual} of {module}", f"{ours}give --django {usual} to race theirs")
