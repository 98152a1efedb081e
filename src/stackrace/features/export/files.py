"""All files of an export, by their path below its folder."""

from __future__ import annotations

import shlex

from ...app.project_files import MARK
from .compose import compose
from .docker import dockerfile, dockerignore
from .health import SCRIPT, health_script
from .layout import Process
from .packages import app_requirements, constraints, debian, requirements
from .readme import environment_example, readme
from .units import units
from .wanted import Export

__all__ = ["exported_files"]


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
        files["packages.txt"] = debian(packages)
    if export.has_python:
        files[SCRIPT] = health_script()
        files["requirements.txt"] = requirements(packages, export.source)
        files["constraints.txt"] = constraints(packages)
        if not packages.asked:
            files["requirements-app.txt"] = app_requirements(packages)
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
