"""Variables of deployments: files of variables, and values that name others, as compose reads them.

Source: the Compose Specification, chapter 12 (interpolation), and ``env_file`` of chapter 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from ...model.secrets import learn
from .deployment_command import text_of

__all__ = ["interpolated", "variables_of"]

_MOST_DEEP = 9
"""Variables in defaults of variables."""
_PLAIN = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*))")
_BRACED = re.compile(r"(\w+)(:?[-?+])?(.*)", re.DOTALL)


def interpolated(text: str, known: Mapping[str, str], depth: int = 0) -> str:
    """Return what compose makes of ``text``; a variable that no file sets is left as ``${NAME?}``.

    >>> interpolated("-w ${N:-${M:-3}} $$PORT ${L}", {"N": ""})
    '-w 3 $PORT ${L?}'
    """
    parts, at = [], 0
    while (sign := text.find("$", at)) >= 0 and depth < _MOST_DEEP:
        parts.append(text[at:sign])
        plain = _PLAIN.match(text, sign)
        end = _closed(text, sign + 2) if text.startswith("${", sign) else -1
        if plain:
            parts.append("$" if plain[1] else known.get(plain[2], f"${{{plain[2]}?}}"))
            at = plain.end()
        elif end > 0 and (braced := _BRACED.fullmatch(text[sign + 2 : end])):
            parts.append(_value(braced[1], braced[2] or "", braced[3], known, depth))
            at = end + 1
        else:
            parts.append("$")
            at = sign + 1
    return "".join([*parts, text[at:]])


def _closed(text: str, start: int) -> int:
    """Return where the brace before ``start`` is closed; -1 for nowhere."""
    level = 1
    for place in range(start, len(text)):
        level += {"{": 1, "}": -1}.get(text[place], 0)
        if not level:
            return place
    return -1


def _value(name: str, how: str, other: str, known: Mapping[str, str], depth: int) -> str:
    value = known.get(name)
    is_there = value is not None and bool(value or not how.startswith(":"))
    if how.endswith("+"):
        return interpolated(other, known, depth + 1) if is_there else ""
    if how.endswith("-"):
        return value if value is not None and is_there else interpolated(other, known, depth + 1)
    return value if value is not None else f"${{{name}?}}"


def variables_of(path: Path, known: Mapping[str, str], *, is_raw: bool = False) -> dict[str, str] | None:
    """Return the variables of a file of variables, ``known`` and earlier ones put in; None if it cannot be read."""
    from dotenv.parser import parse_stream

    if not path.is_file():
        return None
    text, variables = text_of(path), {}
    if is_raw:
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
        variables = {name.strip(): value for name, _, value in pairs}
    for binding in () if is_raw else parse_stream(StringIO(text)):
        if binding.key and not binding.error and binding.value is not None:
            quoted = binding.original.string.partition("=")[2].strip().startswith("'")
            value = binding.value if quoted else interpolated(binding.value, {**known, **variables})
            variables[binding.key] = value
    learn(variables)
    return variables
