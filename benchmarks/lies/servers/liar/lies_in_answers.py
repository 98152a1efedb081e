"""Lies in what is answered: wrong, cut off, no answer at all, or one that somebody remembered."""

import time
from email.utils import formatdate

from honest import GRACE, Honest


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
