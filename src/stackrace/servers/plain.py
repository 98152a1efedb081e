"""Text that means itself in every configuration, address and command line, so that it needs no quotes anywhere."""

from __future__ import annotations

import re

__all__ = ["PLAIN"]

PLAIN = re.compile("[A-Za-z0-9_./-]*")
"""No blank or quote, and none of ``$ % = : , ; # @ { } \\``: each of them is syntax for some server."""
