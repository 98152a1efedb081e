"""Gunicorn: a pre-forking server whose worker class decides how requests share a process."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Mapping

from ...native_options import Option
from ...setting import Interface, Protocol, Settings
from ...stack import ServerSpec
from ..contract import Fault, Recipe, Reload, Server
from ..settings import fixed_by, given, row_words, value_of
from ..site import Site
from ..templates import Rendered
from .options import CLASS_OF, CLASSES, OPTIONS

_OWN_FILE = "own.conf.py"
_FIRST = "20.1"
"""First version that is chosen; an app that brings an older one is raced with that."""
_FIRST_WITH_ASGI = "25.1"
# gunicorn's gevent worker imports packaging, which gunicorn itself does not always bring
_BRINGS: Mapping[str, tuple[str, ...]] = {
    "gevent": ("gevent", "packaging"),
    "uvicorn": ("uvicorn-worker", "uvicorn[standard]"),
    "uvicorn-h11": ("uvicorn-worker", "uvicorn"),
    "asgi": ("uvloop",),
}


def _threads(settings: Settings) -> int:
    return int(settings.get("threads", 1)) if settings["class"] == "gthread" else 1


def _preloads(settings: Settings) -> bool:
    return bool(settings.get("preload", False))


class Gunicorn(Server):
    """Gunicorn, configured on the command line as in its documentation's examples."""

    spec = ServerSpec(
        name="gunicorn",
        title="Gunicorn",
        listens=frozenset({Protocol.HTTP, Protocol.UWSGI}),
        hosts=frozenset(CLASSES.values()),
        settings=OPTIONS.spec_settings,
        processes=fixed_by("workers"),
        preloads=_preloads,
        threads=_threads,
        native=OPTIONS,
        suggested_for=frozenset({Interface.WSGI}),
        package="gunicorn",
    )
    faults = (
        Fault(
            where="…/uwsgi/gunicorn",
            text="It decodes PATH_INFO twice. Paths with `%25` or letters outside ASCII arrive wrong.",
            changes_request=True,
        ),
    )

    def requirements(self, settings: Settings) -> tuple[str, ...]:
        """Return gunicorn and what its worker class needs; a version in the app's environment wins."""
        worker = str(settings["class"])
        return (f"gunicorn>={_FIRST_WITH_ASGI if worker == 'asgi' else _FIRST}", *_BRINGS.get(worker, ()))

    def recipe(self, site: Site) -> Recipe:
        """Return a command that listens on the site's socket; heartbeats stay in the site, no control socket opens
        in HOME."""
        rows = list(_said(site))
        # in production people read the settings, and look for them in a file
        ours = [(row, value) for row, value in rows if not site.production or row.long[0] == "config"]
        words = (word for row, value in ours for word in row_words(row, value))
        app = f"{site.app.module}:application"
        # the package itself cannot be run before 20.1
        module = "gunicorn.app.wsgiapp" if site.app.has_before("gunicorn", 20, 1) else "gunicorn"
        return Recipe(
            command=(str(site.app.python), "-m", module, *words, *given(site), app),
            files={"tmp/.keep": "", "logs/.keep": "", **self._config(site, rows)},
            environment=site.app.import_environment,
            reload=Reload(
                by=signal.SIGHUP,
                source='gunicorn, "Signal Handling", Reload the configuration',
                renews_app=not _preloads(site.settings),
                loses="resets connections that its Uvicorn worker has not read from yet"
                if site.settings["class"] in CLASS_OF
                else "",
            ),
            reopens=signal.SIGUSR1,
            arguments_variable="GUNICORN_CMD_ARGS",
        )

    def _config(self, site: Site, rows: Iterable[tuple[Option, object]]) -> dict[str, str]:
        """Return the configuration files by name: ours, which replaces the project's, and the user's. In production
        ours holds ``rows``."""
        wrapper = self.render(
            "gunicorn.conf.py.j2",
            site,
            file=site.file,
            taken=sorted(key for key, concern in OPTIONS.decided_keys.items() if concern not in site.kept_concerns),
            trusted=site.trusted_proxies,
            said={row.file_key: _literal(value) for row, value in rows if row.long[0] != "config"},
        )
        return {"gunicorn.conf.py": wrapper, **({_OWN_FILE: site.file.text} if site.file else {})}


def _said(site: Site) -> Iterator[tuple[Option, object]]:
    """Yield option rows and their values: the options that Stackrace decides, and the settings. If the user has a
    configuration file, only the settings that the path gives are included.
    """
    idle = Gunicorn.spec.idle(site.settings)
    for row in OPTIONS.rows:
        name = row.setting.name if row.setting else ""
        is_new = name == "class" and site.settings["class"] in CLASS_OF
        wanted = not name or site.file is None or name in site.chosen or is_new
        if wanted and name not in idle and (value := value_of(row, site)) is not None and value is not False:
            yield row, value


def _literal(value: object) -> Rendered:
    return Rendered(repr(value if isinstance(value, (int, bool)) else str(value)))


SERVER = Gunicorn()
