"""The ASGI lifespan protocol: start the application up, and down.

Source: https://asgi.readthedocs.io/en/latest/specs/lifespan.html
"""

from __future__ import annotations

import asyncio
from typing import Any

VERSION = {"version": "3.0", "spec_version": "2.0"}


class Lifespan:
    """One application's life. An application that ends or raises before it answered simply has none."""

    def __init__(self, application: Any) -> None:
        self.state: dict[str, Any] = {}
        self._application = application
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self.answered = False
        """Whether the application took part: others simply have none."""

    async def startup(self) -> None:
        """Announce the start and wait until the application is done with it.

        Raises RuntimeError when the application itself reports that it cannot start.
        """
        self._task = asyncio.ensure_future(self._live())
        await self._announce(self._task, "lifespan.startup")

    async def shutdown(self) -> None:
        """Announce the end, if the application is still listening."""
        if self._task is not None and not self._task.done():
            await self._announce(self._task, "lifespan.shutdown")
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _live(self) -> None:
        scope = {"type": "lifespan", "asgi": VERSION, "state": self.state}
        try:
            await self._application(scope, self._inbox.get, self._outbox.put)
        except Exception:  # how applications without a lifespan say so
            return

    async def _announce(self, task: asyncio.Task[None], event: str) -> None:
        await self._inbox.put({"type": event})
        answer = asyncio.ensure_future(self._outbox.get())
        await asyncio.wait([answer, task], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            return
        self.answered = True
        if answer.result()["type"] == event + ".failed":
            raise RuntimeError(f"the application reports {event}.failed: {answer.result().get('message', '')}")
