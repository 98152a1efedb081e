"""Documents of YAML, JSON and TOML, and what is wrong with one that cannot be read."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["MOST_NODES", "loaded", "problem_of"]

MOST_NODES = 20_000
"""Of one YAML document: aliases make a short file endless."""


def loaded(path: Path, text: str) -> object:
    """Return a document of YAML, JSON or TOML; None for what is none."""
    try:
        return _load(path, text)
    except (ValueError, RecursionError):
        return None


def problem_of(path: Path, text: str) -> str:
    """Return why the file at ``path`` is no document of the kind that its name says; empty where it is one."""
    if path.suffix not in (".json", ".toml", ".yml", ".yaml"):
        return ""
    try:
        _load(path, text)
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def _load(path: Path, text: str) -> object:
    """Return a document. Raises ValueError with the line of what is wrong, or RecursionError."""
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".toml":
        return tomllib.loads(text)
    import yaml

    try:
        return yaml.load(text, _loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or "it is no YAML"
        raise ValueError(f"line {mark.line + 1}: {said}" if mark else said) from error


@cache
def _loader() -> Any:
    """Return a loader that takes what has a tag of its own, as compose's ``!override``, for its value."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def value(loader: Any, _: str, node: Any) -> object:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_object(yaml.ScalarNode(loader.resolve(yaml.ScalarNode, node.value, (True, False)),
                                                       node.value))  # fmt: skip

    Loader.add_multi_constructor("!", value)  # type: ignore[no-untyped-call]
    return Loader
