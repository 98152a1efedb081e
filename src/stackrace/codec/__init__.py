"""The one way from the model's frozen dataclasses to plain JSON values and back, led by their annotations.

The room's library is imported at the first call, so importing it costs nothing.
"""

from .record import decode, encode
from .text import dumps

__all__ = ["decode", "dumps", "encode"]
