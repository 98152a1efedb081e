"""Whether a stack is still what it was: the same versions, configurations and commands. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..stacks.facts import StackFacts

__all__ = ["changed"]

_OF_ONE_LAUNCH = (
    # the run directory, another in every process that races
    (re.compile(r"[^\s'\"=:,;()<>]*/stackrace-[0-9a-f]{8}"), "RUN"),
    # ports are drawn anew for each launch, from net.ipv4.ip_local_port_range
    (re.compile(r"(?<![\w.])[1-6]\d{4}(?![\w.])"), "PORT"),
)


def changed(before: StackFacts, now: StackFacts) -> str:
    """Say what about a stack changed, empty where nothing did; ports and run directories are another each time."""
    for hop in sorted({*before.versions, *now.versions}):
        was, are = before.versions.get(hop, ""), now.versions.get(hop, "")
        if was != are:
            return f"{hop} was {was or 'absent'}, now it is {are or 'absent'}"
    was_there, is_there = _plain(before.configs), _plain(now.configs)
    for name in sorted({*was_there, *is_there}):
        if was_there.get(name) != is_there.get(name):
            return f"its configuration {name} differs"
    if [_neutral(command) for command in before.commands] != [_neutral(command) for command in now.commands]:
        return "it is started by another command"
    return ""


def _plain(configs: Mapping[str, str]) -> dict[str, str]:
    return {name: _neutral(text) for name, text in configs.items()}


def _neutral(text: str) -> str:
    for pattern, word in _OF_ONE_LAUNCH:
        text = pattern.sub(word, text)
    return text
