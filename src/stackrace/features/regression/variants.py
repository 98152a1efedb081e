"""The two requests of a check: one app as two revisions, environments, settings or stacks have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...app.app import EntryKind
from ...app.lock_files import changes_between, locks_differ
from ...app.projects.detection import entry_named
from ...base.errors import InputError
from ...base.files import real_path
from ...race.request.request import RaceRequest
from ...stacks.stack import Side
from .model import Contender
from .repository import Repository, Revision, checked_out, repository_of


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRequest:
    """What one side is to have of its own; what is None is as the other side has it."""

    python: Path | None = None
    settings: str | None = None
    """A Django settings module."""
    stack: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_own(self) -> bool:
        """Whether it has anything of its own."""
        return self != VariantRequest()

    def over(self, request: RaceRequest) -> RaceRequest:
        """Return ``request`` with it."""
        if self.python is not None:
            python = self.python.absolute() if len(self.python.parts) > 1 or self.python.exists() else self.python
            request = replace(request, python=python)
        if self.settings is not None:
            entry = entry_named(EntryKind.DJANGO, self.settings, request.folder)
            request = replace(request, entry=entry, bundled=None)
        if self.stack is not None:
            request = replace(request, stacks=(self.stack,))
        return replace(request, environment={**request.environment, **self.environment})


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One side, before anything of it is looked at."""

    request: RaceRequest
    contender: Contender
    locked: Path | None = None
    """The lock file whose packages it is to have in an environment of its own; None: it has the other side's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """Both sides."""

    sides: Mapping[Side, Variant]
    moved: tuple[Path, Path] | None
    """The uppermost folders of head and base, where they are two."""
    notes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    """What differs between the packages of their lock files, where each has an environment of its own."""


@contextmanager
def variants(request: RaceRequest, base: str | None, own: Mapping[Side, VariantRequest]) -> Iterator[Variants]:
    """Yield both sides of a check; what was checked out for it is gone afterwards.

    ``base`` is the revision that the work tree is compared with. Without it, and where a side has something of its
    own, both sides are the work tree; else it is the repository's usual base. Raises InputError where both sides
    would be the same.
    """
    if base is None and any(side.is_own for side in own.values()):
        yield _of_one_tree(request, own)
        return
    if request.bundled is not None:
        raise InputError("--bundled: the bundled app has no revisions; give two environments, settings or stacks")
    repository = repository_of(_folder(request))
    revision = repository.default_base() if base is None else repository.revision(base)
    head, changed = repository.revision("HEAD"), repository.changes()
    if revision.commit == head.commit and not changed and not any(side.is_own for side in own.values()):
        raise InputError(
            f"nothing to compare: the work tree is {revision.label} ({revision.short}) itself; name an older "
            "--base, or change something"
        )
    with checked_out(repository, revision, request.most_copied_bytes) as (tree, notes):
        yield _of_two_trees(request, own, repository, (revision, head, changed), tree, notes)


def _folder(request: RaceRequest) -> Path:
    if not request.folder.is_dir():
        raise InputError(f"the app's folder {request.folder} does not exist; set [app] root or --project")
    return request.folder


def _of_one_tree(request: RaceRequest, own: Mapping[Side, VariantRequest]) -> Variants:
    sides = {side: Variant(request=its.over(request), contender=_contender(its)) for side, its in own.items()}
    if sides[Side.BASE].request == sides[Side.HEAD].request:
        raise InputError("nothing to compare: base and head are given alike; change one of the two")
    return Variants(sides=sides, moved=None)


def _contender(own: VariantRequest, label: str = "", revision: str = "", changed: int = 0) -> Contender:
    words = [str(word) for word in (own.python, own.settings, own.stack) if word is not None]
    # values may be secrets
    words += [f"its own {name}" for name in own.environment]
    return Contender(
        label=", ".join(filter(None, (label, *words))) or "as it is",
        revision=revision,
        changed=changed,
        settings=own.settings or "",
    )


def _of_two_trees(
    request: RaceRequest,
    own: Mapping[Side, VariantRequest],
    repository: Repository,
    found: tuple[Revision, Revision, int],
    tree: Path,
    notes: tuple[str, ...],
) -> Variants:
    revision, head, changed = found
    before = _moved(request, real_path(repository.top), real_path(tree))
    if not before.folder.is_dir():
        raise InputError(
            f"base {revision.label} ({revision.short}) has no folder {before.folder.relative_to(real_path(tree))}; "
            "name a --base that has the app"
        )
    locks = locks_differ(before.folder, request.folder, real_path(tree), real_path(repository.top))
    given = request.python is not None
    sides = {
        Side.BASE: Variant(
            request=own[Side.BASE].over(before),
            contender=_contender(own[Side.BASE], revision.label, revision.commit),
            locked=None if given or own[Side.BASE].python or locks is None else locks[0],
        ),
        Side.HEAD: Variant(
            request=own[Side.HEAD].over(request),
            contender=_contender(own[Side.HEAD], "the work tree", head.commit, changed),
            locked=None if given or own[Side.HEAD].python or locks is None else locks[1],
        ),
    }
    packages = changes_between(locks) if locks and all(side.locked for side in sides.values()) else ()
    return Variants(sides=sides, moved=(real_path(repository.top), real_path(tree)), notes=notes, packages=packages)


def _moved(request: RaceRequest, top: Path, tree: Path) -> RaceRequest:
    """Return ``request`` for the same app in ``tree``. What is no part of the app stays: recordings, servers."""

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
