"""``python -m ladder.prepare``: the table with its row, and the same value in memcached. May be run again."""

import sys

from .errors import LadderError, missing_driver
from .lookup import KEY, TABLE, VALUE

CREATE = f"CREATE TABLE IF NOT EXISTS {TABLE} (id INT PRIMARY KEY, value VARCHAR(255) NOT NULL) ENGINE=InnoDB"
FILL = f"REPLACE INTO {TABLE} (id, value) VALUES (%s, %s)"


def main():
    """Fill table and memcached; drivers are imported here, so that a missing one gets our message."""
    try:
        from .rungs import memcached, mysqldb
    except ImportError as error:
        raise missing_driver("python -m ladder.prepare", error) from error
    connection = mysqldb.connect()
    try:
        with connection.cursor() as cursor:
            cursor.execute(CREATE)
            cursor.execute(FILL, (KEY, VALUE))
    finally:
        connection.close()
    if not memcached.client().set(str(KEY), VALUE):
        raise LadderError("memcached does not take the value: is it running on MEMCACHED_SOCKET?")


if __name__ == "__main__":
    try:
        main()
    except LadderError as error:
        sys.exit(f"ladder: {error}")
