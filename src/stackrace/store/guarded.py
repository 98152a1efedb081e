"""The tables whose rows are guarded by triggers, and what may still change in them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GUARDED", "Guarded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """One table whose rows are guarded."""

    table: str
    kind: str
    """What history calls its rows."""
    race: str
    """An SQL expression for the race that the row belongs to, with ``{row}`` for the row."""
    identity: tuple[str, ...]
    """Columns that never change: they say what a row is and where it belongs."""
    filled: tuple[str, ...] = ()
    """Columns that are written once more while a race is measured: at the end of a launch, or of the race."""
    untouched: str = ""
    """The SQL condition, with ``{row}`` for the row, that they have not been so far."""
    going_on: str = "FALSE"
    """A condition on OLD and NEW, never NULL, under which they are written again: an interrupted race goes on."""
    registered: bool = False
    """Whether its ids are in the registry."""

    def race_of(self, row: str) -> str:
        """Return the SQL expression for the race of ``row``, which is OLD or NEW."""
        return self.race.format(row=row)


GUARDED = (
    Guarded(
        table="stackrace_race",
        kind="race",
        race="{row}.id",
        identity=("id",),
        filled=("ending", "elapsed_s", "resumed", "budget_s", "twin", "duty"),
        untouched="{row}.ending IS NULL",
        # counted, so that it shows
        going_on="COALESCE(OLD.ending, '') = 'interrupted' AND NEW.ending IS NULL "
        "AND COALESCE(NEW.resumed, 0) = COALESCE(OLD.resumed, 0) + 1",
        registered=True,
    ),
    Guarded(table="stackrace_stack_facts", kind="facts", race="{row}.race_id", identity=("id", "race_id")),
    Guarded(
        table="stackrace_launch",
        kind="launch",
        race="{row}.race_id",
        identity=("id", "race_id", "position"),
        filled=("failure_kind", "document"),
        untouched="{row}.document = '{{}}' AND {row}.failure_kind IS NULL AND EXISTS "
        "(SELECT 1 FROM stackrace_race WHERE id = {row}.race_id AND ending IS NULL)",
        # of the block that was cut; what the launch was before stays in its message
        going_on="COALESCE(NEW.failure_kind, '') = 'interrupted' "
        "AND COALESCE(OLD.failure_kind, '') <> 'interrupted' AND EXISTS "
        "(SELECT 1 FROM stackrace_race WHERE id = OLD.race_id AND ending IS NULL AND resumed > 0)",
        registered=True,
    ),
    Guarded(
        table="stackrace_slice",
        kind="slice",
        # of a launch that somebody has deleted first, history still knows the race
        race="COALESCE((SELECT race_id FROM stackrace_launch WHERE id = {row}.launch_id), "
        "(SELECT MAX(race) FROM stackrace_history WHERE kind = 'launch' AND row_id = {row}.launch_id), '')",
        identity=("id", "launch_id"),
    ),
)
