"""Ctrl-C at a moment that is known."""

import os
import signal
import time
from pathlib import Path


def interrupt_parent() -> None:
    """Interrupt the parent, from the new process while the parent waits for it within Popen; return once it heard.

    A signal is pending until it is: man 5 proc, SigPnd and ShdPnd.
    """
    parent, bit = os.getppid(), 1 << (signal.SIGINT - 1)
    os.kill(parent, signal.SIGINT)
    while any(
        int(line.split()[1], 16) & bit
        for line in Path(f"/proc/{parent}/status").read_text().splitlines()
        if line.startswith(("SigPnd", "ShdPnd"))
    ):
        time.sleep(0.001)
