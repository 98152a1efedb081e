"""compose.yaml: each process a service, all from one image, as systemd's units have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...stacks.servers.site import GRACEFUL_S
from .health import HOST, health_command
from .layout import Process
from .wanted import Export

__all__ = ["compose", "composed"]


def compose(export: Export) -> str:
    """Return the file."""
    return "\n".join(_lines(export)) + "\n"


def _lines(export: Export) -> Iterator[str]:
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
    if _is_over_loopback(export):
        yield from _network(export, process)
    # what shares the front's network starts after it, so the front cannot wait for it
    if process.behind and not _is_over_loopback(export):
        yield "    depends_on:"
        yield from (f"      {name}: {{condition: service_started}}" for name in process.behind)
    if process is export.front:
        yield "    healthcheck:"
        yield f"      test: {_words(('CMD', *health_command(export, patient=False)))}"
        yield "      interval: 10s"
        yield "      timeout: 6s"
        yield "      start_period: 60s"
        yield "      retries: 3"


def _is_over_loopback(export: Export) -> bool:
    """Tell whether any process is reached over TCP by another one."""
    return not all(process.site.listen.is_unix for process in export.processes[:-1])


def _network(export: Export, process: Process) -> Iterator[str]:
    """Processes that speak over loopback share the front's network."""
    if process is not export.front:
        yield "    # it is reached over loopback"
        yield f"    network_mode: service:{export.front.name}"


def _words(command: Sequence[str]) -> str:
    return json.dumps([word.replace("$", "$$") for word in command])


def _text(value: str) -> str:
    return json.dumps(value.replace("$", "$$"))
