"""The database through ``_mysql``, a thin layer over the C library: a query as text, rows as bytes.

Source: mysqlclient's documentation, "MySQL C API translation".
"""

from MySQLdb import _mysql

from ..errors import nothing_found
from ..lookup import KEY, QUERY
from ..services import database
from ..spare import Spare

_TEXT = (QUERY % KEY).encode()


def _ask(connection):
    connection.query(_TEXT)
    return connection.store_result().fetch_row()


_spare = Spare(lambda: _mysql.connect(**database()))


def lookup():
    """Return the value of the row."""
    rows = _spare.ask(_ask)
    if not rows:
        raise nothing_found("the table")
    return rows[0][0].decode()
