"""Rendering of a stack and an app into folders, endpoints and configurations; nothing is started."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from ..app.app import App
from ..app.entry import ENTRY_MODULE, write_entry
from ..app.environment import app_environment
from ..base.files import read_text
from ..base.process.view import UNPROTECTED, ProtectedView
from ..stacks.native_files import NativeFile
from ..stacks.servers import PLAIN, Catalogue, Endpoint, Hosted, PythonRuntime, Recipe, RubyRuntime, Site
from ..stacks.setting import Interface, Protocol, Socket
from ..stacks.stack import Hop, Stack
from .environments import site_packages
from .privileges import hand_over
from .sockets import LOOPBACK, free_port


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One process to start."""

    hop: str
    """Name of the part's hop in reports."""
    site: Site
    recipe: Recipe
    folders: tuple[Path, ...] = ()
    """Folders to search for the program if it is not on PATH."""
    before: tuple[str, ...] = ()
    """Prefix of all commands of the part; it still runs with root's powers."""
    first: tuple[tuple[str, ...], ...] = ()
    """Commands that must succeed, in order, before the server checks its configuration and starts."""


def render_stack(
    stack: Stack,
    *,
    catalogue: Catalogue,
    app: Hosted,
    directory: Path,
    front: tuple[str, int],
    cores: int,
) -> tuple[Part, ...]:
    """Write the files of ``stack`` below ``directory``; return its parts, last hop first.

    ``front`` is the address and the port that the front hop listens on, ``cores`` the number of cores of the stack.
    """
    parts: list[Part] = []
    upstream: tuple[Endpoint, ...] = ()
    groups = stack.processes
    for index in range(len(groups) - 1, -1, -1):
        group = groups[index]
        at_front = index == 0
        copies = [
            _part(
                group,
                name=stack.process_names[index],
                directory=directory / (str(index) if copy == 0 else f"{index}.{copy}"),
                listen=front if at_front else None,
                upstream=upstream,
                # only the front serves static files; a hop behind it never sees them
                app=app if at_front else replace(app, static={}),
                catalogue=catalogue,
                cores=cores,
            )
            for copy in range(group[0].instances)
        ]
        parts += copies
        upstream = tuple(part.site.listen for part in copies)
    return tuple(parts)


def _part(
    group: tuple[Hop, ...],
    *,
    name: str,
    directory: Path,
    listen: tuple[str, int] | None,
    upstream: tuple[Endpoint, ...],
    app: Hosted,
    catalogue: Catalogue,
    cores: int,
) -> Part:
    directory.mkdir()  # without its parents: a removed run directory must not be created again
    hand_over(directory)
    host, *guests = group
    endpoint = _endpoint(host, directory, listen)
    site = Site(directory=directory, listen=endpoint, settings={}, app=app, upstream=upstream, cores=cores)
    for guest in reversed(guests):
        inside = catalogue.guest(guest.server).fragment(_site_of_hop(site, guest))
        site = replace(site, inside=inside)
    site = _site_of_hop(site, host)
    server = catalogue.server(host.server)
    recipe = server.recipe(site)
    _write(directory, recipe.files)
    return Part(hop=name, site=site, recipe=recipe, folders=server.needs.folders)


def _site_of_hop(site: Site, hop: Hop) -> Site:
    file = None if hop.file is None else _in_plain_folder(hop.file, site.directory)
    return replace(site, settings=hop.settings, chosen=frozenset(hop.chosen), options=hop.options, file=file)


def _in_plain_folder(file: NativeFile, directory: Path) -> NativeFile:
    """Return ``file`` with a plain path to its folder, because a configuration may refer to its own folder."""
    return replace(file, path=_plain(file.path.parent, directory.parent) / file.path.name)


def _endpoint(hop: Hop, directory: Path, front: tuple[str, int] | None) -> Endpoint:
    assert hop.protocol is not None
    if front is not None:
        host, port = front
        return Endpoint(protocol=Protocol.HTTP, socket=Socket.TCP, host=host, port=port)
    if hop.settings["socket"] == Socket.UNIX:
        return Endpoint(protocol=hop.protocol, socket=Socket.UNIX, path=directory / "s")
    return Endpoint(protocol=hop.protocol, socket=Socket.TCP, host=LOOPBACK, port=free_port())


