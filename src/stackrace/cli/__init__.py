"""The command line and its process: once a verb runs, Ctrl-C ends it with 130 and one line."""

from __future__ import annotations

import sys

from .main import INTERRUPTED
from .main import main as execute
from .signals import heed, leave_to_the_kernel
from .stdio import open_streams


def main() -> None:
    """Run the command line, and end the process."""
    try:
        try:
            open_streams()
            heed()
            execute()
        finally:
            leave_to_the_kernel()
    except KeyboardInterrupt:
        # outside the code that prints errors, or a second Ctrl-C
        sys.exit(INTERRUPTED)
