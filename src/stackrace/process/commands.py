"""Commands that run to their end: what they said last is kept, and nothing of them is left."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..model.secrets import masked, masked_tail
from .children import attended
from .leash import leash

__all__ = ["CommandResult", "run"]

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
    begin: Callable[[], None] = leash,
    spare: bool = True,
) -> CommandResult:
    """Run ``command`` to its end, in a session of its own; ``begin`` runs in the new process before it does.

    It starts in ``folder``, None being where we are. Many programs take settings and code from where they start, so
    a folder of the user's is given only where he asked to run what lies there.

    Raises OSError when it cannot be started, subprocess.TimeoutExpired when it takes longer. After those, after
    Ctrl-C and after a failure, its children are ended as well; without ``spare`` always.
    """

    def listen(process: subprocess.Popen[bytes]) -> CommandResult:
        output = _listen(process, timeout_s)
        return CommandResult(process.returncode, output)

    return attended(
        command,
        listen,
        folder=folder,
        environment=environment,
        stdout=subprocess.PIPE,
        begin=begin,
        spare=spare,
    )


def _listen(process: subprocess.Popen[bytes], timeout_s: float) -> str:
    """Read what ``process`` says until it has ended; a child that keeps the pipe open is not waited for."""
    assert process.stdout
    deadline = time.monotonic() + timeout_s
    said, is_cut = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if selector.select(POLL_S):
                chunk = os.read(process.stdout.fileno(), 65536)
                is_cut = is_cut or len(said + chunk) > MOST_BYTES
                said = (said + chunk)[-MOST_BYTES:]
                if not chunk:
                    break
            elif process.poll() is not None:
                break
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(process.args, timeout_s)
    process.wait(max(deadline - time.monotonic(), 0))
    text = said.decode("utf-8", "replace")
    return (masked_tail(text) if is_cut else masked(text)).strip()
