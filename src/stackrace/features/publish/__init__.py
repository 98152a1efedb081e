"""Publishing: a race as a document in a CouchDB-compatible database, and back.

A published document never changes and its id is random, so databases that replicate each other never conflict.
"""

from .database import Database
from .document import Published, published, race_from
from .exchange import Fetched, fetch, publish, published_ids

__all__ = ["Database", "Fetched", "Published", "fetch", "publish", "published", "published_ids", "race_from"]
