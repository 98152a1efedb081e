"""Connections kept open between requests, safe among threads.

Each is used by one request at a time, so there are at most as many as requests were ever under way together. The
first is opened by the first request, so after servers have forked. Appending to a deque and popping from it are
atomic (Python's documentation, collections.deque).
"""

from collections import deque


class Spare:
    """Idle connections; ``connect`` makes another when there is none."""

    def __init__(self, connect):
        self._connect = connect
        self._idle = deque()

    def ask(self, question):
        """Return ``question(connection)``. After an exception the connection is not used again."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        answer = question(connection)
        self._idle.append(connection)
        return answer
