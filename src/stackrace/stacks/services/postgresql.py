"""PostgreSQL, with its durability: what an app meets in production."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import quote

from .contract import DATA, Network, Service, ServiceRecipe, find

__all__ = ["SERVICE", "PostgreSQL"]

_ROOT = Path("/usr/lib/postgresql")
_PORT = "5432"
"""Part of the socket's name; said everywhere, for a PGPORT of the user's shell would change its default."""
_HBA = "pg_hba.conf"
_PASSWORD = "password.sql"


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

    def recipe(self, directory: Path, network: Network | None = None) -> ServiceRecipe:
        """Source: PostgreSQL manual, initdb, postgres, vacuumdb, and the chapters named at the options."""
        data = directory / DATA
        port = _PORT if network is None else str(network.port)
        reach = ("-h", str(directory), "-p", port)
        as_owner = (*reach, "-U", "postgres", "-w")
        return ServiceRecipe(
            prepare=(
                (
                    _program("initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--no-sync",
                    "-E", "UTF8", "--locale=C.UTF-8",
                ),
            ),
            command=(_program("postgres"), "-D", str(data), *_options(directory, port, network)),
            ready=(_program("pg_isready"), "-q", *reach),
            # frozen, so that reading a row never has to write a page; then nothing is left for a checkpoint
            settle=(
                (_program("vacuumdb"), *as_owner, "--quiet", "--all", "--freeze", "--analyze"),
                (_program("psql"), *as_owner, "-X", "-q", "-d", "postgres", "-c", "CHECKPOINT"),
            ),
            files={} if network is None else _files(network),
            admit=() if network is None else ((_program("psql"), *as_owner, "-X", "-q", "-f", _PASSWORD),),
            environment=_environment(directory, port, network),
            stop=signal.SIGINT,
        )  # fmt: skip


def _environment(directory: Path, port: str, network: Network | None) -> dict[str, str]:
    if network is None:
        user, host, where, password = "postgres", str(directory), quote(str(directory), safe=""), {}
    else:
        user, host, where = f"postgres:{network.password}", network.host, network.netloc
        password = {"PGPASSWORD": network.password}
    url = f"postgresql://{user}@{where}/postgres"
    return {
        "DATABASE_URL": url,
        "POSTGRESQL_URL": url,
        "PGHOST": host,
        "PGPORT": port,
        "PGUSER": "postgres",
        "PGDATABASE": "postgres",
        **password,
    }


def _files(network: Network) -> dict[str, str]:
    """Let in by password only, and say it. Source: chapter 21.1, The pg_hba.conf File."""
    return {
        _HBA: "local all all trust\nhost all all all scram-sha-256\n",
        _PASSWORD: f"ALTER ROLE postgres PASSWORD '{network.password}'",
    }


def _options(directory: Path, port: str, network: Network | None) -> list[str]:
    """Return what differs from the settings it ships with; fsync, synchronous_commit and memory do not."""
    options = {
        # 20.3.1 Connection Settings
        "listen_addresses": "" if network is None else network.host,
        "port": port,
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
    if network is not None:
        # 20.2 File Locations and 20.3.3 Authentication
        options |= {"hba_file": str(directory / _HBA), "password_encryption": "scram-sha-256"}
    return [word for name, value in options.items() for word in ("-c", f"{name}={value}")]


def _find(name: str) -> str | None:
    versions = [folder for folder in _ROOT.glob("*/bin") if folder.parent.name.replace(".", "", 1).isdecimal()]
    return find(name, *sorted(versions, key=lambda folder: float(folder.parent.name), reverse=True))


def _program(name: str) -> str:
    return _find(name) or name


SERVICE = PostgreSQL()
