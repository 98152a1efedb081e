"""Commands that run to their end: what they said last is kept, and nothing of them is left."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..secrets import masked, masked_tail
from .children import attended, within

__all__ = ["CommandResult", "listen", "run"]

MOST_BYTES = 4000
POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended."""

    code: int
    """Its exit code, negative for a signal."""
    output: str
    """The last of its output, both streams in one, the app's secrets masked."""


def run(
    command: Sequence[str],
    *,
    folder: Path | None = Path("/"),
    environment: Mapping[str, str] | None = None,
    timeout_s: float = float("inf"),
    begin: Callable[[], None] | None = None,
) -> CommandResult:
    """Run ``command`` to its end, in a session of its own; ``begin`` runs in the new process before it does.

    It starts in ``folder``, None being where we are. Many programs take settings and code from where they start, so
    a folder of the user's is given only where he asked to run what lies there.

    Raises OSError when it cannot be started, subprocess.TimeoutExpired when it takes longer. Whatever it started
    ends with it.
    """

    def attend(process: subprocess.Popen[bytes]) -> CommandResult:
        assert process.stdout
        return listen(process.stdout.fileno(), lambda wait_s: within(wait_s)(process), command, timeout_s)

    return attended(command, attend, folder=folder, environment=environment, stdout=subprocess.PIPE, begin=begin)


def listen(
    output: int, code: Callable[[float], int | None], command: Sequence[str], timeout_s: float
) -> CommandResult:
    """Read what ``command`` says until it has ended; one that it started and that keeps ``output`` open is not
    waited for.

    ``code`` waits for its exit code as long as it is told, and returns None before. Raises TimeoutExpired.
    """
    deadline = time.monotonic() + timeout_s
    said, is_cut, speaks = b"", False, True
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if speaks and selector.select(POLL_S):
                chunk = os.read(output, 65536)
                is_cut = is_cut or len(said + chunk) > MOST_BYTES
                said = (said + chunk)[-MOST_BYTES:]
                speaks = bool(chunk)
            elif (ended := code(0.0 if speaks else POLL_S)) is not None:
                text = said.decode("utf-8", "replace")
                return CommandResult(ended, (masked_tail(text) if is_cut else masked(text)).strip())
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(command, timeout_s)
