"""What a server makes of its own configuration file: it is asked, with the deployment's variables and without them.

The file is the user's program, so it runs where it can change nothing and reach nobody; the app is not loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from ....model.stack import SettingValue
from ....process import run
from ....process.namespaces import seal
from ..deployment_command import text_of
from ..shell import unknown
from .hop import ReadHop

__all__ = ["Asked", "ask_server"]

LONGEST_S = 10.0
Asked = tuple[Mapping[str, SettingValue], Mapping[str, SettingValue]]
"""The settings by the file's own names: with the deployment's variables, and as a race has them."""


def ask_server(hop: ReadHop, path: Path, python: Path | None) -> Asked | None:
    """Return what the server of ``hop`` makes of the file at ``path``; None where it cannot be asked.

    ``python`` is the app's interpreter, if that is known.
    """
    script = hop.line.asked
    if script is None:
        return None
    folder = hop.root / hop.start.folder
    known = tuple(sorted((name, value) for name, value in hop.variables.items() if not unknown(value)))
    command = (str(python or sys.executable), str(script), str(path))
    place = folder if folder.is_dir() else hop.root
    theirs, races = (_answer(command, hop.root, place, variables, text_of(path)) for variables in (known, ()))
    return None if theirs is None or races is None else (theirs, races)


@lru_cache(maxsize=64)
def _answer(
    command: tuple[str, ...], root: Path, folder: Path, variables: tuple[tuple[str, str], ...], stamp: str
) -> Mapping[str, SettingValue] | None:
    """Return what ``command`` says last; ``stamp`` tells one state of the file from another."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "TMPDIR": "/dev/shm", **dict(variables)}
    try:
        done = run(
            command, folder=folder, environment=environment, timeout_s=LONGEST_S, begin=partial(seal, root, folder)
        )
        answer = json.loads(done.output.rpartition("\n")[2]) if not done.code else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return answer if isinstance(answer, dict) else None
