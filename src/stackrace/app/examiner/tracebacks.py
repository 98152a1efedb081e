"""The app's own tracebacks: caught where they would otherwise vanish into a log nobody shows."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_ON_THE_WAY = (_HERE, os.path.dirname(os.path.abspath(os.__file__)) + "/importlib", "<frozen importlib")  # noqa: PTH100, PTH120
_ENTRY = "stackrace_entry.py"


def own_traceback(error: BaseException) -> str:
    """Return the traceback of ``error`` without the frames that led into the app."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def _is_ours(filename: str) -> bool:
    return filename == _ENTRY or filename.startswith(_ON_THE_WAY)


class Tracebacks(logging.Handler):
    """Collects the exceptions of one request, from Django's signal and from anybody's log; each once."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self._errors: list[BaseException] = []
        logging.getLogger().addHandler(self)
        signals = sys.modules.get("django.core.signals")
        if signals is not None:
            signals.got_request_exception.connect(self._on_signal)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exception of a log record, if it carries one."""
        if record.exc_info and record.exc_info[1] is not None:
            self.add(record.exc_info[1])

    def _on_signal(self, **_: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            self.add(error)

    def add(self, error: BaseException) -> None:
        """Keep ``error`` unless it is kept already."""
        if not any(error is known for known in self._errors):
            self._errors.append(error)

    def take(self) -> str:
        """Return what was collected since the last call, as text."""
        texts = [own_traceback(error) for error in self._errors]
        self._errors = []
        return "\n".join(texts)
