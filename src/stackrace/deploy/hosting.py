"""The app made ready to be hosted: its preparation commands, its runtime, and the module every server loads."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ..app.app import App
from ..app.commands import display
from ..app.entry import COUNTING_MODULE, ENTRY_MODULE, counting_source, entry_source
from ..app.environment import app_environment
from ..base.errors import AppError, LaunchError
from ..base.files import read_text
from ..stacks.servers import Hosted, PythonRuntime, RubyRuntime
from ..stacks.stack import Interface
from .app_files import View
from .environments import site_packages
from .guard import Guard
from .privileges import hand_over
from .rendering import plain
from .running_stack import ended

__all__ = ["hosted", "prepare"]

_PREPARE_TIMEOUT_S = 600
_UNCHANGED = View()


def prepare(app: App, guard: Guard) -> None:
    """Run the app's preparation commands in its folder, its environment's programs first on PATH.

    What they start in the background lives as long as ``guard``. Raises AppError with the command's own output when
    one fails; nothing of it runs on then.
    """
    for command in app.prepare:
        name = f"[app] prepare: {display(command)}"
        try:
            result = guard.run(
                command, folder=app.root, environment=app_environment(app), timeout_s=_PREPARE_TIMEOUT_S
            )
        except subprocess.TimeoutExpired as error:
            raise AppError(f"{name} did not end within {_PREPARE_TIMEOUT_S} s") from error
        except LaunchError as error:
            raise AppError(f"{name}: {error.message}{_script(command[0], app.root)}") from error
        if result.code:
            raise AppError(f"{name} {ended(result.code)}", detail=result.output)


def _script(program: str, root: Path) -> str:
    """Say how a script of the project is named, where ``program`` is one; empty where it is none."""
    file = root / program
    if not file.is_file():
        return ""
    return f"; write ./{program.removeprefix('./')}, and make it executable, or name its interpreter: sh {program}"


def hosted(
    app: App,
    interface: Interface,
    *,
    home: Path | None,
    folder: Path,
    app_packages: Sequence[Path],
    versions: Mapping[str, str] = MappingProxyType({}),
    view: View = _UNCHANGED,
    proxied: bool = False,
) -> Hosted:
    """Describe the app as its host sees it; for Python, write the entry module for ``interface`` below ``folder``.

    ``home`` is the layered environment the host runs in, None for an app without Python; ``app_packages`` are the
    folders of the app's own packages, ``versions`` say which these are, ``view`` what its processes see.
    ``proxied`` tells whether requests say what a proxy would. Paths that a configuration could misread come as
    links below ``folder``.
    """
    runtime: PythonRuntime | RubyRuntime | None
    if home is None:
        runtime = _ruby(app, folder, view)
    else:
        entry = _entry(app, interface, folder, proxied=proxied)
        runtime = replace(_python(app, entry, home, folder, app_packages), versions=versions)
    return Hosted(
        interface=interface,
        root=plain(app.root, folder),
        runtime=runtime,
        static={url: plain(path, folder) for url, path in app.static.items() if view.path(path).is_dir()},
    )


def _entry(app: App, interface: Interface, folder: Path, *, proxied: bool) -> Path:
    """Write the module that every server loads, and what it needs beside it; all stacks of a race share it."""
    place = folder / f"app-{interface}"
    entry = place / f"{ENTRY_MODULE}.py"
    if not entry.exists():
        place.mkdir(parents=True, exist_ok=True)
        hand_over(place)
        (place / f"{COUNTING_MODULE}.py").write_text(counting_source(), encoding="utf-8")
        entry.write_text(entry_source(app, interface, proxied=proxied), encoding="utf-8")
    return entry


def _python(app: App, entry: Path, home: Path, folder: Path, app_packages: Sequence[Path]) -> PythonRuntime:
    home = plain(home, folder)
    return PythonRuntime(
        module=ENTRY_MODULE,
        entry=entry,
        python=home / "bin" / "python",
        home=home,
        python_path=(entry.parent, plain(app.root, folder)),
        site_packages=(site_packages(home), *(plain(packages, folder) for packages in app_packages)),
    )


def _ruby(app: App, folder: Path, view: View) -> RubyRuntime | None:
    """Return what a Rack app runs with; plain files have nothing, and no Ruby either."""
    if app.ruby is None:
        return None
    public = app.public or app.root / "public"
    return RubyRuntime(
        # of the interpreter's folder, since Ruby looks for its library beside it
        ruby=plain(app.ruby.parent, folder) / app.ruby.name,
        config=plain(app.root, folder) / app.entry.target,
        mode=app_environment(app)["RAILS_ENV" if "RAILS_ENV" in app.environment else "RACK_ENV"],
        public=plain(public, folder) if view.path(public).is_dir() else None,
        gems=frozenset(_locked(app.root / "Gemfile.lock")),
    )


def _locked(lock: Path) -> list[str]:
    """Return the names of the gems in a Gemfile.lock: ``    rack (2.2.22)``; none where there is no such file."""
    try:
        return re.findall(r"^    (\S+) \(", read_text(lock, errors="replace"), re.MULTILINE)
    except OSError:
        return []
