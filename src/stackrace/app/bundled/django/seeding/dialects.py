"""What the databases spell, or do, differently when a million rows are put into them.

Rows are made by the database, with ``INSERT … SELECT`` over a series of numbers: sent one by one through a
driver in pure Python they would take minutes. Columns are computed with ``+ - *`` and ``%`` from the number alone,
so every database makes the same rows. ``/`` must divide evenly: MariaDB gives a fraction otherwise.
"""


class Dialect:
    """What they have in common; ``integer`` and ``text`` are the types to cast to."""

    integer = "INTEGER"
    text = "VARCHAR(20)"

    def series(self, size):
        """Return a FROM item with the column ``n`` that counts from 1 to ``size``, in 64 bits."""
        raise NotImplementedError

    def join(self, *texts):
        """Return the expression that joins ``texts``."""
        return "(" + " || ".join(texts) + ")"

    def day(self, start, days):
        """Return the date that is the expression ``days`` after the date ``start`` (ISO 8601)."""
        raise NotImplementedError

    def word(self, words, index):
        """Return the expression for one of ``words``, blanks between them: ``index`` counts round and round."""
        words = words.split()
        width = max(map(len, words))
        table = "".join(word.ljust(width) for word in words)
        return f"TRIM(SUBSTR('{table}', CAST(1 + {width} * (({index}) % {len(words)}) AS {self.integer}), {width}))"

    def lifted(self, cursor, model, editor):
        """Return pairs of statements: what to drop before a table is filled, and how to make it again after.

        Built in one go, an index costs a fraction of what a million insertions into it do. It needs a database
        that rolls such statements back.
        """
        return [
            (f"DROP INDEX {editor.quote_name(index.name)}", index.create_sql(model, editor))
            for index in model._meta.indexes
        ]

    def refresh(self, tables):
        """Return the statement that has the database look at its new ``tables`` now, rather than during a race."""
        raise NotImplementedError


class PostgreSQL(Dialect):
    """Source: PostgreSQL manual, the chapters named below and "Populating a Database"."""

    def series(self, size):
        """Source: "Set Returning Functions"."""
        return f"generate_series(1::bigint, {size}) AS series(n)"

    def day(self, start, days):
        """Source: "Date/Time Functions and Operators": date + integer."""
        return f"DATE '{start}' + CAST({days} AS integer)"

    def lifted(self, cursor, model, editor):
        """Foreign keys, too: checked row by row, by triggers, they are most of the time."""
        table = editor.quote_name(model._meta.db_table)
        cursor.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE contype = 'f' AND conrelid = CAST(%s AS regclass)",
            [table],
        )
        keys = [
            (
                f"ALTER TABLE {table} DROP CONSTRAINT {editor.quote_name(name)}",
                f"ALTER TABLE {table} ADD CONSTRAINT {editor.quote_name(name)} {definition}",
            )
            for name, definition in cursor.fetchall()
        ]
        return super().lifted(cursor, model, editor) + keys

    def refresh(self, tables):
        """VACUUM also sets the hint bits that the first readers would, who then write."""
        return f"VACUUM ANALYZE {', '.join(tables)}"


class SQLite(Dialect):
    """Source: SQLite's pages "The WITH Clause", "Date And Time Functions" and "ANALYZE"."""

    def series(self, size):
        """A recursive common table expression."""
        counting = f"SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {size}"
        return f"(WITH RECURSIVE counted(n) AS ({counting}) SELECT n FROM counted)"

    def day(self, start, days):
        """With a modifier of so many days."""
        return f"date('{start}', ({days}) || ' days')"

    def refresh(self, tables):
        """All tables: it takes one name at most."""
        return "ANALYZE"


class MariaDB(Dialect):
    """Source: MariaDB knowledge base, the pages named below."""

    integer = "SIGNED"
    text = "CHAR"

    def series(self, size):
        """Source: "Sequence Storage Engine", which is built in."""
        return f"(SELECT seq AS n FROM seq_1_to_{size}) AS series"

    def join(self, *texts):
        """``||`` is a logical operator here."""
        return f"CONCAT({', '.join(texts)})"

    def day(self, start, days):
        """Source: "DATE_ADD"."""
        return f"DATE_ADD('{start}', INTERVAL CAST({days} AS SIGNED) DAY)"

    def lifted(self, cursor, model, editor):
        """Nothing: a statement that drops an index also commits."""
        return []

    def refresh(self, tables):
        """Source: "ANALYZE TABLE"."""
        return f"ANALYZE TABLE {', '.join(tables)}"


DIALECTS = {"postgresql": PostgreSQL(), "sqlite": SQLite(), "mysql": MariaDB()}
"""By the vendor of Django's connection."""
