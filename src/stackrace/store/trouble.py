"""Translates what database drivers complain about into one sentence with a way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ImproperlyConfigured
from django.db import Error, IntegrityError

from ..base.errors import StoreError
from .address import VARIABLE, Address

__all__ = ["WAYS_OUT", "translated"]

WAYS_OUT = {
    "file is not a database": f"it is no SQLite database; name another file with {VARIABLE}",
    "unable to open database file": f"it cannot be opened; make its folder writable or set {VARIABLE}",
    "readonly database": f"it may not be written; make it and its folder writable or set {VARIABLE}",
    "disk is full": "the disk is full; free some space and start the race again",
    "disk i/o error": f"the disk does not take it; check the disk or move the store with {VARIABLE}",
    "malformed": "it is damaged; save what can be saved with the command: sqlite3 FILE .recover",
    "locked": "another process keeps it locked; end that process or wait for it",
    "authentication failed": f"the server refuses this user; put user and password into {VARIABLE}",
    "no password supplied": f"the server wants a password; put it into {VARIABLE}",
    "does not exist": "the server has no such database or role; make it with createdb or createuser",
    "permission denied": "this user may not make tables there; grant it CREATE on the schema",
    "too many clients": "the server has no connection left; raise its max_connections",
    "connection": f"the server cannot be reached; start it or correct {VARIABLE}",
    "could not translate host": f"the server's name is unknown; correct it in {VARIABLE}",
    "timeout expired": f"the server does not answer; start it or correct {VARIABLE}",
}
"""What to say when a driver's message contains the key; the first match counts."""

_NO_DRIVER = "it needs the driver psycopg in Stackrace's own environment: pip install 'psycopg[binary]'"


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn every database error inside into a StoreError that names the store at ``address``."""
    try:
        yield
    except IntegrityError as error:
        raise StoreError(
            f"store {address}: an id is already in use, or does not exist", detail=str(error)
        ) from error
    except ImproperlyConfigured as error:
        raise StoreError(f"store {address}: {_NO_DRIVER}", detail=str(error)) from error
    except OverflowError as error:
        raise StoreError(f"store {address}: a number is too large to be stored", detail=str(error)) from error
    except (Error, OSError) as error:
        raise StoreError(f"store {address}: {_way_out(str(error))}", detail=str(error)) from error


def _way_out(complaint: str) -> str:
    lowered = complaint.lower()
    for fragment, way_out in WAYS_OUT.items():
        if fragment in lowered:
            return way_out
    return f"the database refused; repair it or name another store with {VARIABLE}"
