"""The image: the versions that the export found, on the same Debian, the app, and these files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from .health import health_command
from .layout import Process
from .wanted import Export

__all__ = ["dockerfile", "dockerignore", "install_commands"]

_USER_ID = 10001
"""No account of the host has it by chance; above 10000, as Kubernetes' checks want it."""


def dockerfile(export: Export) -> str:
    """Return the Dockerfile; its context is the folder that holds ``app`` and ``deploy``."""
    return "\n".join([*_lines(export)]) + "\n"


def dockerignore(export: Export) -> str:
    """Return Dockerfile.dockerignore: no secrets, no uploads and no leftovers in the image."""
    base = export.target.base
    written = [str(folder.relative_to(base)) for folder in export.written if folder.is_relative_to(base)]
    kept = "\n".join(("# Volumes hold these", *written)) + "\n" if written else ""
    return (
        "# Secrets, histories and leftovers stay out of the image\n"
        "env\nvenv\n**/.env\n**/.env.*\n**/.envs\n**/*.pem\n**/*.key\n**/*.sqlite3\n**/.git\n**/.venv\n"
        f"**/__pycache__\n**/*.pyc\n**/node_modules\n{kept}"
    )


def _lines(export: Export) -> Iterator[str]:
    target, packages = export.target, export.packages
    debian_python = export.has_python and packages.embedded
    image = (
        f"python:{packages.minor}-slim-{export.distribution}"
        if export.has_python and not debian_python
        else f"debian:{export.distribution}-slim"
    )
    yield f"# {export.stack}; made by {export.source}. docs.docker.com/reference/dockerfile"
    yield f"# In the folder above: docker build --file deploy/Dockerfile --tag {target.name} ."
    if len(export.processes) == 1:
        variables = f"--env-file {target.variables.name} " if export.has_python else ""
        yield f"# docker run --init {variables}--publish {target.port}:{target.port} {target.name}"
    if debian_python:
        yield "# Debian's own Python: a server has it linked in"
    yield f"FROM {image}"
    yield ""
    if system := _system(export, debian_python=debian_python):
        found = ", ".join(f"{name} {version}" for name, version in packages.debian.items())
        if found:
            yield f"# Found: {found}. A release of Debian keeps to a version and adds security fixes,"
            yield "# so versions are not pinned here"
        yield "# hadolint ignore=DL3008"
        yield "RUN apt-get update \\"
        yield f"    && apt-get install --yes --no-install-recommends {' '.join(system)} \\"
        yield "    && rm -rf /var/lib/apt/lists/*"
        yield ""
    yield "# Nobody's account: what breaks out of the app owns nothing"
    yield f"RUN groupadd --system --gid {_USER_ID} {target.user} \\"
    yield (
        f"    && useradd --system --uid {_USER_ID} --gid {_USER_ID} --no-create-home --home-dir {target.base} "
        f"--shell /usr/sbin/nologin {target.user}"
    )
    yield ""
    yield f"WORKDIR {target.base}"
    if export.has_python:
        yield "# The packages first: they change seldom, and their layer stays"
        yield f"COPY deploy/*.txt {target.files}/"
        if packages.asked and packages.is_whole:
            yield f"COPY app/{packages.asked} {target.app}/{packages.asked}"
        yield from _installing(export)
        yield ""
    yield "# Root's: the servers cannot change it. README.md tells what to do with what the app writes"
    yield f"COPY app {target.app}"
    yield f"COPY deploy {target.files}"
    yield from (f"COPY {Path(place).name} {place}" for place in export.deployed.beside)
    own = [folder for process in export.processes for folder in process.folders]
    folders = list(dict.fromkeys(map(str, (*own, *export.written))))
    if folders:
        yield ""
        yield "# What servers and app write to; a container's logs go to its output, where Docker looks for them"
        owned = " ".join([f"/run/{target.name}", f"/var/log/{target.name}", *folders])
        links = [link for process in export.processes for link in _log_links(process)]
        yield f"RUN install --directory --owner={target.user} --group={target.user} --mode=0750 \\"
        yield " \\\n    && ".join([f"    {owned}", *links])
    yield ""
    yield f"# {target.user}, by number: Kubernetes and its kin see that it is not root"
    yield f"USER {_USER_ID}:{_USER_ID}"
    yield f"WORKDIR {target.app}"
    yield f"EXPOSE {target.port}"
    process = export.front
    for name, value in process.variables.items():
        yield f"ENV {name}={json.dumps(value)}"
    yield "# Lets requests end"
    yield f"STOPSIGNAL {process.recipe.stop.name}"
    yield "HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \\"
    yield f"    CMD {json.dumps(list(health_command(export, patient=False)))}"
    if len(export.processes) > 1:
        yield "# The front; the other processes are services of compose.yaml, from this same image"
    yield f"CMD {json.dumps(list(process.command))}"


def _system(export: Export, *, debian_python: bool) -> tuple[str, ...]:
    packages = export.packages
    python = ("python3", "python3-venv", *(("python3-dev",) if packages.build else ())) if debian_python else ()
    health = () if export.has_python else ("curl",)
    return tuple(dict.fromkeys((*packages.debian, *python, *packages.build, *health)))


def install_commands(export: Export, python: str) -> tuple[str, ...]:
    """Return the commands that make the environment; ``python`` makes it, as ``python3 -m venv``."""
    target = export.target
    asked = {
        "": f"--requirement {target.files}/requirements-app.txt",
        "pyproject.toml": str(target.app),
    }.get(export.packages.asked, f"--requirement {target.app}/{export.packages.asked}")
    pip = f"{target.venv}/bin/pip install"
    servers = f"--constraint {target.files}/constraints.txt --requirement {target.files}/requirements.txt"
    made = f"{python} {target.venv}"
    if export.packages.is_hashed:
        # with hashes pip installs nothing in the same command that has none
        return (made, f"{pip} {asked}", f"{pip} {servers}")
    return (made, f"{pip} {servers} {asked}")


def _installing(export: Export) -> Iterator[str]:
    python = "python3" if export.packages.embedded else "python"
    made, *installed = install_commands(export, f"{python} -m venv")
    if export.packages.asked and not export.packages.is_whole:
        yield "# What pip reads here speaks of other files of the project"
        yield f"COPY app {export.target.app}"
    commands = [made, *(each.replace("pip install", "pip install --no-cache-dir", 1) for each in installed)]
    yield "RUN " + " \\\n    && ".join(commands)


def _log_links(process: Process) -> Iterator[str]:
    logs = [*process.log_files, *(log for log in process.touched if log not in process.log_files)]
    for log in logs:
        stream = "stdout" if "access" in log.name else "stderr"
        yield f"ln --symbolic --force /dev/{stream} {log}"
