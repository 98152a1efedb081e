"""All files of an export, by their paths below its folder; the folder itself, and its JSON document."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from ...app.project_files import MARK
from ...base.codec import FLAT, LEFT_OUT, Form, readable, schema_text
from ...base.errors import InputError, said_by
from ...base.files import remove_tree
from ...base.secrets import by_name
from .containers import compose, dockerfile, dockerignore
from .equivalence import Equivalence, Proof
from .evidence import evidence
from .export import SCRIPT, Export, entry_path, text_of
from .export_target import Target
from .layout import Process
from .readme import environment_example, readme
from .systemd_units import units

if TYPE_CHECKING:
    from .export import Export


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportDocument:
    """One export, as `stackrace export --json` prints it."""

    schema: Literal["export-1"] = "export-1"
    """Name and version of this format."""
    stack: str
    """Path of the stack."""
    race: str | None
    """Id of the race behind it; null if nothing was measured."""
    folder: str
    """Folder with the written files."""
    files: tuple[str, ...]
    """Paths of the files below the folder."""
    target: Target
    listen: str
    """ADDRESS:PORT of the front."""
    proof: Proof | None
    """Proof of the files; null without --prove."""


_FORM = Form(
    record=ExportDocument,
    name="export-1",
    names={
        Target: {"proxies": "trusted_proxies", **dict.fromkeys(("host", "port", "projects"), LEFT_OUT)},
        ExportDocument: {"target": FLAT},
        Proof: {"equivalence": FLAT},
        Equivalence: {"level": LEFT_OUT},
    },
)

schema = partial(schema_text, _FORM)


def export_document(export: Export, folder: Path, files: Iterable[str], proof: Proof | None) -> dict[str, Any]:
    """Return the document of an ``export`` to ``folder``; ``files`` are paths below that."""
    target = export.target
    return readable(
        ExportDocument(
            stack=export.stack.path,
            race=None if export.race is None else export.race.id,
            folder=str(folder),
            files=tuple(sorted(files)),
            target=target,
            listen=f"{target.host}:{target.port}",
            proof=proof,
        ),
        _FORM,
    )


def exported_files(export: Export, proof: Proof | None = None) -> dict[str, str]:
    """Return the texts of all files, with names of variables in place of secrets; ``proof`` is for EVIDENCE.md."""
    files = {f"{process.name}/{name}": text for process in export.processes for name, text in process.files.items()}
    files |= {f"systemd/{name}": text for name, text in units(export).items()}
    files["Dockerfile"] = dockerfile(export)
    files["Dockerfile.dockerignore"] = dockerignore(export)
    files["compose.yaml"] = compose(export)
    files["Procfile"] = "".join(_procfile(export, process) for process in reversed(export.processes))
    if logs := [_rotation(export, process) for process in export.processes if process.log_files]:
        files["logrotate"] = f"# logrotate(8); made by {export.source}\n" + "\n".join(logs)
    files |= export.packages.files(export.source)
    if export.has_python:
        files[entry_path(export.stack)] = export.entry
        files[SCRIPT] = Path(__file__).with_name("health_script.py").read_text(encoding="utf-8")
        files[".env.example"] = environment_example(export)
    files["EVIDENCE.md"] = evidence(export, proof)
    files[MARK] = "Made by stackrace export. No app of the project is looked for in this folder.\n"
    files["README.md"] = readme(export, list(files))
    return {name: by_name(text, {**os.environ, **export.app.environment}) for name, text in files.items()}


def _procfile(export: Export, process: Process) -> str:
    """Return the process' line for foreman, honcho or Heroku, which create no folders; the front is ``web``.

    The server's own variables stand before the command; ``env`` replaces itself with the command.
    """
    own = [f"{name}={value}" for name, value in process.variables.items()]
    name = "web" if process is export.front else process.name
    return f"{name}: {shlex.join([*(['env', *own] if own else []), *process.command])}\n"


def _rotation(export: Export, process: Process) -> str:
    """Return the process' part of /etc/logrotate.d; logs that it cannot reopen are copied and emptied."""
    user, signal = export.target.user, process.recipe.reopens
    how = ["copytruncate"]
    if signal is not None:
        reopen = f"    systemctl kill --kill-whom=main --signal={signal.name} {process.unit}"
        how = ["delaycompress", "sharedscripts", "postrotate", reopen, "endscript"]
    lines = ("daily", "rotate 14", "compress", "missingok", "notifempty", f"su {user} {user}", *how)
    return f"{process.site.logs}/*.log {{\n{text_of(f'    {line}' for line in lines)}}}\n"


def refuse_existing(folder: Path, *, force: bool) -> None:
    """Raise InputError if ``folder`` cannot be created, or holds files that must not be lost."""
    if not folder.parent.is_dir():
        command = f"mkdir -p {quote(str(folder.parent))}"
        raise InputError(f"--to {folder}: there is no folder {folder.parent}; make it with: {command}")
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
    """Write ``files`` as ``folder``: first beside it, then into place in one step.

    Raises InputError as ``refuse_existing`` does, and if the files cannot be written; then the old folder stays.
    """
    refuse_existing(folder, force=force)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise InputError(f"--to {folder}: {said_by(error, where=True)}") from error
    old, fresh = draft / "old", draft / "new"
    try:
        fresh.mkdir()
        fresh.chmod(0o755)
        write_files(fresh, files)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
    except OSError as error:
        raise InputError(f"--to {folder}: {said_by(error, where=True)}") from error
    finally:
        # however this ends, also by Ctrl-C: the old folder is in place, unless the new one is
        if old.exists() and not folder.exists():
            old.rename(folder)
        remove_tree(draft)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write ``files`` by their paths below ``folder``, which exists."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
