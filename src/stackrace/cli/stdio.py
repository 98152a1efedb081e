"""Standard streams: foreign text reaches the terminal as plain text, and every error as a sentence."""

from __future__ import annotations

import errno
import io
import os
import re
import select
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import click

from ..base.errors import BreakdownError, InputError, StackraceError, shortage_of
from ..base.secrets import masked
from ..base.text import one_line, printable
from ..base.unix import fcntl, pwd

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


# first a literal, for which Python searches fifty times as fast
_COMMAND = re.compile(r"stackrace (?<![\w./-]stackrace )(?:--)?[a-z]")


class PrintableStream:
    """Text stream that makes everything printable: escape sequences, controls, bidi marks.

    Code that draws styles of its own, and cleans its text, writes to ``trusted``.
    """

    def __init__(self, stream: TextIO) -> None:
        self.trusted = stream
        self.names_command = False
        """True once text with a command of ours was written."""

    def write(self, text: str | bytes) -> int:
        """Write ``text`` made printable and return the length of ``text``. Click completes words in bytes."""
        plain = text.decode(errors="replace") if isinstance(text, bytes) else text
        self.names_command = self.names_command or bool(_COMMAND.search(plain))
        self.trusted.write(printable(plain, words=False))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write all ``lines``."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        # code that gets the bytes' stream writes past this one
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.trusted, name)


class _GaplessFile(io.FileIO):
    """Descriptor that writes data whole: if only a part is accepted, or nothing for now, the rest waits.

    Python drops the rest if PYTHONUNBUFFERED is set, and fails if a pipe is non-blocking.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of ``data`` and return its length. Errors on stderr are ignored: nothing could report them."""
        left = whole = memoryview(data)
        while left:
            try:
                # None if nothing could be written now
                left = left[super().write(left) or 0 :]
            except OSError as error:
                if self.fileno() == sys.stderr.fileno():
                    break
                raise OSError(error.errno, error.strerror, "standard output") from None
            if left:
                waiting = select.poll()
                waiting.register(self, select.POLLOUT)
                waiting.poll()
        return len(whole)


def open_streams() -> None:
    """Open /dev/null for each standard stream that is closed, before a file of ours gets its descriptor.

    From then on output is written whole.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
            if number == 2 and _is_read_only(2):
                os.dup2(_null_device(), 2)
        except OSError:
            # the lowest number that is free
            os.set_inheritable(_null_device(), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    sys.stdout, sys.stderr = _without_gaps(sys.stdout), _without_gaps(sys.stderr)


def _without_gaps(stream: TextIO) -> TextIO:
    """Return ``stream`` with writes that wait until all is written, even if its file does not block."""
    assert isinstance(stream, io.TextIOWrapper)
    return io.TextIOWrapper(
        cast(BinaryIO, _GaplessFile(stream.fileno(), "w", closefd=False)), stream.encoding, stream.errors,
        line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip


def _null_device() -> int:
    """Return a descriptor that discards all output."""
    try:
        return os.open(os.devnull, os.O_RDWR)
    except OSError:
        # a system without /dev/null: see ``require_system``
        return os.memfd_create("nowhere")


def prepare_process() -> None:
    """Raise InputError if nothing can be printed; ignore relative folders, which would lead into a project.

    A user whom no file knows has the home that containers give him.
    """
    if _is_read_only(1):
        raise InputError("standard output is open for reading only; write > where < stands")
    for name in _FOLDERS:
        if name in os.environ and not os.path.isabs(os.environ[name]):  # noqa: PTH117 (an empty one is relative)
            del os.environ[name]
    if "HOME" not in os.environ and sys.platform != "win32":
        try:
            pwd.getpwuid(os.getuid())
        except KeyError:
            os.environ["HOME"] = "/"


_FOLDERS = ("TMPDIR", "TEMP", "TMP", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")


def _is_read_only(number: int) -> bool:
    return sys.platform != "win32" and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


@contextmanager
def printable_output() -> Iterator[None]:
    """Let stdout and stderr take only printable text."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    for name, stream in before.items():
        setattr(sys, name, PrintableStream(stream))
    try:
        yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


def names_command() -> bool:
    """Return True if what was printed, but for a race's report, names a command such as ``stackrace report``."""
    return any(getattr(stream, "names_command", False) for stream in (sys.stdout, sys.stderr))


def trusted(stream: TextIO) -> TextIO:
    """Return the stream for our own control sequences for ``stream``."""
    return cast(TextIO, getattr(stream, "trusted", stream))


