"""The database through SQLAlchemy's object-relational mapper: a session and an object per request.

Its pool has no limit, like those of the other rungs. Source: SQLAlchemy 2, "Session Basics" and
"Connection Pooling".
"""

from functools import cache
from threading import Lock

from sqlalchemy import String, create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from ..errors import nothing_found
from ..lookup import KEY, TABLE
from ..services import database


class Base(DeclarativeBase):
    """The root of the mapped classes."""


class Lookup(Base):
    """A row of the table."""

    __tablename__ = TABLE

    id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(String(255))


_making = Lock()


def engine():
    """Return the process's only engine with its pool, made at the first request."""
    # without the lock, two threads could make two engines
    with _making:
        return _engine()


@cache
def _engine():
    return create_engine(
        "mysql+mysqldb://", connect_args={**database(), "charset": "utf8mb4"}, pool_size=0, pool_use_lifo=True
    )


def lookup():
    """Return the value of the object."""
    with Session(engine()) as session:
        row = session.get(Lookup, KEY)
        if row is None:
            raise nothing_found("the table")
        return row.value
