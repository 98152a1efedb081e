"""What one hop of a path says in its server's own language: options given as they are, and a configuration file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import StackError
from ..base.files import read_bytes
from .native_options import CONFIG, NativeOptions, OwnFile, OwnOption
from .path_words import HopWords
from .stack import ServerSpec, SettingValue

__all__ = ["OwnWords", "own_words"]

MOST_BYTES = 256 * 1024
"""More than any configuration that people write; what is longer is something else."""

_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWords:
    """The words of a hop, told apart."""

    options: tuple[OwnOption, ...] = ()
    config: str = ""
    file: OwnFile | None = None
    others: tuple[tuple[str, str | None], ...] = ()
    """Settings of ours."""

    @property
    def settings(self) -> Mapping[str, SettingValue]:
        """What the file says of the server's settings."""
        return self.file.reading.settings if self.file else {}

    @property
    def computed(self) -> Mapping[str, str]:
        """The settings that only the server knows, once it has run the file."""
        return self.file.reading.computed if self.file else {}


def own_words(text: str, hop: HopWords, spec: ServerSpec, folder: Path | None) -> OwnWords:
    """Tell the words of ``hop`` apart. Raises StackError for what the server does not take, or cannot be given."""
    names = {setting.name for setting in spec.settings}
    options = [word for word in hop.settings if word[0].startswith("-")]
    files = [word for word in hop.settings if word[0] == CONFIG and CONFIG not in names]
    if len(files) > 1:
        raise StackError(f"stack {text!r}: setting {CONFIG!r} is given twice")
    config = _config(text, spec, files[0][1]) if files else ""
    return OwnWords(
        options=tuple(_option(text, spec, name, value) for name, value in options),
        config=config,
        file=_file(text, _options(text, spec), folder / config, folder) if config and folder else None,
        others=tuple(word for word in hop.settings if word not in options and word not in files),
    )


def _options(text: str, spec: ServerSpec) -> NativeOptions:
    if spec.native is None or not spec.native.in_paths:
        settings = ", ".join(setting.name for setting in spec.settings) or "none"
        raise StackError(
            f"stack {text!r}: {spec.name} takes no words of its own language here; its settings: {settings}"
        )
    return spec.native


def _option(text: str, spec: ServerSpec, name: str, value: str | None) -> OwnOption:
    if not _OPTION.fullmatch(name):
        raise StackError(f"stack {text!r}: write an option of {spec.name} in its long form, as in --name=value")
    bare = name.removeprefix("--")
    if problem := _options(text, spec).problem(bare, value):
        raise StackError(f"stack {text!r}: {spec.name}'s {name} cannot be given: {problem}")
    return OwnOption(name=bare, value=value)


def _config(text: str, spec: ServerSpec, value: str | None) -> str:
    native = _options(text, spec)
    if not native.file:
        way_out = "give options as --name=value"
        raise StackError(f"stack {text!r}: {spec.name} takes no configuration file here; {way_out}")
    if not value:
        raise StackError(f"stack {text!r}: setting {CONFIG!r} needs a value, as in {CONFIG}={native.file}")
    return value


def _file(text: str, native: NativeOptions, path: Path, folder: Path) -> OwnFile:
    wrong = f"stack {text!r}: the configuration file {path}"
    try:
        words = read_bytes(path, MOST_BYTES).decode("utf-8")
        place, project = path.absolute(), folder.absolute()
        return OwnFile(path=place, text=words, reading=native.reading(words, place, project), folder=project)
    except OSError as error:
        raise StackError(f"{wrong} cannot be read: {error.strerror}; correct {CONFIG}=") from error
    except ValueError as error:
        raise StackError(f"{wrong} cannot be used: {error}") from error
