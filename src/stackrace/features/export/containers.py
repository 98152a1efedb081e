"""The image: the app and these files on the same Debian, with the versions that the export found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...stacks.servers.site import GRACEFUL_S
from .export import HOST, Export, text_of
from .layout import Process

_USER_ID = 10001
"""Id of the image's user, unlikely to exist on the host; above 10000, as Kubernetes' checks demand."""


def dockerfile(export: Export) -> str:
    """Return the Dockerfile; its context is the folder that holds ``app`` and ``deploy``."""
    target, front = export.target, export.front
    identity = f"--system --uid {_USER_ID} --gid {_USER_ID}"
    others = "# The front; the other processes are services of compose.yaml, from this same image\n"
    return f"""\
{text_of(_base(export))}
{text_of(_system(export))}# Nobody's account: what breaks out of the app owns nothing
RUN groupadd --system --gid {_USER_ID} {target.user} \\
    && useradd {identity} --no-create-home --home-dir {target.base} --shell /usr/sbin/nologin {target.user}

WORKDIR {target.base}
{text_of(_environment(export))}\
# Root's: the servers cannot change it. README.md tells what to do with what the app writes
COPY app {target.app}
COPY deploy {target.files}
{text_of(f"COPY {place.name} {place}" for place in export.shared_folders)}{text_of(_folders(export))}
# {target.user}, by number: Kubernetes and its kin see that it is not root
USER {_USER_ID}:{_USER_ID}
WORKDIR {target.app}
EXPOSE {target.port}
{text_of(f"ENV {name}={json.dumps(value)}" for name, value in front.variables.items())}# Lets requests end
STOPSIGNAL {front.recipe.stop.name}
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \\
    CMD {json.dumps(export.health_command(patient=False))}
{others if len(export.processes) > 1 else ""}CMD {json.dumps(front.command)}
"""


def dockerignore(export: Export) -> str:
    """Return Dockerfile.dockerignore, which keeps secrets, uploads and leftovers out of the image."""
    base = export.target.base
    written = [str(folder.relative_to(base)) for folder in export.written.values() if folder.is_relative_to(base)]
    return (
        "# Secrets, histories and leftovers stay out of the image\n"
        "env\nvenv\n**/.env\n**/.env.*\n**/.envs\n**/*.pem\n**/*.key\n**/*.sqlite3\n**/.git\n**/.venv\n"
        "**/__pycache__\n**/*.pyc\n**/node_modules\n"
        + text_of(("# Volumes hold these", *written) if written else ())
    )


def _base(export: Export) -> Iterator[str]:
    target, packages = export.target, export.packages
    yield f"# {export.stack}; made by {export.source}. docs.docker.com/reference/dockerfile"
    yield f"# In the folder above: docker build --file deploy/Dockerfile --tag {target.name} ."
    if len(export.processes) == 1:
        variables = f"--env-file {target.variables.name} " if export.has_python else ""
        yield f"# docker run --init {variables}--publish {target.port}:{target.port} {target.name}"
    if packages.embedded:
        yield "# Debian's own Python: a server has it linked in"
    if export.has_python and not packages.embedded:
        yield f"FROM python:{packages.minor}-slim-{export.distribution}"
    else:
        yield f"FROM debian:{export.distribution}-slim"


def _system(export: Export) -> Iterator[str]:
    packages = export.packages
    system = packages.system(python=packages.embedded)
    if not system:
        return
    if packages.debian:
        found = ", ".join(f"{name} {version}" for name, version in packages.debian.items())
        yield f"# Found: {found}. A release of Debian keeps to a version and adds security fixes,"
        yield "# so versions are not pinned here"
    yield "# hadolint ignore=DL3008"
    yield "RUN apt-get update \\"
    yield f"    && apt-get install --yes --no-install-recommends {' '.join(system)} \\"
    yield "    && rm -rf /var/lib/apt/lists/*"
    yield ""


def _environment(export: Export) -> Iterator[str]:
    target, packages, asked = export.target, export.packages, export.packages.asked
    if not export.has_python:
        return
    yield "# The packages first: they change seldom, and their layer stays"
    yield f"COPY deploy/*.txt {target.files}/"
    if asked.file and asked.is_whole:
        yield f"COPY app/{asked.file} {target.app}/{asked.file}"
    elif asked.file:
        yield "# What pip reads here speaks of other files of the project"
        yield f"COPY app {target.app}"
    python = "python3" if packages.embedded else "python"
    made, *installed = install_commands(export, f"{python} -m venv")
    commands = [made, *(each.replace("pip install", "pip install --no-cache-dir", 1) for each in installed)]
    yield "RUN " + " \\\n    && ".join(commands)
    yield ""


def install_commands(export: Export, python: str) -> tuple[str, ...]:
    """Return the commands that create the environment; ``python`` begins the first, as in ``python3 -m venv``."""
    target, asked = export.target, export.packages.asked
    app = {"": f"--requirement {target.files}/requirements-app.txt", "pyproject.toml": str(target.app)}.get(
        asked.file, f"--requirement {target.app}/{asked.file}"
    )
    pip = f"{target.venv}/bin/pip install"
    servers = f"--constraint {target.files}/constraints.txt --requirement {target.files}/requirements.txt"
    made = f"{python} {target.venv}"
    if asked.is_hashed:
        # pip installs nothing without a hash in the same command as hashes
        return (made, f"{pip} {app}", f"{pip} {servers}")
    return (made, f"{pip} {servers} {app}")


def _folders(export: Export) -> Iterator[str]:
    own = [folder for process in export.processes for folder in process.folders]
    folders = dict.fromkeys(map(str, (*own, *export.written.values())))
    if not folders:
        return
    name, user = export.target.name, export.target.user
    yield ""
    yield "# What servers and app write to; a container's logs go to its output, where Docker looks for them"
    yield f"RUN install --directory --owner={user} --group={user} --mode=0750 \\"
    logs = (log for each in export.processes for log in dict.fromkeys((*each.log_files, *each.touched)))
    links = (f"ln --symbolic --force /dev/{'stdout' if 'access' in log.name else 'stderr'} {log}" for log in logs)
    made = f"    {' '.join((f'/run/{name}', f'/var/log/{name}', *folders))}"
    yield " \\\n    && ".join((made, *links))


def compose(export: Export) -> str:
    """Return compose.yaml."""
    target = export.target
    # the folders of sockets: one for each process that another one reaches
    reached = (process for process in export.processes if process.site.listen.is_unix)
    sockets = {f"run-{process.name}": process.site.run for process in reached}
    limit = export.resources.memory_bytes
    shared = f"  # for each process; in the race all of them had this together\n  mem_limit: {limit}\n"
    memory = "" if limit is None else shared
    volumes = [f"  {name}:" for name in (*export.written, *sockets)]
    return f"""\
