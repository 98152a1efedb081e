"""Addresses of the services: DATABASE_URL, MEMCACHED_SOCKET and MEMCACHED_SERVER in the drivers' form."""

import os
from urllib.parse import parse_qs, unquote, urlsplit

from .errors import LadderError


def database(environ=os.environ):
    """Return the keyword arguments that both levels of the MySQL driver connect with.

    ``DATABASE_URL`` is ``mysql://user:password@host:port/name``; ``?unix_socket=`` names a socket instead.

    >>> database({"DATABASE_URL": "mysql://root@localhost/app?unix_socket=/run/My/socket"})["unix_socket"]
    '/run/My/socket'
    >>> database({"DATABASE_URL": "mysql://u:p%40ss@db:3307/app"})["port"]
    3307
    """
    url = environ.get("DATABASE_URL")
    if not url:
        raise LadderError('DATABASE_URL is not set: add "mariadb" to [app] services')
    parts = urlsplit(url)
    if parts.scheme != "mysql":
        raise LadderError(f"DATABASE_URL has the scheme {parts.scheme!r}; the ladder needs mysql://")
    socket = parse_qs(parts.query).get("unix_socket")
    where = {"unix_socket": socket[0]} if socket else {"host": parts.hostname or "", "port": parts.port or 3306}
    return where | {
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path[1:]),
    }


def memcached(environ=os.environ):
    """Return the servers as python-memcached wants them.

    >>> memcached({"MEMCACHED_SOCKET": "/run/memcached/socket"})
    ['unix:/run/memcached/socket']
    >>> memcached({"MEMCACHED_SERVER": "10.0.0.3:11211"})
    ['10.0.0.3:11211']
    """
    if server := environ.get("MEMCACHED_SERVER"):
        return [server]
    socket = environ.get("MEMCACHED_SOCKET")
    if not socket:
        raise LadderError('MEMCACHED_SOCKET is not set: add "memcached" to [app] services')
    return [f"unix:{socket}"]
