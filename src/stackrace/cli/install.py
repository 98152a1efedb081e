"""``stackrace install``."""

from __future__ import annotations

from pathlib import Path

import click

from .names import complete_server
from .request_flags import servers_option

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  stackrace install nginx apache mod_wsgi
  stackrace install caddy haproxy h2o varnish
  stackrace install --all                 every server with a package
  stackrace install --all --if-possible   in scripts: succeed without root, too"""
)
@click.argument("names", nargs=-1, metavar="[SERVER]...", shell_complete=complete_server)
@click.option("--all", "everything", is_flag=True, help="Install all servers that Debian has packages of.")
@click.option("--if-possible", is_flag=True, help="Without root or password-less sudo: say so and succeed.")
@servers_option
def command(names: tuple[str, ...], everything: bool, if_possible: bool, servers: Path | None) -> None:
    """Install servers from Debian's packages, as root or with password-less sudo.

    Python servers need no installation: their first race installs them into private environments, never into
    yours. The daemons of the packages are not started.
    """
    from ..deploy.installation import State, availability, can_install, install
    from ..model.errors import InputError
    from ..servers import catalogue
    from .names import entries_called

    if not names and not everything:
        raise InputError("name the servers to install, or give --all; see them with: stackrace stacks")
    known = catalogue().extended(servers)
    entries = list(known) if everything else entries_called(names, known)
    states = [availability(entry) for entry in entries]
    for state in states:
        if state.state is State.NOT_INSTALLED and not everything:
            raise InputError(f"{state.name} has no Debian package; {state.elsewhere}")
    missing = [entry for entry, state in zip(entries, states, strict=True) if state.state is State.MISSING]
    called = ", ".join(entry.spec.name for entry in missing)
    if not missing:
        click.echo("nothing to install: every package is there")
    elif if_possible and not can_install():
        click.echo(f"not installed, for want of root's rights: {called}. Stacks without them can be raced.")
    else:
        click.echo(f"installing {called} from Debian's packages")
        install(missing)