class StatusLine:
    """Current activity on stderr: one line that changes on a terminal, separate lines elsewhere."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._shown = False

    @property
    def changes(self) -> bool:
        """True if each line replaces the last."""
        return not self._quiet and (self._stream or sys.stderr).isatty()

    def show(self, line: str) -> None:
        """Show ``line`` in place of the last, only on a terminal. It must be printable but for our own styles."""
        if not self.changes:
            return
        out = self._stream or sys.stderr
        encoding = out.encoding or "ascii"
        text = f"\r\x1b[K{line}".encode(encoding, "replace").decode(encoding)
        click.echo(text, nl=False, file=trusted(out), color=True)
        self._shown = True

    def print_line(self, text: str, end: str = "") -> None:
        """Show ``text``, cut to a line of the terminal, followed by ``end``; elsewhere print it as a line."""
        if self.changes:
            self.show(one_line(f"{text[:100]}{end}"))
        else:
            click.echo(text, err=True)

    def say(self, text: str) -> None:
        """Print ``text`` so that it stays on the screen."""
        self.clear()
        click.echo(text, err=True)

    def clear(self) -> None:
        """Clear the line before other output."""
        if self._shown:
            self.show("")
            self._shown = False


TRACEBACK = "STACKRACE_TRACEBACK"
"""Environment variable that switches on tracebacks."""

_NO_PATH = {errno.ENAMETOOLONG, errno.ELOOP}
_LONGEST = 300
_LONG_WORD = re.compile(r"(\S{200})\S{100,}(\S{40})")


def failure_of(error: Exception) -> StackraceError:
    """Return ``error`` itself if it is one of ours, else the failure that it stands for."""
    # here, since subprocess is slow to import
    from subprocess import TimeoutExpired

    if isinstance(error, StackraceError):
        short = None if isinstance(error, BreakdownError) else shortage_of(error.__cause__)
        return error if short is None else BreakdownError(f"{error.message}; {short.message}", detail=error.detail)
    if (short := shortage_of(error)) is not None:
        return short
    match error:
        case RecursionError():
            return BreakdownError("what was given is nested too deeply; have it in fewer levels")
        case TimeoutExpired():
            return BreakdownError(f"{error}; see what keeps it")
        case OSError() if error.errno in _NO_PATH:
            return InputError(f"{str(error.strerror).lower()}{_filename_of(error)}; correct the path")
        case FileNotFoundError() if not _has_folder():
            return InputError("the folder where this was started is gone; change to another, as with: cd")
        case OSError(filename=str() | bytes() | Path()):
            from ..base.process import require_system

            try:
                require_system()
            except BreakdownError as broken:
                return broken
            if isinstance(error, PermissionError) and (folder := _closed_folder(Path(os.fsdecode(error.filename)))):
                return InputError(
                    f"{error.strerror}{_filename_of(error)}; user {os.geteuid()} may not enter {folder}, which "
                    f"belongs to user {folder.stat().st_uid}: run Stackrace as that user, or let this one in"
                )
            way_out = "correct that path, its rights, or what removes it"
            return BreakdownError(f"{error.strerror}{_filename_of(error)}; {way_out}")
        case OSError() if error.strerror:
            return BreakdownError(f"{error.strerror}; {_REPORT}")
        case _:
            description = masked(f"{type(error).__name__}: {error}")[:_LONGEST]
            return BreakdownError(f"Stackrace failed ({description}); {_REPORT}")


def _closed_folder(path: Path) -> Path | None:
    """Return the outermost folder on the way to ``path`` that this user may not enter; None if there is none."""
    whole = path.absolute()
    folders = (*reversed(whole.parents), whole)
    return next((folder for folder in folders if folder.is_dir() and not os.access(folder, os.X_OK)), None)


def _has_folder() -> bool:
    """Return True if the current folder exists."""
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        return False
    return True


def brief(text: str) -> str:
    """Return ``text`` with the middle of long words left out: a value of many pages would hide the way out."""
    return _LONG_WORD.sub(r"\1…\2", text)


_REPORT = f"please report this, with what it says when {TRACEBACK}=1 is set"


def _filename_of(error: OSError) -> str:
    """Return the error's file name after a colon; empty if it has none."""
    return "" if error.filename is None else f": {error.filename}"


def refuse_unwritable(flag: str, path: Path | None) -> None:
    """Raise InputError if the file cannot be written, before the work for its content begins."""
    if path is None:
        return
    if not path.parent.is_dir():
        folder = shlex.quote(str(path.parent))
        raise InputError(f"{flag} {path}: there is no folder {path.parent}; make it with: mkdir -p {folder}")
    if path.is_dir():
        raise InputError(f"{flag} {path} is a folder; name a file in it")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{flag} {path} cannot be written; name another place")
    if sys.platform == "win32":
        return
    space = os.statvfs(path.parent)
    # a pipe needs no space, and /proc has none
    if (path.is_file() or not path.exists()) and space.f_blocks and not space.f_bavail:
        raise InputError(
            f"{flag} {path}: the disk of {path.parent} is full; free some space, or name another place"
        )
