"""Front ends that a project configures before a server, and files that Stackrace cannot read but may matter."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...app.project_files import deployment_folders, is_development, is_exported, is_platform, likelihood
from ...app.projects.deployment_command import DeploymentCommand, shown, text_of
from ...app.projects.kubernetes import is_manifest, manifests, templates
from ...base.errors import said_by
from ...stacks.native_files import FileReading, Signs, Weight
from ...stacks.native_options import CONFIG
from ...stacks.stack import ServerSpec
from .hop import ReadHop, quoted_value
from .model import CurrentChange, CurrentGap

_NAMES = re.compile(r"\.(conf|nginx|vhost|template|tmpl|site|j2)$|nginx|^default$", re.IGNORECASE)
_FOLDERS = frozenset({"sites-available", "sites-enabled", "conf.d", "nginx"})
_NO_TEXT = re.compile(
    r"\.(py|md|rst|txt|sh|ya?ml|json|html?|js|ts|service|toml|lock|png|svg)$|Dockerfile", re.IGNORECASE
)
_PASSES = re.compile(r"(?:^|[{;])[ \t]*(?:proxy|uwsgi|fastcgi|scgi)_pass\s", re.MULTILINE)
_FORWARDS = re.compile(
    rf"{_PASSES.pattern}|\A(?>.*?(?:^|[{{;])[ \t]*(?:server|http)\s*+\{{).*\binclude\s", re.MULTILINE | re.DOTALL
)
_TEMPLATE = re.compile(r"\{\{|\{%|<%")
_TEMPLATES = re.compile(r"\.(template|tmpl|tpl|j2|jinja2?|erb|in)$")
_LINE = re.compile(r"line (\d+): ")


_SOME_INGRESS = "Ingress"
_ABSENT = {
    "Traefik": Signs(
        files=r"traefik.*\.(ya?ml|toml)(\..+)?",
        forwards=r"providers|entryPoints|http",
        documents=r"traefik\.(enable|http)\b|image:\s*\S*\btraefik(?![\w-])",
    ),
    "Envoy": Signs(
        files=r"envoy.*\.ya?ml(\..+)?", forwards=r"^static_resources:", documents=r"image:\s*\S*\benvoy\b"
    ),
    _SOME_INGRESS: Signs(documents=r"^kind:\s*Ingress\s*$"),
}
_INGRESS = re.compile(r"^kind:\s*Ingress\s*$", re.MULTILINE)
_HELM = (
    "Stackrace reads no templates of Helm's: write what they make with helm template, and give --current that file"
)
_KUSTOMIZE = "Stackrace reads no overlays: write what they make with kubectl kustomize, and give --current the file"
_MADE_OF = "Stackrace reads no templates: give --current a file that was made of it"
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile", "justfile", "Justfile")
_OF_MAKE = "Stackrace reads no makefiles: give --current a script with this command"
_OVERLAYS = re.compile(
    r"^(patches|patchesStrategicMerge|patchesJson6902|replicas|configMapGenerator|components):", re.MULTILINE
)
_GENERATED = re.compile(
    r"(.+\.service|.*compose.*\.ya?ml|(.+\.)?(Docker|Container)file|Procfile|supervisor.*\.conf|.+\.ini|gunicorn.*\.py|.+\.sh)"
    r"\.(j2|jinja2?|tmpl|tpl|template|erb)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """A front end, and the place where the project names it."""

    title: str
    spec: ServerSpec | None
    """Server in the catalogue; None if the catalogue does not have it."""
    file: str
    """File that names or configures the front end, relative to the project's folder."""
    line: int = 0
    """Line in the file; 0 if unknown."""
    reading: FileReading | None = None
    """Content of its configuration file; None if the file cannot be read."""
    problem: str = "its configuration is not read"
    """Reason why the configuration cannot be read, as part of a sentence."""
    is_broken: bool = False
    """True if the file is no valid configuration, so that the front end cannot run with it."""

    def text(self, root: Path, base: Path) -> str:
        """Return the front end in a stack path, its file relative to ``base``; ``root`` is the project's folder."""
        assert self.spec is not None
        if self.reading is None:
            return self.spec.name
        return f"{self.spec.name}:{CONFIG}={quoted_value(os.path.relpath(root / self.file, base))}"

    def wire(self, spoken: Collection[str]) -> str:
        """Return the protocol by which it reaches a server that speaks ``spoken``; empty if they share none."""
        if self.reading is not None:
            return self.reading.forwards if self.reading.forwards in spoken else ""
        if self.is_broken:
            return ""
        both = [str(each) for each in (self.spec.forwards if self.spec else ()) if str(each) in spoken]
        # a server with a second protocol beside http has that for a front end
        return next(iter(sorted(both, key="http".__eq__)), "")

    @property
    def port(self) -> str:
        """Port that it forwards to; empty if it names none."""
        target = self.reading.target if self.reading else ""
        found = None if target.startswith("unix:") else re.search(r":(\d+)$", target)
        return found[1] if found else ""

    @property
    def host(self) -> str:
        """Host that it forwards to; empty if unknown, or if it forwards to a unix socket."""
        target = self.reading.target if self.reading else ""
        return "" if target.startswith("unix:") else target.partition(":")[0]

    @property
    def is_unix(self) -> bool:
        """True if it reaches the app by a unix socket."""
        return self.reading is None or self.reading.target.startswith("unix:")

    @property
    def changes(self) -> Iterator[CurrentChange]:
        """Settings of its file that a race decides in another way."""
        for change in self.reading.changes if self.reading else ():
            file, key = _in_file(change.key, self.file)
            yield CurrentChange(file=file, line=change.line, key=key, theirs=change.theirs, concern=change.concern)

    @property
    def gaps(self) -> Iterator[CurrentGap]:
        """Parts of its file that a race goes without."""
        for gap in self.reading.omissions if self.reading else ():
            file, what = _in_file(gap.what, self.file)
            yield CurrentGap(file=file, line=gap.line, what=what, why=gap.why)
        if self.reading is None:
            yield self.unread("it is raced as the catalogue has it", Weight.ASSUMED)

    def unread(self, instead: str, weight: Weight = Weight.PLAIN) -> CurrentGap:
        """Return the gap that its configuration cannot be read; ``instead`` ends the sentence: what is raced."""
        line = _LINE.match(self.problem)
        return CurrentGap(
            file=self.file,
            line=int(line[1]) if line else self.line,
            what=self.title,
            why=f"{self.problem[line.end() :] if line else self.problem}; {instead}",
            weight=weight,
        )


