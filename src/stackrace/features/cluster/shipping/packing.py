"""What a race needs of this machine, found and described; nothing is sent yet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG

from ....base.errors import InputError
from ....base.foreign import said_by
from ....base.present import real_path
from ....base.units import SIZE
from ....deploy.copies import RUN, shortage
from ....deploy.project_files import databases_below
from ....deploy.sqlite_files import copy_to, files_of
from ....race.preparation.app import entry_told
from ....race.request.request import RaceRequest
from .archive import Content, digest_of
from .environment import Environment, environment_of
from .named import named_by
from .parcel import Parcel, Part, Shipment
from .selection import Selection, files_below, project_files
from .settled import settled

__all__ = ["MOST_NAMED", "Packed", "packed"]

MOST_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A race's needs, packed."""

    request: RaceRequest
    """What is asked for, told so that it means the same on a host."""
    shipment: Shipment
    contents: Mapping[Part, Content]
    """What is in each parcel."""
    ignored: tuple[str, ...] = ()
    """What git ignores of the project and nobody named: it stays here."""

    def refuse_strays(self) -> None:
        """Raise InputError for links that lead out of what is sent: no host has what they lead to."""
        for content in self.contents.values():
            for link, target in content.stray():
                raise InputError(
                    f"{link} leads out of the project, to {target}, which the hosts do not have; put what it leads "
                    "to into the project, name that as [app] protect, or let .gitignore name the link"
                )


@contextmanager
def packed(request: RaceRequest) -> Iterator[Packed | None]:
    """Yield what ``request`` needs of this machine; None where it needs nothing but what comes with Stackrace.

    Raises InputError, with the way out, for what cannot be read, and for more than ``[app] copy_limit``.
    """
    request = settled(request)
    entry, root = entry_told(request)
    project = None if entry is None else project_files(request.folder)
    environment = Environment() if entry is None else environment_of(request, entry, root)
    if environment.python is not None and not environment.is_found_again:
        request = replace(request, python=environment.python)
    top = request.folder if project is None else project.top
    named = tuple(dict.fromkeys(named_by(request, top)))
    roots = dict(_roots(request, environment, project, named))
    with tempfile.TemporaryDirectory(prefix="stackrace-databases-") as copies:
        contents = dict(_contents(project, environment, named, tuple(roots.values()), Path(copies)))
        _refuse_large(contents, top, request.most_copied_bytes)
        shipment = Shipment(
            top=top,
            parcels=tuple(_parcel(part, content) for part, content in contents.items()),
            roots=roots,
            homes=environment.homes,
            interpreter=environment.interpreter,
        )
        whole = Packed(
            request=request,
            shipment=shipment,
            contents=contents,
            ignored=() if project is None else tuple(_left(project, contents.values())),
        )
        yield whole if contents else None


def _parcel(part: Part, content: Content) -> Parcel:
    digest, size = digest_of(content)
    return Parcel(part=part, names=content.names, digest=digest, size_bytes=size)


def _roots(
    request: RaceRequest, environment: Environment, project: Selection | None, named: Sequence[Path]
) -> Iterator[tuple[str, Path]]:
    """Yield what is sent, by every path under which the user may know it; the environment first."""
    for home in environment.homes:
        yield str(home), home
    if environment.interpreter is not None and environment.python is not None:
        yield str(environment.python.parent.parent), environment.interpreter.home
    if project is not None:
        yield str(project.top), project.top
        yield str(request.folder), real_path(request.folder)
    tops = (*environment.homes, *([] if project is None else [project.top]))
    for path in named:
        own = _own(path)
        if not any(own.is_relative_to(top) for top in tops):
            yield str(path), own


def _own(path: Path) -> Path:
    """Return the path of a folder without links, and of a file as it is called there."""
    return real_path(path) if path.is_dir() else real_path(path.parent) / path.name


def _contents(
    project: Selection | None,
    environment: Environment,
    named: Sequence[Path],
    roots: tuple[Path, ...],
    copies: Path,
) -> Iterator[tuple[Part, Content]]:
    databases = [] if project is None else sorted({real_path(path) for path in databases_below(project.top)})
    apart = {file for database in databases for file in files_of(database)}
    installed = environment.homes
    tracked = tuple(
        name
        for name in (() if project is None else project.names)
        if name not in apart and not any(name.is_relative_to(home) for home in installed)
    )
    if tracked:
        yield Part.PROJECT, Content(names=tracked, roots=roots)
    if installed:
        yield Part.ENVIRONMENT, Content(names=tuple(environment.names()), roots=roots, follow=True)
    known = {*tracked, *apart}
    sources = {
        name: source
        for name, source in _files(named)
        if name not in known and not any(name.is_relative_to(home) for home in installed)
    }
    for number, database in enumerate(databases):
        sources |= _copied(database, copies / str(number))
    if sources:
        yield Part.DATA, Content(names=tuple(sources), roots=roots, sources=sources)


def _files(named: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the files that are named, or lie in folders that are, and where each is read."""
    for path in named:
        if path.is_dir():
            yield from ((each, each) for each in files_below(real_path(path)))
        else:
            yield _own(path), real_path(path)


def _copied(database: Path, folder: Path) -> Mapping[Path, Path]:
    """Copy a database as it is at one moment; returns where each of its files is read then."""
    folder.mkdir()
    try:
        copy_to(database, folder / database.name)
    except OSError as error:
        way_out = shortage(folder, RUN) or "; end what writes to it, or move it out of the project"
        raise InputError(f"{database} cannot be copied for the hosts: {said_by(error)}{way_out}") from error
    return {database.with_name(copy.name): copy for copy in sorted(folder.iterdir())}


def _refuse_large(contents: Mapping[Part, Content], top: Path, most_bytes: int) -> None:
    """An environment may be as large as it is; a project seldom means to be."""
    sizes: dict[Path, int] = {}
    for content in (content for part, content in contents.items() if part is not Part.ENVIRONMENT):
        for name in content.names:
            place = top / name.relative_to(top).parts[0] if name.is_relative_to(top) else name
            with suppress(OSError):
                status = content.sources.get(name, name).lstat()
                sizes[place] = sizes.get(place, 0) + (status.st_size if S_ISREG(status.st_mode) else 0)
    total = sum(sizes.values())
    if total > most_bytes:
        largest = sorted(sizes, key=lambda place: -sizes[place])[:MOST_NAMED]
        named = ", ".join(f"{place} ({SIZE.format(sizes[place])})" for place in largest)
        raise InputError(
            f"{SIZE.format(total)} of the project would be sent to the hosts, more than {SIZE.format(most_bytes)}: "
            f"{named}; let .gitignore name what the app does without, or raise [app] copy_limit"
        )


def _left(project: Selection, contents: Iterable[Content]) -> Iterator[str]:
    """Yield what git ignores, and is not sent all the same, nor in part."""
    sent = [os.fsencode(name) for content in contents for name in content.names]
    for name in project.ignored:
        place = os.fsencode(project.top / name)
        if not any(each == place or each.startswith(place + b"/") for each in sent):
            yield name
