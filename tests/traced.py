"""Stackrace's command with a short race, and a record of which function called which.

    python tests/traced.py FILE FUNCTIONS run …

``FUNCTIONS`` are ``file:name`` below src/stackrace, in one word with commas. FILE gets them in the order of their
first calls, each with the innermost others of them that were running at any call, as JSON.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.brief import brief

import stackrace

PACKAGE = Path(stackrace.__file__).parent


def traced(functions: set[str]) -> dict[str, list[str]]:
    """Run the command; return ``functions`` by their first calls in this thread, with their callers."""
    called: dict[str, list[str]] = {}
    names: dict[CodeType, str] = {}

    def name_of(code: CodeType) -> str:
        if code not in names:
            path = Path(code.co_filename)
            inside = path.is_relative_to(PACKAGE)
            names[code] = f"{path.relative_to(PACKAGE)}:{code.co_qualname}" if inside else ""
        return names[code]

    def callers(frame: FrameType | None) -> Iterator[str]:
        while frame is not None:
            yield name_of(frame.f_code)
            frame = frame.f_back

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        name = name_of(frame.f_code) if event == "call" else ""
        if name in functions:
            caller = next((each for each in callers(frame.f_back) if each in functions), "")
            called.setdefault(name, []).append(caller)

    sys.setprofile(note)
    try:
        brief()
    except SystemExit as end:
        assert not end.code, end.code
    finally:
        sys.setprofile(None)
    return called


if __name__ == "__main__":
    file, wanted = sys.argv[1:3]
    del sys.argv[1:3]
    Path(file).write_text(json.dumps(traced(set(wanted.split(",")))))
