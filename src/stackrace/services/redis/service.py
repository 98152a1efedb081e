"""Redis, on a unix socket, keeping nothing on disk."""

from __future__ import annotations

from pathlib import Path

from ..contract import Service, ServiceRecipe
from ..programs import lacking

__all__ = ["SERVICE", "Redis"]


class Redis(Service):
    """A cache or a broker: snapshots and the append-only file are off."""

    name = "redis"
    apt = ("redis-server",)

    def missing(self) -> str:
        """Look for the server and its client, which tells when it is ready."""
        return lacking("redis-server", "redis-cli")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: redis.conf of the Redis documentation; every directive may stand on the command line."""
        socket = directory / "socket"
        options = {
            "--port": "0",
            "--unixsocket": str(socket),
            "--unixsocketperm": "777",
            "--save": "",
            "--appendonly": "no",
            "--dir": str(directory),
            "--daemonize": "no",
        }
        return ServiceRecipe(
            command=("redis-server", *(word for option in options.items() for word in option)),
            ready=("redis-cli", "-s", str(socket), "ping"),
            environment={"REDIS_URL": f"unix://{socket}", "CACHE_URL": f"unix://{socket}"},
        )


SERVICE = Redis()
