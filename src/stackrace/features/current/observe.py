"""Says what a running server is: its processes, command line, sockets, limits. It reads /proc and changes nothing.

Usage: ``python3 observe.py PID|:PORT|CONTAINER|UNIT > observed.json``. Python 3.8 or later of the host, without any
package. No value of a variable or an option is written unless it is known to hold no secret: the names are.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shlex
import stat
import subprocess
import sys
import time
from typing import Any, Iterable, Iterator, Sequence

SCHEMA = "observed-1"
MASK = "***"

PROGRAMS: dict[str, str] = {}
"""Servers by the name of their program; `running` fills these tables, and writes them into the printed script."""
VALUES: dict[str, list[str]] = {}
"""By server the options whose values are shown."""
SWITCHES: dict[str, list[str]] = {}
"""By server the options that take no value; those in ``no-`` take none either."""
_FRONTS = {
    "nginx": "/etc/nginx/nginx.conf",
    "apache2": "/etc/apache2/apache2.conf",
    "httpd": "/etc/httpd/conf/httpd.conf",
    "haproxy": "/etc/haproxy/haproxy.cfg",
    "caddy": "/etc/caddy/Caddyfile",
}
"""Front ends, and the configuration that each reads where its command line names none."""
_VARIABLES = re.compile(
    "WEB_CONCURRENCY|PORT|DJANGO_SETTINGS_MODULE|DJANGO_CONFIGURATION|VIRTUAL_ENV|LD_PRELOAD|MALLOC_\\w+|"
    "PYTHON(UNBUFFERED|OPTIMIZE|MALLOC|ASYNCIODEBUG|DEVMODE|TRACEMALLOC|FAULTHANDLER|_GIL|_JIT|DONTWRITEBYTECODE)|"
    "GOMAXPROCS|(OMP|OPENBLAS|MKL)_NUM_THREADS|TZ|LANG"
)
"""Variables whose values are shown; those that stand for options of a server follow its options."""
_PACKAGES = re.compile(
    "aiohttp|bjoern|bottle|cheroot|cherrypy|daphne|django|djangorestframework|eventlet|falcon|fastapi|flask|gevent|"
    "granian|greenlet|gunicorn|httptools|hypercorn|litestar|mod-wsgi|pyramid|pyuwsgi|quart|sanic|setproctitle|"
    "starlette|tornado|uvicorn|uvicorn-worker|uvloop|uwsgi|waitress|werkzeug|whitenoise"
)
"""Servers, frameworks and what decides about their speed."""
_PLAIN = re.compile(r"[\w.,:/@%+~*\[\]!-]{0,200}")
_TOKEN = re.compile(
    r"gh[a-z]_|github_pat_|[sr]k_(live|test)|AKIA|glpat-|xox[a-z]-|AIza|eyJ|://[^/]*@|[0-9a-fA-F]{32}"
)
_PYTHON = re.compile(r"(python|pypy)[\d.]*$")
_APP = re.compile(r"[A-Za-z_][\w./-]*(:[A-Za-z_][\w.]*(\(\))?)?|[\w./-]+\.(ini|py|toml|ya?ml|json|xml)(:\w+)?")
_SPAWNED = re.compile(r"multiprocessing\.spawn|--multiprocessing-fork")
_HELPER = re.compile(r"multiprocessing\.(resource_tracker|semaphore_tracker|forkserver)")
_LISTENS, _ACCEPTS = "0A", 0x10000
_ASK_S = 5.0
_MOST_BYTES = 1 << 18
_MOST_FILES = 200


class ObservationError(Exception):
    """Why a target cannot be observed, and the way out."""


def _text(path: str) -> str:
    """Return a file of the kernel's, or a regular one up to a limit; nothing where it cannot be read."""
    try:
        is_kernels = path.startswith(("/proc/", "/sys/")) and "/root/" not in path
        if not is_kernels and not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES if "/net/" not in path else -1).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Process:
    """One process, as it was when it was first asked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        line = _text(f"/proc/{pid}/cmdline").rstrip("\0 ")
        self.raw = line.split("\0") if line else []
        status = dict(line.split(":\t", 1) for line in _text(f"/proc/{pid}/status").splitlines() if ":\t" in line)
        self.exists = bool(status)
        self.parent = int(status.get("PPid", 0))
        self.uid = int(status.get("Uid", "0").split()[0])
        self.threads = int(status.get("Threads", 1))
        self.cpus = status.get("Cpus_allowed_list", "").strip()
        self.exe = re.sub(r" \(deleted\)$", "", _link(f"/proc/{pid}/exe"))
        self.folder = _link(f"/proc/{pid}/cwd")
        self.root = f"/proc/{pid}/root"
        self.name, self.at, self.title = _server(self.raw)

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables at the start of the process."""
        pairs = (pair.partition("=") for pair in _text(f"/proc/{self.pid}/environ").split("\0"))
        return {name: value for name, _, value in pairs if re.match(r"[A-Za-z_]\w*$", name)}

    def descriptors(self) -> list[str]:
        """Return its open files, as ``socket:[123]``; raises ObservationError where that is forbidden."""
        folder = f"/proc/{self.pid}/fd"
        try:
            return [_link(f"{folder}/{each}") for each in os.listdir(folder)]
        except PermissionError:
            raise ObservationError(
                f"process {self.pid} ({_base(self.raw)}) belongs to {_user(self.uid)}, whose open files you may "
                f"not see: {_as(self.uid)}"
            ) from None
        except OSError:
            return []

    @property
    def started(self) -> str:
        """When it was started, in UTC."""
        fields = _text(f"/proc/{self.pid}/stat").rpartition(")")[2].split()
        boot = re.search(r"^btime (\d+)", _text("/proc/stat"), re.MULTILINE)
        if len(fields) < 20 or not boot:
            return ""
        return _moment(int(boot.group(1)) + int(fields[19]) / os.sysconf("SC_CLK_TCK"))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _user(uid: int) -> str:
    import pwd  # Windows has none, and reads what was observed elsewhere

    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user with number {uid}"


