"""The variables that everything of the app runs with: its examination, its commands, its servers."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..base.errors import InputError
from ..base.secrets import learn
from .app import App, EntryKind
from .env_file import learn_env_files
from .local_packages import local_packages

__all__ = ["app_environment", "settings_module"]

_NOT_THE_APPS = ("DJANGO_SETTINGS_MODULE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
"""Variables of the shell that Stackrace runs in: they point at another Python, or at another project."""

_RACK_MODES = ("RACK_ENV", "RAILS_ENV")


def app_environment(app: App, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return ``environ`` without what belongs to Stackrace's own Python, with the app's variables and PATH.

    The folder of the app's interpreter leads PATH, so that ``python manage.py migrate`` is run by it. A Rack app
    runs in production, whatever the shell says, unless its own variables say otherwise. Their secrets are masked
    from now on. Raises InputError for an interpreter that cannot lead PATH.
    """
    kept = {name: value for name, value in environ.items() if name not in _NOT_THE_APPS}
    if interpreter := app.python or app.ruby:
        if os.pathsep in str(interpreter.parent):
            raise InputError(
                f"{interpreter} cannot lead PATH, which {os.pathsep!r} divides: rename its folder, or give another "
                f"interpreter as [app] {'python' if app.python else 'ruby'}"
            )
        kept["PATH"] = os.pathsep.join((str(interpreter.parent), kept.get("PATH", os.defpath)))
    if packages := local_packages(app.root, app.python):
        kept["PYTHONPATH"] = str(packages)
    if app.entry.kind is EntryKind.RACK:
        kept |= dict.fromkeys(_RACK_MODES, "production")
    if settings := settings_module(app):
        kept["DJANGO_SETTINGS_MODULE"] = settings
    variables = kept | dict(app.environment)
    learn(variables, (app.name, *app.root.parts))
    learn_env_files(app.root)
    return variables


def settings_module(app: App) -> str:
    """Return a Django project's settings module, else nothing; ``app.environment`` may override it."""
    if app.entry.kind is not EntryKind.DJANGO:
        return ""
    return app.environment.get("DJANGO_SETTINGS_MODULE", app.entry.target)
