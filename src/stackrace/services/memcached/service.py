"""memcached, on a unix socket."""

from __future__ import annotations

from pathlib import Path

from ..contract import Service, ServiceRecipe
from ..programs import lacking

__all__ = ["SERVICE", "Memcached"]


class Memcached(Service):
    """64 MiB, as its own default."""

    name = "memcached"
    apt = ("memcached",)

    def missing(self) -> str:
        """Look for the program."""
        return lacking("memcached")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: memcached(1)."""
        socket = directory / "socket"
        return ServiceRecipe(
            command=("memcached", "-s", str(socket), "-a", "0777", "-m", "64", "-c", "1024"),
            ready=("test", "-S", str(socket)),
            environment={"MEMCACHED_SOCKET": str(socket)},
        )


SERVICE = Memcached()
