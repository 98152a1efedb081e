"""Gunicorn: a pre-forking server whose worker class decides how requests share a process."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping

from ...stack import Interface, Origin, Protocol, ServerSpec, Setting, SettingValue
from ...tunable import Formula, Tunable
from ..contract import BACKLOG, Recipe, Reload, Server
from ..options import own
from ..settings import ACCESS_LOG, KEEP_ALIVE, MOST_SECONDS, RECYCLING, fixed_by
from ..site import Site
from ..templates import Rendered
from .command import COMMAND
from .own import LANGUAGE, OPTIONS, TAKEN, WORKER, key_of

__all__ = ["SERVER", "Gunicorn"]

CLASSES = {
    "sync": Interface.WSGI,
    "gthread": Interface.WSGI,
    "gevent": Interface.WSGI,
    "asgi": Interface.ASGI,
    "uvicorn": Interface.ASGI,
}
TWICE_AND_ONE = Formula(per_core=2, plus=1, source="gunicorn, Design, How Many Workers?")
SILENT = {"max_requests": 0, "max_requests_jitter": 0, "http_parser": "auto"}
"""The values that need not be said."""
OWN_FILE = "own.conf.py"
FIRST = "20.1"
"""Projects often pin gunicorn itself, and race what they pin; before 20.1 its command line differs."""
FIRST_WITH_ASGI = "25.1"
# gunicorn's gevent worker imports packaging, which gunicorn itself does not always bring
BRINGS: Mapping[str, tuple[str, ...]] = {
    "gevent": ("gevent", "packaging"),
    "uvicorn": ("uvicorn-worker", "uvicorn[standard]"),
}


def _brings(settings: Mapping[str, SettingValue]) -> Iterator[str]:
    yield from BRINGS.get(str(settings["class"]), ())
    if settings["class"] == "asgi" and settings.get("loop") != "asyncio":
        yield "uvloop"
    if settings.get("http_parser") == "fast":
        yield "gunicorn[fast]"


def _threads(settings: Mapping[str, SettingValue]) -> int:
    return int(settings.get("threads", 1)) if settings["class"] == "gthread" else 1


def _preloads(settings: Mapping[str, SettingValue]) -> bool:
    return bool(settings.get("preload", False))


class Gunicorn(Server):
    """Everything is said on the command line, as its documentation does in its examples."""

    spec = ServerSpec(
        name="gunicorn",
        title="Gunicorn",
        listens=frozenset({Protocol.HTTP, Protocol.UWSGI}),
        hosts=frozenset(CLASSES.values()),
        settings=(
            Setting(
                name="workers",
                default=2,
                maximum=256,
                origin=Origin.TUNED,
                tunable=Tunable(per_core=8, most=256, formula=TWICE_AND_ONE),
                help="Worker processes; its documentation starts from twice the cores plus one.",
            ),
            Setting(
                name="class",
                default="sync",
                choices=tuple(CLASSES),
                implies=CLASSES,
                # Uvicorn reads the connection itself
                listens={"uvicorn": frozenset({Protocol.HTTP})},
                # Source: gunicorn, Design, "Sync Workers"
                # gevent changes what the app's own libraries do, which is not for a tuner to decide
                tunable=Tunable(values=("sync", "gthread")),
                closes={"sync": "gunicorn's sync worker closes after every answer by design: use class=gthread"},
                help="What a worker is: sync serves one request at a time without keep-alive, gthread has "
                "threads, gevent greenlets; uvicorn and gunicorn's own asgi host the app's ASGI interface. asgi "
                "lets only 100 connections wait, whatever the backlog.",
            ),
            Setting(
                name="threads",
                default=4,
                maximum=1024,
                origin=Origin.RECOMMENDED,
                # with more than one thread, gunicorn silently turns sync into gthread
                only={"class": ("gthread",)},
                tunable=Tunable(least=2, most=32, steps=5, multiplies=True),
                help="Threads of each worker, class=gthread only; raise it when requests wait on a database.",
            ),
            Setting(
                name="worker_connections",
                default=1000,
                maximum=65536,
                only={"class": ("gthread", "gevent", "asgi")},
                help="Most connections of each worker at once, class=gthread, gevent and asgi only.",
            ),
            Setting(
                name="preload",
                default=False,
                tunable=Tunable(values=(False, True), memory_only=True),
                help="Load the app before the workers are forked, so that they share its memory; not every app "
                "survives it.",
            ),
            *RECYCLING,
            Setting(
                name="timeout",
                default=30,
                minimum=0,
                maximum=MOST_SECONDS,
                help="Seconds after which a worker that says nothing is killed, with its request; 0 is never.",
            ),
            KEEP_ALIVE,
            Setting(
                name="loop",
                default="auto",
                choices=("auto", "asyncio", "uvloop"),
                only={"class": ("asgi",)},
                help="The event loop, class=asgi only; auto takes uvloop, choose asyncio to see what that brings.",
            ),
            Setting(
                name="http_parser",
                default="auto",
                choices=("auto", "fast", "python"),
                help="Who parses HTTP: fast is an extension in C, python gunicorn itself; auto takes fast where "
                "the app's environment has it.",
            ),
            ACCESS_LOG,
        ),
        processes=fixed_by("workers"),
        preloads=_preloads,
        threads=_threads,
        own=LANGUAGE,
        command=COMMAND,
        suggested_for=frozenset({Interface.WSGI}),
    )

    def requirements(self, settings: Mapping[str, SettingValue]) -> tuple[str, ...]:
        """Return gunicorn, in the version that the app's environment has if any, and what its class brings."""
        is_new = settings["class"] == "asgi" or settings.get("http_parser") in ("fast", "python")
        return (f"gunicorn>={FIRST_WITH_ASGI if is_new else FIRST}", *_brings(settings))

    def recipe(self, site: Site) -> Recipe:
        """Bind to the site's socket; heartbeats stay in the site, no control socket opens in HOME."""
        address = f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address
        # what must not be otherwise, whatever a file of the user's says
        options: dict[str, object] = {
            "--config": site.directory / "gunicorn.conf.py",
            "--bind": address,
            # Its graceful stop waits for kept connections; no load is left when a stack is stopped.
            "--graceful-timeout": site.patience_s(2),
            "--log-level": "info" if site.production else "warning",
        }
        if site.listen.protocol is Protocol.UWSGI:
            options["--protocol"] = "uwsgi"
        if site.file is None:
            options |= {"--backlog": BACKLOG, "--forwarded-allow-ips": site.believed}
        said = {**options, **dict(_settings(site))}
        if site.production:
            # what stays is read by people, who look for it in a file
            config, said = {key_of(option): value for option, value in said.items()}, {}
            del config["config"]
        else:
            config = {}
        return Recipe(
            command=(
                str(site.app.python),
                "-m",
                "gunicorn",
                *_words(said or {"--config": options["--config"]}),
                *own(site),
                f"{site.app.module}:application",
            ),
            files={"tmp/.keep": "", "logs/.keep": "", **self._config(site, config)},
            environment=site.app.import_environment,
            reload=Reload(
                by=signal.SIGHUP,
                source='gunicorn, "Signal Handling", Reload the configuration',
                renews_app=not _preloads(site.settings),
                loses="resets connections that its Uvicorn worker has not read from yet"
                if site.settings["class"] == "uvicorn"
                else "",
            ),
            reopens=signal.SIGUSR1,
            arguments_variable="GUNICORN_CMD_ARGS",
        )

    def _config(self, site: Site, said: Mapping[str, object]) -> dict[str, str]:
        """Return its file, without which gunicorn takes one that lies in the project; ``said`` is by its keys."""
        production = ""
        if site.production:
            lines = {key: Rendered(repr(_plain(value))) for key, value in said.items()}
            production = self.render("production.conf.py.j2", site, said=lines)
        wrapper = self.render(
            "gunicorn.conf.py.j2",
            site,
            file=site.file,
            taken=sorted(TAKEN),
            trusted=site.believed,
            production=production,
        )
        return {"gunicorn.conf.py": wrapper, **({OWN_FILE: site.file.text} if site.file else {})}


def _settings(site: Site) -> Iterator[tuple[str, object]]:
    """Yield the options for settings, those that are on with True.

    With a file of the user's only those that the path gives as well.
    """
    kind = str(site.settings["class"])
    idle = Gunicorn.spec.idle(site.settings)
    for option, name in OPTIONS.items():
        wanted = site.file is None or name in site.chosen or (name == "class" and kind in WORKER)
        value = _value(site, name)
        if not wanted or name in idle or value is None or value == SILENT.get(name):
            continue
        yield f"--{option}", value


def _words(options: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(
        str(word) for option, value in options.items() for word in ((option,) if value is True else (option, value))
    )


def _plain(value: object) -> object:
    return value if isinstance(value, (int, bool)) else str(value)


def _value(site: Site, name: str) -> object:
    """Return the value of the option for a setting; None where it has none."""
    value = site.settings.get(name)
    if name == "class":
        return WORKER.get(str(value), value)
    if name == "access_log":
        return site.logs / "access.log" if value else None
    return None if value is False else value


SERVER = Gunicorn()
