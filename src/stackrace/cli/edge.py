"""The edge of the program: text that others wrote reaches the terminal as text, never as a command to it."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import click

from ..base.text import printable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["PrintableStream", "open_streams", "printable_output", "redraw", "trusted"]


class PrintableStream:
    """A text stream that makes everything printable, whoever writes to it: escape sequences, controls, bidi marks.

    What draws styles of its own, and cleans what it draws, writes to ``trusted``.
    """

    def __init__(self, stream: TextIO) -> None:
        self.trusted = stream

    def write(self, text: str | bytes) -> int:
        """Write ``text`` made printable; returns the length of what was given. Click completes words in bytes."""
        self.trusted.write(printable(text.decode(errors="replace") if isinstance(text, bytes) else text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write all ``lines``."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        # whoever is given the bytes' stream writes past this one
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.trusted, name)


class _Whole(io.FileIO):
    """A descriptor that is always written to whole: where it takes a part, or nothing for now, the rest waits.

    Python drops the rest where PYTHONUNBUFFERED is set, and fails where a pipe is not to be waited for.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of ``data``; returns its length."""
        left = whole = memoryview(data)
        while left:
            # None where nothing could be written now
            left = left[super().write(left) or 0 :]
            if left:
                waiting = select.poll()
                waiting.register(self, select.POLLOUT)
                waiting.poll()
        return len(whole)


def open_streams() -> None:
    """Take /dev/null for each standard stream that was closed, before a file of ours gets its descriptor.

    What is printed is written whole.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # the lowest number that is free
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115
    sys.stdout, sys.stderr = _whole(sys.stdout), _whole(sys.stderr)


def _whole(stream: TextIO) -> TextIO:
    assert isinstance(stream, io.TextIOWrapper)
    return io.TextIOWrapper(
        cast(BinaryIO, _Whole(stream.fileno(), "w", closefd=False)), stream.encoding, stream.errors,
        line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip


@contextmanager
def printable_output() -> Iterator[None]:
    """Have stdout and stderr take nothing but text."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    for name, stream in before.items():
        setattr(sys, name, PrintableStream(stream))
    try:
        yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


def trusted(stream: TextIO) -> TextIO:
    """Return where our own control sequences for ``stream`` go."""
    return cast(TextIO, getattr(stream, "trusted", stream))


def redraw(line: str, stream: TextIO) -> None:
    """Put ``line``, which is printable but for styles of ours, in place of the last line on a terminal."""
    encoding = stream.encoding or "ascii"
    text = f"\r\x1b[K{line}".encode(encoding, "replace").decode(encoding)
    click.echo(text, nl=False, file=trusted(stream), color=True)
