"""What a check saw, kept as JSON: real faults recorded once, to be judged anew by every later version.

A stack is kept as its path and read with the catalogue's settings; distributions and their pictures are left out.
``tests/integration/record_faults.py`` provokes the faults and writes the files.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_type_hints

from stackrace.base.codec import decode, encode
from stackrace.measure.launch import Launch
from stackrace.stacks.servers import catalogue
from stackrace.stacks.setting import Interface
from stackrace.stacks.stack import Stack
from stackrace.stacks.stack_path import parse_stack
from stackrace.validity.observation import Aftermath, LaunchView, Observation

FOLDER = Path(__file__).parent / "recorded"

_APART = {"stack", "slow"}


def of_observation(seen: Observation, path: str = "") -> dict[str, Any]:
    """Return the plain form; ``path`` replaces the stack's own, where that is not in the catalogue."""
    bare = replace(seen, result=replace(seen.result, histogram=b""))
    kept = {one.name: encode(getattr(bare, one.name)) for one in fields(bare) if one.name not in _APART}
    stack = path or (seen.stack.path if seen.stack else None)
    return kept | {"stack": stack, "slow": [list(pair) for pair in seen.slow]}


def observation(document: dict[str, Any]) -> Observation:
    """Undo ``of_observation``."""
    hints = get_type_hints(Observation)
    values = {name: decode(hints[name], each, name) for name, each in document.items() if name not in _APART}
    stack = stack_of(document["stack"])
    slow = tuple((float(seconds), int(number)) for seconds, number in document["slow"])
    return Observation(stack=stack, slow=slow, **values)


def of_launch(view: LaunchView, path: str = "") -> dict[str, Any]:
    """Return the plain form of a launch and its aftermath."""
    slices = tuple(replace(one, result=replace(one.result, histogram=b"", series=())) for one in view.launch.slices)
    return {
        "stack": path or view.stack.path,
        "launch": encode(replace(view.launch, slices=slices, id="")),
        "aftermath": encode(view.aftermath),
    }


def launch(document: dict[str, Any]) -> LaunchView:
    """Undo ``of_launch``."""
    stack = stack_of(document["stack"])
    assert stack is not None
    return LaunchView(
        stack=stack, launch=decode(Launch, document["launch"]), aftermath=decode(Aftermath, document["aftermath"])
    )


def stack_of(path: str | None) -> Stack | None:
    """Return the stack of a path in the catalogue."""
    return (
        None if path is None else parse_stack(path, catalogue().specs, frozenset({Interface.WSGI, Interface.ASGI}))
    )


def write(name: str, how: str, findings: dict[str, str], document: dict[str, Any]) -> None:
    """Keep what was seen of a fault under ``name``, with the findings it must lead to and ``how`` it came about."""
    kind = "launch" if "aftermath" in document else "slice"
    kept = {"how": how, "findings": findings, kind: document}
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
