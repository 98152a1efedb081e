"""A running server that ``observe.py`` observed here or on another machine, read as a deployment.

Its command line is read like that of a file; then observed values replace those of command line and files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from pprint import pformat

from ...app.projects.deployment_command import OPEN, DeploymentCommand, text_of
from ...base.codec import decode
from ...base.errors import InputError
from ...base.files import read_text
from ...stacks.native_files import Concern, Weight
from ...stacks.servers import catalogue
from . import observe
from .hop import ReadHop
from .model import CurrentDifference
from .options import line_of

_UNSEEN = "observe.py does not show its value"
_HIDDEN = "the title of the process hides its command line (setproctitle), which may say more"
_VARIABLE = "WEB_CONCURRENCY"
_COUNTED = ("workers", "processes")
_HIDDEN_CONCERNS = (Concern.VARIABLES, Concern.LOGS, Concern.PROCESS)
_HARMLESS = {
    "granian": "http runtime-mode runtime-threads task-impl",
    "gunicorn": "asgi-loop http-parser",
    "uvicorn": "http limit-concurrency loop",
    "uwsgi": "callable cap chdir chdir2 cheaper-initial cheaper-step chown-socket chroot fastrouter file gid "
    "http-to http11-socket https https-socket inherit map-socket max-requests-delta mount offload-threads plugin "
    "plugin-dir plugins plugins-dir pp puwsgi-socket pyhome python-path pythonpath raw-socket shared-socket stats "
    "uid umask unshare venv virtualenv wsgi wsgi-file zerg zerg-server",
}
"""Further options whose values are no secrets, by server: those without a row in its table."""
_SWITCHES = {"uwsgi": "log-master log-x-forwarded-for"}
"""Further options without a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a process; None for a limit that is not set or unknown."""

    open_files: int | None = None
    memory_bytes: int | None = None
    """Memory limit of its control groups."""
    cpus: float | None = None
    """Cores that its control groups grant it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningProcess:
    """One process of a server."""

    pid: int
    parent: int
    words: tuple[str, ...]
    """Command line, secrets masked."""
    threads: int
    exe: str
    folder: str
    user: int
    started: str
    """Time of its start, in UTC."""
    addresses: tuple[str, ...]
    """Addresses on which it listens: ``127.0.0.1:8000``, ``unix:/run/shop.sock``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A server with all its processes."""

    name: str
    """Name in the catalogue; empty for another program."""
    pid: int
    """Process id of its first process."""
    words: tuple[str, ...]
    """Command line of the first process, secrets masked."""
    hidden: bool
    """True if the process's title replaced the command line and says less."""
    folder: str
    """Working directory."""
    user: int
    started: str
    """Time of its start, in UTC."""
    addresses: tuple[str, ...]
    workers: int | None
    """Number of processes that run the app; None if unknown."""
    instances: int
    """Number of such servers behind the front end."""
    variables: dict[str, str]
    """Variables that can hold no secret."""
    variable_names: tuple[str, ...]
    python: str
    """Python's version; empty if unknown."""
    versions: dict[str, str]
    """Versions of servers and frameworks in its environment, by package."""
    files: tuple[str, ...]
    """Configuration files that the command line names."""
    limits: Limits
    cpus: str
    """Cores that it may run on: ``0-3``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningFront:
    """A front end before a server."""

    name: str
    pid: int
    words: tuple[str, ...]
    processes: int
    addresses: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Output of ``observe.py``."""

    schema: str
    target: str
    at: str
    """Time of the observation, in UTC."""
    cores: int | None
    """Number of cores of the observed machine; None if unknown."""
    server: RunningServer
    processes: tuple[RunningProcess, ...]
    front: RunningFront | None = None
    file: Path | None = field(default=None, compare=False)
    """File that it was read from; None for an observation made just now."""

    @property
    def location(self) -> str:
        """Name of the process in place of a file: ``pid 1234``."""
        return f"pid {self.server.pid}"

    def command(self, root: Path) -> DeploymentCommand:
        """Return the server's command line and variables as a deployment command of the project at ``root``."""
        server = self.server
        known = dict.fromkeys(server.variable_names, OPEN) | server.variables
        return DeploymentCommand(
            file=root / self.location,
            words=tuple(word.replace(observe.MASK, OPEN) for word in server.words),
            environment={name: value.replace(observe.MASK, OPEN) for name, value in known.items()},
            folder=server.folder,
            instances=min(server.instances, 64),
            fronts=(self.front.name,) if self.front else (),
        )

    def correct(self, hop: ReadHop) -> tuple[CurrentDifference, ...]:
        """Set the workers of ``hop`` to the observed number; return the differences from files and command line."""
        if self.server.hidden:
            hop.gap("its title", _HIDDEN, Weight.SIZE)
        found = (*self._workers(hop), *self._addresses(hop))
        hop.changes = [replace(each, theirs=each.theirs.replace(OPEN, observe.MASK)) for each in hop.changes]
        hop.gaps = [
            replace(gap, what=gap.what.replace(OPEN, observe.MASK), why=_UNSEEN) if OPEN in gap.what else gap
            for gap in hop.gaps
        ]
        return found

    def _workers(self, hop: ReadHop) -> Iterator[CurrentDifference]:
        name = next((each.name for each in hop.spec.settings if each.name in _COUNTED), "")
        number = self.server.workers
        # with ``cheaper``, the server itself starts and ends workers
        if not name or not number or hop.values().get("cheaper"):
            return
        rows = [row for row in hop.native.rows if row.setting and row.setting.name == name]
        keys = {key for row in rows for key in row.names.split()}
        unclear = [gap for gap in hop.gaps if gap.weight is Weight.SIZE and key_of(gap.what) in {*keys, _VARIABLE}]
        is_unknown = name in hop.computed or unclear
        said = None if is_unknown or self.server.hidden else hop.values().get(name)
        if said == number:
            return
        file, line = hop.location
        if not keys & hop.seen.keys() and name in hop.said:
            text = text_of(hop.root / hop.config)
            file, line = hop.config, next(filter(None, (line_of(text, key) for key in keys)), 0)
        hop.settings[name] = number
        hop.computed.discard(name)
        hop.gaps = [gap for gap in hop.gaps if gap not in unclear]
        if said is not None:
            yield CurrentDifference(file=file, line=line, said=f"{name}={said}", against=f"{number} run")

    def _addresses(self, hop: ReadHop) -> Iterator[CurrentDifference]:
        listens = self.server.addresses
        ports = {address.rpartition(":")[2] for address in listens}
        for change in hop.changes if listens else ():
            said = change.theirs.strip("\"'")
            port = re.fullmatch(r"(?:[\w.\[\]:*-]*:)?(\d{1,5})", said)
            is_port = port and (":" in said or change.key.endswith("port"))
            if change.concern is Concern.ADDRESS and port and is_port and port[1] not in {*ports, "0"}:
                said = f"{change.key.lstrip('-')} {said}"
                against = f"it listens on {', '.join(listens)}"
                yield CurrentDifference(file=change.file, line=change.line, said=said, against=against)


