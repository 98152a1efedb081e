"""PostgreSQL, with its durability: what an app meets in production."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import quote

from .contract import DATA, Service, ServiceRecipe, find

__all__ = ["SERVICE", "PostgreSQL"]

_ROOT = Path("/usr/lib/postgresql")
_PORT = "5432"
"""Part of the socket's name; said everywhere, for a PGPORT of the user's shell would change its default."""


class PostgreSQL(Service):
    """The newest version that Debian's packages left below /usr/lib/postgresql, else what is on PATH."""

    name = "postgresql"
    apt = ("postgresql",)

    def missing(self) -> str:
        """Look for the server, initdb and the clients that wait for it and settle it."""
        needed = ("postgres", "initdb", "pg_isready", "psql", "vacuumdb")
        missing = [name for name in needed if _find(name) is None]
        return f"no program {', '.join(missing)}" if missing else ""

    def version(self) -> tuple[str, ...]:
        """Source: PostgreSQL manual, postgres."""
        return (_program("postgres"), "--version")

    def recipe(self, directory: Path) -> ServiceRecipe:
        """Source: PostgreSQL manual, initdb, postgres, vacuumdb, and the chapters named at the options."""
        data = directory / DATA
        reach = ("-h", str(directory), "-p", _PORT)
        as_owner = (*reach, "-U", "postgres", "-w")
        return ServiceRecipe(
            prepare=(
                (
                    _program("initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync",
                    "-E", "UTF8", "--locale=C.UTF-8",
                ),
            ),
            command=(_program("postgres"), "-D", str(data), *_options(directory)),
            ready=(_program("pg_isready"), "-q", *reach),
            # frozen, so that reading a row never has to write a page; then nothing is left for a checkpoint
            settle=(
                (_program("vacuumdb"), *as_owner, "--quiet", "--all", "--freeze", "--analyze"),
                (_program("psql"), *as_owner, "-X", "-q", "-d", "postgres", "-c", "CHECKPOINT"),
            ),
            environment=_environment(directory),
            stop=signal.SIGINT,
        )  # fmt: skip


def _environment(directory: Path) -> dict[str, str]:
    url = f"postgresql://postgres@{quote(str(directory), safe='')}/postgres"
    return {
        "DATABASE_URL": url,
        "POSTGRESQL_URL": url,
        "PGHOST": str(directory),
        "PGPORT": _PORT,
        "PGUSER": "postgres",
        "PGDATABASE": "postgres",
    }


def _options(directory: Path) -> list[str]:
    """Return what differs from the settings it ships with; fsync, synchronous_commit and memory do not."""
    options = {
        # 20.3.1 Connection Settings
        "listen_addresses": "",
        "port": _PORT,
        "unix_socket_directories": str(directory),
        "max_connections": "200",
        # 20.10 Automatic Vacuuming: none falls into a slice; `settle` has done its work, statistics included
        "autovacuum": "off",
        # 20.5.2 Checkpoints: the longest time there is, and more WAL than a race writes
        "checkpoint_timeout": "1d",
        "max_wal_size": "8GB",
        # 20.6.4 Subscribers: its launcher would have nothing to launch
        "max_logical_replication_workers": "0",
    }
    return [word for name, value in options.items() for word in ("-c", f"{name}={value}")]


def _find(name: str) -> str | None:
    versions = [folder for folder in _ROOT.glob("*/bin") if folder.parent.name.replace(".", "", 1).isdecimal()]
    return find(name, *sorted(versions, key=lambda folder: float(folder.parent.name), reverse=True))


def _program(name: str) -> str:
    return _find(name) or name


SERVICE = PostgreSQL()
