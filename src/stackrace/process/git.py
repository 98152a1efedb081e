"""Git, asked about the repository that a folder lies in.

A repository's settings name programs: filters, monitors, hooks, pagers, what verifies and what fetches. What is
asked here runs none of them. Git's guard against other owners stays on, but whoever unpacked an archive owns what
came in it. Source: git-config(1), gitattributes(5), git(1) "Environment Variables".
"""

from __future__ import annotations

import os
import subprocess
from itertools import chain
from pathlib import Path

from ..model.errors import OwnerError

__all__ = ["git"]

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


def git(
    folder: Path, *words: str, timeout_s: float, checks_out: bool = False
) -> subprocess.CompletedProcess[bytes]:
    """Run git in ``folder`` and return how it ended; it asks nobody anything, and takes no lock that it need not.

    With ``checks_out`` files come as the repository's filters make them, and what is missing is fetched: for verbs
    that run the project's code anyway. Raises OSError where it cannot be started, subprocess.TimeoutExpired when it
    takes longer than ``timeout_s``, OwnerError where it refuses a repository that belongs to another user.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL}
    environment |= {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", _EMPTY: ""}
    options: tuple[str, ...] = _OPTIONS
    if not checks_out:
        # of a partial clone, what is missing would be fetched: by any program that its settings name
        environment |= {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
        options = (*options, *_without_filters(folder, environment, timeout_s))
    ended = _run(folder, environment, timeout_s, *options, *words)
    if ended.returncode and b"safe.directory" in ended.stderr:
        said = ended.stderr.decode("utf-8", "replace").strip()
        way_out = next(line.strip() for line in said.splitlines() if "safe.directory" in line)
        raise OwnerError(
            f"git refuses {folder}, which belongs to another user; if you trust it: {way_out}", detail=said
        )
    return ended


def _without_filters(folder: Path, environment: dict[str, str], timeout_s: float) -> tuple[str, ...]:
    """Return the options that switch off each filter that git knows in ``folder``, whoever set it."""
    command = ("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    said = _run(folder, environment, timeout_s, *_OPTIONS, *command).stdout
    names = dict.fromkeys(filter(None, os.fsdecode(said).split("\0")))
    # -c takes the first = for the end of the name, and git before 2.31 knows nothing else
    options = ((f"--config-env={name}={_EMPTY}",) if "=" in name else ("-c", f"{name}=") for name in names)
    return tuple(chain.from_iterable(options))


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
