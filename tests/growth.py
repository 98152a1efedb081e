"""Functions whose time must grow with the length of a text, and no faster, on a machine of any speed."""

import time

_GROWTH = 10
_SLACK = 3
"""A function that is linear may look as much worse; a quadratic one is worse by ten."""
_LOST_IN_NOISE_S = 1.0


def seconds(function, *arguments):
    """Return the time that this process computes for a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def is_linear(function, text_of, most=100_000):
    """Tell whether ``function`` takes ten times as long at most for ``text_of`` a size that is ten times as large.

    It is called with 1,000 letters first, so that one which is not linear is known before it takes for ever.
    """
    size, before = 1000, seconds(function, text_of(1000))
    while size < most:
        size *= _GROWTH
        now = seconds(function, text_of(size))
        if now > _LOST_IN_NOISE_S + _SLACK * _GROWTH * before:
            return False
        before = now
    return True
