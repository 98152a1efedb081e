"""A server with one queue, so many workers and service times of a known law: its capacity is known.

Workers wait instead of computing, so that the truth does not depend on the machine's speed.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"


@contextmanager
def started(service_s: float, workers: int, *, is_fixed: bool) -> Iterator[int]:
    """Start such a server in a process of its own, and yield its port."""
    kind = "fixed" if is_fixed else "exponential"
    command = [sys.executable, "-m", __spec__.name, str(service_s), str(workers), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def _serve(service_s: float, workers: int, *, is_fixed: bool) -> None:
    line: asyncio.Queue[tuple[float, asyncio.StreamWriter]] = asyncio.Queue()
    loop, dice = asyncio.get_running_loop(), random.Random(1)

    async def work() -> None:
        free = loop.time()
        while True:
            came, writer = await line.get()
            # the moments follow from each other, so that no lateness adds up
            free = max(free, came) + (service_s if is_fixed else dice.expovariate(1 / service_s))
            await asyncio.sleep(free - loop.time())
            if not writer.is_closing():
                writer.write(ANSWER)

    async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                line.put_nowait((loop.time(), writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    server = await asyncio.start_server(attend, "127.0.0.1", 0, backlog=2000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.gather(*tasks)


def _end_with_its_starter() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_its_starter, daemon=True).start()
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2]), is_fixed=sys.argv[3] == "fixed"))
