"""What the databases spell, or do, differently when a million rows are put into them.

Rows are made by the database, with ``INSERT … SELECT`` over a series of numbers: sent one by one through a
driver in pure Python they would take minutes. Columns are computed with ``+ - *`` and ``%`` from the number alone,
so every database makes the same rows. ``/`` must divide evenly: MariaDB gives a fraction otherwise.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dialect:
    """A database's own words, with braces for what is put in."""

    numbers: str
    """A FROM item with the column ``n`` that counts from 1 to ``{size}``, in 64 bits."""
    date: str
    """The date that is ``{days}``, an expression, after the date ``{start}`` (ISO 8601)."""
    look: str
    """What has the database look at its new ``{tables}`` now, rather than during a race."""
    integer: str = "INTEGER"
    """The types to cast to."""
    text: str = "VARCHAR(20)"
    joins: tuple[str, str, str] = ("(", " || ", ")")
    """What stands around and between texts that are joined."""
    lifts: tuple[str, ...] = ("indexes",)
    """What is dropped before a table is filled, and made again after, in the same transaction."""

    def series(self, size):
        """Return the FROM item of ``size`` numbers."""
        return self.numbers.format(size=size)

    def join(self, *texts):
        """Return the expression that joins ``texts``."""
        start, between, end = self.joins
        return start + between.join(texts) + end

    def day(self, start, days):
        """Return the date that is the expression ``days`` after ``start``."""
        return self.date.format(start=start, days=days)

    def word(self, words, index):
        """Return the expression for one of ``words``, blanks between them: ``index`` counts round and round."""
        words = words.split()
        width = max(map(len, words))
        table = "".join(word.ljust(width) for word in words)
        return f"TRIM(SUBSTR('{table}', CAST(1 + {width} * (({index}) % {len(words)}) AS {self.integer}), {width}))"

    def refresh(self, tables):
        """Return the statement that has the database look at ``tables``."""
        return self.look.format(tables=", ".join(tables))

    def lifted(self, cursor, model, editor):
        """Return pairs of statements: what to drop before a table is filled, and how to make it again after.

        Built in one go, an index costs a fraction of what a million insertions into it do.
        """
        quote, table = editor.quote_name, editor.quote_name(model._meta.db_table)
        pairs = []
        if "indexes" in self.lifts:
            indexes = model._meta.indexes
            pairs += [(f"DROP INDEX {quote(each.name)}", each.create_sql(model, editor)) for each in indexes]
        if "keys" in self.lifts:
            cursor.execute(_KEYS, [table])
            alter = f"ALTER TABLE {table}"
            pairs += [
                (f"{alter} DROP CONSTRAINT {quote(name)}", f"{alter} ADD CONSTRAINT {quote(name)} {definition}")
                for name, definition in cursor.fetchall()
            ]
        return pairs


_KEYS = (
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE contype = 'f' AND conrelid = CAST(%s AS regclass)"
)
_COUNTING = "SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {size}"

DIALECTS = {
    # manual, "Set Returning Functions", "Date/Time Functions and Operators", "Populating a Database": foreign keys,
    # too, are checked row by row; VACUUM also sets the hint bits that the first readers would, who then write
    "postgresql": Dialect(
        numbers="generate_series(1::bigint, {size}) AS series(n)",
        date="DATE '{start}' + CAST({days} AS integer)",
        look="VACUUM ANALYZE {tables}",
        lifts=("indexes", "keys"),
    ),
    # "The WITH Clause", "Date And Time Functions", "ANALYZE", which takes one name at most
    "sqlite": Dialect(
        numbers=f"(WITH RECURSIVE counted(n) AS ({_COUNTING}) SELECT n FROM counted)",
        date="date('{start}', ({days}) || ' days')",
        look="ANALYZE",
    ),
    # MariaDB knowledge base, "Sequence Storage Engine", which is built in, "DATE_ADD", "ANALYZE TABLE"; a statement
    # that drops an index also commits
    "mysql": Dialect(
        numbers="(SELECT seq AS n FROM seq_1_to_{size}) AS series",
        date="DATE_ADD('{start}', INTERVAL CAST({days} AS SIGNED) DAY)",
        look="ANALYZE TABLE {tables}",
        integer="SIGNED",
        text="CHAR",
        joins=("CONCAT(", ", ", ")"),
        lifts=(),
    ),
}
"""By the vendor of Django's connection."""
