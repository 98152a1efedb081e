"""Put a seed into the database: all of it and its mark, in one transaction, or nothing."""

from django.core.management.color import no_style
from django.db import Error, connection, transaction

from .dialects import DIALECTS
from .models import Seeded
from .seed import Filling


class SeedError(Exception):
    """The message says what failed and what to do."""


def is_there(name):
    """Tell whether the seed ``name`` was planted. Raises SeedError if the database cannot be asked."""
    try:
        return Seeded.objects.filter(pk=name).exists()
    except Error as error:
        raise SeedError(
            f"the database cannot be read ({_short(error)}); is it running, and was `python manage.py migrate` run?"
        ) from error


def plant(name, make_seed):
    """Plant what ``make_seed`` returns for the database's dialect. Raises SeedError."""
    dialect = DIALECTS[connection.vendor]
    seed = make_seed(dialect)
    models = [part.model for part in seed.parts]
    doing = "starting a transaction"
    try:
        # the rows are right by construction; where the database has no such switch, its dialect lifts the keys
        with connection.constraint_checks_disabled(), transaction.atomic():
            for part in seed.parts:
                doing = f"filling {part.model._meta.db_table}"
                _refuse_rows(part.model)
                _fill(part, dialect)
            doing = "setting the next ids"
            _execute(*connection.ops.sequence_reset_sql(no_style(), models))
            Seeded.objects.create(name=name)
            doing = "committing"
    except Error as error:
        raise SeedError(
            f"seeding {name} failed while {doing}: {_short(error)}. Nothing was kept. It needs about "
            f"{seed.megabytes} MB in {connection.display_name}, database {connection.settings_dict['NAME']}: make "
            "room there, or name another place with DATABASE_URL or APP_DATA, then run this again."
        ) from error
    _refresh(name, dialect.refresh([connection.ops.quote_name(model._meta.db_table) for model in models]))


def _refuse_rows(model):
    if model.objects.exists():
        raise SeedError(
            f"the table {model._meta.db_table} holds rows that were not seeded here; empty it, or name another "
            "database with DATABASE_URL or APP_DATA"
        )


def _fill(part, dialect):
    if not isinstance(part, Filling):
        part.model.objects.bulk_create(part.rows)
        return
    with connection.cursor() as cursor:
        lifted = dialect.lifted(cursor, part.model, connection.schema_editor())
    _execute(*(drop for drop, _ in lifted))
    _execute(part.statement(dialect, connection.ops.quote_name))
    _execute(*(make for _, make in lifted))


def _refresh(name, statement):
    try:
        _execute(statement)
    except Error as error:
        raise SeedError(
            f"{name} is seeded, but {statement} failed: {_short(error)}. Its pages may be slow until that is run."
        ) from error


def _execute(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(str(statement))


def _short(error):
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
