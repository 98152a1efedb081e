"""What of this machine a published race does not tell: where files lie, and what its user is called."""

from __future__ import annotations

import getpass
import re
from dataclasses import replace
from pathlib import Path

from ...base.codec import map_paths
from ...base.secrets import masked
from ...race.results.race import Race

__all__ = ["Discretion"]

_ABROAD = "usr|etc|bin|sbin|lib|lib64|dev|proc|sys|nix"
"""Folders that every machine has, below which nothing is private."""
_PRIVATE = (
    "home|root|Users|srv|opt|var|tmp|mnt|media|data|work|workspace|workspaces|code|src|app|apps|www|project|projects|"
    "private|Volumes|export|scratch|builds"
)
"""Folders below which projects lie. Elsewhere a path of two parts may be a URL; longer ones are taken for files."""
_NAME = r"[^\s/'\"<>|:;,()\[\]{}=`\x00-\x1f]"
_METHODS = "".join(rf"(?<!\b{method} )" for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_FILE = re.compile(
    rf"{_METHODS}(?<![\w/.~…*\\-])/(?:(?:{_PRIVATE})(?:/{_NAME}+)+|(?!(?:{_ABROAD})/){_NAME}+(?:/{_NAME}+){{2,}})/?"
)
_FILE_URL = re.compile(rf"\bfile:(?://)?(?=/)(?:/{_NAME}+)+")
_USERS_FOLDER = re.compile(r"/(?:home|Users)/[^/]+/?|/root/?")
_COMMON = {"root", "nobody", "user", "admin", "www-data", "ubuntu", "debian", "runner", "app", "django", "python"}
"""Names that say nothing of anybody, and stand in configurations for other reasons."""


class Discretion:
    """Rewrites records so that a file is left with its last name, and the user with none.

    Doing it again changes nothing, so that who fetched a race publishes the same.
    """

    def __init__(self, home: Path | None = None, user: str | None = None) -> None:
        self._home = str(home or Path.home())
        name = user or _user()
        plain = name.isidentifier() and len(name) > 2 and name not in _COMMON
        self._user = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") if plain else None

    def race(self, race: Race) -> Race:
        """Return ``race`` with all its text rewritten; names and choices of ours stay."""
        urls = self._urls(race.urls)
        workloads = {self.text(name): self._urls(urls) for name, urls in race.workloads.items()}
        return replace(map_paths(race, text=self.text), urls=urls, workloads=workloads)

    def text(self, text: str) -> str:
        """Return ``text`` without the folders of files, the home folder, the user's name, and passwords in URLs."""
        text = masked(text)
        if "/" in text:
            text = _FILE_URL.sub(lambda match: f"file:…/{_last(match[0])}", text)
            if len(self._home) > 1:
                text = re.sub(rf"{re.escape(self._home)}(?![\w.-])/?(?=$|[\s'\":;,)])", "~", text)
            text = _FILE.sub(_shortened, text)
        return text if self._user is None else self._user.sub("USER", text)

    def _urls(self, urls: tuple[str, ...]) -> tuple[str, ...]:
        """Paths of requests are what was raced; only recordings are files."""
        return tuple(self.text(url) if url.startswith("file:") else url for url in urls)


def _shortened(match: re.Match[str]) -> str:
    path = match[0]
    return "~" if _USERS_FOLDER.fullmatch(path) else f"…/{_last(path)}"


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
