"""Where the uv is that comes with us."""

from __future__ import annotations

import shutil

__all__ = ["uv_program"]


def uv_program() -> str | None:
    """Return the path of uv: of its package, wherever that is installed, else on PATH; None without any."""
    try:
        from uv import find_uv_bin

        found: str = find_uv_bin()
    except (ImportError, FileNotFoundError):
        return shutil.which("uv")
    return found
