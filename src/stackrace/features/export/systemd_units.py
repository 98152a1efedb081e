"""Units of systemd: written, and read again by a proof. Source: systemd.unit(5), systemd.service(5)."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.numbers import mebibytes
from ...stacks.servers.site import GRACEFUL_S
from .export import Export, text_of
from .layout import Process

FOLDERS = {
    "RuntimeDirectory": Path("/run"),
    "LogsDirectory": Path("/var/log"),
    "CacheDirectory": Path("/var/cache"),
}
"""Directives by which systemd creates folders, and their parents. Source: systemd.exec(5), Sandboxing."""

_BARE = re.compile(r"[A-Za-z0-9_./:=,@+*\[\]-]+")
_READ_ONLY = ("/home", "/root", "/run/user", "/usr", "/boot", "/efi", "/etc")
"""Folders that ProtectHome=read-only and ProtectSystem=full make read-only. Source: systemd.exec(5)."""
_BIND = "CAP_NET_BIND_SERVICE"
_PORT_OF_ROOTS = f"# Ports below 1024 need this capability\nAmbientCapabilities={_BIND}\n"
_FILES = 65536
"""Limit of open files: each connection is one, and through a front end two. systemd's own soft limit is 1,024."""


def read_unit(text: str) -> Mapping[str, Sequence[str]]:
    """Return the values of each directive of one of our units, in order, from all sections."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    for line in re.sub(r" \\\n +", " ", text).splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            values[name].append(value)
    return values


def quoted(word: str, dollar: str = "$$") -> str:
    """Return ``word`` as an argument in a unit. Source: systemd.service(5), Command lines; systemd.unit(5), %.

    ``dollar`` replaces a dollar sign, which has no special meaning in Environment=. Source: systemd.exec(5).
    """
    text = word.replace("%", "%%").replace("$", dollar)
    if _BARE.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def words_of(line: str, dollar: str = "$$") -> tuple[str, ...]:
    """Return the words of a line of a unit; reverses ``quoted``."""
    return tuple(word.replace("%%", "%").replace(dollar, "$") for word in shlex.split(line))


def units(export: Export) -> dict[str, str]:
    """Return the units by file name."""
    name, services = export.target.name, {process.unit: _service(export, process) for process in export.processes}
    return {f"{name}.target": _target(export), f"{name}.slice": _slice(export), **services}


def _target(export: Export) -> str:
    return f"""\
# {export.stack}: all its processes; made by {export.source}. systemd.special(7), systemd.target(5)
[Unit]
Description={export.target.name}: {export.stack}
Wants={" ".join(process.unit for process in reversed(export.processes))}

[Install]
WantedBy=multi-user.target
"""


def _slice(export: Export) -> str:
    limit, held = export.resources.memory_bytes, export.memory_bytes
    seen = "" if held is None else f" The stack held {mebibytes(held)} MiB under full load."
    memory = f"# The race had no limit.{seen} Set one where other programs need theirs.\n#MemoryMax=1G\n"
    if limit is not None:
        memory = f"# As in the race, where the kernel ended whoever wanted more\nMemoryMax={limit}\n"
    return f"""\
# What all processes together may use; systemd.resource-control(5)
[Unit]
Description={export.target.name}: resources

[Slice]
{memory}# An app that forks without end harms nobody else
TasksMax=4096
"""


def _service(export: Export, process: Process) -> str:
    target, behind = export.target, [each.unit for each in process.behind]
    needs_root = process is export.front and target.port < 1024
    written = [folder for folder in process.folders if folder.is_relative_to(process.site.directory)]
    if any(target.app.is_relative_to(folder) for folder in _READ_ONLY):
        # without it, an app there could not write to its own files
        written.append(target.app)
    return f"""\
# {process.title} of {export.stack}; made by {export.source}. systemd.service(5), systemd.exec(5)
[Unit]
Description={target.name}: {process.title}
Wants=network-online.target
After={" ".join(("network-online.target", *behind))}
{text_of(f"Wants={unit}" for unit in behind)}# Stopped and started again with all the others
PartOf={target.name}.target
# However often it ends, it is started again
StartLimitIntervalSec=0

[Service]
Type=exec
# Nobody's account: what breaks out of the app owns nothing
User={target.user}
Group={target.user}
Slice={target.name}.slice
WorkingDirectory={target.app}
{text_of(_execution(export, process))}\
# Lets requests end; only then the rest is killed
KillSignal={process.recipe.stop.name}
KillMode=mixed
TimeoutStopSec={GRACEFUL_S + 5}
# Whatever ends it, it comes back
Restart=always
RestartSec=1
# A connection is an open file
LimitNOFILE={_FILES}
TimeoutStartSec=120
{_PORT_OF_ROOTS if needs_root else ""}CapabilityBoundingSet={_BIND if needs_root else ""}
# It needs nothing of these; systemd.exec(5), Sandboxing. `systemd-analyze security` explains each
NoNewPrivileges=yes
ProtectSystem=full
{text_of(f"ReadWritePaths={folder}" for folder in written)}\
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
UMask=0027

[Install]
WantedBy={target.name}.target
"""


def _execution(export: Export, process: Process) -> Iterator[str]:
    if export.has_python and not process.site.upstream:
        optional = "" if export.variables else ". Optional if the app has no variables"
        yield f"# The app's variables, secrets among them: see .env.example{optional}"
        yield f"EnvironmentFile={'' if export.variables else '-'}{export.target.variables}"
    for name, value in process.variables.items():
        yield f"Environment={quoted(f'{name}={value}', dollar='$')}"
    for directive, base in FOLDERS.items():
        if inside := [str(each.relative_to(base)) for each in process.folders if each.is_relative_to(base)]:
            yield f"{directive}={' '.join(inside)}"
            yield f"{directive}Mode=0750"
    for log in process.touched:
        yield f"ExecStartPre=/usr/bin/touch {log}"
    if process.check:
        yield "# Its own checker first: a wrong file does not take down what runs"
        yield f"ExecStartPre={_command(process.check)}"
    yield f"ExecStart={_command(process.command)}"
    if process is export.front:
        yield "# Started means: it answers"
        yield f"ExecStartPost={_command(export.health_command())}"
    if (reload := process.recipe.reload) is not None:
        yield f"# Takes what is new while requests go on. Source: {reload.source}"
        if process.check:
            yield f"ExecReload={_command(process.check)}"
        if reload.by:
            yield f"ExecReload=/bin/kill -s {reload.by.name.removeprefix('SIG')} $MAINPID"
        if reload.touches:
            # as root, to whom the file belongs
            yield f"ExecReload=+/usr/bin/touch {reload.touches}"


def _command(command: Sequence[str]) -> str:
    """Return a command as text; a long command has one option per line."""
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
