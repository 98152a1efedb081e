"""Entry point: finds the verb, and is the only place that prints errors."""

from __future__ import annotations

import io
import os
import sys
import traceback
from contextlib import suppress
from typing import get_args

import click

from ..base.errors import UNANSWERED, BreakdownError, LimitError, StackraceError
from ..base.secrets import masked, register_secrets, register_settings
from ..extensions import Group, Verb, declared, load
from .stdio import TRACEBACK, brief, failure_of, names_command, prepare_process, printable_output, trusted
from .tracebacks import cut_tracebacks

INTERRUPTED = 130

_COMPLETING = "_STACKRACE_COMPLETE"
"""Environment variable with which a shell asks click for completions."""

_CLI = __name__.rpartition(".")[0]

_CORE = (
    Verb("stacks", "Start", "List the servers: what is ready, what is missing.", f"{_CLI}.stacks:command", 20),
    Verb(
        "install",
        "Start",
        "Install what races need: servers, services, all of a race file.",
        f"{_CLI}.install:command",
        30,
    ),
    Verb("up", "Start", "Start one stack and look at it.", f"{_CLI}.up:command", 50),
    Verb(
        "completion",
        "Start",
        "Print a completion script for your shell.",
        f"{_CLI}.completion:command",
        60,
        needs_linux=False,
    ),
    Verb("run", "Decide", "Race stacks: deploy, load, compare, and name a winner.", f"{_CLI}.run:command", 10),
    Verb("load", "Measure", "Load one server, with the load engine alone.", f"{_CLI}.load.command:command", 10),
    Verb("compare", "Measure", "Compare two results of load.", f"{_CLI}.compare:command", 40, needs_linux=False),
    Verb(
        "report",
        "Keep",
        "Show a race again, in any format.",
        f"{_CLI}.report:report_command",
        10,
        needs_linux=False,
    ),
    Verb("name", "Keep", "Give a stored race a name.", f"{_CLI}.report:name_command", 40, needs_linux=False),
)

VERBS = {verb.name: verb for verb in sorted((*_CORE, *declared(Verb)), key=lambda verb: verb.rank)}
"""Verbs of the core and of the features; each is imported only when it is used."""

_WIDEST = max(map(len, VERBS))


class _LazyGroup(click.Group):
    """Group that imports a verb only when it is used: ``--help`` must not pay for numpy, Django or rich."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command = load(VERBS[cmd_name].import_path)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading in get_args(Group):
            with formatter.section(heading):
                lines = [(verb.name, verb.line) for verb in VERBS.values() if verb.group == heading]
                formatter.write_dl([(name.ljust(_WIDEST), line) for name, line in lines])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from ..base.text import did_you_mean

        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no verb {args[0]!r}{did_you_mean(args[0], VERBS)}", ctx)
        if args and args[0] in VERBS and VERBS[args[0]].needs_linux and sys.platform != "linux":
            from ..base.platforms import require_linux, this_platform

            require_linux(args[0], this_platform())
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  stackrace run                       race the app in this folder, or the bundled one
  stackrace run --stack gunicorn --stack nginx/uwsgi/uwsgi:processes=4 --budget 2min
  stackrace stacks                    what is ready here, what is missing
  stackrace load http://127.0.0.1:8000/ -c 100 -d 5s
  stackrace report --markdown         the last race, for a pull request""",
)
@click.version_option(package_name="stackrace", prog_name="stackrace")
@click.pass_context
def cli(context: click.Context) -> None:
    """Race your Python web application across every way of deploying it.

    You get a ranking you can believe, the reason behind it, and the configuration that won.
    """
    if context.invoked_subcommand is None:
        from .overview import overview

        for line in overview(VERBS):
            click.echo(line)


def main() -> None:
    """Run the command line; exit 0 done, 1 the answer is no, 2 wrong input, 3 refused, 4 broken, 130 Ctrl-C."""
    with printable_output():
        code = _run()
        notes = [*UNANSWERED.values()]
        if names_command():
            from .invocation import invocation_hint

            notes += filter(None, [invocation_hint()])
        for sentence in notes:
            with suppress(OSError, ValueError):
                click.echo(f"note: {sentence}", err=True)
        sys.exit(code)


def _run() -> int:
    register_secrets(os.environ)
    for word in sys.argv:
        register_settings(word)
    try:
        prepare_process()
        if _COMPLETING in os.environ:
            # registers how bash is answered
            from . import completion  # noqa: F401
        cli.main(standalone_mode=False)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(brief(shown.getvalue()), nl=False, err=True)
        return 2
    except BrokenPipeError:
        # the reader of our output is gone, as in `stackrace stacks | head`
        sys.stderr.close()
        return 0
    except Exception as error:
        # Python makes a RuntimeError of what a class's __set_name__ raises
        return _interrupted() if isinstance(error.__cause__, KeyboardInterrupt) else _failed(error)


def _interrupted() -> int:
    click.echo("interrupted", err=True)
    return INTERRUPTED


def _failed(error: Exception) -> int:
    """Print ``error`` in a sentence and return the exit code, even if printing fails."""
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
        click.echo(brief(cut_tracebacks(error.detail)), err=True)
    click.echo(click.style("error: ", fg="red", bold=True), nl=False, file=trusted(sys.stderr))
    click.echo(brief(_message(error)), err=True)


def _message(error: StackraceError) -> str:
    if not isinstance(error, LimitError):
        return error.message
    from ..report.words.findings import refusal

    return refusal(error.finding)
