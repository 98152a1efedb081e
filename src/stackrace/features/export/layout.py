"""The processes of a deployed stack, each with its site and its recipe from the catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...deploy.installation import find_binary
from ...stacks.servers import Catalogue, Endpoint, Hosted, Recipe, Site
from ...stacks.servers.contract import Entry
from ...stacks.servers.site import Production
from ...stacks.setting import Protocol, Socket
from ...stacks.stack import Hop, Stack
from .export_target import Target

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One server of a deployed stack."""

    name: str
    """Name such as ``nginx``; copies are numbered: ``cheroot-2``."""
    hops: tuple[Hop, ...]
    """The server, and the guests inside it."""
    entries: tuple[Entry, ...]
    """Catalogue entries of these hops."""
    site: Site
    recipe: Recipe
    command: tuple[str, ...]
    """Path of its program, and arguments."""
    check: tuple[str, ...]
    """Command of the server's own checker; empty if there is none."""
    unit: str
    """Name of its systemd unit."""
    behind: tuple[Process, ...]
    """Processes that it forwards to."""

    @property
    def title(self) -> str:
        """Full name: ``Apache httpd with mod_wsgi``."""
        return " with ".join(entry.spec.title for entry in self.entries)

    @property
    def variables(self) -> Mapping[str, str]:
        """Variables that it needs itself, without PATH, which systemd or Docker sets."""
        return {name: value for name, value in self.recipe.environment.items() if name != "PATH"}

    @property
    def files(self) -> Mapping[str, str]:
        """Texts of its configuration by file name."""
        return {name: text for name, text in self.recipe.files.items() if text}

    def uses(self, folder: Path) -> bool:
        """Return True if its files, its command or its variables mention ``folder``."""
        texts = (*self.files.values(), *self.command, *self.recipe.environment.values())
        pattern = re.compile(rf"{re.escape(str(folder))}(?![\w.-])")
        return any(pattern.search(text) for text in texts)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that it writes to, outer ones first; they must exist before it starts and belong to its user."""
        site = self.site
        kept = [Path(name).parent for name, text in self.recipe.files.items() if not text]
        below = [site.run / folder.relative_to("run") for folder in kept if Path("run") in folder.parents]
        asked = [site.directory / folder for folder in kept if self.uses(site.directory / folder)]
        usual = (folder for folder in (site.run, site.logs, site.temporary, site.empty) if self.uses(folder))
        return tuple(dict.fromkeys((*usual, *below, *asked)))

    @property
    def touched(self) -> tuple[Path, ...]:
        """Logs that must exist before it starts."""
        empty = (Path(name) for name, text in self.recipe.files.items() if not text and not name.endswith(".keep"))
        return tuple(self.site.logs / path.name for path in empty if path.parts[0] == "logs")

    @property
    def log_files(self) -> tuple[Path, ...]:
        """Logs that it writes itself and its files name."""
        texts = "\n".join((*self.files.values(), *self.command))
        names = re.findall(rf"{re.escape(str(self.site.logs))}/([\w.-]+\.log)", texts)
        return tuple(self.site.logs / name for name in dict.fromkeys(names))


def laid_out(stack: Stack, *, catalogue: Catalogue, app: Hosted, target: Target, cores: int) -> tuple[Process, ...]:
    """Return the processes of ``stack`` on ``target``, the last hop first, in the order of their start."""
    layout = _Layout(catalogue=catalogue, app=app, target=target, cores=cores)
    processes: list[Process] = []
    upstream: list[Process] = []
    ports = iter(range(target.port + 1, target.port + 1000))
    for place, (group, name) in reversed(list(enumerate(zip(stack.processes, _names(stack), strict=True)))):
        copies = group[0].instances
        names = [name] if copies == 1 else [f"{name}-{copy}" for copy in range(1, copies + 1)]
        upstream = [layout.process(group, each, next(ports) if place else None, upstream) for each in names]
        processes += upstream
    return tuple(processes)


def _names(stack: Stack) -> tuple[str, ...]:
    plain = [re.sub(r"[^a-z0-9]+", "-", group[0].server) for group in stack.processes]
    return tuple(
        name if plain.count(name) == 1 else f"{name}{plain[: index + 1].count(name)}"
        for index, name in enumerate(plain)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    catalogue: Catalogue
    app: Hosted
    target: Target
    cores: int

    def process(self, group: tuple[Hop, ...], name: str, port: int | None, upstream: Sequence[Process]) -> Process:
        """Return the process of a ``group`` of hops before ``upstream``; without a ``port`` it is the front."""
        target, is_front = self.target, port is None
        listen = self._endpoint(group[0], name, port)
        production = Production(
            run=Path("/run", target.name, name),
            logs=Path("/var/log", target.name, name),
            temporary=Path("/var/cache", target.name, name),
            proxies=target.proxies if is_front else (_LOOPBACK,),
            is_behind=not is_front,
        )
        site = Site(
            directory=target.files / name,
            listen=listen,
            settings={},
            # only the front serves static files; a hop behind it never sees them
            app=self.app if is_front else replace(self.app, static={}),
            upstream=tuple(process.site.listen for process in upstream),
            cores=self.cores,
            production=production,
        )
        host, *guests = group
        for guest in reversed(guests):
            site = replace(site, inside=self.catalogue.guest(guest.server).fragment(self._of_hop(site, guest)))
        site = self._of_hop(site, host)
        server = self.catalogue.server(host.server)
        recipe = server.recipe(site)
        return Process(
            name=name,
            hops=group,
            entries=tuple(self.catalogue.entries[hop.server] for hop in group),
            site=site,
            recipe=recipe,
            command=_absolute(recipe.command, server),
            check=_absolute(recipe.check, server) if recipe.check else (),
            unit=f"{target.name}-{name}.service",
            behind=tuple(upstream),
        )

    def _endpoint(self, hop: Hop, name: str, port: int | None) -> Endpoint:
        if port is None:
            return Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, host=self.target.host, port=self.target.port)
        assert hop.protocol is not None
        if hop.settings["socket"] == Socket.UNIX:
            path = Path("/run", self.target.name, name, "socket")
            return Endpoint(protocol=hop.protocol, socket=Socket.UNIX, path=path)
        return Endpoint(protocol=hop.protocol, socket=Socket.TCP, host=_LOOPBACK, port=port)

    def _of_hop(self, site: Site, hop: Hop) -> Site:
        """Return ``site`` with the settings of ``hop``.

        The user's file gets its path on the target: in the project, else beside the exported files of the server.
        """
        file, target = hop.file, self.target
        if file is not None:
            path = file.path.absolute()
            inside = next((root for root in target.projects if path.is_relative_to(root)), None)
            place = site.directory / path.name if inside is None else target.app / path.relative_to(inside)
            file = replace(file, path=place, here=path)
        return replace(site, settings=hop.settings, chosen=frozenset(hop.chosen), options=hop.options, file=file)


def _absolute(command: tuple[str, ...], entry: Entry) -> tuple[str, ...]:
    program = command[0]
    if not program.startswith("/"):
        program = find_binary(program, entry.needs.folders) or f"/usr/sbin/{program}"
    return (program, *command[1:])
