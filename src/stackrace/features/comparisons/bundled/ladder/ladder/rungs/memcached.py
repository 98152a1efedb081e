"""memcached through python-memcached.

The client itself keeps one connection per thread. Each process stores the value once, if it is missing: memcached
writes nothing to disk, so a restart loses the prepared value. A later miss is an error: a rung that found the value
somewhere else would not measure memcached.
Source: memcache.Client's documentation.
"""

from functools import cache

import memcache

from ..errors import nothing_found
from ..lookup import KEY, VALUE
from ..services import memcached


@cache
def client():
    """Return the process's client; the first request makes it and stores the value if it is missing."""
    made = memcache.Client(memcached())
    made.add(str(KEY), VALUE)
    return made


def lookup():
    """Return the value under the key."""
    value = client().get(str(KEY))
    if value is None:
        raise nothing_found("memcached does not answer, or it")
    return value
