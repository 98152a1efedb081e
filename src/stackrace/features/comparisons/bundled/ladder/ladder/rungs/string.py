"""A Python string from a global: the cost of a request without any lookup."""

from ..lookup import VALUE


def lookup():
    """Return the string."""
    return VALUE
