"""Results: every race, launch and slice in SQLite or PostgreSQL, each slice kept from the moment it ends.

Django is imported by ``open_store`` and nothing earlier, so importing this room costs nothing.
"""

from .alteration import Alteration, Deed
from .setup import open_store
from .sink import StoreSink
from .summary import Summary

__all__ = ["Alteration", "Deed", "StoreSink", "Summary", "open_store"]
