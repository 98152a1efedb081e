"""What of this machine a published race does not tell: where files lie, and what its user is called."""

from __future__ import annotations

import getpass
import re
from pathlib import Path
from typing import Any

from ..model.secrets import masked

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
    """Rewrites documents so that a file is left with its last name, and the user with none.

    Doing it again changes nothing, so that who fetched a race publishes the same document.
    """

    def __init__(self, home: Path | None = None, user: str | None = None) -> None:
        self._home = str(home or Path.home())
        name = user or _user()
        plain = name.isidentifier() and len(name) > 2 and name not in _COMMON
        self._user = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") if plain else None

    def document(self, value: Any) -> Any:
        """Return ``value``, plain JSON, with all its text rewritten."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.document(each) for each in value]
            case dict():
                return {self.text(name): self._member(name, each) for name, each in value.items()}
        return value

    def _member(self, name: str, value: Any) -> Any:
        match name:
            case "histogram":
                # bytes
                return value
            case "urls":
                return self._urls(value)
            case "workloads" if isinstance(value, dict):
                return {workload: self._urls(urls) for workload, urls in value.items()}
        return self.document(value)

    def text(self, text: str) -> str:
        """Return ``text`` without the folders of files, the home folder, the user's name, and passwords in URLs."""
        text = masked(text)
        if "/" in text:
            text = _FILE_URL.sub(lambda match: f"file:…/{_last(match[0])}", text)
            if len(self._home) > 1:
                text = re.sub(rf"{re.escape(self._home)}(?![\w.-])/?(?=$|[\s'\":;,)])", "~", text)
            text = _FILE.sub(_shortened, text)
        return text if self._user is None else self._user.sub("USER", text)

    def _urls(self, urls: Any) -> Any:
        """Paths of requests are what was raced; only recordings are files."""
        return [self.text(url) if url.startswith("file:") else url for url in urls]


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
