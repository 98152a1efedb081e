"""The processes of a deployed stack: each with its site and its recipe, as the catalogue renders them there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...deploy.installation import find_binary
from ...stacks.native_options import NativeFile
from ...stacks.servers import Catalogue, Endpoint, Hosted, Recipe, Site
from ...stacks.servers.contract import Entry
from ...stacks.servers.site import Production
from ...stacks.stack import Hop, Protocol, Socket, Stack
from .target import Target

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One server of a deployed stack."""

    name: str
    """As ``nginx``; copies are numbered: ``cheroot-2``."""
    hops: tuple[Hop, ...]
    """The server, and the guests inside it."""
    entries: tuple[Entry, ...]
    """The catalogue's, of the same."""
    site: Site
    recipe: Recipe
    command: tuple[str, ...]
    """Its program by its path, and its arguments."""
    check: tuple[str, ...]
    """The server's own checker; empty for none."""
    behind: tuple[str, ...]
    """The names of the processes that it forwards to."""

    @property
    def title(self) -> str:
        """As people write it: ``Apache httpd with mod_wsgi``."""
        return " with ".join(entry.spec.title for entry in self.entries)

    @property
    def variables(self) -> Mapping[str, str]:
        """The variables that it needs itself; who starts it has a PATH already."""
        return {name: value for name, value in self.recipe.environment.items() if name != "PATH"}

    @property
    def files(self) -> Mapping[str, str]:
        """Its configuration by the name of the file."""
        return {name: text for name, text in self.recipe.files.items() if text}

    def uses(self, folder: Path) -> bool:
        """Tell whether its files, its command or its variables speak of ``folder``."""
        texts = (*self.files.values(), *self.command, *self.recipe.environment.values())
        pattern = re.compile(rf"{re.escape(str(folder))}(?![\w.-])")
        return any(pattern.search(text) for text in texts)

    @property
    def folders(self) -> tuple[Path, ...]:
        """What it writes to, to be made before it starts and to belong to its user; outer ones first."""
        site = self.site
        kept = [Path(name).parent for name, text in self.recipe.files.items() if not text]
        below = [site.run / folder.relative_to("run") for folder in kept if _is_below(folder, "run")]
        asked = [site.directory / folder for folder in kept if self.uses(site.directory / folder)]
        usual = (folder for folder in (site.run, site.logs, site.temporary, site.empty) if self.uses(folder))
        return tuple(dict.fromkeys((*usual, *below, *asked)))

    @property
    def touched(self) -> tuple[Path, ...]:
        """Logs that must be there before it starts."""
        empty = (Path(name) for name, text in self.recipe.files.items() if not text and not name.endswith(".keep"))
        return tuple(self.site.logs / path.name for path in empty if path.parts[0] == "logs")

    @property
    def log_files(self) -> tuple[Path, ...]:
        """The logs that it writes itself, as far as its files name them."""
        texts = "\n".join((*self.files.values(), *self.command))
        names = re.findall(rf"{re.escape(str(self.site.logs))}/([\w.-]+\.log)", texts)
        return tuple(self.site.logs / name for name in dict.fromkeys(names))


def _is_below(folder: Path, top: str) -> bool:
    return len(folder.parts) > 1 and folder.parts[0] == top


def laid_out(stack: Stack, *, catalogue: Catalogue, app: Hosted, target: Target, cores: int) -> tuple[Process, ...]:
    """Return the processes of ``stack`` on ``target``, the last hop first, as they are started."""
    processes: list[Process] = []
    upstream: list[Process] = []
    ports = iter(range(target.port + 1, target.port + 1000))
    for place, (group, name) in reversed(list(enumerate(zip(stack.processes, _names(stack), strict=True)))):
        is_front, copies = place == 0, group[0].instances
        names = [name] if copies == 1 else [f"{name}-{copy}" for copy in range(1, copies + 1)]
        # only the front serves static files; a hop behind it never sees them
        hosted = app if is_front else replace(app, static={})
        sites = [
            Site(
                directory=target.files / each,
                listen=_endpoint(
                    group[0], target, each, target.port if is_front else next(ports), is_front=is_front
                ),
                settings={},
                app=hosted,
                upstream=tuple(process.site.listen for process in upstream),
                cores=cores,
            )
            for each in names
        ]
        upstream = [_process(group, site, upstream, catalogue, target, is_front=is_front) for site in sites]
        processes += upstream
    return tuple(processes)


def _names(stack: Stack) -> tuple[str, ...]:
    """Return the processes' names as units and folders may have them."""
    plain = [re.sub(r"[^a-z0-9]+", "-", group[0].server) for group in stack.processes]
    return tuple(
        name if plain.count(name) == 1 else f"{name}{plain[: index + 1].count(name)}"
        for index, name in enumerate(plain)
    )


def _process(
    group: tuple[Hop, ...],
    site: Site,
    upstream: Sequence[Process],
    catalogue: Catalogue,
    target: Target,
    *,
    is_front: bool,
) -> Process:
    name = site.directory.name
    production = Production(
        run=Path("/run", target.name, name),
        logs=Path("/var/log", target.name, name),
        temporary=Path("/var/cache", target.name, name),
        proxies=target.proxies if is_front else (_LOOPBACK,),
        is_behind=not is_front and site.listen.is_unix,
    )
    site = replace(site, production=production)
    host, *guests = group
    for guest in reversed(guests):
        site = replace(site, inside=catalogue.guest(guest.server).fragment(_of_hop(site, guest, target)))
    site = _of_hop(site, host, target)
    server = catalogue.server(host.server)
    recipe = server.recipe(site)
    return Process(
        name=name,
        hops=group,
        entries=tuple(catalogue.entries[hop.server] for hop in group),
        site=site,
        recipe=recipe,
        command=_absolute(recipe.command, server),
        check=_absolute(recipe.check, server) if recipe.check else (),
        behind=tuple(process.name for process in upstream),
    )


def _of_hop(site: Site, hop: Hop, target: Target) -> Site:
    file = None if hop.file is None else _moved(hop.file, site, target)
    return replace(site, settings=hop.settings, chosen=frozenset(hop.chosen), options=hop.options, file=file)


def _moved(file: NativeFile, site: Site, target: Target) -> NativeFile:
    """Return the user's file with the place that it may speak of: in the project, else beside its own files."""
    path = file.path.absolute()
    inside = next((root for root in target.projects if path.is_relative_to(root)), None)
    place = site.directory / path.name if inside is None else target.app / path.relative_to(inside)
    return replace(file, path=place, here=path)


def _endpoint(hop: Hop, target: Target, name: str, port: int, *, is_front: bool) -> Endpoint:
    assert hop.protocol is not None
    if is_front:
        return Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, host=target.host, port=port)
    if hop.settings["socket"] == Socket.UNIX:
        return Endpoint(protocol=hop.protocol, socket=Socket.UNIX, path=Path("/run", target.name, name, "socket"))
    return Endpoint(protocol=hop.protocol, socket=Socket.TCP, host=_LOOPBACK, port=port)


def _absolute(command: tuple[str, ...], entry: Entry) -> tuple[str, ...]:
    program = command[0]
    if not program.startswith("/"):
        program = find_binary(program, entry.needs.folders) or f"/usr/sbin/{program}"
    return (program, *command[1:])
