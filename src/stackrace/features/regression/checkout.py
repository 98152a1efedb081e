"""A commit's files, written to a temporary folder; no program that the repository's own settings name is run."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from filecmp import cmp
from pathlib import Path

from ...app.project_files import is_environment
from ...base.errors import InputError, said_by
from ...base.files import is_folder, is_present, matching, opened, real_path, remove_tree, size_of, walk
from ...base.process import Filtered, Repository, at, attended, users_variables, within
from ...base.text import few
from ...base.units import SIZE
from ...deploy.environments import cache_folder
from ...deploy.guard import Guard
from ...deploy.project_data import CACHES
from ...deploy.sqlite_files import copy_as_it_is
from .repository import Revision, WorkTree, whole

_FILTER_S = 600.0
"""Time limit for a filter from the user's own settings, which may download a file's content."""

_MADE_AGAIN = CACHES | {".cache", ".stackrace"}

_LINKED = {"node_modules"}
"""Ignored folders that are linked, not copied: they are large and only read."""


@contextmanager
def checked_out(work: WorkTree, revision: Revision, most_bytes: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield a folder with the files of ``revision``, and notes for the user; the folder is removed afterwards.

    Files that git ignores (databases, variables, built static files) are in no commit, so the work tree's are
    copied, ``most_bytes`` together at most, without environments. Raises InputError if the clone lacks an object.
    """
    with Guard() as guard, ExitStack() as held:
        tree = guard.directory / "tree"
        byte_code = cache_folder() / "pycache" / guard.directory.relative_to(guard.directory.anchor)
        # left by checks that were killed
        for left in matching(byte_code.parent, "stackrace-*"):
            if not is_present(guard.directory.with_name(left.name)):
                remove_tree(left)
        for made in (byte_code, tree):
            held.callback(remove_tree, made)
        notes = _write_out(work.git, revision.commit, tree, guard.directory / "git")
        yield tree, (*notes, *_share_ignored(work, tree, most_bytes))


def _write_out(git: Repository, commit: str, tree: Path, home: Path) -> Iterator[str]:
    """Write ``commit``, and its submodules if the clone has them, to ``tree``; yield notes for the user."""
    with whole(git):
        modules, filtered = git.write_out(commit, tree, home)
    _require_known_filters(git, filtered)
    for driver, files in filtered.items():
        yield from _filtered(git, driver, files, commit, tree)
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


def _require_known_filters(git: Repository, filtered: Mapping[str, Filtered]) -> None:
    """Raise InputError for files with a filter that only the repository's own settings have: it is not run."""
    foreign = {}
    for driver, files in filtered.items():
        commands = git.filters.get(driver, {})
        smudge, is_users = commands.get("smudge", ("COMMAND", False))
        if commands and not is_users and smudge != "cat" and not all(files.values()):
            foreign[f"filter.{driver}.smudge"] = (smudge, list(files))
    for key, (value, names) in foreign.items():
        pairs = (f"{shlex.quote(key)} {shlex.quote(its)}" for key, (its, _) in foreign.items())
        raise InputError(
            f"{git.top} has files made by a program that its own settings name, {few(names)}: {key} = {value}; "
            f"if you trust it, set it for yourself: {' && '.join(f'git config --global {pair}' for pair in pairs)}"
        )


def _filtered(git: Repository, driver: str, files: Filtered, commit: str, tree: Path) -> Iterator[str]:
    """Write ``files``, which have a filter: from Git LFS's store, or by the user's own command. Yield notes."""
    kept = [name for name, pointer in files.items() if not (pointer and _is_fetched(git, tree / name, *pointer))]
    smudge, is_users = git.filters.get(driver, {}).get("smudge", ("", False))
    if smudge and is_users:
        failed = [name for name in kept if not _is_smudged(smudge, name, tree, may_be_same=not files[name])]
        if made := [name for name in kept if name not in failed]:
            yield f"The base's {few(made)} came through the filter {driver} of your own settings ({smudge})."
        kept = failed
    if pointers := [name for name in kept if files[name]]:
        get = f"git lfs fetch origin {commit}"
        yield f"The base has only Git LFS's pointers of {few(pointers)}; get the files: {get}."
    elif kept and smudge and is_users:
        yield f"The base has {few(kept)} as the repository keeps them: the filter {driver} ({smudge}) failed."


def _is_fetched(git: Repository, path: Path, digest: str, size: int) -> bool:
    """Replace a pointer by the file that Git LFS has fetched already; return False if it has not."""
    with suppress(OSError), opened(git.store / "lfs/objects" / digest[:2] / digest[2:4] / digest) as source:
        if os.fstat(source.fileno()).st_size == size:
            with path.open("wb") as target:
                shutil.copyfileobj(source, target)
            return True
    return False


def _is_smudged(command: str, name: str, tree: Path, *, may_be_same: bool) -> bool:
    """Replace a file by the output of the user's own ``command``; return False if the command failed.

    It starts in the base's folder, whose settings are ours. Source: gitattributes(5), "filter".
    """
    path, made = tree / name, tree.parent / "made"
    # error output of the command is no part of the file
    shell = ("sh", "-c", "exec 2>/dev/null\n" + command.replace("%f", shlex.quote(name)).replace("%%", "%"))
    variables, code = users_variables() | {"GIT_TERMINAL_PROMPT": "0"}, None
    with opened(path) as source, made.open("wb") as target, suppress(OSError):
        wait = within(_FILTER_S)
        code = attended(shell, wait, folder=tree, environment=variables, stdin=source, stdout=target)
    if code != 0 or (not may_be_same and cmp(path, made, shallow=False)):
        return False
    made.chmod(path.stat().st_mode)
    made.replace(path)
    return True


def _share_ignored(work: WorkTree, tree: Path, most_bytes: int) -> tuple[str, ...]:
    """Copy the work tree's ignored files to the base, the smallest first; return notes about those left out."""
    left, too_large, failed = most_bytes, [], []
    for size, name in sorted((size_of(work.top / name), name) for name in work.ignored()):
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
    return not is_made_again and not is_environment(here)


def _copy(here: Path, there: Path) -> list[tuple[Path, str]]:
    """Copy a file or folder; return the paths that could not be copied, each with the reason."""
    failed: list[tuple[Path, str]] = []

    def copy(path: Path, target: Path) -> None:
        try:
            if path.is_symlink():
                target.symlink_to(path.readlink())
            # sockets and pipes of running programs cannot be copied, and hold no data
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
    # permissions come last: a folder may be read-only
    for source, target in reversed(folders):
        with suppress(OSError):
            shutil.copystat(source, target)
    # files that have vanished meanwhile are not missing
    return [(path, why) for path, why in failed if os.path.lexists(path)]