def _as(uid: int) -> str:
    return f"run this as root{f' or as {_user(uid)}' if uid else ''}"


def _base(words: Sequence[str]) -> str:
    return os.path.basename(words[0]) if words else ""


def _program(word: str) -> str:
    name = re.sub(r"(\.py|-?3(\.\d+)?)$", "", os.path.basename(word))
    return "uwsgi" if re.match(r"uwsgi[-_]", name) else name


def _server(words: Sequence[str]) -> tuple[str, int, str]:
    """Return which server a command line starts, where its program stands, and the title in its place, if any.

    The name is empty for another program.
    """
    title = words[0] if words and " " in words[0] and not any(words[1:]) else ""
    if title:
        found = re.match(r"(gunicorn|uWSGI|granian|nginx)\b", title)
        return (found.group(1).lower() if found else "", 0, title)
    index = 0
    if words and _PYTHON.match(os.path.basename(words[0])):
        index = _behind_python(words)
        if index < len(words) and words[index - 1] == "-m":
            return PROGRAMS.get(words[index].partition(".")[0], ""), index, ""
    name = _program(words[index]) if index < len(words) else ""
    return PROGRAMS.get(name, name if name in _FRONTS else ""), index, ""


def _behind_python(words: Sequence[str]) -> int:
    index = 1
    while index < len(words) and words[index].startswith("-") and words[index] not in ("-m", "-c"):
        index += 2 if words[index] in ("-X", "-W") else 1
    return index + 1 if words[index : index + 1] == ["-m"] else index


