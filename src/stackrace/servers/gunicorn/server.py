"""Gunicorn: a pre-forking server whose worker class decides how requests share a process."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.stack import Interface, Origin, Protocol, ServerSpec, Setting, SettingValue
from ..contract import BACKLOG, KEEP_ALIVE_S, Recipe, Server, Site
from ..options import words
from ..processes import fixed_by
from ..shared_settings import ACCESS_LOG

__all__ = ["SERVER", "Gunicorn"]

CLASSES = {
    "sync": Interface.WSGI,
    "gthread": Interface.WSGI,
    "gevent": Interface.WSGI,
    "uvicorn": Interface.ASGI,
}
# Without gunicorn's own asgi worker: it listens anew with asyncio's backlog of 100, whatever --backlog says.
WORKER = {"uvicorn": "uvicorn_worker.UvicornWorker"}
# gunicorn's gevent worker imports packaging, which gunicorn itself does not always bring
BRINGS = {"gevent": ("gevent", "packaging"), "uvicorn": ("uvicorn-worker", "uvicorn[standard]")}


def _threads(settings: Mapping[str, SettingValue]) -> int:
    return int(settings["threads"]) if settings["class"] == "gthread" else 1


class Gunicorn(Server):
    """Everything is said on the command line, as its documentation does in its examples."""

    spec = ServerSpec(
        name="gunicorn",
        title="Gunicorn",
        listens=frozenset({Protocol.HTTP}),
        hosts=frozenset(CLASSES.values()),
        settings=(
            Setting(
                name="workers",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                help="Worker processes; its documentation starts from twice the cores plus one.",
            ),
            Setting(
                name="class",
                default="sync",
                choices=tuple(CLASSES),
                implies=CLASSES,
                # Source: gunicorn, Design, "Sync Workers"
                closes={"sync": "gunicorn's sync worker closes after every answer by design: use class=gthread"},
                help="What a worker is: sync serves one request at a time without keep-alive, gthread has "
                "threads, gevent greenlets; uvicorn hosts the app's ASGI interface.",
            ),
            Setting(
                name="threads",
                default=4,
                maximum=1024,
                origin=Origin.RECOMMENDED,
                help="Threads of each worker, class=gthread only; raise it when requests wait on a database.",
            ),
            ACCESS_LOG,
        ),
        processes=fixed_by("workers"),
        threads=_threads,
        suggested_for=frozenset({Interface.WSGI}),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return gunicorn and what its worker class brings; 25.1 is the first with --no-control-socket."""
        return ("gunicorn>=25.1", *BRINGS.get(str(settings["class"]), ()))

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket; heartbeats stay in the site, no control socket opens in HOME."""
        address = f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address
        kind = str(site.settings["class"])
        options = {
            "--bind": address,
            "--workers": site.settings["workers"],
            "--worker-class": WORKER.get(kind, kind),
            "--backlog": BACKLOG,
            "--keep-alive": KEEP_ALIVE_S,
            # Its graceful stop waits for kept connections; no load is left when a stack is stopped.
            "--graceful-timeout": 2,
            "--worker-tmp-dir": site.directory / "tmp",
            "--log-level": "warning",
        }
        if kind == "gthread":
            # Only here: with more than one thread, Gunicorn silently turns sync into gthread.
            options["--threads"] = site.settings["threads"]
        if site.settings["access_log"]:
            options["--access-logfile"] = site.directory / "logs" / "access.log"
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "gunicorn",
                *words(options),
                "--no-control-socket",
                f"{site.app.module}:application",
            ),
            files={"tmp/.keep": "", "logs/.keep": ""},
            environment=site.app.import_environment,
            arguments_variable="GUNICORN_CMD_ARGS",
        )


SERVER = Gunicorn()
