"""Services that an app needs beside it: how to start a private instance of each, and how to reach it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..base.errors import MissingItem
from ..base.platforms import SystemPackages, this_platform

DATA = "data"
"""Folder in a service's directory with all that it stores. It exists, empty, before any command runs.

Nothing in it may depend on the directory's name: the folder is copied and started again elsewhere.
"""
FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders of Debian programs that are often missing from a user's PATH."""
_POSTGRESQL = Path("/usr/lib/postgresql")
"""Installation folder of Debian's packages, by version; the newest is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRecipe:
    """Commands and variables of one private instance of a service."""

    command: tuple[str, ...]
    """Command that starts the service in the foreground."""
    ready: tuple[str, ...]
    """A command that succeeds once the service answers."""
    environment: Mapping[str, str]
    """Environment variables for the app."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands to run once, before ``command``."""
    after: tuple[tuple[str, ...], ...] = ()
    """Commands to run once the service is ready."""
    settle: tuple[tuple[str, ...], ...] = ()
    """Commands to run after an app has filled the service, so that maintenance is over before the measurement."""
    stop: signal.Signals = signal.SIGTERM
    """Signal that ends the service cleanly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service(SystemPackages):
    """One kind of service. It listens on a unix socket in its directory only."""

    name: str
    programs: tuple[str, ...]
    """Programs that the service needs, the server first."""
    prints_version: tuple[str, ...] = ("--version",)
    """Arguments that make the server print its version."""
    recipe: Callable[[Path], ServiceRecipe]
    """Function that returns how to start an instance in a private directory with an empty ``DATA``; pure."""
    needs_user_name: bool = False
    """True if the server refuses a user whose id has no name in the password file."""

    def missing(self) -> str:
        """Return which programs are not installed; empty if none is missing."""
        missing = [name for name in self.programs if _find(name) is None]
        return f"no program {', '.join(missing)}" if missing else ""

    def missing_item(self) -> MissingItem | None:
        """Return the missing programs with the packages that contain them; None if nothing is missing."""
        missing = self.missing()
        return this_platform().missing_item(self.name, missing, self) if missing else None

    def version(self) -> tuple[str, ...]:
        """Return the command that prints the server's version."""
        return (_program(self.programs[0]), *self.prints_version)


def services() -> Mapping[str, Service]:
    """Return all services by name."""
    return {service.name: service for service in _SERVICES}


def _find(name: str) -> str | None:
    """Return the absolute path of a program: from the newest PostgreSQL, else from PATH or the sbin folders."""
    folders = _POSTGRESQL.glob("*/bin") if name in _POSTGRESQL_PROGRAMS else ()
    versions = [folder for folder in folders if folder.parent.name.replace(".", "", 1).isdecimal()]
    newest = sorted(versions, key=lambda folder: float(folder.parent.name), reverse=True)
    return shutil.which(name, path=os.pathsep.join([*map(str, newest), os.environ.get("PATH", ""), *FOLDERS]))


def _program(name: str) -> str:
    return _find(name) or name


