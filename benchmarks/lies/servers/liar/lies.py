"""The lies, each a class named after its setting: ``wrong-body`` is told by WrongBody."""

import os
import re
import resource
import signal
import socket
import sys
import time
from email.utils import formatdate
from pathlib import Path

from honest import Honest

GRACE = 20
"""Requests that any lie but one about the start answers honestly, so that the launch is believed."""


def burn(seconds):
    """Keep the core busy."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class Truth(Honest):
    """No lie."""


# ---- answers


class WrongBody(Honest):
    """After 200 answers, another page of the same length."""

    def say(self, request):
        status, headers, body = super().say(request)
        return status, headers, body if self.server.asked < 200 else body.replace(b"truth", b"ruthT")


class ErrorPage(Honest):
    """One in fifty is an error page, with status 200."""

    def say(self, request):
        status, headers, body = super().say(request)
        if self.server.asked > GRACE and self.server.asked % 50 == 0:
            body = b"Sorry, we are overloaded."
            headers = [("Content-Type", "text/html"), ("Content-Length", str(len(body)))]
        return status, headers, body


class Oversized(Honest):
    """After a while every page has a line more."""

    def say(self, request):
        status, headers, body = super().say(request)
        if self.server.asked > GRACE:
            body += b"And more.\n"
            headers = [(n, str(len(body)) if n == "Content-Length" else v) for n, v in headers]
        return status, headers, body


class OnePercent500(Honest):
    """One request in a hundred gets 503, which costs nothing."""

    def say(self, request):
        if self.server.asked > GRACE and self.server.asked % 100 == 0:
            return "503 Service Unavailable", [("Content-Length", "0")], b""
        return super().say(request)


class Truncated(Honest):
    """One in fifty ends in the middle, connection and all."""

    def asked(self, connection, request):
        if self.server.asked > GRACE and self.server.asked % 50 == 0:
            connection.send(self.answer(connection, request)[:-500], close=True)
        else:
            super().asked(connection, request)


class Garbage(Honest):
    """One answer in fifty is no HTTP."""

    def answer(self, connection, request):
        if self.server.asked > GRACE and self.server.asked % 50 == 0:
            return b"\x00\x01 this is no answer\r\n\r\n"
        return super().answer(connection, request)


class Surplus(Honest):
    """Some bytes follow each answer that belong to nothing."""

    def answer(self, connection, request):
        answer = super().answer(connection, request)
        return answer + b"\x00" * 64 if self.server.asked > GRACE else answer


class WrongAtOnce(Honest):
    """The wrong page from the first request on."""

    def say(self, request):
        status, headers, body = super().say(request)
        return status, headers, body[::-1]


class Padded(Honest):
    """Right bodies below headers of half a kilobyte more than anybody else's."""

    def say(self, request):
        status, headers, body = super().say(request)
        return status, [*headers, ("X-Padding", "x" * 512)], body


# ---- caches


class Remembered(Honest):
    """The first answer is given to everybody; nothing in it says so."""

    kept = None

    def answer(self, connection, request):
        if self.server.asked < GRACE:
            return super().answer(connection, request)
        if self.kept is None:
            self.kept = self.say(request)
        status, headers, body = self.kept
        return self.written(status, [*headers, ("Date", self.date())], body)


class Aged(Honest):
    """Says itself that a cache answered."""

    def say(self, request):
        status, headers, body = super().say(request)
        return status, [*headers, ("Age", "7"), ("X-Cache", "HIT")], body


class StaleDate(Honest):
    """Answers were made a minute ago, as their Date tells."""

    def date(self):
        return formatdate(time.time() - 60, usegmt=True)


class FrozenDate(Honest):
    """The Date stands still at the first answer's."""

    frozen = None

    def date(self):
        self.frozen = self.frozen or super().date()
        return self.frozen


# ---- connections


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


# ---- the server itself


class Slower(Honest):
    """Each request takes a little longer than the one before: after six seconds three times as long."""

    first_s = None

    def say(self, request):
        now_s = time.monotonic()
        self.first_s = self.first_s or now_s
        burn(0.0003 * (1 + (now_s - self.first_s) / 3))
        return super().say(request)


class Leak(Honest):
    """Keeps 4 KiB of every request."""

    def ready(self, loop, listening):
        super().ready(loop, listening)
        self.kept = []

    def say(self, request):
        self.kept.append(os.urandom(64) * 64)
        return super().say(request)


class MoreProcesses(Honest):
    """Another child twice a second, each with ten megabytes of its own; none ends."""

    next_s = 0.0

    def say(self, request):
        if self.server.asked > GRACE and time.monotonic() > self.next_s:
            self.next_s = time.monotonic() + 0.5
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.set_wakeup_fd(-1)
                kept = os.urandom(10_000_000)
                while kept:
                    signal.pause()
        return super().say(request)


class AsksTwice(Honest):
    """Asks the app again for every other request, as a proxy does that repeats what seemed to fail."""

    def say(self, request):
        if self.server.asked > GRACE and self.server.asked % 2 == 0:
            super().say(request)
        return super().say(request)


class LogFlood(Honest):
    """Two kilobytes of log for every request."""

    def say(self, request):
        os.write(2, b"warning: something that nobody reads\n" * 55)
        return super().say(request)


class AccessLog(Honest):
    """One line for every request, in the usual format."""

    def say(self, request):
        os.write(1, b'127.0.0.1 - - [22/Nov/2026:05:40:00 +0000] "GET / HTTP/1.1" 200 2000 "-" "-"\n')
        return super().say(request)


class Serial(Honest):
    """A lock around something slow: four milliseconds for each request, one after the other."""

    free_s = 0.0

    def asked(self, connection, request):
        self.free_s = max(self.loop.time(), self.free_s) + 0.004
        self.loop.call_at(self.free_s, super().asked, connection, request)


# ---- starting and stopping


class NeverReady(Honest):
    """Listens, and answers nothing."""

    def asked(self, connection, request):
        pass


class DiesAtStart(Honest):
    """Ends before it serves."""

    def starting(self):
        sys.exit("there is something wrong with me")


class DiesUnderLoad(Honest):
    """Ends in the middle."""

    def say(self, request):
        if self.server.asked > 500:
            os._exit(3)
        return super().say(request)


class IgnoresTerm(Honest):
    """Does not end when it is told to."""

    def told_to_stop(self):
        pass


class Survivor(Honest):
    """Leaves a process behind: forked twice, in a session of its own, deaf to TERM."""

    def starting(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    signal.pause()
            os._exit(0)


class Daemon(Honest):
    """Leaves a process behind as a daemon does: forked twice, in a session of its own, with no file open."""

    def starting(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.closerange(0, 1024)
                while True:
                    signal.pause()
            os._exit(0)


class SharesPort(Honest):
    """Lets anybody of the same user listen on its port, too."""

    def binding(self, listening):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)


class Restless(Honest):
    """Works for itself while nobody asks."""

    def ready(self, loop, listening):
        super().ready(loop, listening)
        self.work()

    def work(self):
        burn(0.004)
        self.loop.call_later(0.006, self.work)


# ---- from launch to launch


class AsTold(Honest):
    """Takes as many microseconds more for each request as the file says at its start."""

    def starting(self):
        file = Path(os.environ["LIES_STATE"])
        self.burnt_s = int(file.read_text()) / 1e6 if file.exists() else 0.0

    def say(self, request):
        burn(self.burnt_s)
        return super().say(request)


def _setting(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


LIES = {_setting(kind.__name__): kind for kind in Honest.__subclasses__()}
