"""Lies of the server itself: what it takes, keeps and writes, how it starts and stops."""

import os
import signal
import socket
import sys
import time
from pathlib import Path

from honest import GRACE, Honest


def burn(seconds):
    """Keep the core busy."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


# ---- under load


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
