"""Puts folders at other paths for a single command, in a private view of the file system.

It runs as a script of its own, with the standard library only. Exported files name the paths of another machine
(/srv/shop, /run/shop): these exist while the command runs, and nowhere else.

Usage: stage.py '{"mounts": {"TARGET": "SOURCE", …}, "folder": "WORKING FOLDER"}' COMMAND…
Source: mount_namespaces(7), mount(2).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

if not __package__:
    # as a script, its interpreter looks for modules in the standard library only
    sys.path.append(str(Path(__file__).parents[3]))

from stackrace.base.process.namespaces import bind, rebuild, separate


def staged(mounts: Mapping[Path, Path], folder: Path) -> tuple[str, ...]:
    """Return the words to put before a command that runs in ``folder`` and finds each source at its target."""
    document = {"mounts": {str(target): str(source) for target, source in mounts.items()}, "folder": str(folder)}
    return (sys.executable, "-I", "-S", str(Path(__file__)), json.dumps(document))


def _bind_all(mounts: Mapping[str, str]) -> None:
    sources = {Path(target): os.open(source, os.O_PATH) for target, source in mounts.items()}
    rebuilt: set[Path] = set()
    for target in sources:
        _make(target, rebuilt)
    for target, handle in sources.items():
        bind(target, handle)
        os.close(handle)


def _make(target: Path, rebuilt: set[Path]) -> None:
    """Create the folder ``target`` in this view; the nearest existing folder is rebuilt for it."""
    if target.is_dir():
        return
    above = next(folder for folder in target.parents if folder.is_dir())
    if above == Path("/"):
        raise OSError(f"there is no folder {target.parents[-2]}; choose --app-dir below one that exists")
    if not any(above.is_relative_to(folder) for folder in rebuilt):
        rebuild(above)
        rebuilt.add(above)
    target.mkdir(parents=True)


def main(document: str, *command: str) -> None:
    """Replace this process with ``command``; exit with 126 and a message on stderr if that fails."""
    asked = json.loads(document)
    try:
        separate()
        _bind_all(asked["mounts"])
        os.chdir(asked["folder"])
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}\n")
        sys.exit(126)


if __name__ == "__main__":
    main(*sys.argv[1:])
