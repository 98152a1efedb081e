"""What the user sees on stderr while a race is prepared."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

import click

from ..model.preparing import Preparing
from ..report.preparing import preparing_words

__all__ = ["Announcer"]


class Announcer:
    """Says what is being prepared: one line that changes on a terminal, one line each elsewhere."""

    def __init__(self) -> None:
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.done()

    def __call__(self, preparing: Preparing) -> None:
        what = preparing_words(preparing)
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{what[:100]} …", nl=False, err=True)
            self._shown = True
        else:
            click.echo(what, err=True)

    def done(self) -> None:
        """Clear the line; what follows speaks for itself."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._shown = False