def _in_file(words: str, file: str) -> tuple[str, str]:
    other, colon, rest = words.partition(": ")
    return (other, rest) if colon and " " not in other else (file, words)


class Fronts:
    """The front ends of the project at ``root``; ``file``, if the user names one, may be a front end's."""

    def __init__(self, root: Path, specs: Mapping[str, ServerSpec], file: Path | None) -> None:
        self.root, self.specs, self.file = root, specs, file

    def configured(self, texts: Collection[str] = ()) -> list[Front]:
        """Return the front ends that the project's files configure, the likeliest for production first.

        A file that another file includes counts as a part of that file. Among equals, front ends named in the
        deployment files' ``texts`` come first, then those with the shortest file name. Exported files are left out,
        except those in the folder of the file that the user names.
        """

        def key(front: Front) -> tuple[bool, tuple[int, bool, int], bool, int]:
            mentioned = any(f"/{Path(front.file).name}" in text for text in texts)
            return not front.reading, likelihood(self.root / front.file, self.root), not mentioned, len(front.file)

        files = list(self._files())
        found = [
            front
            for spec in self.specs.values()
            if spec.native is not None and spec.native.file and spec.forwards
            for path in files
            if (front := _front(self.root, path, spec)) is not None
        ]
        parts = {file for front in found if front.reading for file in front.reading.files}
        whole = [front for front in found if front.file not in parts]
        return sorted(whole, key=key)

    def before(
        self, command: DeploymentCommand, commands: Sequence[DeploymentCommand], found: Sequence[Front]
    ) -> tuple[list[Front], list[CurrentGap]]:
        """Return the front ends that may stand before ``command``, and gaps for those of other services.

        ``found`` are the configured front ends; others may be named in files that cannot be read. All ``commands``
        of the project tell which other services there are.
        """
        elsewhere = dict(_fronts_elsewhere(found, command, commands))
        gaps = [*elsewhere.values()]
        if named := [front for front in found if self.root / front.file == self.file]:
            return named, gaps
        found = [front for front in found if front.file not in elsewhere]
        if command.fronts:
            # a front end that forwards to a service of a document is in its network, and not on the platform
            own = [front for front in found if not any(front.host in each.hosts for each in commands)]
            return self._of_platform(command, own), gaps
        if is_platform(command.known_by, self.root):
            return [], gaps
        documents = dict.fromkeys((*command.documents, *filter(None, (command.document, command.file))))
        titles = {gap.what for gap in gaps}
        return [*found, *(each for each in self._shown(documents) if each.title not in titles)], gaps

    def _of_platform(self, command: DeploymentCommand, found: Sequence[Front]) -> list[Front]:
        location = shown(command.known_by, self.root)
        return [
            next((each for each in found if each.spec is spec), Front(title=spec.title, spec=spec, file=location))
            for name in command.fronts
            if (spec := self.specs.get(name)) is not None and spec.forwards
        ]

    def _files(self) -> Iterator[Path]:
        """Yield the files that may configure a front end, including those exported beside the user's file."""
        root, file = self.root, self.file
        folders = {folder: names for folder, _, names in deployment_folders(root)}
        if file is not None and file.is_relative_to(root) and is_exported(file):
            folders[file.parent] = sorted(each.name for each in file.parent.iterdir())
        for folder, names in folders.items():
            for name in names:
                is_named = _NAMES.search(name) or folder.name in _FOLDERS
                if is_named and not _NO_TEXT.search(name) and _FORWARDS.search(text_of(folder / name)):
                    yield folder / name

    def _shown(self, documents: Collection[Path]) -> list[Front]:
        """Return the front ends that files of the project name but Stackrace cannot read, the likeliest first.

        Front ends in the ``documents`` of the server come first, and ingresses if these documents are Kubernetes'.
        """
        root = self.root
        known: list[tuple[str, ServerSpec | None, Signs]]
        known = [(spec.title, spec, spec.signs) for spec in self.specs.values() if spec.signs]
        known += [(title, None, signs) for title, signs in _ABSENT.items()]
        texts = {path: text_of(path) for path in documents}
        if any(is_manifest(path) for path in texts):
            texts |= dict(manifests(root, _INGRESS))
        named = [
            Front(title=title, spec=spec, file=str(path.relative_to(root)), line=line)
            for path, text in texts.items()
            for title, spec, signs in known
            if path.is_relative_to(root) and signs.documents and (line := found_line(signs.documents, text))
        ]
        known_ones = {front.file for front in named if front.spec}
        named = [front for front in named if front.title != _SOME_INGRESS or front.file not in known_ones]
        found = [
            Front(title=title, spec=spec, file=str((folder / name).relative_to(root)), line=line)
            for folder, _, names in deployment_folders(root)
            for name in names
            for title, spec, signs in known
            if signs.files
            and re.fullmatch(signs.files, name)
            and not is_development(folder / name, root)
            and (line := found_line(signs.forwards, text_of(folder / name)))
        ]
        found.sort(key=lambda front: (*likelihood(root / front.file, root), len(front.file)))
        # a front end's own file says more than a document that names the front end
        own = {front.title: front for front in reversed(found)}
        named = [own.get(front.title, front) for front in named]
        # one file for each front end is enough
        return list({front.title: front for front in reversed([*named, *found])}.values())[::-1]