# {export.stack}; made by {export.source}. docs.docker.com/reference/compose-file
# In the folder above: {composed(export)} up --build --detach
name: {target.name}

x-process: &process
  image: {target.name}
  build:
    context: ..
    dockerfile: deploy/Dockerfile
  # Whatever ends it, it comes back, unless somebody stopped it
  restart: unless-stopped
  # Requests may end; only then the rest is killed
  stop_grace_period: {GRACEFUL_S + 5}s
  # It needs none of root's powers, and no way to get any
  cap_drop: [ALL]
  security_opt: ["no-new-privileges:true"]
  # The first process of a container ignores signals that it does not handle: an init hands them on
  init: true
  ulimits:
    # a connection is an open file
    nofile: 65536
  pids_limit: 4096
{memory}\
  logging:
    driver: json-file
    options: {{max-size: "10m", max-file: "5"}}
  tmpfs: [/tmp]
{text_of(_shared_volumes(export, sockets))}
services:
{text_of(line for process in reversed(export.processes) for line in _service(export, process))}\
{text_of(("", "volumes:", *volumes) if volumes else ())}"""


def composed(export: Export) -> str:
    """Return the ``docker compose`` command, for the folder that holds ``app`` and ``deploy``."""
    variables = f" --env-file {export.target.variables.name}" if export.has_python else ""
    return f"docker compose{variables} --file {export.target.files.name}/compose.yaml"


def _shared_volumes(export: Export, sockets: Mapping[str, Path]) -> Iterator[str]:
    kept = export.written
    if sockets or kept:
        yield "  # A new volume has the owner of the image's folder"
        yield "  volumes:"
    if kept:
        yield "    # what the app writes, and the front sends"
        yield from (f"    - {name}:{folder}" for name, folder in kept.items())
    if sockets:
        yield "    # the sockets between the processes"
        yield from (f"    - {name}:{folder}" for name, folder in sockets.items())


def _service(export: Export, process: Process) -> Iterator[str]:
    target, is_front = export.target, process is export.front
    # True if any process is reached over TCP by another one
    is_over_loopback = not all(each.site.listen.is_unix for each in export.processes[:-1])
    yield f"  {process.name}:"
    yield "    <<: *process"
    yield f"    command: {_words(process.command)}"
    yield f"    stop_signal: {process.recipe.stop.name}"
    runs_app = export.has_python and not process.site.upstream
    variables = {name: json.dumps(_escaped(value)) for name, value in process.variables.items()}
    if export.has_python and is_front and not runs_app:
        # the only variable of the app that the front needs
        variables[HOST] = f'"${{{HOST}:-}}"'
    if variables:
        yield "    environment:"
        yield from (f"      {name}: {value}" for name, value in variables.items())
    if runs_app:
        yield "    # the app's variables, secrets among them: see .env.example"
        yield "    env_file:"
        yield f"      - path: ../{target.variables.name}"
        yield f"        required: {'true' if export.variables else 'false'}"
    if is_front:
        yield "    ports:"
        yield f'      - "{target.port}:{target.port}"'
    else:
        yield "    # only the front is asked from outside"
        yield "    healthcheck: {disable: true}"
    if is_over_loopback and not is_front:
        yield "    # it is reached over loopback"
        yield f"    network_mode: service:{export.front.name}"
    # processes that share the front's network start after it, so the front cannot wait for them
    if process.behind and not is_over_loopback:
        yield "    depends_on:"
        yield from (f"      {each.name}: {{condition: service_started}}" for each in process.behind)
    if is_front:
        yield "    healthcheck:"
        yield f"      test: {_words(('CMD', *export.health_command(patient=False)))}"
        yield "      interval: 10s"
        yield "      timeout: 6s"
        yield "      start_period: 60s"
        yield "      retries: 3"


def _words(command: Sequence[str]) -> str:
    return json.dumps([_escaped(word) for word in command])


def _escaped(text: str) -> str:
    return text.replace("$", "$$")
