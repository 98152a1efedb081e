"""``stackrace up``."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING

import click

from ..base.errors import InputError
from ..base.numbers import duration
from .options import complete_stack, race_file_and_rest, requested
from .request_flags import APP_OPTIONS, RequestFlags, request_flags

if TYPE_CHECKING:
    from ..api.one_stack import StackUp

_LOOK_S = 0.5


@click.command(
    epilog="""\b
Examples:
  stackrace up gunicorn:workers=4
  stackrace up nginx/uwsgi/uwsgi --port 8000
  stackrace up race.toml --stack gunicorn    as the file's race would start it
  stackrace up apache+mod_wsgi:mode=daemon --project ~/shop"""
)
@click.argument("words", nargs=-1, metavar="[STACK] [RACE.toml]", shell_complete=complete_stack)
@click.option(
    "--stack",
    metavar="PATH",
    shell_complete=complete_stack,
    help="Stack to start; see `stackrace stacks`. Default: the race file's, if it names only one.",
)
@request_flags(*APP_OPTIONS)
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. Default: any free port.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON once the stack answers.")
def command(
    words: tuple[str, ...], stack: str | None, flags: RequestFlags, port: int | None, as_json: bool
) -> None:
    """Start STACK with your project, to look at it in a browser. Ctrl-C stops it.

    With RACE.toml, all is as in that race. It writes only to a private folder, which is shown at the start and
    removed at the end.
    """
    from ..api.one_stack import of_one_stack, stack_up
    from ..deploy.sockets import claim
    from .announcer import Announcer

    if port is not None:
        claim(port)
    race_file, stacks = race_file_and_rest(words)
    chosen = _only_stack((*stacks, *filter(None, [stack])))
    request = of_one_stack(flags.over(requested(race_file, flags.given.get("servers"))), chosen)
    with Announcer() as say, stack_up(request, say, port=port) as up:
        say.done()
        try:
            if as_json:
                click.echo(json.dumps(_document(up)))
            else:
                _announce(up)
            while True:
                up.refuse_dead()
                time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            click.echo("\nstopping", err=as_json)


def _only_stack(stacks: tuple[str, ...]) -> str | None:
    if len(stacks) > 1:
        raise InputError(f"one stack is started at a time; give only one of {', '.join(stacks)}")
    return stacks[0] if stacks else None


def _document(up: StackUp) -> dict[str, object]:
    running = up.running
    return {
        "stack": running.stack.path,
        "url": f"http://{running.host}:{running.port}/",
        "host": up.deployment.workloads[0].host,
        "processes": {hop: list(pids) for hop, pids in running.hops.items()},
        "versions": up.versions,
        "folder": str(running.directory),
        "ready_s": running.ready_s,
    }


def _announce(up: StackUp) -> None:
    from ..report.words.race_words import version_words

    running, host = up.running, up.deployment.workloads[0].host
    address = f"http://{running.host}:{running.port}/"
    click.echo(f"{running.stack.path} answers at {address} after {duration(running.ready_s)}")
    for hop, pids in running.hops.items():
        click.echo(f"  {hop}: process {', '.join(map(str, pids))}")
    click.echo(f"  Versions: {version_words(up.versions)}")
    click.echo(f"  Host header: {host}; configuration and logs: {running.directory}")
    click.echo("Ctrl-C stops it.")
