"""memcached, which asks nobody for a password."""

from __future__ import annotations

from pathlib import Path

from .contract import Service, ServiceRecipe, lacking, program

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
        socket = str(directory / "socket")
        return ServiceRecipe(
            command=(
                program("memcached"), "-s", socket, "-a", "0777", "-m", "512", "-c", "4096", "-t", "4",
                "-o", "no_lru_crawler,slab_automove=0",
            ),
            ready=("test", "-S", socket),
            environment={"MEMCACHED_SOCKET": socket},
        )  # fmt: skip


SERVICE = Memcached()
