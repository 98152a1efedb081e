"""The exported folder on the disk: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...app.project_files import MARK
from ...base.errors import InputError, said_by
from ...base.files import remove_tree

__all__ = ["refuse_existing", "write_files", "write_folder"]


def refuse_existing(folder: Path, *, force: bool) -> None:
    """Raise InputError where ``folder`` cannot be made, or holds something that must not be lost."""
    if not folder.parent.is_dir():
        raise InputError(f"--to {folder}: there is no folder {folder.parent}; make it first")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"--to {folder} is a file; name a folder")
    if not any(folder.iterdir()):
        return
    if not force:
        raise InputError(f"--to {folder} is not empty; give another folder, or --force to replace what lies there")
    if not (folder / MARK).is_file():
        raise InputError(
            f"--to {folder} holds files that no export made (there is no {MARK}), so --force does not "
            "replace it; give another folder"
        )


def write_folder(folder: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write ``files`` as ``folder``: beside it first, then in its place in one step.

    Raises InputError as ``refuse_existing`` does, and where the disk does not take it; what lies there stays then.
    """
    refuse_existing(folder, force=force)
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise InputError(f"--to {folder}: {said_by(error, where=True)}") from error
    try:
        write_files(fresh, files)
        fresh.chmod(0o755)
        _put(fresh, folder)
    except OSError as error:
        raise InputError(f"--to {folder}: {said_by(error, where=True)}") from error
    finally:
        remove_tree(fresh)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write ``files`` by their paths below ``folder``, which exists."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _put(fresh: Path, folder: Path) -> None:
    if not folder.exists():
        fresh.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
    aside = old / "old"
    try:
        folder.rename(aside)
        fresh.rename(folder)
    except BaseException:
        # Ctrl-C among them: the earlier folder is where it was, whatever ends this
        if aside.exists() and not folder.exists():
            aside.rename(folder)
        raise
    finally:
        if not aside.exists():
            os.rmdir(old)  # noqa: PTH106
    remove_tree(old)
