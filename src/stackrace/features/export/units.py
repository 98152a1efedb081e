"""systemd's unit files as far as a service's start needs them read. Source: systemd.unit(5), systemd.service(5)."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.numbers import mebibytes
from ...stacks.servers.site import GRACEFUL_S
from .export import Export
from .layout import Process

FOLDERS = {
    "RuntimeDirectory": Path("/run"),
    "LogsDirectory": Path("/var/log"),
    "CacheDirectory": Path("/var/cache"),
}
"""The directives that have systemd make folders, and below what. Source: systemd.exec(5), Sandboxing."""

_COMMENTS = ("#", ";")


def read_unit(text: str) -> Mapping[str, Sequence[str]]:
    """Return the values of each directive, in order, whatever section they stand in; an empty one clears the list.

    Raises ValueError naming a line that is none.
    """
    values: defaultdict[str, list[str]] = defaultdict(list)
    for line in _joined(text):
        if line.startswith("[") and line.endswith("]"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"{line!r} is neither a section nor a directive")
        if not value.strip():
            values[name.strip()] = []
        else:
            values[name.strip()].append(value.strip())
    return values


def command_words(line: str) -> tuple[str, ...]:
    """Return the words of a command line of a unit, quotes and doubled signs undone."""
    return tuple(word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line))


def environment_words(line: str) -> tuple[str, ...]:
    """Return the assignments of an Environment=, where a dollar has no special meaning. Source: systemd.exec(5)."""
    return tuple(word.replace("%%", "%") for word in shlex.split(line))


def _joined(text: str) -> list[str]:
    """Return the lines without comments; one that ends with a backslash goes on, over comments too."""
    lines: list[str] = []
    going_on = False
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        more = line.endswith("\\")
        part = line[:-1].rstrip() if more else line
        if going_on:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
        going_on = more
    return lines


_BARE = re.compile(r"[A-Za-z0-9_./:=,@+*\[\]-]+")
_READ_ONLY = ("/home", "/root", "/run/user", "/usr", "/boot", "/efi", "/etc")
"""What ProtectHome=read-only and ProtectSystem=full keep a service from writing to. Source: systemd.exec(5)."""
_FILES = 65536
"""Open files: each connection is one, and through a front end two. systemd's own soft limit is 1,024."""


def units(export: Export) -> dict[str, str]:
    """Return the units by file name."""
    target = export.target
    services = {f"{target.unit(process.name)}.service": _service(export, process) for process in export.processes}
    return {f"{target.name}.target": _target(export), f"{target.name}.slice": _slice(export), **services}


def quoted(word: str, dollar: str = "$$") -> str:
    """Return ``word`` as an argument in a unit. Source: systemd.service(5), Command lines; systemd.unit(5), %.

    ``dollar`` is what stands for a dollar: in Environment= it has no special meaning. Source: systemd.exec(5).
    """
    text = word.replace("%", "%%").replace("$", dollar)
    if _BARE.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _target(export: Export) -> str:
    services = " ".join(f"{export.target.unit(process.name)}.service" for process in reversed(export.processes))
    return f"""\
# {export.stack}: all its processes; made by {export.source}. systemd.special(7), systemd.target(5)
[Unit]
Description={export.target.name}: {export.stack}
Wants={services}

[Install]
WantedBy=multi-user.target
"""


def _slice(export: Export) -> str:
    limit = export.resources.memory_bytes
    if limit is not None:
        memory = f"# As in the race, where the kernel ended whoever wanted more\nMemoryMax={limit}\n"
    else:
        held = (
            ""
            if export.memory_bytes is None
            else f" The stack held {mebibytes(export.memory_bytes)} MiB under full load."
        )
        memory = f"# The race had no limit.{held} Set one where other programs need theirs.\n#MemoryMax=1G\n"
    return f"""\
# What all processes together may use; systemd.resource-control(5)
[Unit]
Description={export.target.name}: resources

[Slice]
{memory}# An app that forks without end harms nobody else
TasksMax=4096
"""


