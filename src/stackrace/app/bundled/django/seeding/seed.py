"""A seed: tables, and how each is filled."""

from dataclasses import dataclass

from django.db import models


@dataclass(frozen=True)
class Filling:
    """``size`` rows for a table: ``columns`` are SQL expressions of the row's number ``n``, by field name."""

    model: type[models.Model]
    size: int
    columns: dict[str, str]

    def statement(self, dialect, quote):
        """Return the INSERT; ``quote`` quotes names as the database wants them."""
        meta = self.model._meta
        names = ", ".join(quote(meta.get_field(name).column) for name in self.columns)
        values = ", ".join(self.columns.values())
        return f"INSERT INTO {quote(meta.db_table)} ({names}) SELECT {values} FROM {dialect.series(self.size)}"


@dataclass(frozen=True)
class Listing:
    """A few rows of a table, one by one."""

    model: type[models.Model]
    rows: tuple[models.Model, ...]


@dataclass(frozen=True)
class Seed:
    """Fillings and listings in an order that keeps the foreign keys; ``megabytes`` is what they need on disk."""

    parts: tuple[Filling | Listing, ...]
    megabytes: int
