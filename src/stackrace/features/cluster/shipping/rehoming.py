"""A virtual environment at another place, over an interpreter of the same kind that this host has.

Scripts name their interpreter by its whole path, editable installs the project's folder, and ``pyvenv.cfg`` the
folder of the interpreter that the environment was made with. Source: PEP 405; venv; setuptools, editable installs.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ....base.errors import InputError
from ....base.files import read_bytes, read_text
from ....deploy.app_files import Relocation
from .environment import facts_of
from .parcel import Interpreter
from .texts import relocated

__all__ = ["base_for", "rehome"]

_LONGEST_TEXT_BYTES = 2**20
_LONGEST_SHEBANG = 127
"""Older kernels read no more of a script's first line. Source: execve(2)."""
_HOME = re.compile(r"^home\s*=.*$", re.MULTILINE)


def base_for(interpreter: Interpreter) -> Path:
    """Return this host's interpreter for an environment that was made with ``interpreter``.

    Raises InputError where there is none of that version, processor and C library.
    """
    for python in dict.fromkeys(_candidates(interpreter)):
        facts = facts_of(python) if os.access(python, os.X_OK) else None
        if facts is not None and facts[1:] == (interpreter.version, interpreter.suffix):
            return python
    version = interpreter.version
    raise InputError(
        f"the app's environment {interpreter.home} is for Python {version} ({interpreter.suffix.strip('.')}), and "
        f"there is none here; install one, as with `apt install python{version}` or `uv python install {version}`"
    )


def _candidates(interpreter: Interpreter) -> Iterator[Path]:
    yield interpreter.base
    name = f"python{interpreter.version}"
    if found := shutil.which(name):
        yield Path(found).absolute()
    yield Path(sys._base_executable)  # type: ignore[attr-defined]
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or Path(data, "uv", "python")
    for installed in (Path(pyenv, "versions"), Path(uv)):
        # somebody else's, where a variable was inherited
        with suppress(OSError):
            yield from sorted(installed.glob(f"*{interpreter.version}*/bin/{name}"), reverse=True)


def rehome(folder: Path, relocation: Relocation, interpreter: Interpreter, base: Path) -> None:
    """Let the environment that was unpacked in ``folder`` be one at ``relocation``'s place, made with ``base``.

    Raises OSError.
    """
    for name in interpreter.names:
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).symlink_to(base)
    for path in _told_of_places(folder):
        _rewrite(path, relocation)
    settings = folder / "pyvenv.cfg"
    text = read_text(settings, errors="surrogateescape")
    # a function, for a path may hold what a template would read
    text = _HOME.sub(lambda _: f"home = {base.parent}", text)
    settings.write_text(text, encoding="utf-8", errors="surrogateescape")


def _told_of_places(folder: Path) -> Iterator[Path]:
    """Yield where installers write whole paths: settings, scripts, and what stands right among the packages."""
    yield folder / "pyvenv.cfg"
    for place in (folder / "bin", *folder.glob("lib/python3*/site-packages")):
        if place.is_dir():
            yield from (path for path in place.iterdir() if path.is_file() and not path.is_symlink())
    yield from folder.glob("lib/python3*/site-packages/*.dist-info/direct_url.json")


def _rewrite(path: Path, relocation: Relocation) -> None:
    status = path.stat()
    if status.st_size > _LONGEST_TEXT_BYTES:
        return
    before = read_bytes(path)
    if b"\0" in before:
        return
    after = _short_shebang(os.fsencode(relocated(relocation, os.fsdecode(before))))
    if after != before:
        path.write_bytes(after)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _short_shebang(script: bytes) -> bytes:
    """Return ``script`` started by the shell where its first line is too long for the kernel, as pip does it."""
    first, newline, rest = script.partition(b"\n")
    if not first.startswith(b"#!/") or len(first) <= _LONGEST_SHEBANG or b"python" not in first:
        return script
    return b"#!/bin/sh\n'''exec' \"" + first[2:].strip() + b'" "$0" "$@"\n\' \'\'\'' + newline + rest
