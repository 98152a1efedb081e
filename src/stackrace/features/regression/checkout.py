"""A commit's files, written out of the object store beside the work tree; no program of its settings runs."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ...base.errors import InputError, said_by
from ...base.files import is_folder, opened, read_bytes, real_path, remove_tree, walk
from ...base.process import Repository, at, attended, users_variables, within
from ...base.temporary import temporary_folder
from ...base.text import few
from ...base.units import SIZE
from ...deploy.environments import cache_folder
from ...deploy.privileges import let_in
from ...deploy.sqlite_files import copy_as_it_is
from .repository import Revision, WorkTree, whole

_PREFIX = "stackrace-base-"
_LOCK = "lock"
_TREE = "tree"
_FILTER_S = 600.0
"""A filter of the user's may fetch what it makes of a file."""

_MADE_AGAIN = {
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".hypothesis", ".cache",
    ".stackrace",
}  # fmt: skip
"""Ignored folders that only hold what tools make again."""

_LINKED = {"node_modules"}
"""Ignored folders that are large and only read."""


@contextmanager
def checked_out(work: WorkTree, revision: Revision, most_bytes: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield a folder that holds ``revision``, and notes for the user; it is gone afterwards.

    Ignored files are no part of any commit, and both sides share them: databases, variables, built static files.
    They are copied as far as they have no more than ``most_bytes`` together; environments are not. What an earlier
    check had to leave, because it was killed, is cleared away first. Raises InputError for what the clone lacks.
    """
    _clear_away()
    home = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=temporary_folder()))
    tree = home / _TREE
    with ExitStack() as held:
        held.callback(_forget, home)
        let_in(home)
        # nobody sees the lock before it is held
        fcntl.flock(held.enter_context((home / "new").open("w")), fcntl.LOCK_EX)
        (home / "new").rename(home / _LOCK)
        notes = _write_out(work.git, revision.commit, tree, home / "git")
        yield tree, (*notes, *_share_ignored(work, tree, most_bytes))


def _forget(home: Path) -> None:
    remove_tree(home)
    remove_tree(cache_folder() / "pycache" / home.relative_to(home.anchor))


def _clear_away() -> None:
    """Remove what checks of this user left that are not running any more."""
    for home in Path(temporary_folder()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if home.lstat().st_uid != os.geteuid():
                continue
            with opened(home / _LOCK) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _forget(home)


def _write_out(git: Repository, commit: str, tree: Path, home: Path) -> Iterator[str]:
    """Write ``commit`` and its submodules, as far as they are here, to ``tree``; yields notes for the user."""
    with whole(git):
        modules, filtered = git.write_out(commit, tree, home)
    _require_known_filters(git, tree, filtered)
    for driver, names in filtered.items():
        yield from _filtered(git, driver, names, commit, tree)
    for number, (path, (name, wanted)) in enumerate(modules.items()):
        folders = (git.store / "modules" / (name or path), git.top / path / ".git")
        store = next((each for each in folders if is_folder(each / "objects")), None)
        get = f"git -C {git.top} submodule update --init {shlex.quote(path)}"
        if store is None:
            yield f"The base lacks the submodule {path}, which is not here; get it: {get}."
            continue
        module = at(store, store)
        if module.commit(wanted) is None:
            raise InputError(
                f"the base has the submodule {path} at {wanted[:10]}, which is not here, and a check fetches "
                f"nothing; get it: git -C {git.top / path} fetch origin {wanted}"
            )
        yield from _write_out(module, wanted, tree / path, home.with_name(f"{home.name}-{number}"))


def _require_known_filters(git: Repository, tree: Path, filtered: Mapping[str, Sequence[str]]) -> None:
    """Raise InputError for files whose filter only the repository's own settings have: those run for nobody."""
    foreign = {}
    for driver, names in filtered.items():
        commands = git.filters.get(driver, {})
        smudge, is_users = commands.get("smudge", ("COMMAND", False))
        if commands and not is_users and smudge != "cat" and not all(_pointer(tree / name) for name in names):
            foreign[f"filter.{driver}.smudge"] = (smudge, names)
    for key, (value, names) in foreign.items():
        pairs = (f"{shlex.quote(key)} {shlex.quote(its)}" for key, (its, _) in foreign.items())
        raise InputError(
            f"{git.top} has files made by a program that its own settings name, {few(names)}: {key} = {value}; "
            f"if you trust it, set it for yourself: {' && '.join(f'git config --global {pair}' for pair in pairs)}"
        )


def _filtered(git: Repository, driver: str, names: Sequence[str], commit: str, tree: Path) -> Iterator[str]:
    """Make files that pass through a filter: of Git LFS's own store, or by the user's own command."""
    kept = [name for name in names if not _is_made_of_lfs(git, tree / name)]
    smudge, is_users = git.filters.get(driver, {}).get("smudge", ("", False))
    if smudge and is_users:
        failed = [name for name in kept if not _is_smudged(smudge, name, tree)]
        if made := [name for name in kept if name not in failed]:
            yield f"The base's {few(made)} came through the filter {driver} of your own settings ({smudge})."
        kept = failed
    if pointers := [name for name in kept if _pointer(tree / name)]:
        get = f"git lfs fetch origin {commit}"
        yield f"The base has only Git LFS's pointers of {few(pointers)}; get the files: {get}."
    elif kept and smudge and is_users:
        yield f"The base has {few(kept)} as the repository keeps them: the filter {driver} ({smudge}) failed."


_POINTER = re.compile(rb"version https://git-lfs[^\n]*\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n")
"""Digest and size of the file that a pointer of Git LFS stands for. Source: git-lfs, docs/spec.md."""


def _pointer(path: Path) -> re.Match[bytes] | None:
    with suppress(OSError):
        return _POINTER.match(read_bytes(path, 1024))
    return None


def _is_made_of_lfs(git: Repository, path: Path) -> bool:
    """Replace a pointer by the file that Git LFS has fetched already; tells whether there was one."""
    if (wanted := _pointer(path)) is None:
        return False
    digest = wanted[1].decode()
    kept = git.store / "lfs/objects" / digest[:2] / digest[2:4] / digest
    with suppress(OSError), opened(kept) as source:
        if os.fstat(source.fileno()).st_size == int(wanted[2]):
            with path.open("wb") as target:
                shutil.copyfileobj(source, target)
            return True
    return False


def _is_smudged(command: str, name: str, tree: Path) -> bool:
    """Replace a file by what the user's own ``command`` makes of it; tells whether that went well.

    It starts in the base, whose settings are ours. Source: gitattributes(5), "filter".
    """
    path, made = tree / name, tree.parent / "made"
    # what it says besides is no part of the file
    shell = ("sh", "-c", "exec 2>/dev/null\n" + command.replace("%f", shlex.quote(name)).replace("%%", "%"))
    variables, code = users_variables() | {"GIT_TERMINAL_PROMPT": "0"}, None
    with opened(path) as source, made.open("wb") as target, suppress(OSError):
        wait = within(_FILTER_S)
        code = attended(shell, wait, folder=tree, environment=variables, stdin=source, stdout=target)
    if code == 0:
        made.chmod(path.stat().st_mode)
        made.replace(path)
    return code == 0 and _pointer(path) is None


def _share_ignored(work: WorkTree, tree: Path, most_bytes: int) -> tuple[str, ...]:
    """Give the base what git ignores of the work tree, the smallest first; what it lacks is said."""
    left, too_large, failed = most_bytes, [], []
    for size, name in sorted((_size(work.top / name), name) for name in work.ignored()):
        here, there = work.top / name, tree / name
        if not _is_wanted(name, here) or os.path.lexists(there):
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        if name.name in _LINKED or here.is_symlink():
            there.symlink_to(here.readlink() if here.is_symlink() else here)
        elif real_path(cache_folder()).is_relative_to(real_path(here)):
            failed.append(f"{name} (it holds our own cache)")
        elif size > left:
            too_large.append(f"{name} ({SIZE.format(size)})")
        else:
            left -= size
            failed += [f"{path.relative_to(work.top)} ({why})" for path, why in _copy(here, there)]
    lacks = {"are too large to copy ([app] copy_limit)": too_large, "could not be copied": failed}
    return tuple(
        f"The base lacks ignored files that {why}: {', '.join(names)}." for why, names in lacks.items() if names
    )


def _is_wanted(name: Path, here: Path) -> bool:
    is_made_again = set(name.parts) & _MADE_AGAIN or name.suffix in (".pyc", ".egg-info")
    return not is_made_again and not (here / "pyvenv.cfg").exists()


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all in a folder; what vanishes meanwhile has none."""
    files: Iterable[Path] = (path,)
    if path.is_dir() and not path.is_symlink():
        files = (Path(place, name) for place, _, names in walk(path) for name in names)
    total = 0
    for file in files:
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def _copy(here: Path, there: Path) -> list[tuple[Path, str]]:
    """Copy a file or folder; returns what could not be copied, and why."""
    failed: list[tuple[Path, str]] = []

    def copy(path: Path, target: Path) -> None:
        try:
            if path.is_symlink():
                target.symlink_to(path.readlink())
            # sockets and pipes of running programs cannot be copied, and are nobody's data
            elif path.is_file() and not copy_as_it_is(path, target):
                failed.append((path, "another program writes to it all the time"))
        except OSError as error:
            failed.append((path, said_by(error)))

    folders = []
    if not here.is_dir():
        copy(here, there)
    below_it = walk(here, lambda error: failed.append((Path(error.filename), said_by(error))))
    for source, inner, names in below_it if here.is_dir() else ():
        below = source.removeprefix(str(here))
        if "__pycache__" in below.split("/"):
            continue
        target = f"{there}{below}"
        os.mkdir(target)  # noqa: PTH102 (as deep as it gets, a Path takes its time)
        folders.append((source, target))
        for name in (*names, *(name for name in inner if os.path.islink(f"{source}/{name}"))):  # noqa: PTH114
            copy(Path(source, name), Path(target, name))
    # last: a folder may forbid to write to it
    for source, target in reversed(folders):
        with suppress(OSError):
            shutil.copystat(source, target)
    # what has vanished meanwhile lacks nobody
    return [(path, why) for path, why in failed if os.path.lexists(path)]