def _service(export: Export, process: Process) -> str:
    target = export.target
    lines = [
        f"# {process.title} of {export.stack}; made by {export.source}. systemd.service(5), systemd.exec(5)",
        "[Unit]",
        f"Description={target.name}: {process.title}",
        "Wants=network-online.target",
        "After=network-online.target" + "".join(f" {target.unit(name)}.service" for name in process.behind),
        *(f"Wants={target.unit(name)}.service" for name in process.behind),
        "# Stopped and started again with all the others",
        f"PartOf={target.name}.target",
        "# However often it ends, it is started again",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=exec",
        "# Nobody's account: what breaks out of the app owns nothing",
        f"User={target.user}",
        f"Group={target.user}",
        f"Slice={target.name}.slice",
        f"WorkingDirectory={target.app}",
        *_variables(export, process),
        *_folders(process),
        *_commands(export, process),
        *_stopping(process),
        *_limits(target.port if process is export.front else 0),
        *_hardening(process, target.app),
        "",
        "[Install]",
        f"WantedBy={target.name}.target",
    ]
    return "\n".join(lines) + "\n"


def _variables(export: Export, process: Process) -> Iterator[str]:
    if export.has_python and not process.site.upstream:
        optional = "" if export.variables else ". Optional if the app has no variables"
        yield f"# The app's variables, secrets among them: see .env.example{optional}"
        yield f"EnvironmentFile={'' if export.variables else '-'}{export.target.variables}"
    for name, value in process.variables.items():
        yield f"Environment={quoted(f'{name}={value}', dollar='$')}"


def _folders(process: Process) -> Iterator[str]:
    """Have systemd make the folders; see systemd.exec(5), RuntimeDirectory=."""
    for directive, base in FOLDERS.items():
        inside = [str(folder.relative_to(base)) for folder in process.folders if folder.is_relative_to(base)]
        if inside:
            yield f"{directive}={' '.join(inside)}"
            yield f"{directive}Mode=0750"


def _commands(export: Export, process: Process) -> Iterator[str]:
    for log in process.touched:
        yield f"ExecStartPre=/usr/bin/touch {log}"
    if process.check:
        yield "# Its own checker first: a wrong file does not take down what runs"
        yield f"ExecStartPre={_line(process.check)}"
    yield f"ExecStart={_line(process.command)}"
    if process is export.front:
        yield "# Started means: it answers"
        yield f"ExecStartPost={_line(export.health_command())}"
    if (reload := process.recipe.reload) is not None:
        yield f"# Takes what is new while requests go on. Source: {reload.source}"
        if process.check:
            yield f"ExecReload={_line(process.check)}"
        yield f"ExecReload=/bin/kill -s {reload.by.name.removeprefix('SIG')} $MAINPID"


def _line(command: Sequence[str]) -> str:
    """Return a command with an option a line, where it is long."""
    line = ""
    length = 0
    for word in map(quoted, command):
        if line and length + len(word) > 100 and word.startswith("-"):
            line += f" \\\n    {word}"
            length = len(word) + 4
        else:
            line += f" {word}" if line else word
            length += len(word) + 1
    return line


def _stopping(process: Process) -> Iterator[str]:
    yield "# Lets requests end; only then the rest is killed"
    yield f"KillSignal={process.recipe.stop.name}"
    yield "KillMode=mixed"
    yield f"TimeoutStopSec={GRACEFUL_S + 5}"
    yield "# Whatever ends it, it comes back"
    yield "Restart=always"
    yield "RestartSec=1"


def _limits(port: int) -> Iterator[str]:
    yield "# A connection is an open file"
    yield f"LimitNOFILE={_FILES}"
    yield "TimeoutStartSec=120"
    if 0 < port < 1024:
        yield "# Ports below 1024 need this capability"
        yield "AmbientCapabilities=CAP_NET_BIND_SERVICE"
        yield "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"
    else:
        yield "CapabilityBoundingSet="


def _hardening(process: Process, app: Path) -> Iterator[str]:
    inside = [str(folder) for folder in process.folders if folder.is_relative_to(process.site.directory)]
    if any(app.is_relative_to(folder) for folder in _READ_ONLY):
        # without it an app there could write nothing, whoever owns its files
        inside.append(str(app))
    yield "# It needs nothing of these; systemd.exec(5), Sandboxing. `systemd-analyze security` explains each"
    yield "NoNewPrivileges=yes"
    yield "ProtectSystem=full"
    yield from (f"ReadWritePaths={folder}" for folder in inside)
    yield from (
        "ProtectHome=read-only",
        "PrivateTmp=yes",
        "PrivateDevices=yes",
        "ProtectKernelTunables=yes",
        "ProtectKernelModules=yes",
        "ProtectKernelLogs=yes",
        "ProtectControlGroups=yes",
        "ProtectClock=yes",
        "ProtectHostname=yes",
        "RestrictNamespaces=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "LockPersonality=yes",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "SystemCallArchitectures=native",
        "UMask=0027",
    )
