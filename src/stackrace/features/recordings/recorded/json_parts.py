"""JSON read part by part: of a large file only one part at a time becomes objects. Source: RFC 8259.

Numbers come as they are written: what a header or a status says is read when it is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

_BLANKS = re.compile(r"[ \t\n\r]*")
_STRINGS_AND_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]+|[\]}]+', re.DOTALL)


class _TooDeep:
    """A value with more levels than are read."""


_TOO_DEEP = _TooDeep()


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_number)


class JsonText:
    """A cursor in ``text``. ValueError, with line and column: it is no JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = _after_blanks(text, 0)

    def begins(self, character: str) -> bool:
        """Tell whether the next value begins with ``character``."""
        return self._text.startswith(character, self._at)

    def members(self) -> Iterator[str]:
        """Yield each name of the next value, an object; its value is to be taken before the next name."""
        self._take("{", "an object")
        if self._accept("}"):
            return
        while True:
            if not self.begins('"'):
                self._wrong("Expecting property name enclosed in double quotes")
            name = self.value()
            self._take(":", "':'")
            assert isinstance(name, str)
            yield name
            if not self._accept(","):
                return self._take("}", "',' or '}'")

    def items(self) -> Iterator[object]:
        """Yield each item of the next value, a list."""
        self._take("[", "a list")
        if self._accept("]"):
            return
        while True:
            yield self.value()
            if not self._accept(","):
                return self._take("]", "',' or ']'")

    def value(self) -> object:
        """Return the next value; ``_TOO_DEEP`` where it has more levels than Python's stack."""
        try:
            value, end = _DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError:
            raise
        except ValueError as error:
            self._wrong(str(error))
        except RecursionError:
            value, end = _TOO_DEEP, self._closing()
        self._at = _after_blanks(self._text, end)
        return value

    skip = value

    def end(self) -> None:
        """See that nothing follows."""
        if self._at < len(self._text):
            self._wrong("Extra data")

    def _closing(self) -> int:
        """Return where the brackets that open here are closed, whatever is between them."""
        depth = 0
        for part in _STRINGS_AND_BRACKETS.finditer(self._text, self._at):
            run = part[0]
            if run[0] in "[{":
                depth += len(run)
            elif run[0] in "]}":
                if depth <= len(run):
                    return part.start() + depth
                depth -= len(run)
        raise json.JSONDecodeError("Unclosed brackets", self._text, len(self._text))

    def _take(self, character: str, name: str) -> None:
        if not self._accept(character):
            self._wrong(f"Expecting {name}")

    def _accept(self, character: str) -> bool:
        if not self.begins(character):
            return False
        self._at = _after_blanks(self._text, self._at + 1)
        return True

    def _wrong(self, why: str) -> NoReturn:
        raise json.JSONDecodeError(why, self._text, self._at)


def _after_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()
