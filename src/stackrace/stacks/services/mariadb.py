"""MariaDB, with its durability: what an app meets in production."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from .contract import DATA, Network, Service, ServiceRecipe, lacking, program

__all__ = ["SERVICE", "MariaDB"]

_ACCOUNTS = "accounts.sql"


class MariaDB(Service):
    """A private data directory with a database ``app`` for the user root, whom a network asks for a password."""

    name = "mariadb"
    apt = ("mariadb-server",)

    def missing(self) -> str:
        """Look for the server, its installer and its clients."""
        return lacking("mariadbd", "mariadb-install-db", "mariadb-admin", "mariadb-check", "mariadb")

    def version(self) -> tuple[str, ...]:
        """Source: MariaDB documentation, mariadbd options."""
        return (program("mariadbd"), "--no-defaults", "--version")

    def recipe(self, directory: Path, network: Network | None = None) -> ServiceRecipe:
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
            command=(program("mariadbd"), "--no-defaults", *_options(directory, network)),
            ready=(*admin, "ping"),
            after=((*admin, "create", "app"),),
            # a slow shutdown purges and merges all that is left to do, so that a copy starts with nothing to do
            # (InnoDB System Variables, innodb_fast_shutdown)
            settle=(
                (program("mariadb-check"), *as_root, "--silent", "--analyze", "--all-databases"),
                (program("mariadb"), *as_root, "-e", "SET GLOBAL innodb_fast_shutdown = 0"),
            ),
            files={} if network is None else {_ACCOUNTS: _accounts(network.password)},
            environment=_environment(socket, network),
        )


def _environment(socket: Path, network: Network | None) -> dict[str, str]:
    if network is None:
        url = f"mysql://root@{quote(str(socket), safe='')}/app"
        where = {"MYSQL_UNIX_PORT": str(socket), "MARIADB_SOCKET": str(socket)}
    else:
        url = f"mysql://root:{network.password}@{network.netloc}/app"
        where = {
            "MYSQL_HOST": network.host,
            "MYSQL_TCP_PORT": str(network.port),
            "MARIADB_HOST": network.host,
            "MARIADB_PORT": str(network.port),
            "MARIADB_PASSWORD": network.password,
        }
    return {"DATABASE_URL": url, "MARIADB_URL": url, **where, "MARIADB_USER": "root", "MARIADB_DATABASE": "app"}


def _accounts(password: str) -> str:
    """Return what lets root in from anywhere by its password, and nobody from here but by the socket.

    One statement a line. Source: Server System Variables, init_file.
    """
    return (
        "DROP USER IF EXISTS root@'127.0.0.1', root@'::1';\n"
        f"CREATE OR REPLACE USER root@'%' IDENTIFIED BY '{password}';\n"
        "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;\n"
    )


def _options(directory: Path, network: Network | None) -> list[str]:
    """Return what differs from the settings it ships with; innodb_flush_log_at_trx_commit and memory do not."""
    return [
        f"--datadir={directory / DATA}",
        f"--socket={directory / 'socket'}",
        f"--pid-file={directory / 'pid'}",
        f"--tmpdir={directory}",
        *_listening(directory, network),
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


def _listening(directory: Path, network: Network | None) -> list[str]:
    if network is None:
        return ["--skip-networking"]
    return [
        f"--bind-address={network.host}",
        f"--port={network.port}",
        # no name server is asked who connects
        "--skip-name-resolve",
        # run before it listens
        f"--init-file={directory / _ACCOUNTS}",
    ]


SERVICE = MariaDB()
