"""Which of several deployments is the likeliest one of production: a rule over what their files are called.

First what is called *production*, *prod*, *live* or *deploy*, then what is called nothing special, last what is
called *dev*, *local*, *test*, *ci*, *example* and the like. Among equals: units of systemd and supervisor, Procfile
and files of hosting platforms, compose files, Dockerfiles and their scripts, a server's own configuration file by
itself, tasks. A server that reloads changed code, or one for debugging, is no deployment.
"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["is_development", "is_platform", "likelihood"]

_PRODUCTION = re.compile(r"(?<![a-z])(prod|production|live|deploy|deployment)(?![a-z])", re.IGNORECASE)
_DEVELOPMENT = re.compile(
    r"(?<![a-z])(dev|devel|develop|development|devcontainer|local|(reg)?tests?|testing|ci|debug|examples?|samples?|override|"
    r"e2e|mock\w*|bench|benchmarks?|demos?|docs?|staging|preview)(?![a-z])",
    re.IGNORECASE,
)
_KINDS = (
    re.compile(r"\.service$|supervisor[^/]*\.conf$|supervisor/[^/]*\.conf$"),
    re.compile(r"(^|/)(Procfile|app\.ya?ml|heroku\.yml|render\.ya?ml|fly\.toml|railway\.(toml|json))$"),
    re.compile(r"compose[^/]*\.ya?ml$"),
    re.compile(r"([Dd]ocker|Container)file[^/]*$|\.sh$|(^|/)[^/.]+$"),
    re.compile(r"gunicorn[^/]*\.py$|uwsgi[^/]*\.ini$"),
)


def likelihood(file: Path, root: Path, service: str = "") -> tuple[int, int]:
    """Return a key by which a project's deployments sort, the likeliest one of production first."""
    name = str(file.relative_to(root)) if file.is_relative_to(root) else file.name
    whole = f"{name}/{service}"
    stage = 2 if _DEVELOPMENT.search(whole) else 0 if _PRODUCTION.search(whole) else 1
    kind = next((place for place, pattern in enumerate(_KINDS) if pattern.search(name)), len(_KINDS))
    return stage, kind


def is_development(file: Path, root: Path) -> bool:
    """Tell whether the file is called one for development, for tests or for show."""
    return likelihood(file, root)[0] > 1


def is_platform(file: Path, root: Path) -> bool:
    """Tell whether a hosting platform reads the file, which has front ends of its own."""
    return bool(_KINDS[1].search(str(file.relative_to(root)) if file.is_relative_to(root) else file.name))
