"""The one way from the model's frozen dataclasses to plain JSON values and back, led by their annotations.

``encode`` and ``decode`` keep everything; ``readable`` is for documents that other programs read.

The room's library is imported at the first call, so importing it costs nothing.
"""

from .readable import FLAT, LEFT_OUT, Form, readable
from .record import decode, encode
from .text import dumps

__all__ = ["FLAT", "LEFT_OUT", "Form", "decode", "dumps", "encode", "readable"]
