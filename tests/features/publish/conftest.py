"""Arbitrary races, as the tests of the store have them."""

from tests.core.store.conftest import races

__all__ = ["races"]