def _write(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        hand_over(path.parent)
        path.write_text(text, encoding="utf-8")
        hand_over(path)


_MOST_OF_NAME = 20


def _plain(path: Path, folder: Path) -> Path:
    """Return ``path``, or a link to it below the plain ``folder`` if it is not ``PLAIN``.

    The same path has the same link. Raises OSError if it cannot be created.
    """
    path = path.absolute()
    if PLAIN.fullmatch(str(path)):
        return path
    links = folder / "links"
    if not links.is_dir():
        links.mkdir(exist_ok=True)
        hand_over(links)
    link = links / _name(path)
    with contextlib.suppress(FileExistsError):
        link.symlink_to(path)
    return link


def _name(path: Path) -> str:
    """Return a name for the link that lets a reader of the configuration recognise the folder."""
    words = re.sub("[^A-Za-z0-9]+", "-", path.name[:_MOST_OF_NAME]).strip("-")
    return f"{words}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}".lstrip("-")


def hosted(
    app: App,
    interface: Interface,
    *,
    home: Path | None,
    folder: Path,
    app_packages: Sequence[Path],
    versions: Mapping[str, str] = MappingProxyType({}),
    view: ProtectedView = UNPROTECTED,
    proxied: bool = False,
) -> Hosted:
    """Return the app as its host sees it; for Python, write the entry module for ``interface`` below ``folder``.

    ``home`` is the layered environment the host runs in, None for an app without Python; ``app_packages`` are the
    folders of the app's own packages, ``versions`` their versions, ``view`` what its processes see. ``proxied`` is
    true if requests have the headers of a proxy. Paths that a configuration could misread become links below
    ``folder``.
    """
    runtime: PythonRuntime | RubyRuntime | None
    if home is None:
        runtime = _ruby(app, folder, view)
    else:
        entry = _entry(app, interface, folder, proxied=proxied)
        runtime = replace(_python(app, entry, home, folder, app_packages), versions=versions)
    return Hosted(
        interface=interface,
        root=_plain(app.root, folder),
        runtime=runtime,
        static={url: _plain(path, folder) for url, path in app.static.items() if view.path(path).is_dir()},
    )


def _entry(app: App, interface: Interface, folder: Path, *, proxied: bool) -> Path:
    """Write the module that every server loads, and its helper files; all stacks of a race share it."""
    entry = folder / f"app-{interface}" / f"{ENTRY_MODULE}.py"
    if not entry.exists():
        entry.parent.mkdir(parents=True, exist_ok=True)
        hand_over(entry.parent)
        write_entry(entry, app, interface, proxied=proxied)
    return entry


def _python(app: App, entry: Path, home: Path, folder: Path, app_packages: Sequence[Path]) -> PythonRuntime:
    home = _plain(home, folder)
    return PythonRuntime(
        module=ENTRY_MODULE,
        entry=entry,
        python=home / "bin" / "python",
        home=home,
        python_path=(entry.parent, _plain(app.root, folder)),
        site_packages=(site_packages(home), *(_plain(packages, folder) for packages in app_packages)),
    )


def _ruby(app: App, folder: Path, view: ProtectedView) -> RubyRuntime | None:
    """Return the runtime of a Rack app; None for plain files."""
    if app.ruby is None:
        return None
    public = app.public or app.root / "public"
    return RubyRuntime(
        # a link to the interpreter's folder, since Ruby looks for its library beside it
        ruby=_plain(app.ruby.parent, folder) / app.ruby.name,
        config=_plain(app.root, folder) / app.entry.target,
        mode=app_environment(app)["RAILS_ENV" if "RAILS_ENV" in app.environment else "RACK_ENV"],
        public=_plain(public, folder) if view.path(public).is_dir() else None,
        gems=_locked(app.root / "Gemfile.lock"),
    )


def _locked(lock: Path) -> dict[str, str]:
    """Return the gems in a Gemfile.lock with their versions: ``    rack (2.2.22)``; none without such a file."""
    try:
        return dict(re.findall(r"^    (\S+) \((\d[\w.]*)", read_text(lock, errors="replace"), re.MULTILINE))
    except OSError:
        return {}
