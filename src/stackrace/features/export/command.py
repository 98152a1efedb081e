"""``stackrace export``."""

from __future__ import annotations

from pathlib import Path

import click

from ...base.units import DURATION, PERCENT
from ...cli.options import Quantity, SectionedCommand, section, store_option
from ...cli.request_flags import APP_OPTIONS, RequestFlags, request_flags

_where = section("The machine it is for")
_proof = section("Proof")


@click.command(
    cls=SectionedCommand,
    epilog="""\b
Examples:
  stackrace export --to deploy                 the winner of the last race
  stackrace export 3m41c nginx/uwsgi/uwsgi --to deploy
  stackrace export nginx/http/gunicorn:workers=4 --to deploy --project ~/shop
  stackrace export --to deploy --prove         start the files, and race them against the original
  stackrace export --to deploy --app-dir /opt/shop --user shop --listen 0.0.0.0:80
  stackrace export race.toml apache+mod_wsgi --to deploy --force""",
)
@click.argument("words", nargs=-1, metavar="[RACE] [STACK]")
@click.option(
    "--to", metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="Folder to write. It must be new or empty.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the folder of an earlier export.")
@_where(
    "--app-dir", "base", metavar="PATH", type=click.Path(path_type=Path),
    help="Where it will lie: app, venv and deploy below it. Default: /srv/NAME.",
)  # fmt: skip
@_where("--user", metavar="NAME", help="Unprivileged user of the processes. Default: the app's name.")
@_where(
    "--listen", metavar="ADDRESS:PORT", default="0.0.0.0:8000", show_default=True,
    help="Where the front listens.",
)  # fmt: skip
@_where(
    "--trusted-proxy", "proxies", metavar="ADDRESS", multiple=True,
    help="Who may say X-Forwarded-*: the address of a TLS proxy or load balancer. Repeat it for more. Default: "
    "127.0.0.1.",
)  # fmt: skip
@_proof("--prove", is_flag=True, help="Start the files as they are, and race them against the original.")
@_proof(
    "--difference", type=Quantity(PERCENT, most=1.0), metavar="SHARE",
    help="Difference in throughput that does not matter. Default: the race's, or 5%.",
)  # fmt: skip
@_proof(
    "--budget", "budget_s", type=Quantity(DURATION), metavar="TIME",
    help="How long the proof may race. Default: 3min.",
)  # fmt: skip
@_proof("--start-only", is_flag=True, help="With --prove: start, ask and stop the files, but race nothing.")
@request_flags(*APP_OPTIONS)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (schema: --schema).")
@click.option("--schema", is_flag=True, help="Print the JSON document's schema.")
def command(
    words: tuple[str, ...],
    to: Path | None,
    force: bool,
    base: Path | None,
    user: str | None,
    listen: str,
    proxies: tuple[str, ...],
    prove: bool,
    difference: float | None,
    budget_s: float | None,
    start_only: bool,
    flags: RequestFlags,
    store: str | None,
    as_json: bool,
    schema: bool,
) -> None:
    """Write what deploys a stack: its servers' configurations, systemd units, an image, a Procfile, and why.

    RACE is a race's name, its id or the start of its id. Default: the last race. STACK is a stack path. Default:
    the race's winner. A stack that nobody raced is exported as well, and EVIDENCE.md says that nothing was
    measured. RACE.toml in RACE's place names the app without a race.

    With --prove, the exit code is 1 where the files do not do what the original does, and 3 where that could not be
    measured, or not in this time.
    """
    from .document import schema as schema_of
    from .run import Wishes, export
    from .target import TargetWishes

    if schema:
        click.echo(schema_of(), nl=False)
        return
    target = TargetWishes(base=base, user=user, listen=listen, proxies=proxies or ("127.0.0.1",))
    export(
        words,
        flags,
        Wishes(
            folder=to, force=force, target=target, prove=prove, race=not start_only, difference=difference,
            budget_s=budget_s, store=store, as_json=as_json,
        ),
    )  # fmt: skip
