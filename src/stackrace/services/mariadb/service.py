"""MariaDB, on a unix socket."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from ..contract import Service, ServiceRecipe
from ..programs import lacking

__all__ = ["SERVICE", "MariaDB"]


class MariaDB(Service):
    """A private data directory with a database ``app`` for the user root without a password."""

    name = "mariadb"
    apt = ("mariadb-server",)

    def missing(self) -> str:
        """Look for the server, its installer and its administration program."""
        return lacking("mariadbd", "mariadb-install-db", "mariadb-admin")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: MariaDB knowledge base, mariadb-install-db and mariadbd options."""
        socket, data = directory / "socket", directory / "data"
        return ServiceRecipe(
            prepare=(
                (
                    "mariadb-install-db",
                    "--no-defaults",
                    f"--datadir={data}",
                    "--auth-root-authentication-method=normal",
                    "--skip-test-db",
                ),
            ),
            command=(
                "mariadbd",
                "--no-defaults",
                f"--datadir={data}",
                f"--socket={socket}",
                f"--pid-file={directory / 'pid'}",
                f"--tmpdir={directory}",
                "--skip-networking",
                "--character-set-server=utf8mb4",
            ),
            ready=("mariadb-admin", "--no-defaults", f"--socket={socket}", "-u", "root", "ping"),
            after=(("mariadb-admin", "--no-defaults", f"--socket={socket}", "-u", "root", "create", "app"),),
            environment={"DATABASE_URL": f"mysql://root@{quote(str(socket), safe='')}/app"},
        )


SERVICE = MariaDB()
