"""compose.yaml: each process a service, all from one image, as systemd's units have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ..servers.production import GRACEFUL_S
from .health import health_command
from .layout import Process
from .wanted import Export

__all__ = ["compose"]


def compose(export: Export) -> str:
    """Return the file."""
    return "\n".join(_lines(export)) + "\n"


def _lines(export: Export) -> Iterator[str]:
    target = export.target
    yield f"# {export.stack}; made by {export.source}. docs.docker.com/reference/compose-file"
    yield "# docker compose --file deploy/compose.yaml up --build --detach"
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
    yield "  init: false"
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
    if any(process.site.listen.is_unix for process in export.processes):
        yield "  volumes:"
        yield "    # the sockets between the processes"
        yield f"    - run:/run/{target.name}"
    yield ""
    yield "services:"
    for process in reversed(export.processes):
        yield from _service(export, process)
    if any(process.site.listen.is_unix for process in export.processes):
        yield ""
        yield "volumes:"
        yield "  run:"


def _service(export: Export, process: Process) -> Iterator[str]:
    target = export.target
    yield f"  {process.name}:"
    yield "    <<: *process"
    yield f"    command: {_words(process.command)}"
    yield f"    stop_signal: {process.recipe.stop.name}"
    own = {name: value for name, value in process.recipe.environment.items() if name != "PATH"}
    if own:
        yield "    environment:"
        yield from (f"      {name}: {_text(value)}" for name, value in own.items())
    if export.has_python and not process.site.upstream:
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
    if not all(process.site.listen.is_unix for process in export.processes[:-1]):
        yield from _network(export, process)
    if process.behind:
        yield "    depends_on:"
        yield from (f"      {name}: {{condition: service_started}}" for name in process.behind)
    if process is export.front:
        yield "    healthcheck:"
        yield f"      test: {_words(('CMD', *health_command(export, patient=False)))}"
        yield "      interval: 10s"
        yield "      timeout: 6s"
        yield "      start_period: 60s"
        yield "      retries: 3"


def _network(export: Export, process: Process) -> Iterator[str]:
    """Processes that speak over loopback share the front's network."""
    if process is not export.front:
        yield "    # it is reached over loopback"
        yield f"    network_mode: service:{export.front.name}"


def _words(command: Sequence[str]) -> str:
    return json.dumps([word.replace("$", "$$") for word in command])


def _text(value: str) -> str:
    return json.dumps(value.replace("$", "$$"))
