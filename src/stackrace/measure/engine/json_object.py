"""A JSON file of a user, read with errors that name the file and the key."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TypeVar

from stackrace.base.errors import InputError
from stackrace.base.files import read_bytes

__all__ = ["JsonObject", "read_object"]

Item = TypeVar("Item")

MOST_BYTES = 64 << 20
"""A saved result holds all latencies of a load."""


def read_object(path: Path, way_out: str) -> JsonObject:
    """Return the object in the JSON file at ``path``; ``way_out`` ends each message about what is wrong in it."""
    try:
        content = json.loads(read_bytes(path, MOST_BYTES))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); {way_out}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error}); {way_out}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a JSON object; {way_out}")
    return JsonObject(content, path, way_out)


class JsonObject:
    """One JSON object, read key by key. An InputError names the file, the whole key and the way out."""

    def __init__(self, content: dict[str, object], path: Path, way_out: str, place: str = "") -> None:
        self.content = content
        self._path = path
        self._way_out = way_out
        self._place = place

    def wrong(self, key: str, what: str) -> InputError:
        """Return the error to raise: ``what`` is wrong with ``key``."""
        return InputError(f"{self._path}: {self._place}{key} {what}; {self._way_out}")

    def number(self, key: str) -> float:
        """Return a number that is finite and not negative."""
        value = self._get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
            try:
                return float(value)
            except OverflowError:
                pass
        raise self.wrong(key, "is not a number of zero or more")

    def whole(self, key: str) -> int:
        """Return a whole number that is not negative."""
        value = self._get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
            raise self.wrong(key, "is not a whole number of zero or more")
        return value

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "is not text")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self._list(key, str, "texts"))

    def member(self, key: str) -> JsonObject:
        """Return an object within this one."""
        value = self._get(key)
        if not isinstance(value, dict):
            raise self.wrong(key, "is no object")
        return self._inner(value, f"{key}.")

    def members(self, key: str) -> list[JsonObject]:
        """Return a list of objects."""
        items = self._list(key, dict, "objects")
        return [self._inner(item, f"{key}[{index}].") for index, item in enumerate(items)]

    def _inner(self, content: dict[str, object], place: str) -> JsonObject:
        return JsonObject(content, self._path, self._way_out, self._place + place)

    def _list(self, key: str, kind: type[Item], what: str) -> list[Item]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self.wrong(key, f"is no list of {what}")
        return value

    def _get(self, key: str) -> object:
        if key not in self.content:
            raise self.wrong(key, "is missing")
        return self.content[key]
