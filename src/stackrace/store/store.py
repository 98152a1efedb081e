"""The store: writes a race down while it runs, and reads races back exactly as they were."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, replace
from typing import Any

from django.db import connections, transaction
from django.db.models import Max, Q

from ..base.codec import encode
from ..base.errors import StoreError
from ..base.ids import parse_name
from ..measure.launch import FailureKind, Launch, Slice, StackFacts
from ..race.results.race import Ending, Race
from ..race.run.resume import Checkpoint
from ..race.run.stopwatch import Duty
from .address import VARIABLE, Address
from .database import is_read_only, on_disk, translated
from .lookup import Alteration, Progress, Summary, note_of, the_one
from .models import HistoryRow, IdRow, LaunchRow, RaceRow, Row, SliceRow, StackFactsRow

_UNFINISHED = Q(ending=None) | Q(ending=Ending.INTERRUPTED.value)
"""Filter for races that were interrupted or killed, or still run."""


class Store(AbstractContextManager["Store"]):
    """Database of races; ``open_store`` opens it. ``alias`` is its name within Django.

    Each call is one transaction: once it returns, its data is kept, even if the process is killed right after.
    Every method raises StoreError if the database refuses. Threads may share a store.
    """

    def __init__(self, alias: str, address: Address) -> None:
        self.alias = alias
        self.address = address

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close this thread's connection; the next call opens another."""
        connections[self.alias].close()

    def need_writable(self) -> None:
        """Raise StoreError if the store can only be read."""
        if is_read_only(self.address):
            raise StoreError(
                f"store {self.address}: it is read-only; make it and its folder writable, or name another with "
                f"--store or {VARIABLE}"
            )

    def begin(self, race: Race, checkpoint: Checkpoint | None = None) -> None:
        """Store ``race`` under its id, with the facts and launches that it already has.

        It is complete with its ending: rows added later are alterations. With a ``checkpoint`` it can be resumed.
        """
        with self._translated(), transaction.atomic(using=self.alias):
            self._insert(RaceRow.of(replace(race, ending=None), self._number(race), checkpoint))
            for facts in race.facts:
                self.add_facts(race.id, facts)
            for launch in race.launches:
                self.add_launch(race.id, launch)
                for slice_ in launch.slices:
                    self.add_slice(launch.id, slice_)
            if race.ending is not None:
                self.end(race.id, race.ending, race.elapsed_s, race.duty)

    def resume(self, race: Race, checkpoint: Checkpoint) -> None:
        """Store that a race without an ending, or an interrupted one, continues as ``race`` from ``checkpoint``.

        Its ending is removed, and its launches that were cut short are closed as such. Raise StoreError if it ended
        otherwise, or if another process continued it meanwhile.
        """
        with self._translated(), transaction.atomic(using=self.alias):
            unfinished = self._rows(RaceRow).filter(_UNFINISHED, id=race.id, resumed=race.resumed - 1)
            changed = unfinished.update(
                ending=None, resumed=race.resumed, budget_s=race.budget_s, checkpoint=asdict(checkpoint)
            )
            if changed:
                stored = self._rows(LaunchRow).filter(race_id=race.id)
                cut = stored.filter(failure_kind=FailureKind.INTERRUPTED.value)
                known = set(cut.values_list("id", flat=True))
                for launch in race.launches:
                    if launch.cut_short and launch.id not in known:
                        self.end_launch(launch)
        if not changed:
            raise StoreError(
                f"store {self.address}: race {race.id} was not interrupted; see: stackrace report {race.id}"
            )

    def add_facts(self, race_id: str, facts: StackFacts) -> None:
        """Store the facts about one stack of the race."""
        with self._translated():
            self._insert(StackFactsRow.of(race_id, facts))

    def add_launch(self, race_id: str, launch: Launch) -> None:
        """Store ``launch`` as the race's next one, without its slices.

        A launch that has not ended has only its id, block and stack.
        """
        with self._translated(), transaction.atomic(using=self.alias):
            position = self._rows(LaunchRow).filter(race_id=race_id).count()
            self._insert(LaunchRow.of(race_id, position, launch))

    def add_slice(self, launch_id: str, slice_: Slice) -> None:
        """Store a finished slice of a launch that may still be open."""
        with self._translated():
            self._insert(SliceRow.of(launch_id, slice_))

    def end_launch(self, launch: Launch) -> None:
        """Store the final record of ``launch``; its slices are stored already."""
        row = LaunchRow.of("", 0, launch)
        with self._translated():
            stored = self._rows(LaunchRow).filter(id=launch.id)
            changed = stored.update(failure_kind=row.failure_kind, document=row.document)
        if not changed:
            raise StoreError(f"store {self.address}: no launch has the id {launch.id}; add it first")

    def end_block(self, race_id: str, checkpoint: Checkpoint) -> None:
        """Store that a block is over, and wait until the race so far is on the disk."""
        with self._translated(), on_disk(self.alias):
            self._rows(RaceRow).filter(id=race_id).update(checkpoint=asdict(checkpoint))

    def name_twin(self, race_id: str, path: str) -> None:
        """Store that ``path`` is now the stack that also runs as its own twin."""
        with self._translated():
            self._rows(RaceRow).filter(id=race_id).update(twin=path)

    def end(self, race_id: str, ending: Ending, elapsed_s: float, duty: Duty | None = None) -> None:
        """Store the ending of the race, its length in seconds, and ``duty``, how they were spent."""
        spent = None if duty is None else encode(duty)
        with self._translated():
            stored = self._rows(RaceRow).filter(id=race_id)
            changed = stored.update(ending=ending.value, elapsed_s=elapsed_s, duty=spent)
        if not changed:
            raise StoreError(f"store {self.address}: no race has the id {race_id}; begin it first")

    def load(self, prefix: str) -> Race:
        """Return the only race whose id starts with ``prefix``, or whose name it is.

        It has every slice finished so far; its notes tell if it was altered. If there is none, or more than one,
        raise StoreError that lists near ids.
        """
        with self._translated():
            race_id = the_one(prefix, self._ids(), self._names())
            with self._decoding(race_id):
                race = self._load(race_id)
                altered = note_of(self.alterations(race_id))
                return replace(race, notes=(*race.notes, altered), altered=altered) if altered else race

    def checkpoint(self, race_id: str) -> Checkpoint | None:
        """Return the state from which the race with exactly this id continues; None if it cannot."""
        with self._translated(), self._decoding(race_id):
            document = self._rows(RaceRow).get(id=race_id).checkpoint
            return None if document is None else Checkpoint(**document)

    def progress(self, race_id: str) -> Progress:
        """Return the state of the race with exactly this id; raise StoreError if there is none.

        If the race stores no checkpoints, a block counts as whole once a launch of the next one has started.
        """
        with self._translated():
            found = self._rows(RaceRow).filter(id=race_id).values_list("ending", "checkpoint").first()
            launched = self._rows(LaunchRow).filter(race_id=race_id).aggregate(block=Max("block"))["block"]
            slices = self._rows(SliceRow).filter(launch__race_id=race_id).count()
        if found is None:
            raise StoreError(f"store {self.address}: no race has the id {race_id}; see: stackrace report --list")
        ending, checkpoint = found
        with self._decoding(race_id):
            state = checkpoint or {}
            return Progress(
                ending=None if ending is None else Ending(ending),
                blocks=max(state.get("blocks", 0), launched or 0),
                slices=slices,
                spent_s=state.get("spent_s", 0.0),
            )

    def find(self, prefix: str, *, deleted: bool = False) -> str:
        """Return the id that ``load`` would take ``prefix`` for; with ``deleted`` also that of a deleted race."""
        with self._translated():
            gone = self._rows(HistoryRow).exclude(race="").values_list("race", flat=True).distinct()
            known = (*self._ids(), *(gone.order_by("race") if deleted else ()))
            return the_one(prefix, tuple(dict.fromkeys(known)), self._names())

    def has(self, race_id: str) -> bool:
        """Return True if the race with exactly this id is stored."""
        with self._translated():
            return bool(self._rows(RaceRow).filter(id=race_id).exists())

    def name(self, prefix: str, name: str) -> str:
        """Give the race that ``prefix`` means a pretty name, once; return the name as it is kept.

        Raise InputError if it cannot be a name, StoreError if it is taken or the race has one already.
        """
        with self._translated(), transaction.atomic(using=self.alias):
            race_id, kept, given = self.find(prefix), parse_name(name), self._names()
            if given.get(kept) == race_id:
                return kept
            if kept in given:
                raise StoreError(f"{kept!r} is already the name of race {given[kept]}; choose another")
            for other, named in given.items():
                if named == race_id:
                    raise StoreError(f"race {race_id} already has the name {other!r}; a name never changes")
            self._insert(IdRow(id=kept, kind="name", of_id=race_id))
            return kept

    def name_of(self, race_id: str) -> str:
        """Return the name of the race with exactly this id; empty if it has none."""
        with self._translated():
            named = self._rows(IdRow).filter(kind="name", of_id=race_id)
            return named.values_list("id", flat=True).first() or ""

    def alterations(self, race_id: str) -> tuple[Alteration, ...]:
        """Return the changes to the race that were not part of measuring it, in order of time."""
        with self._translated():
            return tuple(row.alteration() for row in self._rows(HistoryRow).filter(race=race_id).order_by("id"))

    def latest(self) -> str | None:
        """Return the id of the race that started last, whatever its clock said; None in an empty store."""
        with self._translated():
            return next(iter(self._ids()), None)

    def unfinished(self) -> tuple[str, ...]:
        """Return the ids of races that were interrupted or killed, or still run, newest first."""
        with self._translated():
            return tuple(self._newest_first().filter(_UNFINISHED).values_list("id", flat=True))

    def list(self, limit: int | None) -> tuple[Summary, ...]:
        """Return the last ``limit`` races (None: all), newest first."""
        with self._translated():
            names = {race_id: name for name, race_id in self._names().items()}
            return tuple(row.summary(names.get(row.id, "")) for row in self._newest_first()[:limit])

    def _ids(self) -> tuple[str, ...]:
        return tuple(self._newest_first().values_list("id", flat=True))

    def _names(self) -> dict[str, str]:
        return dict(self._rows(IdRow).filter(kind="name").values_list("id", "of_id"))

    def _load(self, race_id: str) -> Race:
        """Return the race. Its row is read before the others, so that a race seen as ended has all of them."""
        row: RaceRow = self._rows(RaceRow).get(id=race_id)
        facts = self._rows(StackFactsRow).filter(race_id=race_id).order_by("id")
        launches = self._rows(LaunchRow).filter(race_id=race_id).order_by("position")
        slices: defaultdict[str, list[Slice]] = defaultdict(list)
        for each in self._rows(SliceRow).filter(launch__race_id=race_id).order_by("id"):
            slices[each.launch_id].append(each.slice())
        return row.race((each.facts() for each in facts), (each.launch(slices[each.id]) for each in launches))

    def _insert(self, row: Row) -> None:
        """Insert ``row`` and never overwrite one: this checks that an id is new."""
        row.save(using=self.alias, force_insert=True)

    def _number(self, race: Race) -> int:
        """Return the next number; for a race that ended, the number of its time."""
        rows = self._rows(RaceRow)
        if race.ending is not None:
            return rows.filter(started_at__lte=race.started_at).aggregate(last=Max("number"))["last"] or 0
        return (rows.aggregate(last=Max("number"))["last"] or 0) + 1

    def _rows(self, table: type[Row]) -> Any:
        return table.objects.using(self.alias)

    def _newest_first(self) -> Any:
        return self._rows(RaceRow).order_by("-number", "-started_at", "-id")

    @contextmanager
    def _decoding(self, race_id: str) -> Iterator[None]:
        """Raise StoreError for a row of the race that does not fit this version's records."""
        try:
            yield
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"store {self.address}: race {race_id} was altered, or written by another version of "
                f"Stackrace: read it with that version, or see: stackrace history {race_id}",
                detail=repr(error),
            ) from error

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.address)
