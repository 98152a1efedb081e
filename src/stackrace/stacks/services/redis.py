"""Redis, writing nothing to disk while it serves."""

from __future__ import annotations

from pathlib import Path

from .contract import DATA, Service, ServiceRecipe, lacking, program

__all__ = ["SERVICE", "Redis"]


class Redis(Service):
    """A cache or a broker: snapshots and the append-only file are off."""

    name = "redis"
    apt = ("redis-server",)

    def missing(self) -> str:
        """Look for the server and its client, which tells when it is ready."""
        return lacking("redis-server", "redis-cli")

    def version(self) -> tuple[str, ...]:
        """Source: `redis-server --help`."""
        return (program("redis-server"), "--version")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: redis.conf as commented by its authors; every directive may stand on the command line."""
        socket = directory / "socket"
        options = {
            # GENERAL and NETWORK
            "--daemonize": "no",
            "--port": "0",
            "--unixsocket": str(socket),
            "--unixsocketperm": "777",
            # SNAPSHOTTING and APPEND ONLY MODE: no fork and no writing meanwhile
            "--save": "",
            "--appendonly": "no",
            "--dir": str(directory / DATA),
            # ACTIVE DEFRAGMENTATION: off as shipped, and said here because packages may ship it otherwise
            "--activedefrag": "no",
        }
        client = (program("redis-cli"), "-s", str(socket))
        return ServiceRecipe(
            command=(program("redis-server"), *(word for option in options.items() for word in option)),
            ready=("sh", "-c", '"$@" | grep -q PONG', "ready", *client, "ping"),
            # the one snapshot, which a copy loads at its start
            settle=((*client, "save"),),
            environment={
                "REDIS_URL": f"unix://{socket}",
                "CACHE_URL": f"unix://{socket}",
                "REDIS_SOCKET": str(socket),
            },
        )


SERVICE = Redis()
