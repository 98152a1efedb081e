"""All files of an export, by their path below its folder."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...app.project_files import MARK
from ...base.errors import InputError, said_by
from ...base.files import remove_tree
from .containers import compose, dockerfile, dockerignore
from .export import SCRIPT, Export
from .layout import Process
from .readme import environment_example, readme
from .units import units


def exported_files(export: Export, evidence: str) -> dict[str, str]:
    """Return the texts; ``evidence`` is that of EVIDENCE.md."""
    packages = export.packages
    files = {f"{process.name}/{name}": text for process in export.processes for name, text in process.files.items()}
    files |= export.deployed.files
    files |= {f"systemd/{name}": text for name, text in units(export).items()}
    files["Dockerfile"] = dockerfile(export)
    files["Dockerfile.dockerignore"] = dockerignore(export)
    files["compose.yaml"] = compose(export)
    files["Procfile"] = _procfile(export)
    if text := _logrotate(export):
        files["logrotate"] = text
    if packages.debian:
        files["packages.txt"] = packages.debian_list()
    if export.has_python:
        files[SCRIPT] = Path(__file__).with_name("health_script.py").read_text(encoding="utf-8")
        files["requirements.txt"] = packages.requirements(export.source)
        files["constraints.txt"] = packages.constraints()
        if not packages.asked.file:
            files["requirements-app.txt"] = packages.app_requirements()
        files[".env.example"] = environment_example(export)
    files["EVIDENCE.md"] = evidence
    files[MARK] = "Made by stackrace export. No app of the project is looked for in this folder.\n"
    files["README.md"] = readme(export, list(files))
    return files


def _procfile(export: Export) -> str:
    """Return the Procfile for foreman, honcho, Heroku; the front is ``web``.

    Its runner makes no folders: README.md has the command that does.
    """
    return "".join(
        f"{'web' if process is export.front else process.name}: {_procfile_line(process)}\n"
        for process in reversed(export.processes)
    )


def _procfile_line(process: Process) -> str:
    """Return the command with the server's own variables; ``env`` puts itself in its place."""
    own = [f"{name}={value}" for name, value in process.variables.items()]
    return shlex.join([*(["env", *own] if own else []), *process.command])


def _logrotate(export: Export) -> str:
    """Return the file for /etc/logrotate.d; empty where the journal has all logs.

    Logs of a server that cannot open them again are copied and emptied.
    """
    parts = [_logrotate_part(export, process) for process in export.processes if process.log_files]
    return f"# logrotate(8); made by {export.source}\n" + "\n".join(parts) if parts else ""


def _logrotate_part(export: Export, process: Process) -> str:
    target = export.target
    signal = process.recipe.reopens
    how = (
        "    copytruncate\n"
        if signal is None
        else "    delaycompress\n    sharedscripts\n    postrotate\n"
        f"        systemctl kill --kill-whom=main --signal={signal.name} {target.unit(process.name)}.service\n"
        "    endscript\n"
    )
    return (
        f"{target.logs(process.name)}/*.log {{\n    daily\n    rotate 14\n    compress\n    missingok\n"
        f"    notifempty\n    su {target.user} {target.user}\n{how}}}\n"
    )


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