def key_of(what: str) -> str:
    """Return the option or the variable with which a gap's ``what`` begins."""
    return re.split(r"[ =]", what.lstrip("-"), maxsplit=1)[0]


def observed_in(file: Path) -> Observation | None:
    """Return the observation in ``file``; None if the file is not output of ``observe.py``.

    Raises InputError for an observation that is damaged or has another schema.
    """
    if file.suffix != ".json":
        return None
    try:
        document = json.loads(text_of(file))
    except (ValueError, RecursionError):
        return None
    if isinstance(document, dict) and isinstance(document.get("observed"), dict):
        # the file is output of stackrace current --running --json
        document = document["observed"]
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, str) or not schema.startswith("observed-"):
        return None
    way_out = "make it again: stackrace current --script > observe.py; python3 observe.py PID > observed.json"
    if schema != observe.SCHEMA:
        raise InputError(f"{file} has the schema {schema}, and this version reads {observe.SCHEMA}; {way_out}")
    return replace(_decoded(document, str(file), way_out), file=file)


def observed_at(target: str) -> Observation:
    """Return the server that runs on this machine at ``target``; raise InputError if none can be observed there."""
    fill_tables()
    try:
        return _decoded(observe.observe(target), target, "")
    except observe.ObservationError as error:
        raise InputError(f"--running {error}") from error


def _decoded(document: object, where: str, way_out: str) -> Observation:
    try:
        found: Observation = decode(Observation, document)
    except ValueError as error:
        raise InputError(f"{where} is no observation: {error}; {way_out}") from error
    return found


def script() -> str:
    """Return ``observe.py`` with its tables, for a machine without Stackrace."""
    fill_tables()
    tables = {name: getattr(observe, name) for name in ("PROGRAMS", "VALUES", "SWITCHES")}
    text = read_text(Path(observe.__file__))
    for name, table in tables.items():
        text = re.sub(rf"(?m)^{name}: .*$", f"{name} = {pformat(table, width=116, compact=True)}", text, count=1)
    return text


@cache
def fill_tables() -> None:
    """Fill the tables of ``observe.py`` with what the servers of the catalogue declare about their options."""
    observe.PROGRAMS["cheroot"] = "cheroot"
    for name, spec in catalogue().specs.items():
        native = spec.native
        if native is None or not native.programs or native.is_inside:
            continue
        shown = [row for row in native.rows if not row.is_switch and row.concern not in _HIDDEN_CONCERNS]
        values = [each for row in shown for each in row.names.split() if "password" not in each]
        switches = [each for row in native.rows if row.is_switch for each in row.names.split()]
        observe.PROGRAMS.update(dict.fromkeys(native.programs, name))
        observe.VALUES[name] = values + _HARMLESS.get(name, "").split()
        observe.SWITCHES[name] = switches + _SWITCHES.get(name, "").split()
