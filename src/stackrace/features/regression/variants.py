"""The two requests of a check: one app with two revisions, environments, settings or stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import EntryKind
from ...app.lock_files import locks_differ
from ...app.projects.detection import entry_named
from ...base.errors import InputError
from ...base.files import real_path
from ...race.request.request import RaceRequest
from ...stacks.stack import Side
from .checkout import checked_out
from .model import Contender
from .repository import Revision, repository_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRequest:
    """Options of one side of a check; None for a value that is not given for this side."""

    python: Path | None = None
    settings: str | None = None
    """A Django settings module."""
    stack: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with these options."""
        if self.python is not None:
            python = self.python.absolute() if len(self.python.parts) > 1 or self.python.exists() else self.python
            request = replace(request, python=python)
        if self.settings is not None:
            entry = entry_named(EntryKind.DJANGO, self.settings, request.folder)
            request = replace(request, entry=entry, bundled=None)
        if self.stack is not None:
            request = replace(request, stacks=(self.stack,))
        return replace(request, environment={**request.environment, **self.environment})

    def contender(self, label: str = "", revision: str = "", changed: int = 0) -> Contender:
        """Return the description of a side that has these options."""
        words = [str(word) for word in (self.python, self.settings, self.stack) if word is not None]
        # values may be secrets
        words += [f"its own {name}" for name in self.environment]
        return Contender(
            label=", ".join(filter(None, (label, *words))) or "as it is",
            revision=revision,
            changed=changed,
            settings=self.settings or "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One side of a check, before it is set up."""

    request: RaceRequest
    contender: Contender
    locked: Path | None = None
    """Lock file from which the side gets a private environment; None if it needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """Both sides."""

    sides: Mapping[Side, Variant]
    moved: tuple[Path, Path] | None
    """Top folders of the head's and the base's files; None if both sides are the work tree."""
    notes: tuple[str, ...] = ()
    alike: bool = False
    """True if both sides have the same code (except files that list packages), settings and variables."""


@contextmanager
def variants(request: RaceRequest, base: str | None, own: Mapping[Side, VariantRequest]) -> Iterator[Variants]:
    """Yield both sides of a check; the files that were checked out are removed afterwards.

    ``base`` is the revision that the work tree is compared with. If it is None, both sides are the work tree if a
    side has options in ``own``; otherwise the base is ``WorkTree.default_base()``. Raises InputError if both sides
    would be the same.
    """
    is_alike = len({(each.settings, *sorted(each.environment.items())) for each in own.values()}) == 1
    differ = any(each != VariantRequest() for each in own.values())
    if base is None and differ:
        sides = {side: Variant(request=its.over(request), contender=its.contender()) for side, its in own.items()}
        if sides[Side.BASE].request == sides[Side.HEAD].request:
            raise InputError("nothing to compare: base and head are given alike; change one of the two")
        yield Variants(sides=sides, moved=None, alike=is_alike)
        return
    if request.bundled is not None:
        raise InputError("--bundled: the bundled app has no revisions; give two environments, settings or stacks")
    if not request.folder.is_dir():
        raise InputError(f"the app's folder {request.folder} does not exist; set [app] root or --project")
    repository = repository_of(request.folder)
    revision = repository.default_base() if base is None else repository.revision(base)
    head, changed = repository.head, repository.changes()
    if revision.commit == head.commit and not changed and not differ:
        raise InputError(
            f"nothing to compare: the work tree is {revision.label} ({revision.commit[:10]}) itself; name an older "
            "--base, or change something"
        )
    contenders = {
        Side.BASE: own[Side.BASE].contender(revision.label, revision.commit),
        Side.HEAD: own[Side.HEAD].contender("the work tree", head.commit, changed),
    }
    with checked_out(repository, revision, request.most_copied_bytes) as (tree, notes):
        found = _of_two_trees(request, own, contenders, revision, repository.top, tree)
        is_alike = is_alike and all(map(_LISTS_PACKAGES.fullmatch, repository.changed_since(revision)))
        yield replace(found, notes=notes, alike=is_alike)


_LISTS_PACKAGES = re.compile(
    r"(?:.*/)?(?:(?:requirements|constraints)[^/]*\.(?:txt|in)|requirements/[^/]*\.(?:txt|in)"
    r"|uv\.lock|poetry\.lock|Pipfile(?:\.lock)?|pylock\.toml|pyproject\.toml)"
)
"""Paths of files that list packages: a bot that upgrades a package changes only these."""


def _of_two_trees(
    request: RaceRequest,
    own: Mapping[Side, VariantRequest],
    contenders: Mapping[Side, Contender],
    revision: Revision,
    head: Path,
    base: Path,
) -> Variants:
    top, tree = moved = real_path(head), real_path(base)
    before = _moved(request, *moved)
    if not before.folder.is_dir():
        raise InputError(
            f"base {revision.label} ({revision.commit[:10]}) has no folder {before.folder.relative_to(tree)}; "
            "name a --base that has the app"
        )
    locks = None if request.python is not None else locks_differ(before.folder, request.folder, tree, top)
    found = dict(zip((Side.BASE, Side.HEAD), locks or (None, None), strict=True))
    locked = {side: lock for side, lock in found.items() if own[side].python is None}
    requests = {Side.BASE: before, Side.HEAD: request}
    return Variants(
        sides={
            side: Variant(request=own[side].over(each), contender=contenders[side], locked=locked.get(side))
            for side, each in requests.items()
        },
        moved=moved,
    )


def _moved(request: RaceRequest, top: Path, tree: Path) -> RaceRequest:
    """Return ``request`` for the same app in ``tree``; recordings and servers, no part of the app, stay."""

    def there(path: Path) -> Path:
        resolved = real_path(path.parent) / path.name if path != top else top
        return tree / resolved.relative_to(top) if resolved.is_relative_to(top) else path

    def there_if_any(path: Path) -> Path:
        return moved if (moved := there(path)).exists() else path

    static = request.static
    return replace(
        request,
        folder=there(real_path(request.folder)),
        static=None if static is None else {url: there(folder) for url, folder in static.items()},
        protect=tuple(map(there, request.protect)),
        env_files=tuple(map(there_if_any, request.env_files)),
    )