def _mariadb(directory: Path) -> ServiceRecipe:
    """Return a private server with a database ``app`` for the user root, as durable as in production.

    innodb_flush_log_at_trx_commit and memory stay as shipped. Source: MariaDB documentation, mariadb-install-db,
    mariadbd options, and the sections named at the options.
    """
    socket, data = directory / "socket", directory / DATA
    as_root = ("--no-defaults", f"--socket={socket}", "--user=root")
    admin = (_program("mariadb-admin"), *as_root)
    url = f"mysql://root@localhost/app?unix_socket={quote(str(socket))}"
    options = (
        f"--datadir={data}",
        f"--socket={socket}",
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
        # Event Scheduler: off as shipped; set explicitly because a table could turn it on
        "--event-scheduler=OFF",
        # Aria System Variables: no checkpoint every 30 s
        "--aria-checkpoint-interval=0",
    )
    install = (f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db")
    return ServiceRecipe(
        prepare=((_program("mariadb-install-db"), "--no-defaults", *install),),
        command=(_program("mariadbd"), "--no-defaults", *options),
        ready=(*admin, "ping"),
        after=((*admin, "create", "app"),),
        # a slow shutdown purges and merges everything, so that a copy starts without pending work
        # (InnoDB System Variables, innodb_fast_shutdown)
        settle=(
            (_program("mariadb-check"), *as_root, "--silent", "--analyze", "--all-databases"),
            (_program("mariadb"), *as_root, "-e", "SET GLOBAL innodb_fast_shutdown = 0"),
        ),
        environment={
            "DATABASE_URL": url,
            "MARIADB_URL": url,
            "MYSQL_UNIX_PORT": str(socket),
            "MARIADB_SOCKET": str(socket),
            "MARIADB_USER": "root",
            "MARIADB_DATABASE": "app",
        },
    )


def _memcached(directory: Path) -> ServiceRecipe:
    """Return a server that stores nothing on disk, so that every race begins with an empty one.

    It has 512 MiB, allocated as it fills, so that nothing is evicted in a race, and memcached's own four threads.
    The crawler for expired items and the rebalancing of size classes are maintenance, so they are off.
    Source: memcached(1) and `memcached -h`.
    """
    socket = str(directory / "socket")
    size = ("-m", "512", "-c", "4096", "-t", "4")
    quiet = ("-o", "no_lru_crawler,slab_automove=0")
    return ServiceRecipe(
        command=(_program("memcached"), "-s", socket, "-a", "0777", *size, *quiet),
        ready=("test", "-S", socket),
        environment={"MEMCACHED_SOCKET": socket},
    )


_PORT = "5432"
"""Part of the name of PostgreSQL's socket; given to every command, because the user's PGPORT would change it."""
_POSTGRESQL_PROGRAMS = ("postgres", "initdb", "pg_isready", "psql", "vacuumdb")


def _postgresql(directory: Path) -> ServiceRecipe:
    """Return a private server; fsync, synchronous_commit and memory stay as shipped, as in production.

    Source: PostgreSQL manual, initdb, postgres, vacuumdb, and the chapters named at the options.
    """
    data = str(directory / DATA)
    reach = ("-h", str(directory), "-p", _PORT)
    as_owner = (*reach, "-U", "postgres", "-w")
    options = {
        # 20.3.1 Connection Settings
        "listen_addresses": "",
        "port": _PORT,
        "unix_socket_directories": str(directory),
        # every process of every stack of a race may keep a pool of them
        "max_connections": "1000",
        # 20.10 Automatic Vacuuming: none during a slice; `settle` has done its work, statistics included
        "autovacuum": "off",
        # 20.5.2 Checkpoints: the longest interval allowed, and more WAL than a race writes
        "checkpoint_timeout": "1d",
        "max_wal_size": "8GB",
        # 20.6.4 Subscribers: the launcher would have nothing to launch
        "max_logical_replication_workers": "0",
    }
    # libpq's other form, an encoded socket as the host, is not decoded by SQLAlchemy
    url = f"postgresql://postgres@/postgres?host={quote(str(directory))}"
    text = ("-E", "UTF8", "--locale=C.UTF-8")
    return ServiceRecipe(
        prepare=((_program("initdb"), "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", *text),),
        command=(
            *(_program("postgres"), "-D", data),
            *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
        ),
        ready=(_program("pg_isready"), "-q", *reach),
        # freeze the rows, so that reading one never writes a page; then leave nothing for a checkpoint
        settle=(
            (_program("vacuumdb"), *as_owner, "--quiet", "--all", "--freeze", "--analyze"),
            (_program("psql"), *as_owner, "-X", "-q", "-d", "postgres", "-c", "CHECKPOINT"),
        ),
        environment={
            "DATABASE_URL": url,
            "POSTGRESQL_URL": url,
            "PGHOST": str(directory),
            "PGPORT": _PORT,
            "PGUSER": "postgres",
            "PGDATABASE": "postgres",
        },
        stop=signal.SIGINT,
    )


def _redis(directory: Path) -> ServiceRecipe:
    """Return a cache or broker that writes nothing to disk while it serves: no snapshots, no append-only file.

    Source: redis.conf as commented by its authors; every directive may stand on the command line.
    """
    socket = str(directory / "socket")
    options = {
        # GENERAL and NETWORK
        "--daemonize": "no",
        "--port": "0",
        "--unixsocket": socket,
        "--unixsocketperm": "777",
        # SNAPSHOTTING and APPEND ONLY MODE: no fork and no writes during a race
        "--save": "",
        "--appendonly": "no",
        "--dir": str(directory / DATA),
        # ACTIVE DEFRAGMENTATION: off as shipped; set explicitly because packages may change it
        "--activedefrag": "no",
    }
    client = (_program("redis-cli"), "-s", socket)
    return ServiceRecipe(
        command=(_program("redis-server"), *(word for option in options.items() for word in option)),
        ready=("sh", "-c", '"$@" | grep -q PONG', "ready", *client, "ping"),
        # the only snapshot, which a copy loads at its start
        settle=((*client, "save"),),
        environment=dict.fromkeys(("REDIS_URL", "CACHE_URL"), f"unix://{socket}") | {"REDIS_SOCKET": socket},
    )


_SERVICES = (
    Service(
        name="mariadb",
        apt=("mariadb-server",),
        dnf=("mariadb-server",),
        apk=("mariadb", "mariadb-client"),
        programs=("mariadbd", "mariadb-install-db", "mariadb-admin", "mariadb-check", "mariadb"),
        prints_version=("--no-defaults", "--version"),
        recipe=_mariadb,
    ),
    Service(
        name="memcached",
        apt=("memcached",),
        dnf=("memcached",),
        apk=("memcached",),
        programs=("memcached",),
        prints_version=("-V",),
        recipe=_memcached,
    ),
    Service(
        name="postgresql",
        apt=("postgresql",),
        dnf=("postgresql-server",),
        apk=("postgresql", "postgresql-client"),
        programs=_POSTGRESQL_PROGRAMS,
        recipe=_postgresql,
        needs_user_name=True,
    ),
    Service(
        name="redis",
        apt=("redis-server",),
        dnf=("valkey-compat-redis",),
        apk=("valkey", "valkey-compat"),
        programs=("redis-server", "redis-cli"),
        recipe=_redis,
    ),
)
