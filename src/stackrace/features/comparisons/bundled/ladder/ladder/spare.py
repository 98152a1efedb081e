"""Connections kept open between requests, safe among threads.

Each connection serves one request at a time, so there are at most as many connections as requests ran at the same
time. The first request opens the first connection, which is after servers have forked. Appending to a deque and
popping from it are atomic (Python's documentation, collections.deque).
"""

from collections import deque


class Spare:
    """Idle connections; ``connect`` makes a new one if none is idle."""

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
