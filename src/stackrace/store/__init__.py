"""Results: every race, launch and slice in SQLite or PostgreSQL, each slice kept from the moment it ends.

Django is imported by ``open_store`` and nothing earlier, so importing this room costs nothing.
"""

from .alteration import Alteration, Deed
from .manifest import Manifest, Opening, finished
from .manifest_file import ManifestFile, ManifestSink, begin_manifest, has_manifest, is_racing, reopen_manifest
from .setup import open_store
from .sink import StoreSink
from .summary import Summary

__all__ = [
    "Alteration",
    "Deed",
    "Manifest",
    "ManifestFile",
    "ManifestSink",
    "Opening",
    "StoreSink",
    "Summary",
    "begin_manifest",
    "finished",
    "has_manifest",
    "is_racing",
    "open_store",
    "reopen_manifest",
]
