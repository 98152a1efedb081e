"""Options in sections, for verbs that have many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["SectionedCommand", "section"]


class _Option(click.Option):
    """An option that knows the heading it stands under."""

    def __init__(self, *args: Any, heading: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.heading = heading

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out the range: the error names it to whoever is beyond it."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def section(heading: str) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Return what ``click.option`` is, for options under ``heading``."""

    def option(*names: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return click.option(*names, cls=_Option, heading=heading, **options)

    return option


class SectionedCommand(click.Command):
    """A command whose help lists options by section, in the order in which sections first appear."""

    rest = "Help"
    """The heading of options without one; that of --help itself always is this."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list per section; what has none comes last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in sorted(self.get_params(ctx), key=lambda option: not isinstance(option, _Option)):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "heading", self._rest_of(parameter)), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def _rest_of(self, parameter: click.Option) -> str:
        return SectionedCommand.rest if parameter.name == "help" else self.rest
