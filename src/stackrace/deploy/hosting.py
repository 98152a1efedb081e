"""The app made ready to be hosted: its preparation commands, its runtime, and the module every server loads."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..apps import COUNTING_MODULE, ENTRY_MODULE, app_environment, counting_source, entry_source
from ..model.app import App
from ..model.errors import AppError
from ..model.stack import Interface
from ..servers import Hosted, PythonRuntime, RubyRuntime
from .commands import run
from .environments import site_packages
from .privileges import hand_over
from .running import ended

__all__ = ["hosted", "prepare"]

PREPARE_TIMEOUT_S = 600


def prepare(app: App) -> None:
    """Run the app's preparation commands in its folder, its environment's programs first on PATH.

    Raises AppError with the command's own output when one fails; nothing of it runs on then.
    """
    for command in app.prepare:
        name = f"[app] prepare: {' '.join(command)}"
        try:
            result = run(command, folder=app.root, environment=app_environment(app), timeout_s=PREPARE_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise AppError(f"{name} did not end within {PREPARE_TIMEOUT_S} s") from error
        except OSError as error:
            raise AppError(f"{name} cannot be run: {error}") from error
        if result.code:
            raise AppError(f"{name} {ended(result.code)}", detail=result.output)


def hosted(
    app: App, interface: Interface, *, home: Path | None, folder: Path, app_packages: Sequence[Path]
) -> Hosted:
    """Describe the app as its host sees it; for Python, write the entry module for ``interface`` below ``folder``.

    ``home`` is the layered environment the host runs in, None for an app without Python; ``app_packages`` are the
    folders of the app's own packages.
    """
    return Hosted(
        interface=interface,
        root=app.root,
        runtime=_ruby(app) if home is None else _python(app, interface, home, folder, app_packages),
        static={url: path for url, path in app.static.items() if path.is_dir()},
    )


def _python(
    app: App, interface: Interface, home: Path, folder: Path, app_packages: Sequence[Path]
) -> PythonRuntime:
    place = folder / f"app-{interface}"
    entry = place / f"{ENTRY_MODULE}.py"
    if not entry.exists():
        place.mkdir(parents=True, exist_ok=True)
        hand_over(place)
        (place / f"{COUNTING_MODULE}.py").write_text(counting_source(), encoding="utf-8")
        entry.write_text(entry_source(app, interface), encoding="utf-8")
    return PythonRuntime(
        module=ENTRY_MODULE,
        entry=entry,
        python=home / "bin" / "python",
        home=home,
        python_path=(place, app.root),
        site_packages=(site_packages(home), *app_packages),
    )


def _ruby(app: App) -> RubyRuntime | None:
    """Return what a Rack app runs with; plain files have nothing, and no Ruby either."""
    if app.ruby is None:
        return None
    public = app.public or app.root / "public"
    return RubyRuntime(
        ruby=app.ruby,
        config=app.root / app.entry.target,
        mode=app_environment(app)["RAILS_ENV" if "RAILS_ENV" in app.environment else "RACK_ENV"],
        public=public if public.is_dir() else None,
        gems=frozenset(_locked(app.root / "Gemfile.lock")),
    )


def _locked(lock: Path) -> list[str]:
    """Return the names of the gems in a Gemfile.lock: ``    rack (2.2.22)``; none where there is no such file."""
    try:
        return re.findall(r"^    (\S+) \(", lock.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return []
