"""Lies in how connections are accepted, kept and served."""

import resource
import time

from honest import GRACE, Honest


class SilentClose(Honest):
    """Closes after twenty answers without having said so."""

    def asked(self, connection, request):
        close = connection.asked >= 20
        connection.send(self.answer(connection, request), close)


class Starved(Honest):
    """Half of the connections wait a tenth of a second for each answer."""

    def asked(self, connection, request):
        wait_s = 0.1 if connection.number % 2 else 0.0005
        self.loop.call_later(wait_s, super().asked, connection, request)


class HangSome(Honest):
    """Every fourth connection gets no answer after its tenth."""

    def asked(self, connection, request):
        if connection.number % 4 or connection.asked <= 10:
            super().asked(connection, request)


class HangAll(Honest):
    """After fifty answers on a connection, none any more."""

    def asked(self, connection, request):
        if connection.asked <= 50:
            super().asked(connection, request)


class TinyBacklog(Honest):
    """A queue for one, and a look at it ten times a second."""

    backlog = 1

    def connected(self, connection):
        if self.server.connections > 3:
            time.sleep(0.1)


class FewClients(Honest):
    """Takes a few connections and no more; the queue holds another one."""

    backlog = 0
    readying = 2

    def accepts(self, server):
        return server.connections < self.readying + 4


class FewFiles(Honest):
    """May open so few files that not every client gets in."""

    def ready(self, loop, listening):
        super().ready(loop, listening)
        resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))


class LumpyConnect(Honest):
    """One request in three hundred takes a second more, as after a lost attempt to connect."""

    def asked(self, connection, request):
        if self.server.asked > GRACE and self.server.asked % 300 == 0:
            self.loop.call_later(1.0, super().asked, connection, request)
        else:
            super().asked(connection, request)
