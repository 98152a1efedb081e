"""Prints the path of the stack that a race put first."""

from ...extensions import Verb

EXTENSIONS = (
    Verb("winner", "Decide", "Print the path of the stack that a race put first.", f"{__name__}.verb:command", 90),
)