def _front(root: Path, path: Path, spec: ServerSpec) -> Front | None:
    """Return the front end of a file; None if neither the file nor a file that it includes forwards requests."""
    file, text = str(path.relative_to(root)), text_of(path)
    assert spec.native is not None
    try:
        if line := found_line("<%", text):
            raise ValueError(f"line {line}: Stackrace reads no templates of ERB's")
        return Front(title=spec.title, spec=spec, file=file, reading=spec.native.read(text, path, root))
    except (OSError, ValueError) as error:
        if not _PASSES.search(text):
            return None
        is_broken = not _TEMPLATE.search(text) and not _TEMPLATES.search(file)
        return Front(title=spec.title, spec=spec, file=file, problem=said_by(error), is_broken=is_broken)


def unread_documents(root: Path, programs: Collection[str]) -> Iterator[CurrentGap]:
    """Yield a gap for each file of the project at ``root`` that cannot be read; templates must name ``programs``.

    Files for development are left out.
    """
    started = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, programs))})(?![\w-])")
    for path, kind in templates(root):
        yield _gap(root, path, kind, _HELM)
    for folder, _, names in deployment_folders(root):
        for path in (folder / name for name in names if not is_development(folder / name, root)):
            if path.stem == "kustomization" and (found := _OVERLAYS.search(text_of(path))):
                yield _gap(root, path, found, _KUSTOMIZE)
            elif programs and _GENERATED.fullmatch(path.name) and (found := started.search(text_of(path))):
                yield _gap(root, path, found, _MADE_OF)


