"""memcached through python-memcached.

Its client keeps a connection per thread by itself. Each process puts the value there once, where it is missing:
memcached keeps nothing on disk, so a preparation need not be there any more when it is started again. A miss after
that is an error: a rung that quietly took another way would measure something else than it says.
Source: memcache.Client's documentation.
"""

from functools import cache

import memcache

from ..errors import nothing_found
from ..lookup import KEY, VALUE
from ..services import memcached


@cache
def client():
    """Return the process's client, made at the first request, when the value is seen to."""
    made = memcache.Client(memcached())
    made.add(str(KEY), VALUE)
    return made


def lookup():
    """Return the value under the key."""
    value = client().get(str(KEY))
    if value is None:
        raise nothing_found("memcached does not answer, or it")
    return value
