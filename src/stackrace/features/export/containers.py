"""The image: the versions that the export found, on the same Debian, the app, and these files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...stacks.servers.site import GRACEFUL_S
from .export import HOST, Export
from .layout import Process

_USER_ID = 10001
"""No account of the host has it by chance; above 10000, as Kubernetes' checks want it."""


def dockerfile(export: Export) -> str:
    """Return the Dockerfile; its context is the folder that holds ``app`` and ``deploy``."""
    return "\n".join([*_image(export)]) + "\n"


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


def _image(export: Export) -> Iterator[str]:
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
        if packages.asked.file and packages.asked.is_whole:
            yield f"COPY app/{packages.asked.file} {target.app}/{packages.asked.file}"
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
    yield f"    CMD {json.dumps(list(export.health_command(patient=False)))}"
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
    target, asked = export.target, export.packages.asked
    app = {
        "": f"--requirement {target.files}/requirements-app.txt",
        "pyproject.toml": str(target.app),
    }.get(asked.file, f"--requirement {target.app}/{asked.file}")
    pip = f"{target.venv}/bin/pip install"
    servers = f"--constraint {target.files}/constraints.txt --requirement {target.files}/requirements.txt"
    made = f"{python} {target.venv}"
    if asked.is_hashed:
        # with hashes pip installs nothing in the same command that has none
        return (made, f"{pip} {app}", f"{pip} {servers}")
    return (made, f"{pip} {servers} {app}")


def _installing(export: Export) -> Iterator[str]:
    python = "python3" if export.packages.embedded else "python"
    made, *installed = install_commands(export, f"{python} -m venv")
    if export.packages.asked.file and not export.packages.asked.is_whole:
        yield "# What pip reads here speaks of other files of the project"
        yield f"COPY app {export.target.app}"
    commands = [made, *(each.replace("pip install", "pip install --no-cache-dir", 1) for each in installed)]
    yield "RUN " + " \\\n    && ".join(commands)


def _log_links(process: Process) -> Iterator[str]:
    logs = [*process.log_files, *(log for log in process.touched if log not in process.log_files)]
    for log in logs:
        stream = "stdout" if "access" in log.name else "stderr"
        yield f"ln --symbolic --force /dev/{stream} {log}"


def compose(export: Export) -> str:
    """Return the file."""
    return "\n".join(_services(export)) + "\n"


def _services(export: Export) -> Iterator[str]:
    target = export.target
    yield f"# {export.stack}; made by {export.source}. docs.docker.com/reference/compose-file"
    yield f"# In the folder above: {composed(export)} up --build --detach"
    yield f"name: {target.name}"
    yield ""
    yield "x-process: &process"
    yield f"  image: {target.name}"
    yield "  build:"
    yield "    context: .."
    yield "    dockerfile: deploy/Dockerfile"
    yield "  # Whatever ends it, it comes back, unless somebody stopped it"
    yield "  restart: unless-stopped"
    yield "  # Requests may end; only then the rest is killed"
    yield f"  stop_grace_period: {GRACEFUL_S + 5}s"
    yield "  # It needs none of root's powers, and no way to get any"
    yield "  cap_drop: [ALL]"
    yield '  security_opt: ["no-new-privileges:true"]'
    yield "  # The first process of a container ignores signals that it does not handle: an init hands them on"
    yield "  init: true"
    yield "  ulimits:"
    yield "    # a connection is an open file"
    yield "    nofile: 65536"
    yield "  pids_limit: 4096"
    if export.resources.memory_bytes is not None:
        yield "  # for each process; in the race all of them had this together"
        yield f"  mem_limit: {export.resources.memory_bytes}"
    yield "  logging:"
    yield "    driver: json-file"
    yield '    options: {max-size: "10m", max-file: "5"}'
    yield "  tmpfs: [/tmp]"
    sockets, kept = _socket_folders(export), _kept(export)
    if sockets or kept:
        yield "  # A new volume has the owner of the image's folder"
        yield "  volumes:"
    if kept:
        yield "    # what the app writes, and the front sends"
        yield from (f"    - {name}:{folder}" for name, folder in kept.items())
    if sockets:
        yield "    # the sockets between the processes"
        yield from (f"    - {name}:{folder}" for name, folder in sockets.items())
    yield ""
    yield "services:"
    for process in reversed(export.processes):
        yield from _service(export, process)
    if sockets or kept:
        yield ""
        yield "volumes:"
        yield from (f"  {name}:" for name in (*kept, *sockets))


def composed(export: Export) -> str:
    """Return how docker compose is called, in the folder that holds ``app`` and ``deploy``."""
    variables = f" --env-file {export.target.variables.name}" if export.has_python else ""
    return f"docker compose{variables} --file {export.target.files.name}/compose.yaml"


def _kept(export: Export) -> dict[str, Path]:
    """Return what outlives a container by the name of its volume: uploads, and what collectstatic writes."""
    if export.django is None:
        return {}
    named = {"static": export.django.static_root, "media": export.django.media_root}
    return {name: folder for name, folder in named.items() if folder}


def _socket_folders(export: Export) -> dict[str, Path]:
    """Return the folders of sockets by the name of their volume: one for each process that another one reaches."""
    return {
        f"run-{process.name}": export.target.run(process.name)
        for process in export.processes
        if process.site.listen.is_unix
    }


def _service(export: Export, process: Process) -> Iterator[str]:
    target = export.target
    yield f"  {process.name}:"
    yield "    <<: *process"
    yield f"    command: {_words(process.command)}"
    yield f"    stop_signal: {process.recipe.stop.name}"
    runs_app = export.has_python and not process.site.upstream
    variables = {name: _text(value) for name, value in process.variables.items()}
    if export.has_python and process is export.front and not runs_app:
        # the one variable of the app's that the front needs; the others are none of its business
        variables[HOST] = f'"${{{HOST}:-}}"'
    if variables:
        yield "    environment:"
        yield from (f"      {name}: {value}" for name, value in variables.items())
    if runs_app:
        yield "    # the app's variables, secrets among them: see .env.example"
        yield "    env_file:"
        yield f"      - path: ../{target.variables.name}"
        yield f"        required: {'true' if export.variables else 'false'}"
    if process is export.front:
        yield "    ports:"
        yield f'      - "{target.port}:{target.port}"'
    else:
        yield "    # only the front is asked from outside"
        yield "    healthcheck: {disable: true}"
    if _is_over_loopback(export) and process is not export.front:
        yield "    # it is reached over loopback"
        yield f"    network_mode: service:{export.front.name}"
    # what shares the front's network starts after it, so the front cannot wait for it
    if process.behind and not _is_over_loopback(export):
        yield "    depends_on:"
        yield from (f"      {name}: {{condition: service_started}}" for name in process.behind)
    if process is export.front:
        yield "    healthcheck:"
        yield f"      test: {_words(('CMD', *export.health_command(patient=False)))}"
        yield "      interval: 10s"
        yield "      timeout: 6s"
        yield "      start_period: 60s"
        yield "      retries: 3"


def _is_over_loopback(export: Export) -> bool:
    """Tell whether any process is reached over TCP by another one."""
    return not all(process.site.listen.is_unix for process in export.processes[:-1])


def _words(command: Sequence[str]) -> str:
    return json.dumps([word.replace("$", "$$") for word in command])


def _text(value: str) -> str:
    return json.dumps(value.replace("$", "$$"))
