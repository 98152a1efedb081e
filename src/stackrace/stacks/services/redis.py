"""Redis, writing nothing to disk while it serves."""

from __future__ import annotations

from pathlib import Path

from .contract import DATA, Network, Service, ServiceRecipe, lacking, program

__all__ = ["SERVICE", "Redis"]

_PASSWORD = "password.conf"


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

    def recipe(self, directory: Path, network: Network | None = None) -> ServiceRecipe:
        """Source: redis.conf as commented by its authors; every directive may stand on the command line."""
        secret = directory / _PASSWORD
        socket = directory / "socket"
        options = {
            # GENERAL and NETWORK
            "--daemonize": "no",
            **({"--port": "0"} if network is None else {"--bind": network.host, "--port": str(network.port)}),
            "--unixsocket": str(socket),
            "--unixsocketperm": "777",
            # SNAPSHOTTING and APPEND ONLY MODE: no fork and no writing meanwhile
            "--save": "",
            "--appendonly": "no",
            "--dir": str(directory / DATA),
            # ACTIVE DEFRAGMENTATION: off as shipped, and said here because packages may ship it otherwise
            "--activedefrag": "no",
        }
        client: tuple[str, ...] = (program("redis-cli"), "-s", str(socket))
        if network is not None:
            # it is asked for on the socket, too
            client = ("sh", "-c", 'REDISCLI_AUTH=$(cut -d " " -f 2 "$0") exec "$@"', str(secret), *client)
        # a file of directives comes first
        first = () if network is None else (str(secret),)
        return ServiceRecipe(
            command=(program("redis-server"), *first, *(word for option in options.items() for word in option)),
            ready=("sh", "-c", '"$@" | grep -q PONG', "ready", *client, "ping"),
            # the one snapshot, which a copy loads at its start
            settle=((*client, "save"),),
            files={} if network is None else {_PASSWORD: f"requirepass {network.password}\n"},
            environment=_environment(socket, network),
        )


def _environment(socket: Path, network: Network | None) -> dict[str, str]:
    if network is None:
        url, where = f"unix://{socket}", {"REDIS_SOCKET": str(socket)}
    else:
        url = f"redis://default:{network.password}@{network.netloc}"
        where = {
            "REDIS_HOST": network.host,
            "REDIS_PORT": str(network.port),
            "REDIS_PASSWORD": network.password,
        }
    return {"REDIS_URL": url, "CACHE_URL": url, **where}


SERVICE = Redis()
