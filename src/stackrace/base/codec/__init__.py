"""The one way from the model's frozen dataclasses to plain JSON values and back, led by their annotations.

``encode`` and ``decode`` keep everything; ``readable`` is for documents that other programs read, and
``codec.json_schema`` has their schemas.

The room's library is imported at the first call, so importing it costs nothing.
"""

from .form import FLAT, LEFT_OUT, Form
from .record import decode, dumps, encode, map_paths, pretty, readable

__all__ = ["FLAT", "LEFT_OUT", "Form", "decode", "dumps", "encode", "map_paths", "pretty", "readable"]
