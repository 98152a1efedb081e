"""The target of a deployment: folders, user and address that the files name."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...base.errors import InputError
from ...stacks.servers.contract import Entry

_RESERVED_USERS = frozenset({
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
    "backup", "list", "irc", "gnats", "nobody", "_apt", "nginx", "apache", "haproxy", "caddy", "varnish",
    "vcache", "h2o", "lighttpd", "cherokee", "postgres", "mysql", "redis", "memcache", "rabbitmq", "mongodb",
    "postfix", "sshd", "messagebus", "systemd-network", "systemd-resolve", "systemd-timesync", "ftp", "git",
    "docker", "adm", "tty", "disk", "dialout", "sudo", "audio", "video", "staff", "users", "nogroup", "shadow",
    "utmp", "plugdev", "operator", "src", "kmem", "tape", "voice", "cdrom", "floppy",
})  # fmt: skip
"""Users and groups of Debian and its packages: an app's own user must be none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One deployment; ``base`` holds ``app`` (the project), ``venv`` and ``deploy`` (these files)."""

    name: str
    """Name of its units and folders: a-z, 0-9 and -."""
    base: Path
    """Folder such as ``/srv/shop``."""
    user: str
    """User and group of its processes; not a person's, and not root."""
    host: str
    """Address on which the front listens."""
    port: int
    proxies: tuple[str, ...] = ("127.0.0.1",)
    """Addresses whose X-Forwarded-* headers are trusted: those of a TLS proxy or a load balancer in front."""
    projects: tuple[Path, ...] = ()
    """Present paths of the project; several if links lead to it."""

    @property
    def app(self) -> Path:
        """Folder of the project."""
        return self.base / "app"

    @property
    def venv(self) -> Path:
        """The Python environment, with the app's packages and the servers'."""
        return self.base / "venv"

    @property
    def python(self) -> Path:
        """Interpreter of the environment."""
        return self.venv / "bin" / "python"

    @property
    def files(self) -> Path:
        """The exported folder."""
        return self.base / "deploy"

    @property
    def variables(self) -> Path:
        """File of the app's variables, which holds secrets and is written by people."""
        return self.base / "env"

    @property
    def asked_at(self) -> str:
        """Address at which this machine itself reaches the front."""
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host
        return f"{host}:{self.port}"


def target_of(
    app_name: str,
    *,
    base: Path | None = None,
    user: str | None = None,
    listen: str = "0.0.0.0:8000",
    proxies: Sequence[str] = ("127.0.0.1",),
) -> Target:
    """Return the target that the user wants; None means a default.

    Raises InputError for an unusable address or folder.
    """
    name = _name(base.name if base is not None else app_name)
    base = base or Path("/srv", name)
    if not base.is_absolute() or not re.fullmatch(r"[A-Za-z0-9_./-]+", str(base)) or len(base.parts) < 3:
        raise InputError(
            f"--app-dir {base} must be an absolute path of the characters a-z, A-Z, 0-9, _, ., / and -, below "
            "another folder, such as /srv/shop"
        )
    if user in _RESERVED_USERS - {"root"}:
        raise InputError(
            f"--user {user} is a user of Debian's or of one of its packages; give the app one of its own, such as "
            f"{name}-app"
        )
    user = user or (f"{name}-app" if name in _RESERVED_USERS else name)
    if user == "root" or not re.fullmatch(r"[a-z_][a-z0-9_-]{0,31}", user):
        raise InputError(f"--user {user!r} must be an unprivileged user's name, such as {name}; root is none")
    host, port = _listened_at(listen)
    return Target(
        name=name, base=base, user=user, host=host, port=port, proxies=tuple(dict.fromkeys(map(_proxy, proxies)))
    )


def _name(text: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:24].strip("-")
    return name if re.match("[a-z]", name) else f"app-{name}".strip("-")


def refuse_proxies(front: Entry, target: Target) -> None:
    """Raise InputError for proxies that the front cannot be told to trust."""
    if front.trusts_one_proxy and (len(target.proxies) != 1 or "/" in target.proxies[0]):
        raise InputError(
            f"{front.spec.title} trusts one proxy, by its address, not {', '.join(target.proxies)}: give one "
            f"--trusted-proxy, or put a front end before it, such as nginx/http/{front.spec.name}"
        )


def _listened_at(text: str) -> tuple[str, int]:
    """Return the IPv4 address and the port of ``--listen``; raises InputError for anything else.

    Names are rejected: one such as localhost may be several addresses, and not every server listens on all.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"--listen {text!r} must be ADDRESS:PORT, such as 0.0.0.0:8000 or 127.0.0.1:8000")
    if ":" in host:
        raise InputError(
            f"--listen {text!r} is an IPv6 address, and exported files listen on IPv4 only: give 0.0.0.0:{port}, "
            "and let the TLS proxy in front listen on IPv6"
        )
    try:
        return str(ipaddress.IPv4Address(host)), int(port)
    except ValueError:
        example = "127.0.0.1" if host == "localhost" else "0.0.0.0"
        raise InputError(f"--listen {text!r} must name an IPv4 address, such as {example}:{port}") from None


def _proxy(text: str) -> str:
    """Return an address or a network of ``--trusted-proxy``; raises InputError for anything else."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        raise InputError(
            f"--trusted-proxy {text!r} must be an IP address or a network, such as 10.0.0.7 or 10.0.0.0/24"
        ) from None
    if network.prefixlen == 0:
        raise InputError(
            f"--trusted-proxy {text} is everybody, and then any client could say where it comes from; give the "
            "proxy's address"
        )
    return str(network.network_address if network.num_addresses == 1 else network)
