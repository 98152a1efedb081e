"""A Python string from a global: what a request costs without any lookup."""

from ..lookup import VALUE


def lookup():
    """Return it."""
    return VALUE
