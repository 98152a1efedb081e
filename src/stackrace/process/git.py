"""Git, asked about the repository that a folder lies in, and nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["git"]

_OPTIONS = (
    # in containers the folder often is somebody else's, and its code is run anyway; hooks and watchers are no part
    # of it
    "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
)  # fmt: skip


def git(folder: Path, *words: str, timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run git in ``folder`` and return how it ended; it asks nobody anything, and takes no lock that it need not.

    Raises OSError where it cannot be started, subprocess.TimeoutExpired when it takes longer than ``timeout_s``.
    """
    # what a hook or another work tree set must not lead elsewhere
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", *_OPTIONS, *words],
        cwd=folder,
        env=environment | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