def unread_targets(root: Path, programs: Collection[str]) -> Iterator[CurrentGap]:
    """Yield a gap for the first line of each makefile in ``root`` that starts one of ``programs``.

    Lines with ``--reload`` or ``install`` do not count.
    """
    for path in (root / name for name in _MAKEFILES):
        for number, line in enumerate(text_of(path).splitlines(), 1):
            words = line.split() if line[:1].isspace() else []
            names = [PurePosixPath(word.lstrip("@-+")).name for word in words]
            found = next((name for name in names if name in programs), "")
            if found and not {"install", "--reload"} & {*words}:
                yield CurrentGap(file=path.name, line=number, what=found, why=_OF_MAKE)
                break


def _gap(root: Path, path: Path, match: re.Match[str], why: str) -> CurrentGap:
    line = match.string.count("\n", 0, match.start(1)) + 1
    return CurrentGap(file=str(path.relative_to(root)), line=line, what=match[1], why=why, weight=Weight.SIZE)


def found_line(pattern: str, text: str) -> int:
    """Return the line at which the first match of ``pattern`` begins; 0 without a match."""
    match = re.search(pattern, text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _fronts_elsewhere(
    before: Sequence[Front], command: DeploymentCommand, commands: Sequence[DeploymentCommand]
) -> Iterator[tuple[str, CurrentGap]]:
    """Yield the files of front ends that forward to another service than ``command``, each with its gap."""
    for front in before:
        known = [each for each in commands if front.host in each.hosts]
        if known and all(_is_another(front.host, each, command) for each in known):
            why = f"it stands before {known[0].hosts[front.host]}, another service of {known[0].known_by.name}"
            # of several front ends before one service, the likeliest is enough
            first = next(each.file for each in before if (each.title, each.host) == (front.title, front.host))
            yield front.file, CurrentGap(file=first, line=0, what=front.title, why=why)


def _is_another(host: str, known: DeploymentCommand, command: DeploymentCommand) -> bool:
    """Tell whether ``host``, a name in the document of ``known``, is another service than that of ``command``."""
    service = known.hosts[host]
    if known.document == command.document:
        return service != command.service.partition(" ")[0]
    # a systemd unit runs outside of containers; any other command without a document may run inside of one
    return service in known.others or command.file.suffix == ".service"


def front_gaps(hop: ReadHop, before: Sequence[Front], front: Front | None) -> Iterator[CurrentGap]:
    """Yield the gaps of the front ends ``before`` the server if ``hop`` is raced behind ``front`` (None: alone)."""
    if front is not None:
        yield from front.gaps
        yield from _idle_servers(front, hop.command.instances)
    yield from _unfit_fronts(hop, [each for each in before if each is not front], front)


def _idle_servers(front: Front, instances: int) -> Iterator[CurrentGap]:
    """Yield a gap for each server that the front end balances over but nothing in the project starts."""
    servers = [change for change in front.changes if change.key == "server" and change.theirs]
    balanced = [server for server in servers if not {"down", "backup"} & set(server.theirs.split())]
    for server in balanced[instances:]:
        why = f"the project starts {instances} of them" if instances > 1 else "the project starts one only"
        yield CurrentGap(file=server.file, line=server.line, what=f"server {server.theirs}", why=why)


def _unfit_fronts(hop: ReadHop, others: Sequence[Front], front: Front | None) -> Iterator[CurrentGap]:
    for each in others:
        if each.reading is None and front is None:
            raced = "the server is raced without it"
            yield each.unread(raced if each.spec else "Stackrace has no such server, so none is raced in front")
        elif each.reading is None and front is not None and each.title != front.title:
            yield each.unread(f"{front.title} is raced in front")
        elif each.reading is not None and front is None:
            spoken = " and ".join(sorted(hop.speaks))
            why = f"it forwards by {each.reading.forwards}, and {hop.spec.title} is started for {spoken}"
            yield CurrentGap(file=each.file, line=0, what=each.title, why=why)
