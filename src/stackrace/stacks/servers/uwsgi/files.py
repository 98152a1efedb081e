"""uWSGI's options in files that a path cannot name: a section of another name, YAML, JSON."""

from __future__ import annotations

import json

from .own import pairs_of

__all__ = ["ini_options", "json_options", "yaml_options"]

_OWN = "uwsgi"


def ini_options(text: str, section: str) -> list[tuple[str, str | None]]:
    """Return the options of a section. Raises ValueError where there is none of that name."""
    pairs = pairs_of(text, section or _OWN)
    if not pairs:
        raise ValueError(f"it has no section [{section}]")
    return [(key, value or None) for key, value in pairs]


def yaml_options(text: str, section: str) -> list[tuple[str, str | None]]:
    """Return the options of a YAML document. Raises ValueError for what is none."""
    import yaml

    try:
        return _options(yaml.safe_load(text), section)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def json_options(text: str, section: str) -> list[tuple[str, str | None]]:
    """Return the options of a JSON document. Raises ValueError for what is none."""
    return _options(json.loads(text), section)


def _options(document: object, section: str) -> list[tuple[str, str | None]]:
    table = document.get(section or _OWN) if isinstance(document, dict) else None
    if not isinstance(table, dict):
        raise ValueError(f"it has no {section or _OWN}")
    options: list[tuple[str, str | None]] = []
    for key, value in table.items():
        name = str(key).replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            text = str(one).lower() if isinstance(one, bool) else str(one)
            options.append((name, None if one is True or one is None else text))
    return options
