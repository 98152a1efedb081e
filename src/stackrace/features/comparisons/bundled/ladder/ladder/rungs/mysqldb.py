"""The database through MySQLdb, the object wrapper around ``_mysql``: cursors, parameters, converted values.

Source: PEP 249; mysqlclient's documentation.
"""

import MySQLdb

from ..errors import nothing_found
from ..lookup import KEY, QUERY
from ..services import database
from ..spare import Spare


def connect():
    """Open a connection on which each query sees the current data."""
    return MySQLdb.connect(**database(), charset="utf8mb4", autocommit=True)


def _ask(connection):
    with connection.cursor() as cursor:
        cursor.execute(QUERY, (KEY,))
        return cursor.fetchone()


_spare = Spare(connect)


def lookup():
    """Return the value of the row."""
    row = _spare.ask(_ask)
    if row is None:
        raise nothing_found("the table")
    return row[0]
