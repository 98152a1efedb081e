"""Options that several verbs have, in sections, and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import InputError
from ..base.http_syntax import host_fault
from ..base.units import Unit
from ..extensions import load
from ..measure.resources import parse_cores

if TYPE_CHECKING:
    from ..race.request.request import RaceRequest
    from ..stacks.setting import Setting


def complete_stack(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return completions of a stack path: servers, after one the protocols that it forwards, after ``:`` settings
    and, where these are words, their values."""
    from ..stacks.servers import catalogue

    server, colon, settings = re.split("[/+]", incomplete)[-1].partition(":")
    if colon and (named := catalogue().entries.get(server.partition("@")[0])):
        return _complete_setting(incomplete, settings.rpartition(",")[2], named.spec.settings)
    head, slash, tail = incomplete.rpartition("/")
    before = head.split("/")
    if not slash or len(before) % 2 == 0:
        return [f"{head}{slash}{name}" for name in catalogue().entries if name.startswith(tail)]
    entry = catalogue().entries.get(re.split("[@:+]", before[-1])[0])
    protocols = entry.spec.forwards if entry else {}
    return [f"{head}/{protocol}/" for protocol in protocols if protocol.startswith(tail)]


def _complete_setting(path: str, begun: str, settings: Sequence[Setting]) -> list[str]:
    """Return ``path`` with each setting, or value of one, that ``begun`` is the beginning of."""
    before = path.removesuffix(begun)
    values = [f"{each.name}={value}" for each in settings for value in each.choices]
    names = [f"{each.name}=" for each in settings]
    return [f"{before}{word}" for word in (values if "=" in begun else names) if word.startswith(begun)]


def requested(race_file: Path | None, servers: Path | None = None) -> RaceRequest:
    """Return the request in ``race_file``; None: a request for the current folder."""
    from ..race.request.named_races import file_of
    from ..race.request.race_file import read_request
    from ..race.request.request import RaceRequest

    if race_file is None:
        return RaceRequest(folder=Path.cwd())
    return read_request(file_of(race_file), servers)


def race_file_and_rest(words: Sequence[str]) -> tuple[Path | None, tuple[str, ...]]:
    """Return the race file among ``words``, and the others; raise InputError for two race files."""
    files = [word for word in words if _is_race_file(word)]
    if len(files) > 1:
        raise InputError(f"give one race file, not {' and '.join(files)}")
    return (Path(files[0]) if files else None), tuple(word for word in words if word not in files)


def _is_race_file(word: str) -> bool:
    from ..race.request.named_races import may_be_named

    return "://" not in word and (word.endswith(".toml") or may_be_named(word))


