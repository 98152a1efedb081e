"""One JSON document with everything known about a race; ``schema/race-2.schema.json`` is its contract.

Units are in the names: ``_s`` seconds, ``_per_s`` per second, ``_ms`` milliseconds, ``_bytes`` bytes. What is not
known, and what is not a finite number, is null. History of the format:

1. The first. ``answer``, ``reason``, ``levels_told``, ``costs``, ``conditions``, ``refused`` and ``notes`` are
   sentences, ``result`` is the answer as data. Members were added over time; early documents lack them.
2. Sentences stand in ``words``. ``answer`` (once ``result``), ``leads``, ``reason``, ``costs`` and ``conditions``
   are data.
"""

from __future__ import annotations

from pathlib import Path

from ..base.printable import printable
from ..features.current.words import taken_over
from ..race.results.race import Race
from ..race.results.standing import Standing
from ..stacks.facts import StackFacts
from .complaints import refused
from .document_launches import failure, finding, launch
from .document_leaves import plain, whole
from .document_rows import level, row
from .words import race_words, scaling
from .words.standing import words_of

__all__ = ["FORMAT", "SCHEMA", "VERSION", "document"]

FORMAT = "stackrace-race"
VERSION = 2
SCHEMA = Path(__file__).parent / "schema" / "race-2.schema.json"
"""The published schema of this version."""


def document(race: Race, standing: Standing, *, series: bool = False) -> dict[str, object]:
    """Return the document of ``race`` and its ``standing``; ``series`` adds every slice's 100 ms bins."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "words": _words(race, standing),
        "answer": plain(standing.answer),
        "leads": plain(standing.leads),
        "reason": plain(standing.reason),
        "costs": plain(standing.costs),
        "conditions": plain(standing.conditions),
        "machines": plain(standing.machines),
        "settled": standing.settled,
        "resolution": whole(standing.resolution),
        "headline": standing.headline if standing.levels else None,
        "standing": [row(each) for each in standing.rows],
        "levels": [level(each) for each in standing.levels],
        "scaling": plain(standing.scaling),
        "current": plain(standing.current),
        "withdrawals": [
            {"stack": printable(each.stack), "failure": failure(each.failure)} for each in standing.withdrawals
        ],
        "findings": [finding(each) for each in standing.verdict.findings],
        "void": not standing.verdict.valid,
        "warnings": plain(standing.warnings),
        "race": _race(race),
        "stacks": [plain(facts) for facts in _all_facts(race)],
        "launches": [launch(each, series=series) for each in race.launches],
    }


def _words(race: Race, standing: Standing) -> dict[str, object]:
    texts = {
        "scaling": scaling.unfits(standing.scaling),
        "refused": refused(race),
        "notes": (*race_words.notes(race, standing), *taken_over(race)),
    }
    return {**plain(words_of(race, standing)), **{name: plain(text) for name, text in texts.items()}}


def _race(race: Race) -> dict[str, object]:
    return {
        "id": race.id,
        "started_at": race.started_at,
        "stackrace_version": race.version,
        "app": printable(race.app),
        "entry": printable(race.entry) or None,
        "urls": plain(race.urls),
        "workloads": plain(race.workloads),
        "limits": plain(race.limits),
        "checks": plain(race.checks),
        "loads": plain(race.loads),
        "question": race.question.value,
        "difference": race.difference,
        # what was fetched may be anything
        "budget_s": whole(race.budget_s) or 0.0,
        "repeats": race.repeats,
        "exhaustive": race.exhaustive,
        "elapsed_s": whole(race.elapsed_s) or 0.0,
        "ending": race.ending.value if race.ending else None,
        "stack_cores": list(race.cores.stack_cores),
        "generator_cores": list(race.cores.generator_cores),
        "memory_limit_bytes": race.cores.memory_bytes,
        "enforced": race.cores.enforced.value,
        "twin": printable(race.twin) or None,
        "resumed": race.resumed,
        "duty": None if race.duty is None else {**plain(race.duty), "total_s": whole(race.duty.total_s)},
        "seed": race.seed,
        "notes": plain(race.notes),
        "left_out": plain(race.left_out),
        "current": printable(race.current) or None,
        "deployment": plain(race.deployment),
        "host": plain(race.host),
        "network": plain(race.network),
    }


def _all_facts(race: Race) -> list[StackFacts]:
    known = {facts.stack: facts for facts in race.facts}
    return [known.get(stack, StackFacts(stack=stack)) for stack in race.stacks]
