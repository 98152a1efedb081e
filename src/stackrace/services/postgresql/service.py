"""PostgreSQL, on a unix socket, with its durability: what an app meets in production."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import quote

from ..contract import Service, ServiceRecipe
from ..programs import find

__all__ = ["SERVICE", "PostgreSQL"]

_ROOT = Path("/usr/lib/postgresql")


class PostgreSQL(Service):
    """The newest version that Debian's packages left below /usr/lib/postgresql, else what is on PATH."""

    name = "postgresql"
    apt = ("postgresql",)

    def missing(self) -> str:
        """Look for the server and initdb."""
        return "" if _program("postgres") and _program("initdb") else "no program postgres or initdb"

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: PostgreSQL manual, initdb and postgres; autovacuum off so that none falls into a slice."""
        data = directory / "data"
        initdb = (
            "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8",
        )  # fmt: skip
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(directory),
            "max_connections": "200",
            "autovacuum": "off",
        }
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        return ServiceRecipe(
            prepare=((_program("initdb") or "initdb", *initdb),),
            command=(_program("postgres") or "postgres", "-D", str(data), *words),
            ready=(_program("pg_isready") or "pg_isready", "-q", "-h", str(directory)),
            environment={
                "DATABASE_URL": f"postgresql://postgres@{quote(str(directory), safe='')}/postgres",
                "PGHOST": str(directory),
                "PGUSER": "postgres",
                "PGDATABASE": "postgres",
            },
            stop=signal.SIGINT,
        )


def _program(name: str) -> str | None:
    folders = sorted(_ROOT.glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True)
    return find(name, *folders)


SERVICE = PostgreSQL()
