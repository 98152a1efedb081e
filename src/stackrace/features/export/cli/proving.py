"""A proof on the command line: what it does at the moment, and its exit code."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from ....base.text import one_line
from ....cli.edge import redraw
from ....race.events import BlockEnded, Event
from ..equivalence import Proof
from ..exporting import Rendered
from ..proving import Prover

__all__ = ["prove"]


def prove(ready: Rendered, difference: float | None, budget_s: float | None, *, race: bool) -> Proof:
    """Prove the files of ``ready``, and say meanwhile how far it is; see ``Prover``."""
    prover = Prover.of(ready)
    _say("starting the exported files")
    proof = prover.start()
    if not race:
        _done()
        return proof
    _say("racing them against the original")
    result = prover.race(difference, budget_s, _heard)
    _done()
    return replace(proof, equivalence=result)


def _heard(event: Event) -> None:
    if isinstance(event, BlockEnded):
        _say(f"racing them against the original: {event.block} blocks")


def _say(what: str) -> None:
    if sys.stderr.isatty():
        redraw(one_line(f"{what} …"), sys.stderr)
    else:
        click.echo(what, err=True)


def _done() -> None:
    if sys.stderr.isatty():
        redraw("", sys.stderr)
