"""Script that answers one question by libgit2: JSON as its only argument, JSON in its last line of output.

libgit2 runs no program that settings name. It has no hooks, monitors, pagers or lazy fetches, and its only filters
are line ends and ``$Id$``; functions that connect to other machines are never called. But it blocks in C if a file
of the repository does, so each question is a process. Each line before the answer shows that the work goes on.
Source: libgit2, "git2/repository.h", "git2/checkout.h", "git2/sys/filter.h"; git-lfs, "spec.md".
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path

_MOST_BYTES = 2 << 30
"""Memory limit in bytes for one question, because a repository's author decides the size of its files."""
_MOST_POINTER = 1024
_EACH = 100
_HASH = re.compile("[0-9a-f]{40}")
_LACKS = re.compile("object not found|^Unable to read tree ")
_POINTER = re.compile(rb"version https://git-lfs[^\n]*\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n")

try:
    import pygit2
    from pygit2.enums import (
        CheckoutStrategy,
        ConfigLevel,
        DiffOption,
        FileMode,
        FileStatus,
        RepositoryInitFlag,
        RepositoryOpenFlag,
    )
except ImportError as error:
    print(f"\n{json.dumps({'error': f'{error}; install Stackrace again, with pygit2', 'kind': 'other'})}")  # noqa: T201
    sys.exit(1)


def _emit(line: object = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _facts(repository: pygit2.Repository) -> dict[str, object]:
    values: dict[str, str] = {}
    filters: dict[str, dict[str, tuple[str, bool]]] = {}
    for entry in repository.config:
        name, value = os.fsdecode(entry.raw_name), os.fsdecode(entry.raw_value or b"")
        values[name] = value
        driver, _, what = name.removeprefix("filter.").rpartition(".")
        if name.startswith("filter.") and what in ("smudge", "process"):
            is_users = entry.level <= ConfigLevel.GLOBAL
            known = filters.setdefault(driver, {})
            known[what] = (value, True) if is_users else known.get(what, (value, False))
    head = None if repository.head_is_unborn else _commit(repository, "HEAD")
    return {
        "top": repository.workdir,
        "origin": values.get("remote.origin.url", ""),
        "line_ends": {name: values[name] for name in ("core.autocrlf", "core.eol") if name in values},
        "filters": filters,
        "is_shallow": repository.is_shallow,
        "head": "" if head is None else str(head.id),
        "committed_at": "" if head is None else _date(head),
    }


def _date(commit: pygit2.Commit) -> str:
    try:
        zone = timezone(timedelta(minutes=commit.commit_time_offset))
        return datetime.fromtimestamp(commit.commit_time, zone).isoformat()
    except (ValueError, OverflowError):
        return ""


def _commit(repository: pygit2.Repository, name: str) -> pygit2.Commit | None:
    try:
        return repository.revparse_single(name).peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError):
        return None