def masked(words: Sequence[str]) -> list[str]:
    """Return a command line with only the values that are known to be no secrets."""
    name, at, title = _server(words)
    if title:
        is_plain = re.match(r"(gunicorn|granian|uWSGI)[\w.: \[\]-]+$", title) and not _TOKEN.search(title)
        return [title] if is_plain else [title.split(" ")[0], MASK]
    started = [word for word in words if re.match(r"from multiprocessing[\w. ]+ import [\w ;(),=]+$", word)]
    if started:
        return [_shown(words[0]), "-c", *started]
    head = [word if _PLAIN.fullmatch(word) and not _TOKEN.search(word) else MASK for word in words[: at + 1]]
    return head + list(_options(words[at + 1 :], name))


def _of_title(title: str) -> list[str]:
    """Return what the title of a process says of its command line: ``gunicorn: master [shop.wsgi]``."""
    found = re.match(r"gunicorn: master \[([\w.:/]+)\]", title)
    if found:
        return ["gunicorn", found.group(1)]
    found = re.match(r"granian (\w+) [\w.:\[\]/-]+ ([\w.:/-]+)", title)
    if found:
        return ["granian", "--interface", found.group(1), found.group(2)]
    return [title.split(" ")[0].strip(":").lower()]


def _options(words: Sequence[str], server: str) -> Iterator[str]:
    values, switches = VALUES.get(server, []), SWITCHES.get(server, [])
    if server in _FRONTS:
        values = ["c", "f", "p", "config", "adapter", "d"]
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word in ("-", "--"):
            yield word if server and _APP.fullmatch(word) and not _TOKEN.search(word) else MASK
            continue
        name, equals, value = word.lstrip("-").partition("=")
        dashes = word[: len(word) - len(word.lstrip("-"))]
        if dashes == "-" and len(name) > 1 and server != "haproxy":
            # -w4
            name, value, equals = name[0], name[1:] + equals + value, ""
            shown = _shown(value) if name in values else value if set(name + value) <= set(switches) else MASK
            yield f"-{name}{shown}"
            continue
        name = name if re.match(r"[A-Za-z][\w-]{0,60}$", name) and not _TOKEN.search(name) else MASK
        plain = name.replace("_", "-")
        if equals:
            yield f"{dashes}{name}={_shown(value) if plain in values else MASK}"
            continue
        yield dashes + name
        if plain not in switches and plain[:3] != "no-" and rest and not rest[0].startswith("-"):
            following = rest.pop(0)
            yield _shown(following) if plain in values else MASK


def _shown(value: str) -> str:
    return value if _PLAIN.fullmatch(value) and not _TOKEN.search(value) else MASK


def harmless(variables: dict[str, str]) -> dict[str, str]:
    """Return the variables of which the value is known to be no secret, with it."""
    found = {}
    for name, value in variables.items():
        prefix, _, option = name.partition("_")
        if name == "GUNICORN_CMD_ARGS":
            try:
                found[name] = " ".join(map(shlex.quote, _options(shlex.split(value), "gunicorn")))
            except ValueError:
                continue
        elif _VARIABLES.fullmatch(name) or option.lower().replace("_", "-") in [
            *VALUES.get(prefix.lower(), []),
            *SWITCHES.get(prefix.lower(), []),
        ]:
            found[name] = _shown(value)
    return found


