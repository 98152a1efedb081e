"""Read a project's present deployment, as a stack to be raced, from its deployment files, which are never run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ...app.app import Entry
from ...app.known_pythons import known_pythons, packages_of
from ...app.project_files import ProjectFiles, is_exported, is_platform, likelihood, problem_of, repository_folders
from ...app.projects.deployment_command import shown, text_of
from ...app.projects.deployment_files import DeploymentCommand, commands_of_file, deployment_commands, is_worker
from ...app.projects.framework_commands import as_server
from ...app.projects.images import may_contain, starting_bases
from ...app.projects.kubernetes import is_manifest
from ...app.projects.starts import UNTOLD, for_development, serves_no_app, starts
from ...base.errors import InputError
from ...base.files import is_file
from ...report.figures import listed
from ...stacks.native_files import Weight
from ...stacks.stack import ServerSpec
from .deployment_record import Read, front_of, recorded, take_settings_variable
from .fronts import Front, Fronts, unread_documents, unread_targets
from .hop import ReadHop, shown_location
from .mistakes import differences_in, mistakes_in, why_not_started
from .model import CurrentDeployment, CurrentGap, placed
from .options import read_hop
from .running import Observation, observed_in

_ELSEWHERE = {
    "cheroot": "Cheroot's own command",
    "cherryd": "CherryPy's own server",
    "passenger": "Passenger",
    "litestar": "Litestar's command",
    "pserve": "the server that Pyramid's file names",
    "robyn": "Robyn's own server",
    "sanic": "Sanic's own server",
    "twist": "Twisted's own server",
    "twistd": "Twisted's own server",
    "unitd": "NGINX Unit",
}
"""Programs that serve an application in production, but whose command lines Stackrace cannot read."""

_ALONE = {"*gunicorn*conf*.py": ("gunicorn", "-c"), "*uwsgi*.ini": ("uwsgi", "--ini")}
"""Patterns of servers' own files, and the commands that they stand for if no other file starts the server."""
_OWN_SUFFIXES = frozenset(Path(name).suffix for name in _ALONE)
_CONFIGURES = re.compile(
    r"^[ \t]*(\[uwsgi\]|(bind|workers|worker_class|threads|wsgi_app|timeout)[ \t]*=)", re.MULTILINE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectReading:
    """Present deployment of a project, as its deployment files say."""

    deployment: CurrentDeployment | None
    """None if no file starts a server of the catalogue."""
    for_development: tuple[str, ...] = ()
    """Servers for development that the files start, each with its place, if there is no deployment."""


def read_project(
    folder: Path,
    specs: Mapping[str, ServerSpec],
    file: Path | None = None,
    entry: Entry | None = None,
    python: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> ProjectReading:
    """Return the present deployment of the project in ``folder``, by its deployment files or by ``file`` alone.

    ``specs`` is the catalogue by server name. If some servers start the app ``entry``, all others count as servers
    of other apps. ``python`` is the app's interpreter, by default that of the project's own environment. ``entry``
    is None if unknown. ``environment`` has the variables of a race.
    Raises InputError if ``file`` does not exist, or starts no server.
    """
    if file is not None and not is_file(file):
        raise InputError(
            f"there is no file {file} to take the current deployment from; correct --current, or [race] current"
        )
    if file is not None and (running := observed_in(file)):
        return ProjectReading(deployment=running_deployment(running, folder, specs, entry, python, environment))
    python = python or next((known.python for known in known_pythons(folder) if known.is_sure), None)
    base, file = folder.absolute(), file and Path(os.path.normpath(file.absolute()))
    places = [base, *_above(base)] if file is None else [_home(file, base)]
    found = None
    for_development: tuple[str, ...] = ()
    for root in places:
        reading = _Reading(root, base, specs, file, python, environment)
        here = reading.deployment(entry)
        # a server's own file says less than a command that names it
        if here is not None and root != base:
            here = replace(here, above=os.path.relpath(root, base))
        if here is not None and (file or (here.stack and Path(here.file).suffix not in _OWN_SUFFIXES)):
            return ProjectReading(deployment=here)
        found = found or here
        if root == base:
            for_development = tuple(reading.for_development())
    return ProjectReading(deployment=found, for_development=() if found else for_development)


def running_deployment(
    running: Observation,
    folder: Path,
    specs: Mapping[str, ServerSpec],
    entry: Entry | None = None,
    python: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> CurrentDeployment:
    """Return the deployment of a running server, read with the project's files that its command line names."""
    base = folder.absolute()
    reading = _Reading(base, base, specs, None, python, environment, running)
    unknown = f"Stackrace knows no server in its command line, or no file of the project {base} that it runs"
    return reading.deployment(entry) or CurrentDeployment(stack="", file=running.location, problem=unknown)


_MOST_ABOVE = 3


def _above(folder: Path) -> tuple[Path, ...]:
    return repository_folders(folder)[1 : _MOST_ABOVE + 1]


_FOR_ALL = re.compile(
    r"\..*|docker(-?compose|files?)?|compose|containers?|deploy\w*|infra\w*|(dev)?ops|k8s|kube\w*|helm|charts?|conf\w*|"
    r"etc|systemd|nginx|scripts?|bin|prod(uction)?"
)
"""Names of folders beside the app's folder that may hold its deployment files."""


def _home(file: Path, base: Path) -> Path:
    """Return the folder in which the paths in ``file`` are searched: the project's, or one above."""
    return next((folder for folder in (base, *_above(base)) if file.is_relative_to(folder)), base)


_BASE = "it may start a server and a front end of its own, and no file here says which"
_PLAIN = 1
_OTHER_RANK = 1
"""Highest rank of a command that a user can name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unraced:
    """A command that starts something unknown, or a server that cannot be raced."""

    command: DeploymentCommand
    problem: str
    is_served: bool = False
    """True if the command is known to serve an app."""


class _Reading:
    """Reader of the files below ``root``, of ``file`` alone, or of a ``running`` server; the app is in ``base``."""

    def __init__(
        self,
        root: Path,
        base: Path,
        specs: Mapping[str, ServerSpec],
        file: Path | None,
        python: Path | None,
        environment: Mapping[str, str],
        running: Observation | None = None,
    ) -> None:
        self.root, self.base, self.specs, self.file = root, base, specs, file
        self.running = running
        self.project, self.fronts = ProjectFiles(root), Fronts(root, specs, file)
        packages = packages_of(python) if python is not None else frozenset()
        packages = packages if running is None else frozenset(running.server.versions)
        self._read = partial(
            read_hop, project=self.project, python=python, environment=environment, packages=packages
        )
        self.programs = {name: spec for spec in specs.values() if spec.native for name in spec.native.programs}
        self.hops: list[ReadHop] = []
        self.unraced: list[_Unraced] = []
        self.commands = [each for each in self._commands() if not _is_server_file(each) and self._may_start(each)]

    def deployment(self, entry: Entry | None) -> CurrentDeployment | None:
        """Return the likeliest deployment, if possible of the app ``entry``; None if nothing was found."""
        self._follow(self.commands)
        if self.running is None:
            self._follow([command for command in self._alone() if self._may_start(command)])
        is_named = self.file is not None or self.running is not None
        real = self._without_parts([hop for hop in self.hops if not hop.is_for_development or is_named])
        # a repository above may belong to a tool, which has templates for other projects
        programs = self.programs.keys() if self.root == self.base else ()
        unread = [] if self.running else list(unread_documents(self.root, programs))
        serving = [each for each in self.unraced if self.file is not None or not is_worker(each.command)]
        unraced = [each for each in serving if each.is_served or not real]
        other = min(unraced, key=lambda each: self._rank(each.command), default=None)
        if not real:
            return self._none_raced(other, unread)
        ours = [hop for hop in real if entry is not None and _starts(hop, entry)]
        first, *rest = sorted(ours or real, key=self._likelihood)
        unnamed = (hop for hop in real if ours and hop.app is None)
        if other is not None and self._rank(other.command) < self._likelihood(first):
            return replace(self._unraced(other), others=_places((first, *rest)))
        take_settings_variable(first, entry)
        observed = self.running.correct(first) if self.running is not None else ()
        there = self.fronts.configured({text_of(each.file) for each in self.commands})
        there = [each for each in there if self._may_concern((self.root / each.file).parent)]
        before, elsewhere = self.fronts.before(first.command, self.commands, there)
        if self.running is not None and self.running.front is None:
            before, elsewhere = [], []
        before = [each for each in before if not self._is_elsewhere(each, first, elsewhere)]
        front = front_of(first, before)
        equal = [hop for hop in rest if not hop.problem and self._stage(hop) == self._stage(first)]
        servers = [*self.specs.values()]
        read = Read(hop=first, front=front, others=equal, servers=servers, running=self.running)
        mistakes = mistakes_in(read)
        first.problem = first.problem or why_not_started(mistakes)
        found = replace(recorded(first, before, front, self.root, self.base), mistakes=mistakes)
        others_app = () if ours or entry is None else _of_another_app(first, entry)
        gaps = dict.fromkeys(
            (*found.gaps, *others_app, *self._overriding(first, unread), *self._likelier(first), *elsewhere)
        )
        # a compose file without its override cannot be named by --current
        places = _places(hop for hop in (*rest, *unnamed) if hop.command.rank <= _OTHER_RANK)
        others = tuple(each for each in places if each != found.location)
        # the variables of a running process include all of its machine's
        variables = found.variables if self.running is None else ()
        differences = (*observed, *differences_in(read))
        return replace(found, gaps=tuple(gaps), differences=differences, others=others, variables=variables)

    def _commands(self) -> Sequence[DeploymentCommand]:
        """Return the commands of all files, or of the file that the user named, unless a front end reads it."""
        if self.running is not None:
            return [self.running.command(self.root)]
        commands, file = deployment_commands(self.root, wide=True), self.file
        if file is None or self._names_front:
            return commands
        # a command that another file starts with its own variables keeps these
        own = [command for command in commands if file in (command.document, command.file)]
        own = [command for command in own if command.document == file] or own
        return own or commands_of_file(file, self.root)

    @cached_property
    def _names_front(self) -> bool:
        return self.file in {self.root / front.file for front in self.fronts.configured()}

    def _may_start(self, command: DeploymentCommand) -> bool:
        """Tell whether ``command`` may start the app: other apps of the repository have files, too."""
        places = (command.file, command.document, command.image)
        # a document says itself where its images are built, and what they mount
        may_be_in = command.document or command.image is None or self._may_be_in(command.image)
        return bool(may_be_in) and all(self._may_concern(path.parent) for path in places if path is not None)

    def _may_concern(self, folder: Path) -> bool:
        if (
            self.base.is_relative_to(folder)
            or folder.is_relative_to(self.base)
            or not folder.is_relative_to(self.root)
        ):
            return True
        # of services in one folder, the one of the front end is for all of them
        common = os.path.commonpath((self.base, folder)) if self.base.is_relative_to(self.root) else self.root
        names = (folder.relative_to(self.root).parts[0], folder.relative_to(common).parts[0])
        return any(_FOR_ALL.fullmatch(name.lower()) for name in names)

    def _may_be_in(self, dockerfile: Path) -> bool:
        """Tell whether an image may contain the app; a Dockerfile that the user named does."""
        is_ours = self.file is not None or not dockerfile.is_relative_to(self.root)
        return is_ours or may_contain(dockerfile, self.base, self.root)

    def _follow(self, commands: Iterable[DeploymentCommand]) -> None:
        """Record the servers that ``commands`` start, and the commands that start no server of the catalogue."""
        for command in commands:
            found, why = starts(command, self.project, self.programs.keys() | _ELSEWHERE.keys())
            for start in (as_server(each, self.project) for each in found):
                spec = self.programs.get(start.words[0])
                if spec is not None and spec.native is not None:
                    self.hops.append(self._read(start, spec, spec.native, problem=why))
                else:
                    problem = f"it is served by {_ELSEWHERE[start.words[0]]}, which Stackrace does not race"
                    self.unraced.append(_Unraced(command=start, problem=problem, is_served=True))
            if why and not found:
                self.unraced.append(_Unraced(command=command, problem=why))

    def _alone(self) -> Iterator[DeploymentCommand]:
        """Yield commands for servers' own files that no command names, or for the user's file if it is one."""
        named = {hop.config for hop in self.hops}
        patterns = [(each, words) for name, words in _ALONE.items() for each in (name, f"*/{name}")]
        found = [(path, words) for pattern, words in patterns for path in sorted(self.root.glob(pattern))]
        found = [(path, words) for path, words in found if not is_exported(path)]
        if self.file is not None:
            named = set()
            found = [(self.file, words) for name, words in _ALONE.items() if self.file.suffix == Path(name).suffix]
        for path, words in found:
            name = os.path.relpath(path, self.root)
            if name not in named and _CONFIGURES.search(text_of(path)):
                yield DeploymentCommand(file=path, words=(*words, name), line=1)

    def _without_parts(self, hops: Sequence[ReadHop]) -> list[ReadHop]:
        documented = [hop for hop in hops if hop.command.document is not None]
        built = {hop.command.image for hop in documented if self._likelihood(hop)[0] <= _PLAIN}
        return [hop for hop in hops if hop in documented or hop.command.file not in built]

    def _likelihood(self, hop: ReadHop) -> tuple[int, ...]:
        return self._rank(hop.command, int(bool(hop.problem)))

    def _stage(self, hop: ReadHop) -> int:
        return likelihood(hop.command.known_by, self.root, hop.command.service)[0]

    def _rank(self, command: DeploymentCommand, problems: int = 0) -> tuple[int, ...]:
        likely = likelihood(command.known_by, self.root, command.service)
        # a platform has front ends of its own, not the one that the user named
        return self._names_front and is_platform(command.known_by, self.root), *likely, problems, command.rank

    def _unraced(self, other: _Unraced) -> CurrentDeployment:
        file, line = shown_location(other.command, self.root)
        return CurrentDeployment(stack="", file=file, line=line, problem=other.problem)

    def _none_raced(self, other: _Unraced | None, unread: Sequence[CurrentGap]) -> CurrentDeployment | None:
        """Return a deployment whose problem says why no server was found; None if no file could start one.

        Raises InputError if the user named a file that starts no server.
        """
        if other is not None:
            return self._unraced(other)
        if self.file is not None:
            problem = problem_of(self.file, text_of(self.file)) or next(self.for_development(), "")
            raise InputError(
                f"{self.file} starts no server that Stackrace knows{f' ({problem})' if problem else ''}; "
                "give another file with --current ([race] current), or --no-current"
            )
        places = (
            CurrentDeployment(stack="", file=gap.file, line=gap.line, problem=f"{gap.what}: {gap.why}")
            for gap in (*unread, *unread_targets(self.root, self.programs), *self._starting_images())
        )
        return next(places, None)

    def for_development(self) -> Iterator[str]:
        """Yield the servers for development that its commands start, each with its place."""
        for hop in self.hops:
            if hop.is_for_development:
                option = next(name for name in hop.seen if hop.native.row(name).is_for_development)
                yield f"{placed(*hop.location)} starts {hop.spec.title} for development (--{option})"
        for command in self.commands:
            yield from for_development(command, self.project, self.programs.keys())

    def _is_elsewhere(self, front: Front, hop: ReadHop, elsewhere: list[CurrentGap]) -> bool:
        """Tell whether ``front`` forwards to a port that the server lacks; if so, add a gap to ``elsewhere``."""
        port, ports = front.port, hop.ports
        # Kubernetes and published ports of this machine map ports to other numbers
        is_mapped = is_manifest(hop.command.known_by) or front.host in _LOCAL
        if not port or not ports or port in ports or is_mapped:
            return False
        why = f"it leads to {front.host}:{port}, and {hop.spec.title} listens on {listed(ports)}"
        elsewhere.append(CurrentGap(file=front.file, line=0, what=front.title, why=why))
        return True

    def _overriding(self, hop: ReadHop, unread: Sequence[CurrentGap]) -> Iterator[CurrentGap]:
        """Yield the gaps ``unread``, whose files may override ``hop``; none if the user named a file.

        They may override an image's command or a Kubernetes object. Any other ``hop`` is a deployment of its own,
        and the gaps get a plain weight.
        """
        file, document = hop.command.known_by, hop.command.document
        is_overridden = is_manifest(file) or (document is None and not is_platform(file, self.root))
        for gap in unread if self.file is None else ():
            yield gap if is_overridden else replace(gap, weight=Weight.PLAIN)

    def _likelier(self, hop: ReadHop) -> Iterator[CurrentGap]:
        """Yield gaps for commands that may run in place of ``hop``, but are not known to start a server.

        Such a command is likelier than ``hop`` and names a server, or it is an image's own command.
        """
        for each in self.unraced:
            command = each.command
            named = set(re.findall(r"[\w-]+", " ".join(command.words))) & self.programs.keys()
            is_other = named or _is_server_file(hop.command)
            is_likelier = is_other and self._rank(command) < self._likelihood(hop)
            is_image = command.image == command.file and self.file is None and hop.command.image is None
            # supervisor's file has already been read
            is_supervised = any(word.rpartition("/")[2] == "supervisord" for word in command.words)
            is_image &= not (is_supervised and "supervisor" in hop.command.known_by.name)
            if not each.is_served and (is_likelier or is_image):
                file, line = shown_location(command, self.root)
                what = f"the command with {' and '.join(sorted(named))}" if named else "the command"
                weight = Weight.SIZE if is_likelier else Weight.PLAIN
                yield CurrentGap(file=file, line=line, what=what, why=each.problem, weight=weight)
        yield from self._starting(hop) if _is_server_file(hop.command) else ()

    def _starting(self, hop: ReadHop) -> Iterator[CurrentGap]:
        """Yield the commands of images that may start the server whose file ``hop`` was read from."""
        known = {each.command.image for each in self.hops} | {each.command.image for each in self.unraced}
        for command in self.commands:
            program = command.words[0].rpartition("/")[2]
            if command.image == command.file and command.image not in known and not serves_no_app(program):
                file, line = shown_location(command, self.root)
                why = UNTOLD.format(program)
                yield CurrentGap(file=file, line=line, what="the command", why=why, weight=Weight.SIZE)
        yield from self._starting_images()

    def _starting_images(self) -> Iterator[CurrentGap]:
        """Yield gaps for images whose base starts a server, unless the user named a file."""
        run = {command.image for command in self.commands}
        for image, path in starting_bases(self.root) if self.file is None else ():
            if image.path not in run and self._may_concern(path.parent) and self._may_be_in(path):
                file, what = shown(path, self.root), f"image {image.base}"
                yield CurrentGap(file=file, line=image.line, what=what, why=_BASE, weight=Weight.SIZE)


def _is_server_file(command: DeploymentCommand) -> bool:
    """Tell whether a command was made from a server's own file, and is not one that a deployment file has."""
    own = {Path(name).suffix: words[0] for name, words in _ALONE.items()}
    return own.get(command.file.suffix) == command.words[0]


def _starts(hop: ReadHop, entry: Entry) -> bool:
    """Tell whether a server starts the app ``entry``, by the first part of the module name."""
    wanted = entry.target.partition(":")[0].partition(".")[0]
    app = hop.app
    return app is not None and wanted in (*PurePosixPath(app.module).parts, *app.module.split("."))


def _of_another_app(hop: ReadHop, entry: Entry) -> Iterator[CurrentGap]:
    """Yield a gap if the module that a server starts has no word in common with the race's app ``entry``."""
    app = hop.app
    if app is not None and not set(re.findall(r"\w+", app.module)) & set(re.findall(r"\w+", entry.target)):
        file, line = hop.location
        why = f"it is taken for the race's app, {entry.target}"
        yield CurrentGap(file=file, line=line, what=app.module, why=why, weight=Weight.ASSUMED)


_LOCAL = ("", "localhost", "127.0.0.1", "0.0.0.0", "[", "host.docker.internal")
"""Hosts, or their beginnings, at which ports of containers may have other numbers."""


def _places(hops: Iterable[ReadHop]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(placed(*hop.location) for hop in hops))