def _fork_point(repository: pygit2.Repository, names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first of ``names`` that shares a commit with HEAD, as people write it, and this commit."""
    head = _commit(repository, "HEAD")
    for name in names:
        other = _commit(repository, name)
        base = head and other and repository.merge_base(head.id, other.id)
        if base:
            if name.startswith("refs/"):
                name = str(repository.references[name].target)
            return name.removeprefix("refs/remotes/"), str(base)
    return None


def _status(repository: pygit2.Repository) -> dict[str, list[str]]:
    """Return the files that differ from HEAD, are new, or are ignored; folders end with a slash."""
    found: dict[str, list[str]] = {"changed": [], "new": [], "ignored": []}
    sparse = "core.sparsecheckout" in repository.config and repository.config.get_bool("core.sparsecheckout")
    for path, flags in repository.status(untracked_files="all", ignored=True).items():
        is_left_out = sparse and flags == FileStatus.WT_DELETED
        if is_left_out or (flags == FileStatus.WT_MODIFIED and _is_pointed_at(repository, path)):
            continue
        kinds = {FileStatus.IGNORED: "ignored", FileStatus.WT_NEW: "new"}
        found[kinds.get(FileStatus(flags), "changed")].append(path)
    return found


def _changed_since(repository: pygit2.Repository, commit: str) -> list[str]:
    found = repository[commit]
    assert isinstance(found, pygit2.Commit)
    flags = DiffOption.INCLUDE_UNTRACKED | DiffOption.RECURSE_UNTRACKED_DIRS
    return [delta.new_file.path for delta in found.tree.diff_to_workdir(flags).deltas]


def _pointer(repository: pygit2.Repository, path: str) -> tuple[str, int] | None:
    """Return digest and size of the target of a Git LFS pointer in the index; None if it is no pointer."""
    blob = repository[repository.index[path].id]
    match = _POINTER.match(blob.read_raw()) if isinstance(blob, pygit2.Blob) and blob.size < _MOST_POINTER else None
    return match and (match[1].decode(), int(match[2]))


def _is_pointed_at(repository: pygit2.Repository, path: str) -> bool:
    if repository.get_attr(os.fsencode(path), "filter") != "lfs":
        return False
    pointer = _pointer(repository, path)
    assert repository.workdir
    handle = os.open(os.path.join(repository.workdir, path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # noqa: PTH118
    with open(handle, "rb") as file:  # noqa: PTH123
        status = os.fstat(handle)
        if not pointer or not stat.S_ISREG(status.st_mode) or status.st_size != pointer[1]:
            return False
        digest = hashlib.sha256()
        while piece := file.read(1 << 24):
            digest.update(piece)
            _emit()
    return digest.hexdigest() == pointer[0]


class _CheckoutProgress(pygit2.callbacks.CheckoutCallbacks):
    def checkout_progress(self, path: str, completed_steps: int, total_steps: int) -> None:
        if completed_steps % _EACH == 0:
            _emit()


def _write_out(git: str, tree: str, objects: str, commit: str, line_ends: dict[str, str]) -> object:
    """Write the files of ``commit`` to ``tree``, as a repository ``git`` that borrows ``objects``.

    ``line_ends`` are git's settings for line ends. Return name and commit of each submodule by its path, and by
    filter the files that it would produce: see ``Filtered``.
    """
    flags = RepositoryInitFlag.NO_DOTGIT_DIR | RepositoryInitFlag.MKPATH
    made = pygit2.init_repository(git, flags=flags, workdir_path=tree)
    for name, value in line_ends.items():
        made.config[name] = value
    Path(git, "objects/info/alternates").write_bytes(os.fsencode(objects) + b"\n")
    repository = pygit2.Repository(git, RepositoryOpenFlag.NO_SEARCH)
    found = repository[commit]
    assert isinstance(found, pygit2.Commit)
    repository.set_head(found.id)
    repository.index.read_tree(found.tree)
    # attributes are read from the index before their files are written
    repository.index.write()
    _emit()
    strategy = CheckoutStrategy.FORCE | CheckoutStrategy.DISABLE_PATHSPEC_MATCH
    repository.checkout_index(strategy=strategy, callbacks=_CheckoutProgress())
    entries = list(repository.index)
    modules = {entry.path: str(entry.id) for entry in entries if entry.mode == FileMode.COMMIT}
    names = {module.path: module.name for module in repository.submodules} if modules else {}
    filtered: dict[str, dict[str, tuple[str, int] | None]] = {}
    has_attributes = Path(git, "info/attributes").exists() or any(
        entry.path.endswith(".gitattributes") for entry in entries
    )
    for number, entry in enumerate(entries if has_attributes else ()):
        is_file = entry.mode in (FileMode.BLOB, FileMode.BLOB_EXECUTABLE)
        driver = repository.get_attr(os.fsencode(entry.path), "filter") if is_file else None
        if isinstance(driver, str):
            filtered.setdefault(driver, {})[entry.path] = _pointer(repository, entry.path)
        if number % _EACH == 0:
            _emit()
    return {path: (names.get(path), commit) for path, commit in modules.items()}, filtered


def _answer(question: str, folder: str, **words: object) -> object:
    pygit2.settings.set_extensions(["partialclone"])
    if question == "write_out":
        return _write_out(folder, **words)  # type: ignore[arg-type]
    repository = pygit2.Repository(folder, RepositoryOpenFlag.FROM_ENV)
    if question == "commit":
        found = _commit(repository, str(words["name"]))
        return found and str(found.id)
    if question == "tracked":
        return [entry.path for entry in repository.index]
    answers: dict[str, Callable[..., object]] = {
        "facts": _facts,
        "fork_point": _fork_point,
        "status": _status,
        "changed_since": _changed_since,
    }
    return answers[question](repository, **words)


def _main() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, _MOST_BYTES))
    _emit()
    try:
        answer = {"answer": _answer(**json.loads(sys.argv[1]))}
    except Exception as error:
        words = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
        is_lacking = _LACKS.search(words) or (isinstance(error, KeyError) and _HASH.fullmatch(words))
        kind = "owner" if "not owned by" in words else "lacking" if is_lacking else "other"
        answer = {"error": words or type(error).__name__, "kind": kind}
    _emit(json.dumps(answer))


if __name__ == "__main__":
    _main()