class Machine:
    """All processes of the machine, and the sockets on which they listen."""

    def __init__(self) -> None:
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        found = (Process(pid) for pid in pids)
        self.processes = {process.pid: process for process in found if process.exists}
        self._tables: dict[str, tuple[dict[str, str], dict[str, int]]] = {}

    def children(self, pid: int) -> list[Process]:
        """Return the children of a process, the oldest first."""
        return [each for each in self.processes.values() if each.parent == pid]

    def tree(self, pid: int) -> list[Process]:
        """Return a process and all below it."""
        found = [self.processes[pid]]
        for each in found:
            found += self.children(each.pid)
        return found

    def _table(self, pid: object) -> tuple[dict[str, str], dict[str, int]]:
        """Return the listening sockets of a process's network: addresses and users by descriptor."""
        network = _link(f"/proc/{pid}/ns/net") or str(pid)
        if network not in self._tables:
            addresses: dict[str, str] = {}
            users: dict[str, int] = {}
            for kind in ("tcp", "tcp6"):
                for line in _text(f"/proc/{pid}/net/{kind}").splitlines()[1:]:
                    fields = line.split()
                    if fields[3] == _LISTENS:
                        addresses[f"socket:[{fields[9]}]"] = _address(fields[1])
                        users[f"socket:[{fields[9]}]"] = int(fields[7])
            for line in _text(f"/proc/{pid}/net/unix").splitlines()[1:]:
                fields = line.split(None, 7)
                if len(fields) == 8 and int(fields[3], 16) & _ACCEPTS:
                    addresses[f"socket:[{fields[6]}]"] = f"unix:{fields[7]}"
            self._tables[network] = addresses, users
        return self._tables[network]

    def addresses(self, process: Process, descriptors: Sequence[str] | None = None) -> list[str]:
        """Return where a process listens, by its open files or by ``descriptors``."""
        known = self._table(process.pid)[0]
        seen = process.descriptors() if descriptors is None else descriptors
        listening = {known[each] for each in seen if each in known}
        # where gunicorn is told to reload and the like
        return sorted(each for each in listening if not each.endswith("/gunicorn.ctl"))

    def owners(self, port: int) -> list[Process]:
        """Return the processes that listen on a port: of this network, or else of containers'.

        Raises ObservationError where nobody does, or nobody may know who does.
        """
        for network in self._networks():
            sockets, found = self._listening(network, port)
            if not sockets:
                continue
            if found and _base(found[0].raw) == "docker-proxy":
                words = found[0].raw
                index = words.index("-container-port") + 1 if "-container-port" in words else 0
                inner = int(words[index]) if index else port
                return [each for pid in self._networks()[1:] for each in self._listening(pid, inner)[1]] or found
            if found:
                return found
            user = self._table(network)[1][min(sockets)]
            whose = f"port {port} belongs to a process of {_user(user)}, whose open files you may not see"
            raise ObservationError(f"{whose}: {_as(user)}")
        ports = {
            address.rpartition(":")[2] for address in self._table("self")[0].values() if address[:5] != "unix:"
        }
        listed = ", ".join(f":{each}" for each in sorted(ports, key=int))
        raise ObservationError(
            f"nobody listens on port {port}; {f'these ports are listened on: {listed}' if listed else 'no port is'}"
        )

    def _listening(self, network: object, port: int) -> tuple[set[str], list[Process]]:
        """Return the sockets of a network that listen on a port, and the processes that are seen to have them."""
        addresses, users = self._table(network)
        sockets = {each for each in users if addresses[each].endswith(f":{port}")}
        return sockets, [each for each in self.processes.values() if sockets and sockets & set(_seen(each))]

    def _networks(self) -> list[object]:
        found: dict[str, object] = {_link("/proc/self/ns/net"): "self"}
        for pid in self.processes:
            network = _link(f"/proc/{pid}/ns/net")
            if network:
                found.setdefault(network, pid)
        return list(found.values())

    def top(self, process: Process) -> Process:
        """Return the first process of the server that ``process`` belongs to."""
        top, above = process, process
        while above.parent in self.processes:
            above = self.processes[above.parent]
            is_same = above.name == top.name if top.name else above.raw == top.raw or _is_spawned(top)
            if is_same or (above.name and not top.name):
                top = above
        return top


def _seen(process: Process) -> list[str]:
    try:
        return process.descriptors()
    except ObservationError:
        return []


def _is_spawned(process: Process) -> bool:
    return any(_SPAWNED.search(word) for word in process.raw)


