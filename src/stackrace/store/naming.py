"""Pretty names of races: given once, never changed, in one namespace with all ids."""

# mypy: allow-untyped-calls
# (Django carries no annotations)

from __future__ import annotations

from ..base.errors import StoreError
from ..base.ids import parse_name
from .models import IdRow

__all__ = ["give_name", "names"]


def names(alias: str) -> dict[str, str]:
    """Return the race's id by name."""
    return dict(IdRow.objects.using(alias).filter(kind="name").values_list("id", "of_id"))


def give_name(alias: str, race_id: str, text: str) -> str:
    """Name the race ``race_id``; returns the name as it is kept.

    Raises InputError for what cannot be a name, StoreError for one that is taken and for a race that has one.
    """
    name = parse_name(text)
    given = names(alias)
    if given.get(name) == race_id:
        return name
    if name in given:
        raise StoreError(f"{name!r} is already the name of race {given[name]}; choose another")
    for other, named in given.items():
        if named == race_id:
            raise StoreError(f"race {race_id} already has the name {other!r}; a name never changes")
    IdRow(id=name, kind="name", of_id=race_id).save(using=alias, force_insert=True)
    return name
