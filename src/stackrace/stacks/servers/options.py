"""Command lines that follow from a server's table of options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..native_options import Concern, NativeOptions, Option
from ..stack import SettingValue
from .settings import RECYCLING
from .site import Site

__all__ = ["ADDRESS", "address", "command_words", "given", "recycling", "unless_off", "value_of", "words"]

ADDRESS = (
    Option("uds", concern=Concern.ADDRESS, written=lambda site: site.listen.path if site.listen.is_unix else None),
    Option("host", concern=Concern.ADDRESS, written=lambda site: None if site.listen.is_unix else site.listen.host),
    Option("port", concern=Concern.ADDRESS, written=lambda site: None if site.listen.is_unix else site.listen.port),
)
"""How most servers are told where to listen."""


def address(site: Site) -> str:
    """Return where to listen as ``unix:PATH`` or ``host:port``."""
    return f"unix:{site.listen.path}" if site.listen.is_unix else site.listen.address


def unless_off(name: str) -> Callable[[Site], SettingValue | None]:
    """Return what writes the setting ``name`` unless it is 0 or off, which is then left to the server."""
    return lambda site: site.settings[name] or None


def recycling(prefix: str = "") -> tuple[Option, ...]:
    """Return the rows that replace workers after a number of requests."""
    return tuple(
        Option(prefix + setting.name.replace("_", "-"), setting=setting, written=unless_off(setting.name))
        for setting in RECYCLING
    )


def command_words(native: NativeOptions, site: Site) -> tuple[str, ...]:
    """Return all that a server is told on ``site``: what its rows write, then what the path gives as it is."""
    return (*(word for row in native.rows for word in _row_words(row, value_of(row, site))), *given(site))


def given(site: Site) -> tuple[str, ...]:
    """Return the options that a stack's path gives in the server's own language, as words of its command."""
    return tuple(
        f"--{option.name}" if option.value is None else f"--{option.name}={option.value}" for option in site.options
    )


def words(options: Mapping[str, object]) -> tuple[str, ...]:
    """Return ``options`` as words of a command, each followed by its value."""
    return tuple(str(word) for option in options.items() for word in option)


def value_of(row: Option, site: Site) -> object:
    """Return what a row says on ``site``; None for nothing, a tuple for words that are written as they are."""
    if row.written is None:
        return site.settings[row.setting.name] if row.setting is not None else None
    return row.written(site) if callable(row.written) else row.written


def _row_words(row: Option, value: object) -> Iterator[str]:
    """Yield the words for a value: those of a switch say ``--no-…`` where the server knows that."""
    if isinstance(value, tuple):
        yield from map(str, value)
    elif isinstance(value, bool):
        off = next((name for name in row.long[1:] if name.startswith("no-")), "")
        if value or off:
            yield f"--{row.long[0] if value else off}"
    elif value is not None:
        yield from (f"--{row.long[0]}", str(value))