def _address(text: str) -> str:
    """Return ``0100007F:1F40`` of the kernel's tables as ``127.0.0.1:8000``; words are in the host's order."""
    host, _, port = text.partition(":")
    words = [int(host[start : start + 8], 16).to_bytes(4, sys.byteorder) for start in range(0, len(host), 8)]
    data = b"".join(words)
    if len(data) == 4:
        return f"{'.'.join(map(str, data))}:{int(port, 16)}"
    import socket

    return f"[{socket.inet_ntop(socket.AF_INET6, data)}]:{int(port, 16)}"


def _meant(target: str, machine: Machine) -> list[Process]:
    """Return the processes that a target names. Raises ObservationError where there are none."""
    if target.isdigit():
        if int(target) not in machine.processes:
            raise ObservationError(f"there is no process {target}; a port is written :{target}")
        return [machine.processes[int(target)]]
    port = re.match(r":(\d{1,5})$", target)
    if port:
        return machine.owners(int(port.group(1)))
    if not re.match(r"[A-Za-z0-9][\w.@:-]*$", target):
        raise ObservationError(
            f"{target!r} is no process, port, container or unit; write 1234, :8000, web or shop.service"
        )
    grouped = (each for each in machine.processes.values() if is_in(target, _text(f"/proc/{each.pid}/cgroup")))
    found = list(grouped) or list(_named(target, machine))
    if not found:
        raise ObservationError(
            f"{target!r} is neither a unit of systemd's that runs nor a container of Docker's or Podman's here; "
            "write the number of a process, or a port as :8000; on another machine: stackrace current --script"
        )
    return found


def is_in(name: str, groups: str) -> bool:
    """Tell whether ``groups``, the text of a process's cgroup file, are those of a unit or a container's id."""
    wanted = re.escape(re.sub(r"\.service$", "", name))
    pattern = rf"/{wanted}\.service(/|$)"
    if re.match(r"[0-9a-f]{12,64}$", name):
        pattern += rf"|[/-]{wanted}[0-9a-f]*(\.scope)?(/|$)"
    return re.search(pattern, groups, re.MULTILINE) is not None


def _named(name: str, machine: Machine) -> Iterator[Process]:
    unit = name if "." in name else f"{name}.service"
    for command in (
        ["systemctl", "show", "-p", "MainPID", "--value", "--", unit],
        ["docker", "inspect", "-f", "{{.State.Pid}}", "--", name],
        ["podman", "inspect", "-f", "{{.State.Pid}}", "--", name],
    ):
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_ASK_S
            )
        except (OSError, subprocess.SubprocessError):
            continue
        said = done.stdout.decode("ascii", "replace").strip()
        if said.isdigit() and int(said) in machine.processes:
            yield machine.processes[int(said)]
            return


def _masters(target: str, machine: Machine) -> list[Process]:
    """Return the first processes of the servers that a target names: of those below it where it is none itself."""
    meant = _meant(target, machine)
    tops = _tops(meant, machine)
    known = [top for top in tops if top.name]
    known = known or _tops((each for one in meant for each in machine.tree(one.pid) if each.name), machine)
    listening = known or [top for top in tops if any(map(machine.addresses, machine.tree(top.pid)))]
    if not listening:
        first = meant[0]
        raise ObservationError(
            f"{target}: process {first.pid} ({_base(first.raw) or 'of the kernel'}) is no known server, none "
            "runs below it, and it listens nowhere; name the server's process, or its port as :8000"
        )
    return listening


