"""memcached, on a unix socket."""

from __future__ import annotations

from pathlib import Path

from ..contract import Service, ServiceRecipe
from ..programs import lacking, program

__all__ = ["SERVICE", "Memcached"]


class Memcached(Service):
    """It keeps nothing on disk, so every race begins with an empty one, whatever an app's preparation put there."""

    name = "memcached"
    apt = ("memcached",)

    def missing(self) -> str:
        """Look for the program."""
        return lacking("memcached")

    def version(self) -> tuple[str, ...]:
        """Source: memcached(1)."""
        return (program("memcached"), "-V")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: memcached(1) and `memcached -h`.

        512 MiB, taken as they are filled, so that nothing is evicted in a race; its own four threads. The crawler
        that looks for expired items and the moving of memory between size classes are maintenance, so off.
        """
        socket = directory / "socket"
        return ServiceRecipe(
            command=(
                program("memcached"), "-s", str(socket), "-a", "0777", "-m", "512", "-c", "4096", "-t", "4",
                "-o", "no_lru_crawler,slab_automove=0",
            ),
            ready=("test", "-S", str(socket)),
            environment={"MEMCACHED_SOCKET": str(socket)},
        )  # fmt: skip


SERVICE = Memcached()
