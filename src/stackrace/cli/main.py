"""The entry point: finds the verb, and is the one place that prints errors."""

from __future__ import annotations

import io
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path

import click

from .. import __version__
from ..base.errors import BreakdownError, LimitError, StackraceError
from ..base.secrets import masked
from .edge import printable_output, trusted
from .failures import TRACEBACK, brief, failure_of
from .signals import has_come

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130

GROUPS = {
    "Start": {
        "init": "Write a race file for the app in this folder.",
        "stacks": "List the servers: what is ready, what is missing.",
        "install": "Install what races need: servers, services, all of a race file.",
        "doctor": "Find what disturbs measurements on this machine.",
        "up": "Start one stack and look at it.",
        "completion": "Print a completion script for your shell.",
    },
    "Decide": {
        "run": "Race stacks: deploy, load, compare, and name a winner.",
        "check": "Find out whether a change makes the app slower.",
        "tune": "Find a stack's best settings for this app, within limits.",
        "export": "Write what deploys a stack: configurations, units, an image, and why.",
    },
    "Measure": {
        "load": "Load one server, with the load engine alone.",
        "capacity": "Find the highest rate at which a server is fast enough.",
        "record": "Record a visit in your browser, as a session to race.",
        "compare": "Compare two results of load.",
        "cluster": "Show the machines of a cluster: who is there, and for what.",
    },
    "Keep": {
        "report": "Show a race again, in any format.",
        "trend": "Show a project's races over time, and what changed.",
        "history": "Show whether anybody changed a stored race.",
        "name": "Give a stored race a name.",
        "publish": "Publish a race in a CouchDB database.",
        "fetch": "Copy published races into your store.",
        "web": "Browse your races.",
    },
}
"""Verb → its line in ``stackrace --help``, by what it is for; the verb itself is imported only when it is used."""

VERBS = {verb: line for group in GROUPS.values() for verb, line in group.items()}
_WIDEST = max(map(len, VERBS))


class _LazyGroup(click.Group):
    """Start-up matters: ``--help`` must not pay for numpy, Django or rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        folder = Path(__file__).with_name(cmd_name)
        module = import_module(f"stackrace.cli.{cmd_name}{'.command' * folder.is_dir()}")
        assert isinstance(module.command, click.Command)
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, verbs in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(verb.ljust(_WIDEST), line) for verb, line in verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ..base.nearest import did_you_mean

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no verb {args[0]!r}{did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  stackrace run                       race the app in this folder, or the bundled one
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
    """Run the command line; exit 0 done, 1 the answer is no, 2 wrong input, 3 refused, 4 broken, 130 Ctrl-C."""
    with printable_output():
        sys.exit(_run())


def _run() -> int:
    """Run the verb and print what went wrong; returns the exit code."""
    try:
        cli.main(standalone_mode=False)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(brief(shown.getvalue()), nl=False, err=True)
        return 2
    except BrokenPipeError:
        # the reader of our output went away, as in `stackrace stacks | head`
        sys.stderr.close()
        return 0
    except Exception as error:
        if has_come() and not isinstance(error, StackraceError):
            click.echo("interrupted", err=True)
            return INTERRUPTED
        return _failed(error)


def _failed(error: Exception) -> int:
    """Print ``error`` in a sentence; where not even that can be done, there is still the exit code."""
    try:
        failure = failure_of(error)
        if os.environ.get(TRACEBACK):
            click.echo(masked("".join(traceback.format_exception(error))), nl=False, err=True)
        _show(failure)
        return failure.exit_code
    except Exception:
        return BreakdownError.exit_code


def _show(error: StackraceError) -> None:
    if error.detail:
        click.echo(brief(error.detail), err=True)
    click.echo(click.style("error: ", fg="red", bold=True), nl=False, file=trusted(sys.stderr))
    click.echo(brief(_message(error)), err=True)


def _message(error: StackraceError) -> str:
    if not isinstance(error, LimitError):
        return error.message
    from ..report.words.findings import refusal

    return refusal(error.finding)