def observe(target: str) -> dict[str, Any]:
    """Return what runs at ``target``: a process, ``:PORT``, a container or a unit.

    Raises ObservationError with the way out.
    """
    machine = Machine()
    found = _masters(target, machine)
    known = _tops([each for each in machine.processes.values() if each.name], machine)
    servers = [each for each in found if each.name not in _FRONTS]
    fronts = [each for each in found if each.name in _FRONTS]
    if not servers:
        behind = (each for each in known if each not in fronts and _forwards(fronts[0], each, machine))
        servers = [each for each in behind if each.name not in _FRONTS or _hosted(each)]
        servers = servers or [each for each in fronts if _hosted(each)]
        if not servers:
            raise ObservationError(
                f"{target} is {fronts[0].name} (process {fronts[0].pid}), and no server behind it was recognized "
                "here; name the server's own process, port, container or unit"
            )
    if len({(each.name, each.folder) for each in servers}) > 1:
        listed = ", ".join(f"{each.pid} ({each.name or _base(each.raw)})" for each in servers)
        raise ObservationError(f"{target} has several servers: {listed}; name one of these processes")
    server = servers[0]
    fronts = [each for each in fronts if each not in servers] or known
    fronts = [each for each in fronts if each.name in _FRONTS and _forwards(each, server, machine)]
    return {
        "schema": SCHEMA,
        "target": target,
        "at": _moment(time.time()),
        "cores": os.cpu_count(),
        "server": _described(server, machine, len(servers)),
        "processes": [_shortly(each, machine) for each in machine.tree(server.pid)],
        "front": _front(fronts[0], machine) if fronts else None,
    }


def _tops(processes: Iterable[Process], machine: Machine) -> list[Process]:
    return list({top.pid: top for top in map(machine.top, processes)}.values())


def _described(server: Process, machine: Machine, instances: int) -> dict[str, Any]:
    variables = server.variables
    prefixes, hosted = list(_prefixes(server, variables)), _hosted(server)
    addresses = {address for each in machine.tree(server.pid) for address in machine.addresses(each)}
    return {
        "name": "mod_wsgi" if hosted else server.name,
        "pid": server.pid,
        "words": hosted or (_of_title(server.title) if server.title else masked(server.raw)),
        "hidden": bool(server.title),
        "folder": server.folder,
        "user": server.uid,
        "started": server.started,
        "addresses": sorted(addresses),
        "workers": _workers(server, machine),
        "instances": instances,
        "variables": harmless(variables),
        "variable_names": sorted(variables),
        "python": _python(server, prefixes),
        "versions": _versions(server, prefixes),
        "files": _files(server),
        "limits": _limits(server),
        "cpus": server.cpus,
    }


def _shortly(process: Process, machine: Machine) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "parent": process.parent,
        "words": masked(process.raw),
        "threads": process.threads,
        "exe": process.exe,
        "folder": process.folder,
        "user": process.uid,
        "started": process.started,
        "addresses": machine.addresses(process),
    }


def _workers(server: Process, machine: Machine) -> int | None:
    """Return how many processes run the app; None where that is not known of such a server."""
    children = [each for each in machine.children(server.pid) if not any(map(_HELPER.search, each.raw))]
    if server.name == "uwsgi":
        # only workers have pipes for signals: a master and a router have none
        pipes = {
            each.pid: sum(link.startswith("pipe:") for link in each.descriptors()) for each in [server, *children]
        }
        least = min(pipes.values())
        return sum(count >= least + 2 for count in pipes.values()) or len(pipes)
    if server.name == "gunicorn":
        return len([each for each in children if each.raw == server.raw or each.title])
    if server.name in ("uvicorn", "hypercorn", "granian"):
        return len([each for each in children if each.raw == server.raw or each.title or _is_spawned(each)]) or 1
    if server.name in ("daphne", "waitress"):
        return 1
    if _hosted(server) and MASK not in _hosted(server):
        # unlike Apache's own, mod_wsgi's processes take no connections from outside
        inner = [each for each in children if all(name.startswith("unix:") for name in machine.addresses(each))]
        return len([each for each in inner if each.threads > 1]) or None
    return sum(map(_is_spawned, children)) or None


