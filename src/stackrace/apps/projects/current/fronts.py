"""Front ends that a project configures: an nginx site that forwards to the app."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ....model.current import CurrentChange, CurrentGap
from ....model.exported import is_exported
from ....model.foreign import said_by
from ....model.own import CONFIG, OwnReading
from ....model.stack import ServerSpec
from ..deployment_command import text_of
from ..likelihood import likelihood
from ..places import deployment_folders
from .hop import quoted_value

__all__ = ["Front", "fronts"]

_NAMES = re.compile(r"\.(conf|nginx|vhost|template|tmpl|site)$|nginx|^default$", re.IGNORECASE)
_FOLDERS = frozenset({"sites-available", "sites-enabled", "conf.d", "nginx"})
_NO_TEXT = re.compile(
    r"\.(py|md|rst|txt|sh|ya?ml|json|html?|js|ts|service|toml|lock|png|svg|j2)$|Dockerfile", re.IGNORECASE
)
_PASSES = re.compile(r"(?:^|[{;])\s*(?:proxy|uwsgi|fastcgi|scgi)_pass\s", re.MULTILINE)
_FORWARDS = re.compile(
    r"(?:^|[{;])\s*(?:(?:proxy|uwsgi|fastcgi|scgi)_pass\s|server\s*\{.*\binclude\s)", re.MULTILINE | re.DOTALL
)
"""What forwards, or may include what does."""
_LINE = re.compile(r"line (\d+): ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """A front end with its configuration file."""

    spec: ServerSpec
    file: str
    """Relative to the project's folder."""
    reading: OwnReading | None
    """None where the file cannot be read."""
    problem: str = ""
    """Why not."""

    def text(self, root: Path, base: Path) -> str:
        """Return how a path spells it, its file relative to ``base``; ``root`` is the project's folder."""
        return f"{self.spec.name}:{CONFIG}={quoted_value(os.path.relpath(root / self.file, base))}"

    @property
    def wire(self) -> str:
        """The protocol in which it forwards."""
        return self.reading.forwards if self.reading else ""

    @property
    def is_unix(self) -> bool:
        """Whether it reaches the app by a unix socket."""
        return self.reading is not None and self.reading.target.startswith("unix:")

    @property
    def changes(self) -> Iterator[CurrentChange]:
        """What is decided otherwise than its file says."""
        for change in self.reading.changes if self.reading else ():
            file, key = _in_file(change.key, self.file)
            yield CurrentChange(file=file, line=change.line, key=key, theirs=change.theirs, concern=change.concern)

    @property
    def gaps(self) -> Iterator[CurrentGap]:
        """What of its file a race goes without."""
        if self.problem:
            line = _LINE.match(self.problem)
            yield CurrentGap(
                file=self.file,
                line=int(line[1]) if line else 0,
                what=self.spec.title,
                why=self.problem[line.end() :] if line else self.problem,
            )
        for gap in self.reading.not_taken if self.reading else ():
            file, what = _in_file(gap.what, self.file)
            yield CurrentGap(file=file, line=gap.line, what=what, why=gap.why)


def _in_file(words: str, file: str) -> tuple[str, str]:
    """Tell apart the included file that a reading names before a directive."""
    other, colon, rest = words.partition(": ")
    return (other, rest) if colon and " " not in other else (file, words)


def fronts(
    root: Path, specs: Mapping[str, ServerSpec], texts: Collection[str] = (), beside: Path | None = None
) -> list[Front]:
    """Return the front ends that the files of the project at ``root`` configure, the likeliest of production first.

    A file that another one includes is a part of that. Among equals one goes first that the deployment files
    ``texts`` speak of, then the one with the shortest name. Of a folder of exported files those count that lie
    ``beside`` the file that the user names there.
    """

    def key(front: Front) -> tuple[bool, tuple[int, int], bool, int]:
        mentioned = any(f"/{Path(front.file).name}" in text for text in texts)
        return not front.reading, likelihood(root / front.file, root), not mentioned, len(front.file)

    found = [
        front
        for spec in specs.values()
        if spec.own is not None and spec.own.read_in is not None and spec.forwards
        for path in dict.fromkeys((*_files(root), *_files_beside(beside, root)))
        if (front := _front(root, path, spec)) is not None
    ]
    parts = {file for front in found if front.reading for file in front.reading.files}
    whole = [front for front in found if front.file not in parts]
    return sorted(whole, key=key)


def _files(root: Path) -> Iterator[Path]:
    for place, _, names in deployment_folders(root):
        yield from (place / name for name in names if _may_forward(place, name))


def _files_beside(file: Path | None, root: Path) -> Iterator[Path]:
    """Yield the front ends' files of the exported folder that has ``file``, if it is in one."""
    if file is not None and file.is_relative_to(root) and is_exported(file):
        yield from (path for path in sorted(file.parent.iterdir()) if _may_forward(path.parent, path.name))


def _may_forward(place: Path, name: str) -> bool:
    named = _NAMES.search(name) or place.name in _FOLDERS
    return bool(named and not _NO_TEXT.search(name) and _FORWARDS.search(text_of(place / name)))


def _front(root: Path, path: Path, spec: ServerSpec) -> Front | None:
    """Return the front end of a file; None for one that forwards nothing itself and includes nothing that does."""
    file, text = str(path.relative_to(root)), text_of(path)
    assert spec.own is not None
    try:
        return Front(spec=spec, file=file, reading=spec.own.reading(text, path, root))
    except (OSError, ValueError) as error:
        if not _PASSES.search(text):
            return None
        return Front(spec=spec, file=file, reading=None, problem=said_by(error))
