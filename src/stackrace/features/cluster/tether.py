"""Ends a scheduler or worker that was started over SSH when whoever started it is gone; one of Dask's preloads.

Its standard input is the SSH channel: it ends with the connection, whether that was closed or its other end killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import Any

__all__ = ["ENDS_S", "dask_setup"]

ENDS_S = 10.0
"""So long may taking leave of the cluster take."""


async def dask_setup(server: Any) -> None:
    """Watch the standard input of this process from now on."""
    loop = asyncio.get_running_loop()
    threading.Thread(target=_wait, args=(server, loop), daemon=True).start()


def _wait(server: Any, loop: asyncio.AbstractEventLoop) -> None:
    sys.stdin.buffer.read()
    # what a race left unfinished must not keep the process
    last = threading.Timer(ENDS_S, os._exit, (1,))
    last.daemon = True
    last.start()
    asyncio.run_coroutine_threadsafe(server.close(), loop)
