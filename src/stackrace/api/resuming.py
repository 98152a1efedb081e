"""Preparation of an interrupted race to continue, with the same seed and the same blocks.

Its request is kept as plain JSON, without secrets: a page's path that contains one names its variable instead.
Secrets are read again from their sources.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.environment import project_variables, read_env_files
from ..base.codec import decode, encode, map_paths
from ..base.errors import InputError, StoreError
from ..base.numbers import flag_value
from ..base.secrets import forms_in, masked, register_secrets
from ..base.units import DURATION, SIZE
from ..extensions import ResultKind, declared
from ..measure.resources import Resources, format_cores
from ..race.preparation.core_shares import usable_cores
from ..race.preparation.leftovers import clear_away
from ..race.request.race_file import read_race_file
from ..race.request.request import RaceRequest
from ..race.results.race import Ending, Race
from ..race.run.resume import Checkpoint, going_on
from ..stacks.stack import twin_path
from ..store.race_lock import is_racing, made_here, race_lock

if TYPE_CHECKING:
    from ..store.store import Store

_REFERENCE = "\x1a%s\x1a"
_REFERENCES = re.compile(r"\x1a([^\x1a]*(?:/\d+/\d+|\*\*\*[^\x1a]*))\x1a")
"""Pattern of a reference: a form of a named secret, or a masked text whose secret has no name."""


def request_document(request: RaceRequest) -> dict[str, object]:
    """Return ``request`` with absolute paths, in JSON types.

    A race may continue from another folder. Links are kept, because a virtual environment's interpreter is a link.
    """
    given = {**request.environment, **request.sent}
    register_secrets(given)
    forms = _forms({**_environment_of(request, os.environ), **given})

    def named(text: str) -> str:
        for name, form in forms.items() if masked(text) != text else ():
            text = text.replace(form, _REFERENCE % name)
        shown = masked(text)
        return text if shown == text else _REFERENCE % shown

    document: dict[str, object] = encode(map_paths(request, path=Path.absolute, text=named))
    return document


def _environment_of(request: RaceRequest, environ: Mapping[str, str]) -> dict[str, str]:
    with suppress(InputError):
        environ = {**environ, **read_env_files(request.env_files)}
    return {**project_variables(request.folder), **environ}


def _forms(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the forms of all secrets among ``variables`` by their names, the longest first."""
    forms = (item for name, value in variables.items() for item in forms_in(name, value).items())
    return dict(sorted(forms, key=lambda item: len(item[1]), reverse=True))


def request_from(document: object, environ: Mapping[str, str] = os.environ) -> RaceRequest:
    """Return the request in a ``request_document``, with secrets from the race file, or else from ``environ``.

    Raise ValueError if the document is no request of this version, InputError if a secret is in neither place.
    """
    request: RaceRequest = decode(RaceRequest, document, "RaceRequest")
    names: set[str] = set()

    def note(text: str) -> str:
        names.update(_REFERENCES.findall(text))
        return text

    map_paths(request, text=note)
    known = _known(request, environ) if names else {}
    if lacking := {re.sub(r"(/\d+){2}$", "", name) for name in names - known.keys()}:
        where = "" if request.source is None else f", or in [app] env of {request.source},"
        raise InputError(
            f"the values of {', '.join(sorted(lacking))} were not kept, as they are secrets: set them in the "
            f"environment{where} and try again"
        )
    return map_paths(request, text=lambda text: _REFERENCES.sub(lambda match: known[match[1]], text))


