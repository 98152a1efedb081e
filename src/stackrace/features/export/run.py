"""From the words of the command line to the folder, and to the exit code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from ...base.errors import InputError, RefusedError
from ...cli.announcer import Announcer
from ...cli.arguments import apart, requested
from ...cli.edge import StatusLine
from ...cli.request_flags import RequestFlags
from ...cli.showing import meant
from ...race.events import BlockEnded, Event
from ...race.request.request import RaceRequest
from ...stacks.servers import catalogue
from ...stacks.servers.catalogue import GONE
from ...store import open_store
from .assembly import Rendered, rendered
from .document import export_document
from .equivalence import Proof, Verdict
from .evidence import proof_said
from .files import refuse_existing
from .subject import Subject, of_path, of_race, request_of
from .target import TargetWishes

_CODES = {Verdict.DIFFERENT: 1, Verdict.OPEN: RefusedError.exit_code}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line says beside the stack and the app."""

    folder: Path | None
    force: bool
    target: TargetWishes
    prove: bool
    race: bool
    """Whether a proof races; else it only starts the files."""
    difference: float | None
    budget_s: float | None
    store: str | None
    as_json: bool


def export(words_: Sequence[str], flags: RequestFlags, wishes: Wishes) -> None:
    """Export, and exit with 1 where a proof fails; raises InputError and its kin before anything is written."""
    folder = _folder(wishes)
    race_file, others = apart(words_)
    subject = _subject(race_file, others, flags, wishes.store)
    with Announcer() as say, rendered(subject, wishes.target, say) as ready:
        say.done()
        proof = _proven(ready, wishes) if wishes.prove else None
        files = ready.write(folder, proof, force=wishes.force)
        if wishes.as_json:
            click.echo(
                json.dumps(export_document(ready.export, ready.subject.race, folder, files, proof), indent=2)
            )
        else:
            _show(ready, folder, files, proof)
    if proof is not None and proof.equivalence is not None and proof.equivalence.verdict is not Verdict.EQUIVALENT:
        raise SystemExit(_CODES[proof.equivalence.verdict])


def _folder(wishes: Wishes) -> Path:
    if wishes.folder is None:
        raise InputError("where to? Give a folder with --to, such as --to deploy")
    if not wishes.race and not wishes.prove:
        raise InputError("--start-only is a part of --prove; give both")
    folder = wishes.folder.absolute()
    refuse_existing(folder, force=wishes.force)
    return folder


def _subject(race_file: Path | None, others: Sequence[str], flags: RequestFlags, store_url: str | None) -> Subject:
    """Return what the words name: a race, a stack, both, or neither."""
    here = flags.over(requested(race_file, flags.given.get("servers")))
    stacks = [word for word in others if _is_stack(word, here)]
    races = [word for word in others if word not in stacks]
    if len(stacks) > 1 or len(races) > 1 or (races and race_file):
        words_ = [*others, *([str(race_file)] if race_file else [])]
        raise InputError(f"give one race and one stack at most, not {' and '.join(words_)}")
    stack = stacks[0] if stacks else None
    if race_file is not None:
        named = here.stacks or ()
        if stack is None and len(named) == 1:
            stack = named[0]
        if stack is None:
            raise InputError(f"which stack of {race_file}? Give one: stackrace export {race_file} STACK --to DIR")
    with open_store(store_url) as store:
        if stack is not None and not races:
            return of_path(stack, here, store)
        race = store.load(meant(races[0] if races else None, store))
    request, notes = request_of(race, here)
    return of_race(race, stack, flags.over(request), notes)


def _is_stack(word: str, request: RaceRequest) -> bool:
    first = word.split("/")[0].split("+")[0].split(":")[0]
    known = catalogue().extended(request.servers).entries
    return first in known or any(gone.name == first for gone in GONE) or "/" in word or ":" in word


def _show(ready: Rendered, folder: Path, files: dict[str, str], proof: Proof | None) -> None:
    target = ready.export.target
    click.echo(
        f"{ready.export.stack} is in {folder}: {len(files)} files for {target.base} and the user {target.user}."
    )
    if ready.subject.race is None:
        click.echo("Nothing was measured: see EVIDENCE.md.")
    for note in ready.subject.notes:
        click.echo(note)
    if proof is not None:
        for sentence in proof_said(proof):
            click.echo(sentence)
    click.echo("How to deploy it: README.md")


def _proven(ready: Rendered, wishes: Wishes) -> Proof:
    """Prove the files of ``ready``, and say meanwhile how far it is; see ``Prover``."""
    from .proof import Prover

    line = StatusLine()

    def heard(event: Event) -> None:
        if isinstance(event, BlockEnded):
            line.tell(f"racing them against the original: {event.block} blocks", " …")

    prover = Prover.of(ready)
    line.tell("starting the exported files", " …")
    proof = prover.start()
    if wishes.race:
        line.tell("racing them against the original", " …")
        proof = replace(proof, equivalence=prover.race(wishes.difference, wishes.budget_s, heard))
    line.clear()
    return proof
