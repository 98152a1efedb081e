"""Report of ``stackrace current``: a table of the project's servers, what a race leaves out, and how to race it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.app import Entry as AppEntry
from ...app.lock_files import versions_named
from ...app.projects.detection import detect
from ...base.codec import encode
from ...base.errors import InputError, StackError
from ...base.numbers import mebibytes
from ...base.text import package_key
from ...report.exporter import Kind
from ...report.sheet import Column, Paragraph, Section, Table, Tone
from ...stacks.native_files import Concern, Weight
from ...stacks.servers import catalogue
from ...stacks.servers.contract import Entry
from ...stacks.setting import Interface, Origin
from ...stacks.stack import Hop
from ...stacks.stack_path import parse_stack, setting_text
from .deployment import ProjectReading, read_project, running_deployment
from .model import CurrentChange, CurrentDeployment, placed
from .options import line_of
from .running import Observation, key_of, observed_at, observed_in
from .transfer import taken_over

_VERSION = "current-1"
_SIZES = ("processes", "workers", "threads", "instances", "class", "interface", "mode")
_TIMES = ("keep_alive", "timeout", "harakiri", "max_requests")
_ANY = frozenset(Interface)
_DEFAULT = "default"
_WIRE = "socket"
"""Setting for the way from a front end to the server, which the race decides."""
_LISTENING = ("listen", "bind")
"""Directives of front ends with an address on which they listen, not one that they forward to."""
LISTED = "the project's list of packages"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One setting or other fact of a server."""

    what: str
    """Name of a setting, or another word such as ``version`` or ``address``."""
    value: str
    location: str
    """Place that sets the value, as ``uwsgi.ini:4``; ``default`` if no place does, even if the value is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHop:
    """A server of the deployment."""

    server: str
    """Name of the server in the catalogue."""
    facts: tuple[Fact, ...]
    """Version, size, time-outs and recycling, other settings of the deployment, and the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Result of ``stackrace current``."""

    folder: Path
    deployment: CurrentDeployment | None
    hops: tuple[ShownHop, ...] = ()
    """Servers, the front end first; empty if they are no stack of the catalogue."""
    for_development: tuple[str, ...] = ()
    """Servers for development that the files start, if there is no deployment."""
    running: Observation | None = None
    """The running server that was observed; None for a deployment read from files."""


def look(folder: Path, file: Path | None, target: str = "") -> Found:
    """Return the present deployment of a project: from the files in ``folder``, from ``file``, or from ``target``.

    ``target`` names a running server: a process number, ``:PORT``, a container or a systemd unit; empty for none.

    Raises InputError for a ``file`` that starts no server, and for a ``target`` at which no server runs.
    """
    servers, entry = catalogue(), _entry(folder)
    running = observed_at(target) if target else observed_in(file) if file else None
    if running is not None:
        read = ProjectReading(deployment=running_deployment(running, folder, servers.specs, entry))
    else:
        read = read_project(folder, servers.specs, file, entry)
    deployment = read.deployment
    if deployment is None:
        return Found(folder=folder, deployment=None, for_development=read.for_development)
    found = Found(folder=folder, deployment=deployment, running=running)
    if not deployment.stack:
        return found
    try:
        stack = parse_stack(deployment.stack, servers.specs, _ANY, folder)
    except StackError as error:
        return replace(found, deployment=deployment.having_problem(error.message))
    versions = dict.fromkeys(versions_named(folder).items(), LISTED)
    if running is not None:
        versions = dict.fromkeys(running.server.versions.items(), running.location)
    hops = [_shown(hop, servers.entries[hop.server], versions, deployment) for hop in stack.hops]
    return replace(found, hops=tuple(_observed(hop, running) for hop in hops))


def _observed(hop: ShownHop, running: Observation | None) -> ShownHop:
    """Return a server with the observed facts; its addresses are those on which it really listens."""
    if running is None:
        return hop
    server, front = running.server, running.front
    facts = [fact for fact in hop.facts if fact.what != "address"]
    if front is not None and hop.server == front.name:
        values, pid = [("address", each) for each in front.addresses], front.pid
        values += [("processes", str(front.processes)), *(("file", each) for each in front.files)]
    else:
        limits, pid = server.limits, server.pid
        values = [("address", each) for each in server.addresses]
        values.append(("threads running", " + ".join(str(each.threads) for each in running.processes)))
        values += [("file", each) for each in server.files]
        values += [("python", server.python)] if server.python else []
        values += [("cores", server.cpus)] if server.cpus else []
        values += [("cores granted", f"{limits.cpus:g}")] if limits.cpus else []
        values += [("memory limit", mebibytes(limits.memory_bytes))] if limits.memory_bytes else []
        values += [("open files", str(limits.open_files))] if limits.open_files else []
    seen = (Fact(what=what, value=value, location=f"pid {pid}") for what, value in values)
    return replace(hop, facts=(*facts, *seen))


def _entry(folder: Path) -> AppEntry | None:
    """Return the app of a project; None without one, or if several may be meant."""
    try:
        found = detect(folder)
    except InputError:
        return None
    return found.entry if found is not None else None


def _shown(
    hop: Hop, server: Entry, versions: Mapping[tuple[str, str], str], deployment: CurrentDeployment
) -> ShownHop:
    # the server's own package comes first, before those that its settings need
    needed = (re.split(r"[^\w.-]", name, maxsplit=1)[0] for name in server.requirements(hop.settings))
    package = package_key(next(needed, ""))
    known = [(number, location) for (name, number), location in versions.items() if name == package]
    version = [Fact(what="version", value=number, location=location) for number, location in known]
    own = [name for name, origin in hop.origins.items() if origin is Origin.OWN or name in hop.chosen]
    sizes = () if hop.spec.forwards else deployment.effective
    texts = {name: setting_text(value) for name, value in hop.settings.items()}
    texts |= dict(each.split("=", 1) for each in sizes)
    computed = hop.file.reading.computed if hop.file is not None and not hop.spec.forwards else ()
    texts = {**dict.fromkeys((name for name in _SIZES if name in computed), "unknown"), **texts}
    named = [name for name in dict.fromkeys((*_SIZES, *_TIMES, *own)) if name in texts and name != _WIRE]
    idle = hop.spec.idle(hop.settings) | (hop.spec.native.idle(hop.settings) if hop.spec.native else frozenset())
    places = {name: _location(hop, name, deployment) for name in named if name not in idle}
    texts |= dict.fromkeys(_unknown(hop, deployment, places), "unknown")
    facts = (Fact(what=name, value=texts[name], location=location) for name, location in places.items())
    addresses = (
        Fact(what="address", value=change.theirs.strip("\"'"), location=placed(change.file, change.line))
        for change in deployment.changes
        if change.concern is Concern.ADDRESS and change.theirs and _is_of(change, hop, deployment)
    )
    return ShownHop(server=hop.server, facts=(*version[:1], *facts, *addresses))


def _is_of(change: CurrentChange, hop: Hop, deployment: CurrentDeployment) -> bool:
    """Tell whether an address is one on which the server of ``hop`` listens."""
    # one path starts from the project's folder, the other perhaps from one above it
    config = [part for part in Path(hop.config).parts if part != ".."]
    is_config = bool(config) and [*Path(change.file).parts][-len(config) :] == config
    if hop.spec.forwards:
        return is_config and change.key.lower() in _LISTENING
    return is_config or change.file == deployment.file


def _unknown(hop: Hop, deployment: CurrentDeployment, places: Mapping[str, str]) -> Iterator[str]:
    """Yield the sizes of a server that its deployment leaves open: those that a gap names, else all unset ones."""
    rows = hop.spec.native.rows if hop.spec.native and not hop.spec.forwards else ()
    for gap in deployment.gaps if rows and not deployment.effective else ():
        if gap.weight is Weight.SIZE:
            key = key_of(gap.what)
            named = {row.setting.name for row in rows if row.setting and key in (*row.names.split(), row.variable)}
            yield from named or (name for name in _SIZES if places.get(name) == _DEFAULT)


def _location(hop: Hop, name: str, deployment: CurrentDeployment) -> str:
    if name in hop.chosen:
        return deployment.location if hop.spec.forwards or name in deployment.said else _DEFAULT
    native = hop.spec.native
    if hop.file is None or native is None or name not in hop.file.reading.said:
        return _DEFAULT
    rows = [row for row in native.rows if row.setting is not None and row.setting.name == name]
    keys = [key for row in rows for key in (row.file_key, *row.long) if key]
    line = next(filter(None, (line_of(hop.file.text, each) for each in keys)), 0)
    # a front end's other values are those of its image, unless it includes other files
    is_plain = bool(hop.spec.forwards) and "include" not in hop.file.text
    usual = native.defaults.get(name), hop.spec.setting(name).default
    is_usual = name in hop.settings and hop.settings[name] in usual
    is_default = not line and (is_plain or is_usual)
    return _DEFAULT if is_default else placed(hop.config, line)


def _sections(found: Found) -> Iterator[Section]:
    deployment = found.deployment
    if deployment is None:
        words = (
            "No file of this project starts a server for production that Stackrace knows; "
            f"name one: stackrace current FILE, or observe the server that runs: {_observing(found)}."
        )
        paragraphs = [Paragraph(text=words, tone=Tone.STRONG, whole=True)]
        paragraphs += [Paragraph(text=f"{each}.", whole=True) for each in found.for_development]
        yield Section(title="", blocks=tuple(paragraphs))
        return
    head = f"{deployment.location} runs {deployment.stack or 'what cannot be raced'}"
    paragraphs = [Paragraph(text=head, tone=Tone.STRONG, whole=True)]
    if deployment.problem:
        paragraphs.append(Paragraph(text=deployment.problem, tone=Tone.DOUBTFUL, whole=True))
    if not deployment.stack and found.running is None:
        paragraphs.append(Paragraph(text=f"Observe the server that runs: {_observing(found)}", whole=True))
    yield Section(title="", blocks=tuple(paragraphs))
    if found.hops:
        yield Section(title="", blocks=(_table(found.hops),))
    lines = [Paragraph(text=line, whole=True) for line in taken_over(deployment, deployment.stack, found.folder)]
    if deployment.stack and not deployment.problem:
        lines.append(Paragraph(text=f"Race it: {_race(found, deployment)}", whole=True))
    yield Section(title="", blocks=tuple(lines))


def _observing(found: Found) -> str:
    where = [] if found.folder == Path() else ["--project", str(found.folder)]
    return shlex.join(["stackrace", "current", *where, "--running", ":PORT"])


def _race(found: Found, deployment: CurrentDeployment) -> str:
    where = [] if found.folder == Path() else ["--project", str(found.folder)]
    file = deployment.reached(deployment.file, found.folder)
    if found.running is not None:
        file = str(found.running.file or "observed.json")
    race = shlex.join(["stackrace", "run", *where, "--current", file])
    if found.running is None or found.running.file is not None:
        return race
    observe = shlex.join(["stackrace", "current", *where, "--running", found.running.target, "--json"])
    return f"{observe} > observed.json; {race}"


def _table(hops: tuple[ShownHop, ...]) -> Table:
    rows = [(hop.server if location == 0 else "", fact) for hop in hops for location, fact in enumerate(hop.facts)]
    return Table(columns=(
        Column(title="server", cells=tuple(server for server, _ in rows), left=True),
        Column(title="", cells=tuple(fact.what for _, fact in rows), left=True),
        Column(title="value", cells=tuple(fact.value for _, fact in rows), left=True),
        Column(title="from", cells=tuple(fact.location for _, fact in rows), left=True),
    ))  # fmt: skip


def _document(found: Found) -> dict[str, object]:
    return {
        "schema": _VERSION,
        "deployment": None if found.deployment is None else encode(found.deployment),
        "hops": [encode(hop) for hop in found.hops],
        "for_development": list(found.for_development),
        **({} if found.running is None else {"observed": encode(replace(found.running, file=None))}),
    }


KIND = Kind(sections=_sections, document=_document)