def _prefixes(server: Process, variables: dict[str, str]) -> Iterator[str]:
    """Yield the folders of the environments of Python that a process may use, the likeliest first."""
    if variables.get("VIRTUAL_ENV"):
        yield variables["VIRTUAL_ENV"]
    for word in [] if server.title else server.raw[: server.at + 1]:
        folders = [""] if "/" in word else variables.get("PATH", "").split(":")
        paths = (os.path.normpath(os.path.join(server.folder, folder, word)) for folder in folders)
        path = next((each for each in paths if os.path.isfile(_inside(server, each))), "")
        if os.path.basename(os.path.dirname(path)) == "bin":
            yield os.path.dirname(os.path.dirname(path))
    for line in _text(f"/proc/{server.pid}/maps").splitlines():
        before, _, behind = line.partition("/lib/python3")
        if "/site-packages/" in behind or "/dist-packages/" in behind:
            yield before[before.find("/") :]
    if server.exe:
        yield os.path.dirname(os.path.dirname(server.exe))


def _inside(server: Process, path: str) -> str:
    """Return a path of a process, as it is reached from here."""
    return server.root + path if os.path.isdir(server.root + "/") else path


def _versions(server: Process, prefixes: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for prefix in dict.fromkeys(prefixes):
        base = glob.escape(_inside(server, prefix))
        for metadata in glob.glob(f"{base}/lib*/python3*/*-packages/*-info"):
            name, _, version = os.path.basename(metadata)[:-10].partition("-")
            # as base.text.package_key does, which this script cannot import elsewhere
            plain = re.sub(r"[-_.]+", "-", name).lower()
            if _PACKAGES.fullmatch(plain) and plain not in found:
                said = re.search(r"^Version: *([\w.+!-]+)", _text(f"{metadata}/METADATA"), re.MULTILINE)
                found[plain] = said.group(1) if said else version
    return dict(sorted(found.items()))


def _python(server: Process, prefixes: Sequence[str]) -> str:
    for prefix in prefixes:
        said = re.search(
            r"^version(_info)? *= *([\d.]+)", _text(_inside(server, f"{prefix}/pyvenv.cfg")), re.MULTILINE
        )
        if said:
            return ".".join(said.group(2).split(".")[:3])
    found = re.search(r"python(3\.\d+)", f"{server.exe} {_text(f'/proc/{server.pid}/maps')}")
    return found.group(1) if found else ""


def _files(server: Process) -> list[str]:
    """Return the configuration files that a command line names, and front ends' default ones."""
    named = []
    # nginx has its command line in its title
    words = server.title.partition(" process ")[2].split() if server.title else server.raw
    for index, word in enumerate(words, 1):
        following = words[index] if index < len(words) else ""
        name, equals, value = word.partition("=")
        if name in ("-c", "-f", "--config", "--ini", "--yaml", "--json", "--xml", "--env-file"):
            named.append(value if equals else following)
        elif name[:1] != "-" and re.search(r"\.(ini|xml|ya?ml|toml|conf)(:\w+)?$", word):
            named.append(word)
    named = named or [_FRONTS[server.name]] if server.name in _FRONTS else named
    paths = [re.sub(r"^file:|:\w+$", "", each) for each in named if _shown(each) != MASK]
    return list(dict.fromkeys(os.path.normpath(os.path.join(server.folder or "/", each)) for each in paths))


def _limits(server: Process) -> dict[str, Any]:
    files = re.search(r"^Max open files +(\d+)", _text(f"/proc/{server.pid}/limits"), re.MULTILINE)
    memory: list[int] = []
    cpus: list[float] = []
    for line in _text(f"/proc/{server.pid}/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        parts = [part for part in path.split("/") if part]
        for number in range(len(parts) + 1):
            folder = "/".join(["/sys/fs/cgroup", *filter(None, [kinds]), *parts[:number]])
            for name in ("memory.max", "memory.limit_in_bytes"):
                said = _text(f"{folder}/{name}").strip()
                # without a limit version 1 says a number near 2 ** 63
                memory += [int(said)] if said.isdigit() and int(said) < 1 << 60 else []
            quota = _text(f"{folder}/cpu.max").split() or [
                _text(f"{folder}/cpu.cfs_{each}_us").strip() for each in ("quota", "period")
            ]
            if len(quota) == 2 and all(map(str.isdigit, quota)) and int(quota[1]):
                cpus.append(int(quota[0]) / int(quota[1]))
    return {
        "open_files": int(files.group(1)) if files else None,
        "memory_bytes": min(memory) if memory else None,
        "cpus": min(cpus) if cpus else None,
    }


def _front(front: Process, machine: Machine) -> dict[str, Any]:
    addresses = {address for each in machine.tree(front.pid) for address in machine.addresses(each, _seen(each))}
    name = "apache" if front.name in ("apache2", "httpd") else front.name
    return {
        "name": name,
        "pid": front.pid,
        "words": masked(front.raw),
        "processes": len(machine.tree(front.pid)),
        "addresses": sorted(addresses),
        "files": _files(front),
    }


def _forwards(front: Process, server: Process, machine: Machine) -> bool:
    """Tell whether a front end's configuration names an address of a server."""
    said = list(_lines(front)) if front is not server else []
    tree = machine.tree(server.pid)
    for address in {each for process in tree for each in machine.addresses(process, _seen(process))}:
        if address.startswith("unix:"):
            pattern = re.compile(re.escape(address[5:]) + r"(?![\w/.-])")
        else:
            pattern = re.compile(rf":{address.rpartition(':')[2]}(?!\d)")
        if any(pattern.search(line) for line in said):
            return True
    return False


def _hosted(process: Process) -> list[str]:
    """Return an Apache that hosts an app as ``mod_wsgi-express`` would start it; empty for any other process."""
    said: dict[str, dict[str, str]] = {}
    for line in _lines(process) if process.name in ("apache2", "httpd") else ():
        name, key, rest = (*line.split(None, 2), "", "", "")[:3]
        said.setdefault(name.lower(), {}).setdefault(key, rest)
    if "wsgiscriptalias" not in said:
        return []
    groups = said.get("wsgidaemonprocess", {})
    given = {"processes": "1", "threads": "15"} if groups else {"mode": "embedded"}
    for options in groups.values():
        given.update(re.findall(r"\b(processes|threads|maximum-requests)=(\d+)", options))
    if len(groups) > 1:
        # which of them runs the app is not known
        given = dict.fromkeys(given, MASK)
    words = (word for name, value in given.items() for word in (f"--{name}", value))
    return ["mod_wsgi-express", "start-server", *words]


def _lines(front: Process) -> Iterator[str]:
    """Yield the lines of a front end's configuration and of what it includes, but for where it listens itself."""
    waiting = list(_files(front))
    for path in waiting:
        for line in _text(_inside(front, path)).replace("\\\n", " ").splitlines():
            found = re.match(r"\s*(?:include|IncludeOptional|import)\s+\"?([^\s;\"]+)", line, re.IGNORECASE)
            if found and len(waiting) < _MOST_FILES:
                root = _inside(front, "/").rstrip("/")
                named = os.path.join(os.path.dirname(path), found.group(1))
                inside = (each[len(root) :] for each in sorted(glob.glob(root + named)))
                waiting += [each for each in inside if each not in waiting][:_MOST_FILES]
            elif not re.match(r"\s*(#|listen\b|bind\b)", line, re.IGNORECASE):
                yield line


def main(words: Iterable[str]) -> int:
    """Write the observation to standard output, or why there is none to standard error."""
    given = list(words)
    if len(given) != 1 or given[0] in ("-h", "--help"):
        sys.stderr.write("usage: python3 observe.py PID|:PORT|CONTAINER|UNIT > observed.json\n")
        return 0 if given in (["-h"], ["--help"]) else 2
    try:
        found = observe(given[0])
    except ObservationError as error:
        sys.stderr.write(f"observe.py: {error}\n")
        return 2
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
