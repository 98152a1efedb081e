"""The entry point: finds the verb, and is the one place that prints errors."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from .. import __version__
from ..model.errors import LimitError, StackraceError

__all__ = ["main"]

VERBS = {
    "run": "Race stacks: deploy, load, compare, and name a winner.",
    "stacks": "List the servers: what is ready, what is missing.",
    "install": "Install servers from Debian's packages.",
    "doctor": "Find what disturbs measurements on this machine.",
    "up": "Start one stack and look at it.",
    "load": "Load one server, with the load engine alone.",
    "capacity": "Find the highest rate at which a server is fast enough.",
    "compare": "Compare two results of load.",
    "report": "Show a race again, in any format.",
    "history": "Show whether anybody changed a stored race.",
    "name": "Give a stored race a name.",
    "publish": "Publish a race in a CouchDB database.",
    "fetch": "Copy published races into your store.",
    "web": "Browse your races.",
    "completion": "Print a completion script for your shell.",
}
"""Verb → its line in ``stackrace --help``; the verb itself is imported only when it is used."""


class _LazyGroup(click.Group):
    """Start-up matters: ``--help`` must not pay for numpy, Django or rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = import_module(f"stackrace.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ..spec.nearest import did_you_mean

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no verb {args[0]!r}{did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  stackrace run                       race the project in this folder, or the bundled app
  stackrace run --stack gunicorn --stack nginx/uwsgi/uwsgi:processes=4 --budget 2min
  stackrace stacks                    what is ready here, what is missing
  stackrace load http://127.0.0.1:8000/ -c 100 -d 5s
  stackrace report --markdown         the last race, for a pull request""",
)
@click.version_option(__version__, prog_name="stackrace")
def cli() -> None:
    """Race your Python web application across every way of deploying it.

    You get a ranking you can believe, the reason behind it, and the configuration that won.
    """


def main() -> None:
    """Run the command line; exit 0 done, 1 the answer is no, 2 wrong input, 3 refused, 130 interrupted."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except StackraceError as error:
        _show(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # the reader of our output went away, as in `stackrace stacks | head`
        sys.stderr.close()
        sys.exit(0)


def _show(error: StackraceError) -> None:
    if error.detail:
        click.echo(error.detail, err=True)
    click.echo(f"{click.style('error:', fg='red', bold=True)} {_message(error)}", err=True)


def _message(error: StackraceError) -> str:
    if not isinstance(error, LimitError):
        return error.message
    from ..report.words.findings import refusal

    return refusal(error.finding)
