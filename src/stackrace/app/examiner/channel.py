"""Where the examiner writes what it finds: a file that the app cannot reach by printing."""

from __future__ import annotations

import faulthandler
import json
from typing import TextIO

from .messages import ExchangeMessage, Report


class Channel:
    """Writes one line for each thing that it is told."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def end_in(self, seconds: float) -> None:
        """Have the process end in ``seconds``, from now on, with a dump of all its stacks."""
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._file)

    def stage(self, text: str) -> None:
        """Say what is done next."""
        self._line("stage " + text)

    def progress(self, done: int, number: int, left_s: float) -> None:
        """Say how many pages are asked, of how many, and about how long the others will take."""
        self._line(f"progress {done} {number} {left_s}")

    def page(self, exchange: ExchangeMessage) -> None:
        """Write a page that was answered."""
        self._line("page " + json.dumps(exchange))

    def report(self, report: Report) -> None:
        """Write the whole report; the last one counts."""
        self._line(json.dumps(report))

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")
        self._file.flush()
