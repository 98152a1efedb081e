"""memcached through python-memcached.

Its client keeps a connection per thread by itself. A miss is an error: a rung that quietly took another way would
measure something else than it says. Source: memcache.Client's documentation.
"""

from functools import cache

import memcache

from ..errors import nothing_found
from ..lookup import KEY
from ..services import memcached


@cache
def client():
    """Return the process's client, made at the first request."""
    return memcache.Client(memcached())


def lookup():
    """Return the value under the key."""
    value = client().get(str(KEY))
    if value is None:
        raise nothing_found("memcached does not answer, or")
    return value
