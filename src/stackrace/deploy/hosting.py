"""The app made ready to be hosted: its preparation commands, and the module every server loads."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..apps import ENTRY_MODULE, app_environment, entry_source
from ..model.app import App
from ..model.errors import AppError
from ..model.stack import Interface
from ..servers import Hosted
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
            done = run(command, folder=app.root, environment=app_environment(app), timeout_s=PREPARE_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise AppError(f"{name} did not end within {PREPARE_TIMEOUT_S} s") from error
        except OSError as error:
            raise AppError(f"{name} cannot be run: {error}") from error
        if done.code:
            raise AppError(f"{name} {ended(done.code)}", detail=done.output)


def hosted(app: App, interface: Interface, *, home: Path, folder: Path, app_packages: Sequence[Path]) -> Hosted:
    """Write the entry module for ``interface`` below ``folder`` and describe the app as its host sees it.

    ``home`` is the layered environment the host runs in, ``app_packages`` the folders of the app's own packages.
    """
    place = folder / f"app-{interface}"
    entry = place / f"{ENTRY_MODULE}.py"
    if not entry.exists():
        place.mkdir(parents=True, exist_ok=True)
        hand_over(place)
        entry.write_text(entry_source(app, interface), encoding="utf-8")
    return Hosted(
        interface=interface,
        module=ENTRY_MODULE,
        entry=entry,
        root=app.root,
        python=home / "bin" / "python",
        home=home,
        python_path=(place, app.root),
        site_packages=(site_packages(home), *app_packages),
        static={url: path for url, path in app.static.items() if path.is_dir()},
    )
