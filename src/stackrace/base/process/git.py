"""Git, asked about the repository that a folder lies in.

A repository's settings name programs: filters, monitors, hooks, pagers, what verifies and what fetches. What is
asked here runs none of them. Git's guard against other owners stays on, but whoever unpacked an archive owns what
came in it. Source: git-config(1), gitattributes(5), git(1) "Environment Variables".
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from ..errors import OwnerError

_OPTIONS = (
    "--no-pager",
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=", "-c", "log.showSignature=false",
    # what only looks like a file of the project may be a whole repository, settings and all
    "-c", "safe.bareRepository=explicit",
)  # fmt: skip

_LOCAL = frozenset(
    f"GIT_{name}"
    for name in (
        "ALTERNATE_OBJECT_DIRECTORIES", "CONFIG", "CONFIG_PARAMETERS", "OBJECT_DIRECTORY", "DIR", "WORK_TREE",
        "IMPLICIT_WORK_TREE", "GRAFT_FILE", "INDEX_FILE", "NO_REPLACE_OBJECTS", "REPLACE_REF_BASE", "PREFIX",
        "SHALLOW_FILE", "COMMON_DIR", "INTERNAL_SUPER_PREFIX",
    )
)  # fmt: skip
"""Variables by which a hook or another work tree would lead elsewhere: git rev-parse --local-env-vars."""

_EMPTY = "STACKRACE_EMPTY"

_LFS = re.compile(
    r"filter\.lfs\.(clean\ngit-lfs clean -- %f|smudge\ngit-lfs smudge( --skip)? -- %f"
    r"|process\ngit-lfs filter-process( --skip)?)"
)
"""What ``git lfs install`` sets."""
_HARMLESS = re.compile(r"filter\..*\.(required(\n.*)?|(clean|smudge)\ncat)", re.DOTALL)

_SOON_S = 2.0
"""Settings are mostly read in milliseconds; those that take longer may wait for somebody."""


def git(
    folder: Path, *words: str, timeout_s: float, checks_out: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run git in ``folder`` and return how it ended; it asks nobody anything, and takes no lock that it need not.

    With ``checks_out`` files come as Git LFS and the user's own filters make them, and what is missing is fetched:
    for verbs that run the project's code anyway. Raises OSError where it cannot be started,
    subprocess.TimeoutExpired when it takes longer than ``timeout_s``, OwnerError where it refuses a repository that
    belongs to another user, or cannot read its settings.
    """
    environment = _environment()
    options: tuple[str, ...] = _OPTIONS
    if checks_out:
        # others are programs by another name
        environment.setdefault("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")
    else:
        # of a partial clone, what is missing would be fetched: by any program that its settings name
        environment |= {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
    filters = _filters(folder, environment, timeout_s)
    if checks_out:
        off = _drivers(_foreign(folder, filters, environment, timeout_s))
        filters = [each for each in filters if _driver(each) in off]
    ended = _run(folder, environment, timeout_s, *options, *_without(filters), *words)
    if ended.returncode and b"safe.directory" in ended.stderr:
        said = ended.stderr.decode("utf-8", "replace").strip()
        way_out = next(line.strip() for line in said.splitlines() if "safe.directory" in line)
        raise OwnerError(
            f"git refuses {folder}, which belongs to another user; if you trust it: {way_out}", detail=said
        )
    return ended


def foreign_filters(folder: Path, *, timeout_s: float) -> list[tuple[str, str]]:
    """Return names and values of filters that would make files, and that only the repository's own settings have.

    ``git`` runs them for nobody. Raises as ``git``.
    """
    environment = _environment()
    foreign = _foreign(folder, _filters(folder, environment, timeout_s), environment, timeout_s)
    makers = _drivers(each for each in foreign if each.partition("\n")[0].endswith((".smudge", ".process")))
    pairs = (each.partition("\n") for each in foreign if _driver(each) in makers)
    return [(name, value) for name, _, value in pairs]


def _environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    return environment | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", _EMPTY: ""}


def _filters(folder: Path, environment: dict[str, str], timeout_s: float, *where: str) -> list[str]:
    """Return what git knows of filters in ``folder``, whoever set it: a name and, in the next line, its value."""
    command = (*_OPTIONS, "config", "--null", "--includes", *where, "--get-regexp", r"^filter\.")
    try:
        said = _run(folder, environment, min(_SOON_S, timeout_s), *command).stdout
    except subprocess.TimeoutExpired:
        _refuse_pipes(folder, environment, timeout_s)
        said = _run(folder, environment, timeout_s, *command).stdout
    return [each for each in os.fsdecode(said).split("\0") if each]


def _foreign(folder: Path, filters: list[str], environment: dict[str, str], timeout_s: float) -> list[str]:
    """Return those of ``filters`` that are neither harmless, nor of Git LFS, nor set by the user himself."""
    foreign = [each for each in filters if not _LFS.fullmatch(each) and not _HARMLESS.fullmatch(each)]
    if foreign:
        whose = (_filters(folder, environment, timeout_s, where) for where in ("--global", "--system"))
        own = set(chain.from_iterable(whose))
        foreign = [each for each in foreign if each not in own]
    return foreign


def _driver(setting: str) -> str:
    return setting.partition("\n")[0].rpartition(".")[0]


def _drivers(settings: Iterable[str]) -> set[str]:
    return {_driver(each) for each in settings}


def _without(filters: list[str]) -> tuple[str, ...]:
    """Return the options that switch ``filters`` off."""
    names = dict.fromkeys(each.partition("\n")[0] for each in filters)
    # -c takes the first = for the end of the name, and git before 2.31 knows nothing else
    options = ((f"--config-env={name}={_EMPTY}",) if "=" in name else ("-c", f"{name}=") for name in names)
    return tuple(chain.from_iterable(options))


def _refuse_pipes(folder: Path, environment: dict[str, str], timeout_s: float) -> None:
    """Raise OwnerError where settings include a named pipe, which git would wait for."""
    command = ("config", "--null", "--no-includes", "--show-origin", "--get-regexp", r"^include(if\..*)?\.path$")
    said = os.fsdecode(_run(folder, environment, timeout_s, *_OPTIONS, *command).stdout).split("\0")
    top = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)
    for origin, setting in zip(said[::2], said[1::2], strict=False):
        name, _, value = setting.partition("\n")
        file = top / origin.removeprefix("file:")
        included = file.parent / os.path.expanduser(value)  # noqa: PTH111 (of unknown users, too)
        if included.is_fifo():
            raise OwnerError(f"git cannot read {file}: its {name} names a named pipe, {included}; take that out")


def _run(
    folder: Path, environment: dict[str, str], timeout_s: float, *words: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