def _known(request: RaceRequest, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets behind the names in ``request``, as far as the race file and ``environ`` have them."""
    variables, texts = _environment_of(request, environ), dict[str, str]()
    if request.source is not None:
        with suppress(InputError):
            asked = read_race_file(request.source, lambda stack: None, recordings=False)
            variables |= {**asked.environment, **asked.sent}
            map_paths(asked, text=lambda text: texts.setdefault(masked(text), text))
    return texts | _forms(variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedRace:
    """Interrupted race that continues."""

    race: Race
    """Race in its present state: the launches of the interrupted block are marked."""
    request: RaceRequest
    """Request that sets the race up again."""
    checkpoint: Checkpoint
    """Checkpoint from which the race continues; its complete blocks are kept."""
    left_s: float | None
    """Estimated seconds until the race's end; None if unknown."""


def refuse_changed(resumed: ResumedRace, race: Race, checkpoint: Checkpoint) -> None:
    """Raise InputError if ``race`` and ``checkpoint``, as set up now, differ from what was raced before.

    Blocks measured on two systems, or of two apps, would give a ranking that holds for neither.
    """
    for what, before, now in _compared_values(resumed, race, checkpoint):
        if before != now:
            raise InputError(
                f"race {resumed.race.id} cannot continue: {what} was {before}, now it is {now}; restore it (the "
                f"results so far are kept), or start a new race: {_command(resumed.race.parts.held)}"
            )


def _compared_values(
    resumed: ResumedRace, race: Race, checkpoint: Checkpoint
) -> Iterator[tuple[str, object, object]]:
    before, begun = resumed.race, resumed.checkpoint
    yield "Stackrace", before.version, race.version
    for name, what in _HOST.items():
        yield what, getattr(before.host, name), getattr(race.host, name)
    yield from zip(_RESOURCES, _resources(before.cores), _resources(race.cores), strict=True)
    yield "the app", before.app, race.app
    yield "the app's interpreter", begun.interpreter or "none", checkpoint.interpreter or "none"
    yield "the digest of the app's files", begun.sources[:12], checkpoint.sources[:12]
    for name, what in _ASKED.items():
        # secrets in the paths of pages are not kept
        yield what, *(map_paths(getattr(each, name), text=masked) for each in (before, race))


def _resources(resources: Resources) -> tuple[str, ...]:
    memory = "unlimited" if resources.memory_bytes is None else SIZE.format(resources.memory_bytes)
    quota = "declared" if resources.quota else "not declared"
    cores = format_cores(resources.stack_cores), format_cores(resources.generator_cores)
    return *cores, memory, resources.enforced.value, quota


_RESOURCES = (
    "the list of the stacks' cores",
    "the list of the load engine's cores",
    "the memory of each stack",
    "what holds stacks to that",
    "a CPU quota",
)

_HOST = {
    "system": "the operating system",
    "kernel": "the kernel",
    "cpu": "the processor",
    "cores": "the number of cores",
    "virtual": "the virtual machine",
    "python": "Stackrace's own Python",
}
"""Fields of HostFacts that must not change. Memory and limits vary between boots: each race checks them."""

_ASKED = {
    "urls": "what is asked for",
    "workloads": "what is asked for",
    "loads": "the load",
    "stacks": "the list of stacks",
    "limits": "the stacks of some workload",
}


@contextmanager
def unfinished(prefix: str, store: Store, *, budget_s: float | None = None, of: str = "") -> Iterator[ResumedRace]:
    """Yield the interrupted race that ``prefix`` means, the start of its id or its name; empty: the last one.

    ``of``, if not empty, is the name of a part that the race must have. ``budget_s`` is a larger budget; None keeps
    the race's own. No other process can continue the race meanwhile. Raise InputError or StoreError if it cannot
    continue, before it is changed.
    """
    race_id = _race_id(prefix, store, of)
    race, _ = _load_interrupted(race_id, store)
    if of and of not in race.parts.held:
        raise InputError(f"race {race.id} is no {of}; continue it with: stackrace run --resume {race.id}")
    with race_lock(race_id):
        # read again: until the lock was ours, another process may have raced it
        race, checkpoint = _load_interrupted(race_id, store)
        if checkpoint.folder:
            clear_away(Path(checkpoint.folder))
        budget_s = _budget_s(race, budget_s)
        goes_on = going_on(race, done=checkpoint.blocks, spent_s=checkpoint.spent_s, budget_s=budget_s)
        yield ResumedRace(
            race=goes_on,
            request=_request(checkpoint, goes_on),
            checkpoint=checkpoint,
            left_s=_remaining_s(goes_on, checkpoint.blocks),
        )


def _race_id(prefix: str, store: Store, of: str) -> str:
    if prefix:
        try:
            return store.find(prefix)
        except StoreError as error:
            hint = f"{error.detail}\nIf the race is in another store, give it with --store."
            raise StoreError(error.message, detail=hint.lstrip()) from error
    for race_id in store.unfinished():
        # a check has no checkpoint
        goes_on = made_here(race_id) and not is_racing(race_id) and store.checkpoint(race_id) is not None
        if goes_on and (not of or of in store.load(race_id).parts.held):
            return race_id
    raise StoreError(f"no {of or 'race'} was interrupted here; start one with: {_command((of,))}")


def _load_interrupted(race_id: str, store: Store) -> tuple[Race, Checkpoint]:
    """Return the interrupted race with its checkpoint; raise InputError or StoreError if it cannot continue."""
    race, checkpoint = store.load(race_id), store.checkpoint(race_id)
    if race.ending not in (None, Ending.INTERRUPTED):
        raise InputError(
            f"race {race.id} was not interrupted: it ended ({race.ending}). To measure more, start a new one: "
            f"{_command(race.parts.held)} {_more_of(race)}. To see it again: stackrace report {race.id}"
        )
    if checkpoint is None:
        raise StoreError(
            f"race {race.id} cannot continue: the store has its results alone, as of a check, or of a race that "
            f"was fetched; start a new one: {_command(race.parts.held)}"
        )
    return race, checkpoint


def _request(checkpoint: Checkpoint, race: Race) -> RaceRequest:
    """Return the request, with the values that were drawn, detected or defaulted when the race began."""
    try:
        # a race that continues keeps its pages
        request = replace(request_from(checkpoint.request), new_pages=False)
    except ValueError as error:
        raise StoreError(
            f"race {race.id} cannot continue: Stackrace {race.version} made it, whose requests "
            f"differ; use that version, or start a new race: {_command(race.parts.held)}",
            detail=str(error),
        ) from error
    # a hidden twin is chosen again, by the seed
    stacks = tuple(path for path in race.stacks if path != twin_path(race.twin))
    # the page is measured again, and may seem slow enough for other default levels
    levels = tuple(load.concurrency for load in race.loads)
    # stacks that could not be raced then are not raced now, even if they could be
    contestants = request.contestants if race.current else False
    asked = replace(request, seed=race.seed, stacks=stacks, concurrency=levels, contestants=contestants)
    had, mine = race.cores, set(usable_cores())
    if not had.shared and {*had.stack_cores, *had.generator_cores} <= mine:
        # other cores may be quieter now
        asked = replace(asked, cores=had.stack_cores or None, engine_cores=had.generator_cores or None)
    return replace(asked, budget_s=race.budget_s or None)


def _command(parts: Collection[str]) -> str:
    """Return the command that starts a race with ``parts``."""
    return next((kind.command for kind in declared(ResultKind) if kind.part in parts), "stackrace run")


def _more_of(race: Race) -> str:
    """Return the flag for twice as much as ``race`` had."""
    if race.repeats is not None:
        return f"--repeats {2 * race.repeats}"
    return f"--budget {flag_value(2 * race.budget_s)}"


def _budget_s(race: Race, wanted_s: float | None) -> float:
    """Return the budget of a race that continues; it may grow, but a smaller one would be another race."""
    if wanted_s is None:
        return race.budget_s
    if not race.budget_s:
        raise InputError(
            f"--budget: race {race.id} makes runs and has no budget; continue it with: "
            f"stackrace run --resume {race.id}"
        )
    if wanted_s < race.budget_s:
        raise InputError(
            f"--budget {DURATION.format(wanted_s)} is less than race {race.id} had, "
            f"{DURATION.format(race.budget_s)}; give {_more_of(race)}, or leave it out"
        )
    return wanted_s


def _remaining_s(race: Race, done: int) -> float | None:
    """Return the seconds left: runs take as long as earlier ones, slices use up the budget. None if unknown."""
    left_s = race.budget_s - race.elapsed_s if race.budget_s else None
    if race.repeats is None or not done:
        return left_s
    ahead_s = race.elapsed_s / done * (race.repeats - done)
    return ahead_s if left_s is None else min(ahead_s, left_s)
