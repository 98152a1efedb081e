"""Line that says how to enter a printed ``stackrace`` command, if the user's shell finds no ``stackrace``.

``uvx`` and ``uv run`` put it on PATH for Stackrace alone, and ``python -m stackrace`` does not need it there.
A user who gave the program's path knows how to enter it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

_QUIET = {"--json", "--json-lines", "--help", "-h", "--help-all"}
"""Options whose output is for programs, or that the user has just read the help with."""


def invocation_hint() -> str:
    """Return the line; empty if it would be of no use."""
    path, program = os.environ.get("PATH", os.defpath), Path(sys.argv[0])
    first, _, others = path.partition(os.pathsep)
    by_module = program.name == "__main__.py"
    by_uv = not by_module and "UV" in os.environ and Path(first) == program.parent
    if _QUIET & set(sys.argv) or not (by_module or by_uv):
        return ""
    if shutil.which("stackrace", path=others if by_uv else path):
        return ""
    return f"no stackrace is on your PATH; write {_way(by_module)}"


def _way(by_module: bool) -> str:
    """Return what to write in place of ``stackrace``."""
    if by_module:
        return f"`{shlex.join([sys.executable, '-m', 'stackrace'])}` instead"
    if os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return "`uv run stackrace` instead"
    origin = _origin()
    command = "`uvx stackrace`" if origin == "stackrace" else "the whole `uvx --from … stackrace`"
    return f"{command} instead, or run once: uv tool install {origin}"


def _origin() -> str:
    """Return the source of the installed package as uv takes it, quoted: its name, or a path or URL."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        given = json.loads(distribution("stackrace").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        given = {}
    url = given.get("url", "stackrace")
    if "vcs_info" in given:
        url = f"{given['vcs_info']['vcs']}+{url}@{given['vcs_info']['commit_id']}"
    return shlex.quote(unquote(urlsplit(url).path) if url.startswith("file:") else url)
