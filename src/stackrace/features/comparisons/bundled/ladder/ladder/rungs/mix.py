"""The mix that the ladder's author predicted without measuring it: 90 % memcached hits, 10 % ORM, and 5 % logic.

The shares are counted, not drawn, so that each process keeps them exactly in every ten requests. The 5 % refer to
an unknown total, so the logic is a fixed amount of plain Python: about ten microseconds, a twentieth of such a
request behind an ordinary server today.
"""

from itertools import count

from . import memcached, sqlalchemy

ROUND = 10
STEPS = 150

_requests = count()


def lookup():
    """Return the value: through the ORM for the fifth request of each ten, from memcached for the others."""
    # next() on a count is atomic, so threads share the turns exactly.
    turn = next(_requests) % ROUND
    value = sqlalchemy.lookup() if turn == ROUND // 2 else memcached.lookup()
    logic(value)
    return value


def logic(text):
    """Return a number computed from ``text``; nobody uses it, only the work counts."""
    number = len(text)
    for step in range(STEPS):
        number = (number * 31 + step) % 65_521
    return number
