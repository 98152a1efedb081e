"""Where a stack is deployed: the machine's folders, user and address that the files name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...stacks.stack import Interface

__all__ = ["RESERVED_USERS", "Target"]

RESERVED_USERS = frozenset({
    "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
    "backup", "list", "irc", "gnats", "nobody", "_apt", "nginx", "apache", "haproxy", "caddy", "varnish",
    "vcache", "h2o", "lighttpd", "cherokee", "postgres", "mysql", "redis", "memcache", "rabbitmq", "mongodb",
    "postfix", "sshd", "messagebus", "systemd-network", "systemd-resolve", "systemd-timesync", "ftp", "git",
    "docker", "adm", "tty", "disk", "dialout", "sudo", "audio", "video", "staff", "users", "nogroup", "shadow",
    "utmp", "plugdev", "operator", "src", "kmem", "tape", "voice", "cdrom", "floppy",
})  # fmt: skip
"""Users and groups that a Debian has, or that its packages make: an app's own must be none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One deployment; ``base`` holds ``app`` (the project), ``venv`` and ``deploy`` (these files)."""

    name: str
    """Of its units and folders: a-z, 0-9 and -."""
    base: Path
    """As ``/srv/shop``."""
    user: str
    """Its processes' user, and group; no human's, and not root."""
    host: str
    """The address at which the front listens."""
    port: int
    proxies: tuple[str, ...] = ("127.0.0.1",)
    """Addresses whose X-Forwarded-* is believed: those of a TLS proxy or a load balancer in front."""
    projects: tuple[Path, ...] = ()
    """Where the project lies now; several where it is known by links."""

    @property
    def app(self) -> Path:
        """The project."""
        return self.base / "app"

    @property
    def venv(self) -> Path:
        """The Python environment, with the app's packages and the servers'."""
        return self.base / "venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def files(self) -> Path:
        """The exported folder."""
        return self.base / "deploy"

    @property
    def variables(self) -> Path:
        """The file of the app's variables, which holds secrets and is written by people."""
        return self.base / "env"

    def entry(self, interface: Interface) -> Path:
        """Return the file that binds ``application``."""
        return self.files / "entry" / f"{self.module(interface)}.py"

    def module(self, interface: Interface) -> str:
        """Return the name of its module."""
        return f"deployed_{interface}"

    def run(self, process: str) -> Path:
        """Return where ``process`` has its socket and pid."""
        return Path("/run", self.name, process)

    def logs(self, process: str) -> Path:
        """Return where ``process`` has its logs."""
        return Path("/var/log", self.name, process)

    def temporary(self, process: str) -> Path:
        """Return where ``process`` keeps bodies that are too long for memory."""
        return Path("/var/cache", self.name, process)

    def unit(self, process: str) -> str:
        """Return the name of the unit of ``process``, without its suffix."""
        return f"{self.name}-{process}"

    @property
    def asked_at(self) -> str:
        """The address at which this machine itself reaches the front."""
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host
        return f"{host}:{self.port}"
