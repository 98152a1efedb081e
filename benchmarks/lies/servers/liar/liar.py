"""Serves the application of a module over HTTP/1.1: liar.py MODULE PORT LIE WORKERS; the lie is a class's name."""

import asyncio
import os
import signal
import socket
import sys
from importlib import import_module

from lies import LIES


class Connection(asyncio.Protocol):
    """One client. Requests have no bodies; each is handed to the lie with the connection it came over."""

    def __init__(self, server, lie):
        self.server, self.lie, self.buffer, self.asked = server, lie, b"", 0

    def connection_made(self, transport):
        self.transport = transport
        self.number = self.server.connections
        self.server.connections += 1
        self.lie.connected(self)

    def data_received(self, data):
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            request, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            self.asked += 1
            self.server.asked += 1
            self.lie.asked(self, request)

    def send(self, answer, close=False):
        """Send what a request gets, whole or in part."""
        self.transport.write(answer)
        if close:
            self.transport.close()


class Liar:
    """One worker: counts what it meets, and answers as its lie would have it."""

    def __init__(self, lie):
        self.lie, self.connections, self.asked = lie, 0, 0
        lie.server = self

    async def serve(self, listening):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self.lie.told_to_stop)
        self.lie.ready(loop, listening)
        while self.lie.accepts(self):
            try:
                client, _ = await loop.sock_accept(listening)
            except OSError as error:
                print(error, file=sys.stderr, flush=True)
                await asyncio.sleep(0.1)
                continue
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.connect_accepted_socket(lambda: Connection(self, self.lie), client)
        await asyncio.Event().wait()


def main(module, port, name, workers):
    """Serve until TERM, or however the lie takes it."""
    application = import_module(module).application
    lie = LIES[name](application)
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    lie.binding(listening)
    listening.bind(("127.0.0.1", int(port)))
    listening.listen(lie.backlog)
    listening.setblocking(False)
    lie.starting()
    for _ in range(int(workers) - 1):
        if os.fork() == 0:
            break
    asyncio.run(Liar(lie).serve(listening))


if __name__ == "__main__":
    main(*sys.argv[1:])
