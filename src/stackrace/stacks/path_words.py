"""The words of a stack path: the ends of hops and settings, quoted values, and the server's own options.

A value in a server's own language, an option ``--NAME=VALUE`` or ``config=FILE``, may hold ``/``: only
``/PROTOCOL/`` ends it. A value with a comma, a plus or a blank must be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import StackError
from ..base.files import read_bytes
from .native_files import FileReading, GivenOption, NativeFile
from .native_options import CONFIG, NativeOptions
from .setting import Protocol
from .stack import ServerSpec

_WIRE = f"/(?:{'|'.join(Protocol)})/"
_QUOTES = "\"'"
_WORD = re.compile(
    rf"""
    (?P<separator> ^ | [/+:,] )
    (?P<word>
        (?<=[:,]) (?:--[^=/+,]*|{CONFIG}) = (?: "[^"]*" | '[^']*' ) (?= [/,+] | $ )
      | (?<=[:,]) (?P<torn> --[^=/+,]*|{CONFIG} ) = (?P<quote> ["'] )
      | (?<=[:,]) (?:--|{CONFIG}=) (?: [^/+,] | (?!{_WIRE}) / )*
      | (?<=[:,]) [^/+,]*
      | [^/+:,]*
    )""",
    re.VERBOSE,
)
"""A separator and its word: an option of the server's own (quoted, half quoted or plain), a setting or a name."""
_PLAIN = re.compile(r"[^\s,+#\"'][^\s,+#]*")


@dataclass(frozen=True, slots=True)
class HopWords:
    """One hop as written: its protocol (None: inside the hop before), its name and its settings."""

    protocol: str | None
    server: str
    settings: tuple[tuple[str, str | None], ...]
    """Names with values; None where no ``=`` follows."""
    version: str | None = None
    """Version after the ``@``; None without one."""


def quoted(value: str) -> str:
    """Return ``value`` as a stack path writes it, in quotes if necessary; it must come from a path."""
    if _PLAIN.fullmatch(value) and not re.search(_WIRE, f"{value}/"):
        return value
    quote = _QUOTES[0] if _QUOTES[0] not in value else _QUOTES[1]
    return f"{quote}{value}{quote}"


def hops_of(text: str) -> list[HopWords]:
    """Split a path into its hops; raises StackError if it cannot be split."""
    segments: list[list[tuple[str, str]]] = [[]]
    for separator, word in _words(text):
        if separator == "/":
            segments.append([])
        segments[-1].append((separator, word))
    if len(segments) % 2 == 0 or not all(_joined(segment) for segment in segments):
        raise StackError(
            "write server, or server/protocol/server, each with its settings as in server:name=value,name=value"
        )
    hops: list[HopWords] = []
    for index in range(0, len(segments), 2):
        wire: str | None = _joined(segments[index - 1]) if index else Protocol.HTTP
        hops += _side_by_side(segments[index], wire)
    return hops


def _side_by_side(segment: list[tuple[str, str]], wire: str | None) -> list[HopWords]:
    """Return the hops of one segment: a server and its guests, each begun by a plus."""
    starts = [index for index, (separator, _) in enumerate(segment) if separator in ("", "/", "+")]
    hops = []
    for start, end in zip(starts, [*starts[1:], len(segment)], strict=True):
        settings = tuple(_setting(word) for _, word in segment[start + 1 : end] if word)
        server, at, version = segment[start][1].partition("@")
        hops.append(HopWords(wire if start == 0 else None, server, settings, version if at else None))
    return hops


def _setting(word: str) -> tuple[str, str | None]:
    name, equals, value = word.partition("=")
    if word.startswith(("--", f"{CONFIG}=")) and value[:1] in tuple(_QUOTES):
        value = value[1:-1]
    return name, value if equals else None


def _joined(segment: list[tuple[str, str]]) -> str:
    return "".join(separator + word for separator, word in segment).removeprefix("/")


def _words(text: str) -> Iterator[tuple[str, str]]:
    path = text.strip()
    if not path.isprintable():
        raise StackError("it holds a line break or another control character; leave it out")
    for found in _WORD.finditer(path):
        if found["torn"]:
            raise StackError(f"put {found['quote']} before and after the value of {found['torn']}")
        yield found["separator"], found["word"]


_MOST_BYTES = 256 * 1024
"""The most bytes of a configuration file; no real one is larger."""

_LONG_NAME = re.compile(r"--[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeWords:
    """The words of a hop, by kind."""

    options: tuple[GivenOption, ...] = ()
    config: str = ""
    file: NativeFile | None = None
    others: tuple[tuple[str, str | None], ...] = ()
    """Settings of Stackrace."""

    @property
    def reading(self) -> FileReading:
        """Contents of the configuration file; empty without a file."""
        return self.file.reading if self.file else FileReading()


def native_words(hop: HopWords, spec: ServerSpec, folder: Path | None) -> NativeWords:
    """Sort the words of ``hop`` by kind. Raises StackError for a word that the server does not accept."""
    names = {setting.name for setting in spec.settings}
    options = [word for word in hop.settings if word[0].startswith("-")]
    files = [word for word in hop.settings if word[0] == CONFIG and CONFIG not in names]
    if len(files) > 1:
        raise StackError(f"setting {CONFIG!r} is given twice")
    config = _config(spec, files[0][1]) if files else ""
    return NativeWords(
        options=tuple(_option(spec, name, value) for name, value in options),
        config=config,
        file=_file(_native(spec), folder / config, folder) if config and folder else None,
        others=tuple(word for word in hop.settings if word not in options and word not in files),
    )


def _native(spec: ServerSpec) -> NativeOptions:
    if spec.native is None or not spec.native.in_paths:
        settings = ", ".join(setting.name for setting in spec.settings) or "none"
        raise StackError(f"{spec.name} takes no words of its own language here; its settings: {settings}")
    return spec.native


def _option(spec: ServerSpec, name: str, value: str | None) -> GivenOption:
    if not _LONG_NAME.fullmatch(name):
        raise StackError(f"write an option of {spec.name} in its long form, as in --name=value")
    bare = name.removeprefix("--")
    if problem := _native(spec).problem(bare, value):
        raise StackError(f"{spec.name}'s {name} cannot be given: {problem}")
    return GivenOption(name=bare, value=value)


def _config(spec: ServerSpec, value: str | None) -> str:
    native = _native(spec)
    if not native.file:
        raise StackError(f"{spec.name} takes no configuration file here; give options as --name=value")
    if not value:
        raise StackError(f"setting {CONFIG!r} needs a value, as in {CONFIG}={native.file}")
    return value


def _file(native: NativeOptions, path: Path, folder: Path) -> NativeFile:
    wrong = f"the configuration file {path}"
    try:
        words = read_bytes(path, _MOST_BYTES).decode("utf-8")
        place, project = path.absolute(), folder.absolute()
        return NativeFile(path=place, text=words, reading=native.read(words, place, project), folder=project)
    except OSError as error:
        raise StackError(f"{wrong} cannot be read: {error.strerror}; correct {CONFIG}=") from error
    except ValueError as error:
        raise StackError(f"{wrong} cannot be used: {error}") from error
