"""MariaDB, with its durability: what an app meets in production."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from .contract import DATA, Service, ServiceRecipe, lacking, program

__all__ = ["SERVICE", "MariaDB"]


class MariaDB(Service):
    """A private data directory with a database ``app`` for the user root."""

    name = "mariadb"
    apt = ("mariadb-server",)

    def missing(self) -> str:
        """Look for the server, its installer and its clients."""
        return lacking("mariadbd", "mariadb-install-db", "mariadb-admin", "mariadb-check", "mariadb")

    def version(self) -> tuple[str, ...]:
        """Source: MariaDB documentation, mariadbd options."""
        return (program("mariadbd"), "--no-defaults", "--version")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: MariaDB documentation, mariadb-install-db, mariadbd options, and what is named at the options."""
        socket, data = directory / "socket", directory / DATA
        as_root = ("--no-defaults", f"--socket={socket}", "--user=root")
        admin = (program("mariadb-admin"), *as_root)
        return ServiceRecipe(
            prepare=(
                (
                    program("mariadb-install-db"),
                    "--no-defaults",
                    f"--datadir={data}",
                    "--auth-root-authentication-method=normal",
                    "--skip-test-db",
                ),
            ),
            command=(program("mariadbd"), "--no-defaults", *_options(directory)),
            ready=(*admin, "ping"),
            after=((*admin, "create", "app"),),
            # a slow shutdown purges and merges all that is left to do, so that a copy starts with nothing to do
            # (InnoDB System Variables, innodb_fast_shutdown)
            settle=(
                (program("mariadb-check"), *as_root, "--silent", "--analyze", "--all-databases"),
                (program("mariadb"), *as_root, "-e", "SET GLOBAL innodb_fast_shutdown = 0"),
            ),
            environment=_environment(socket),
        )


def _environment(socket: Path) -> dict[str, str]:
    url = f"mysql://root@{quote(str(socket), safe='')}/app"
    return {
        "DATABASE_URL": url,
        "MARIADB_URL": url,
        "MYSQL_UNIX_PORT": str(socket),
        "MARIADB_SOCKET": str(socket),
        "MARIADB_USER": "root",
        "MARIADB_DATABASE": "app",
    }


def _options(directory: Path) -> list[str]:
    """Return what differs from the settings it ships with; innodb_flush_log_at_trx_commit and memory do not."""
    return [
        f"--datadir={directory / DATA}",
        f"--socket={directory / 'socket'}",
        f"--pid-file={directory / 'pid'}",
        f"--tmpdir={directory}",
        "--skip-networking",
        "--character-set-server=utf8mb4",
        # Server System Variables, max_connections: it ships with 151; hundreds of children keep one for each driver
        "--max-connections=1000",
        # InnoDB Persistent Statistics: `settle` has analysed the tables, nothing recalculates during a slice
        "--innodb-stats-auto-recalc=OFF",
        # InnoDB Buffer Pool, dump and restore: no pages are read in the background after a start
        "--innodb-buffer-pool-dump-at-shutdown=OFF",
        "--innodb-buffer-pool-load-at-startup=OFF",
        # Event Scheduler: off as shipped, and said here because a table could ask for it
        "--event-scheduler=OFF",
        # Aria System Variables: no checkpoint every 30 s
        "--aria-checkpoint-interval=0",
    ]


SERVICE = MariaDB()
