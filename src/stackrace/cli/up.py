"""``stackrace up``."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.numbers import duration
from .names import complete_stack
from .request_flags import APP_OPTIONS, RequestFlags, request_flags

if TYPE_CHECKING:
    from ..deploy.running import Running

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace up gunicorn:workers=4
  stackrace up nginx/uwsgi/uwsgi --port 8000
  stackrace up apache+mod_wsgi:mode=daemon --project ~/shop"""
)
@click.argument("stack", metavar="STACK", shell_complete=complete_stack)
@request_flags(*APP_OPTIONS)
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. Default: any free port.")
def command(stack: str, flags: RequestFlags, port: int | None) -> None:
    """Start STACK with your project, to look at it in a browser. Ctrl-C stops it.

    It writes only to a private folder, which is shown at the start and removed at the end.
    """
    from ..deploy.ports import claim
    from ..deploy.stopping import stop
    from ..model.errors import LaunchError
    from ..model.preparing import Preparing, Step
    from ..setup.deployment import set_up
    from ..spec.request import RaceRequest
    from .announcer import Announcer
    from .signals import stoppable

    if port is not None:
        claim(port)
    request = replace(flags.over(RaceRequest(folder=Path.cwd())), stacks=(stack,))
    with stoppable(), Announcer() as say, set_up(request, say) as deployment:
        (chosen,) = deployment.stacks
        say(Preparing(step=Step.START, subject=chosen.path))
        running = deployment.launcher.launch(chosen, port=port)
        say.done()
        try:
            _announce(running, deployment.workloads[0].host)
            while (failure := deployment.launcher.failure_of(running)) is None:
                time.sleep(0.5)
            raise LaunchError(failure.message, detail=failure.log)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            click.echo("\nstopping")
        finally:
            stop(deployment.guard, [running])


def _announce(running: Running, host: str) -> None:
    """Say where the stack answers, and what it consists of."""
    address = f"http://{running.host}:{running.port}/"
    click.echo(f"{running.stack.path} answers at {address} after {duration(running.ready_s)}")
    for hop, pids in running.hops.items():
        click.echo(f"  {hop}: process {', '.join(map(str, pids))}")
    click.echo(f"  Host header: {host}; configuration and logs: {running.directory}")
    click.echo("Ctrl-C stops it.")
