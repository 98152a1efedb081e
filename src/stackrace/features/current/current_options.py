"""Options for the current stack: ``--current``, ``--no-current``, and ``[race] current``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import click

from ...base.errors import InputError
from ...cli.options import section
from ...race.request.request import AskedPart

_option = section("What is raced")

FLAGS = (
    _option(
        "--current",
        metavar="FILE",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Deployment file that says what you run today: a Procfile, compose file, systemd unit …, or what the "
        "program of current --script observed. Default: the likeliest one in the project.",
    ),
    _option(
        "--no-current",
        "no_current",
        is_flag=True,
        help="Leave out what you run today. Default: it races beside the others.",
    ),
)


def _read(value: object) -> bool | str:
    if isinstance(value, bool) or (isinstance(value, str) and value):
        return value
    raise ValueError('names no deployment file; write it like "deploy/compose.prod.yml", or false')


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRequest(AskedPart):
    """Request to race the present deployment, or to leave it out."""

    name: ClassVar[str] = "current-file"
    current: Path | bool
    """True to find the deployment, False to leave it out, or the path of its deployment file."""

    @classmethod
    def keys(cls) -> Mapping[str, Any]:
        """See `AskedPart`."""
        # flags alone need no pydantic
        from pydantic import PlainValidator

        return {"current": Annotated[bool | str, PlainValidator(_read)]}

    @classmethod
    def over(cls, before: Self | None, given: Mapping[str, Any], folder: Path) -> Self | None:
        """See `AskedPart`."""
        if {"current", "no_current"} <= given.keys():
            raise InputError("give --current or --no-current, not both")
        if "no_current" in given:
            return cls(current=False)
        if "current" not in given:
            return before
        said = given["current"]
        return cls(current=said if isinstance(said, bool) else folder / said)

    @property
    def files(self) -> tuple[Path, ...]:
        """The deployment file, if one is named."""
        return (self.current,) if isinstance(self.current, Path) else ()
