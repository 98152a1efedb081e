"""``stackrace export``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import InputError
from ...base.units import DURATION, PERCENT
from ...cli.options import Quantity, SectionedCommand, schema_option, section, store_option
from ...cli.request_flags import APP_OPTIONS, RequestFlags, request_flags

if TYPE_CHECKING:
    from .equivalence import Proof
    from .export import Export
    from .subject import Subject

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
@schema_option("stackrace.features.export.export_files:schema")
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
) -> None:
    """Write what deploys a stack: its servers' configurations, systemd units, an image, a Procfile, and why.

    RACE is a race's name, its id or the start of its id. Default: the last race. STACK is a stack path. Default:
    the race's winner. A stack that nobody raced is exported as well, and EVIDENCE.md says that nothing was
    measured. RACE.toml in RACE's place names the app without a race.

    With --prove, the exit code is 1 where the files do not do what the original does, and 3 where that could not be
    measured, or not in this time.
    """
    from functools import partial

    from ...cli.announcer import Announcer
    from ...cli.showing import print_document
    from .export import exported
    from .export_files import export_document, exported_files, refuse_existing, write_folder
    from .export_target import target_of
    from .subject import subject_of

    if to is None:
        raise InputError("where to? Give a folder with --to, such as --to deploy")
    if start_only and not prove:
        raise InputError("--start-only is a part of --prove; give both")
    folder = to.absolute()
    refuse_existing(folder, force=force)
    subject = subject_of(words, flags, store)
    target = partial(target_of, base=base, user=user, listen=listen, proxies=proxies or ("127.0.0.1",))
    proof = None
    with Announcer() as say, exported(subject, target, say) as (export, deployment):
        say.done()
        if prove:
            from .proof import proven

            proof = proven(
                export, deployment, subject.request, race=not start_only, difference=difference, budget_s=budget_s
            )
        files = exported_files(export, proof)
        write_folder(folder, files, force=force)
        if as_json:
            print_document(export_document(export, folder, files, proof))
        else:
            for line in _summary(export, subject, folder, len(files), proof):
                click.echo(line)
    if proof is not None and proof.exit_code:
        raise SystemExit(proof.exit_code)


def _summary(export: Export, subject: Subject, folder: Path, files: int, proof: Proof | None) -> Iterator[str]:
    from .evidence import proof_lines

    target = export.target
    yield f"{export.stack} is in {folder}: {files} files for {target.base} and the user {target.user}."
    if export.race is None:
        yield "Nothing was measured: see EVIDENCE.md."
    yield from subject.notes
    if proof is not None:
        yield from proof_lines(proof)
    yield "How to deploy it: README.md"