class _Option(click.Option):
    def __init__(self, *args: Any, heading: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.heading = heading

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Return the extra help without the range: the error message names it."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


def section(heading: str) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Return the equivalent of ``click.option`` for options under ``heading``."""

    def option(*names: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return click.option(*names, cls=_Option, heading=heading, **options)

    return option


def held_options(of: Callable[..., Any]) -> tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...]:
    """Return the options for connections beside the load, under the heading of ``of``."""
    from ..measure.load import MOST_HELD

    number = click.IntRange(0, MOST_HELD)
    return (
        of("--silent", type=number, metavar="N", help="Open N connections beside the load that send nothing."),
        of("--idle", type=number, metavar="N", help="Keep N more open beside the load, each after one answer."),
    )


class SectionedCommand(click.Command):
    """Command whose help lists options by section, in the order in which sections first appear."""

    rest = "Help"
    """Heading of options without a section; subclasses may change it, but --help stays below ``Help``."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list per section; options without a section come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in sorted(self.get_params(ctx), key=lambda option: not isinstance(option, _Option)):
            record = self.help_record(parameter, ctx)
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "heading", self._rest_of(parameter)), []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)

    def help_record(self, parameter: click.Parameter, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option as it is spelt, and its help; None if the help leaves it out."""
        return parameter.get_help_record(ctx)

    def _rest_of(self, parameter: click.Option) -> str:
        return SectionedCommand.rest if parameter.name == "help" else self.rest


_HELP_ALL = "help_all"


class BriefCommand(SectionedCommand):
    """Command whose ``--help`` fits on one screen; ``--help-all`` prints every option and example.

    ``brief`` has the help of the most used options by parameter name, and ``examples`` is the number of examples on
    that screen.
    """

    def __init__(self, *args: Any, brief: Mapping[str, str], examples: int, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._brief, self._examples = brief, examples
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help="Show every option, and exit.",
            )
        )

    def help_record(self, parameter: click.Parameter, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option as it is spelt, and its help; None if the help leaves it out."""
        record, name = super().help_record(parameter, ctx), parameter.name or ""
        if record is None or ctx.meta.get(_HELP_ALL) or name == _HELP_ALL or "--help" in parameter.opts:
            return record
        return (record[0], self._brief[name]) if name in self._brief else None

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, in the brief help its first paragraph."""
        whole = self.help
        if not ctx.meta.get(_HELP_ALL):
            self.help = (whole or "").partition("\n\n")[0]
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, in the brief help the first ones."""
        whole = self.epilog
        if not ctx.meta.get(_HELP_ALL):
            # the mark that click leaves the lines as they are, the heading, and the examples
            self.epilog = "\n".join((whole or "").splitlines()[: 2 + self._examples])
        super().format_epilog(ctx, formatter)
        self.epilog = whole


def _show_all(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        context.meta[_HELP_ALL] = True
        click.echo(context.get_help())
        context.exit()


class Quantity(click.ParamType[float]):
    """Type of a number with its unit: 90s, 20min, 5%."""

    def __init__(self, unit: Unit, *, most: float = float("inf")) -> None:
        self.unit = unit
        self.name = unit.name
        self._most = most

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the value in the base unit; it must be above zero."""
        if isinstance(value, float):
            return value
        try:
            number = self.unit.parse(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)
        if not 0 < number < self._most:
            self.fail(f"{value!r} is out of range; write it like {self.unit.example}", param, ctx)
        return number


class Connections(click.IntRange):
    """Type of a number of connections; a list is refused, because each number needs an option of its own."""

    def __init__(self, most: int, *, levels: bool = False) -> None:
        super().__init__(1, most)
        self._levels = levels

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raise BadParameter with the right spelling for a list."""
        parts = [part.strip() for part in str(value).split(",")]
        if len(parts) < 2 or not all(part.isdecimal() for part in parts):
            number: int = super().convert(value, param, ctx)  # type: ignore[arg-type]
            return number
        all_ = " ".join(f"-c {part}" for part in parts)
        way_out = f"write {all_}" if self._levels else f"give one, as in -c {parts[0]}; a race takes {all_}"
        raise click.BadParameter(f"{value!r} is a list; {way_out}", ctx, param)


class Cores(click.ParamType[tuple[int, ...]]):
    """Type of a list of cores with ranges: 0-3 or 0,2."""

    name = "cores"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the cores, ascending."""
        try:
            return parse_cores(str(value))
        except InputError as error:
            self.fail(error.message, param, ctx)


def right_host(context: click.Context, option: click.Parameter, host: str | None) -> str | None:
    """Return ``host``; raise BadParameter if it cannot be a Host header."""
    if host is not None and (fault := host_fault(host)):
        raise click.BadParameter(fault, context, option)
    return host


OF_THE_APP = "The app of a stack"
"""Heading of the options for the app and its servers."""

servers_option = section(OF_THE_APP)(
    "--servers",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder with your own servers (NAME/server.py). Default: the race file's, or none.",
)

store_option = click.option(
    "--store",
    metavar="URL",
    envvar="STACKRACE_STORE",
    help="Where results are kept: sqlite:///PATH or postgresql://…  Default: $STACKRACE_STORE, "
    "or SQLite in the XDG data folder.",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def schema_option(
    import_path: str, option: Callable[..., Any] = click.option, of: str = "the JSON document"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that prints the schema from the function at ``import_path``, and ends the command."""

    def show(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
        if is_wanted and not context.resilient_parsing:
            click.echo(load(import_path)(), nl=False)
            context.exit()

    about = f"Print the schema of {of}."
    made: Callable[[Callable[..., Any]], Callable[..., Any]] = option(
        "--schema", is_flag=True, is_eager=True, expose_value=False, callback=show, help=about
    )
    return made


details_option = click.option(
    "--details",
    is_flag=True,
    help="Print all there is to say: every level, check and remedy. Default: what fits on one screen.",
)
