"""The rows of the library.

Numbers that look drawn are multiples of a prime, modulo the size wanted: they are the same everywhere.
"""

from library.models import Book, Loan, Publisher, Tally

from .seed import Filling, Listing, Seed

PUBLISHERS, BOOKS, LOANS = 2_000, 200_000, 900_000
LOANS_A_DAY = 100
FIRST_DAY = "2000-01-01"
STILL_OUT = 2_000
"""The last so many loans have not been returned."""

QUALITIES = (
    "Silent Golden Hidden Northern Last Patient Hollow Distant Burning Gentle Broken Early Winter Borrowed Narrow "
    "Restless Painted Second Common Wandering"
)
THINGS = (
    "Harbour Garden Lantern Orchard River Staircase Compass Ledger Meadow Workshop Window Signal Archive Bridge "
    "Kitchen Observatory Ferry Quarry Telegraph Atlas Mill Causeway Library"
)
TOWNS = "Ashford Brindle Carrow Dunmere Eastwold Farleigh Greyling Holmside Inverby Jarrow Kelden"
KINDS = "Press Books House Editions Brothers Verlag Atelier"
SUBJECTS = "Botany Cookery Crafts Economics Fiction Geography History Music Physics Poetry Sailing Travel"
BRANCHES = "Central Harbour Hillside Market North Park Riverside Station University"


def seed(dialect):
    """Return the seed in a database's own words."""
    word, join = dialect.word, dialect.join
    number = f"CAST(n AS {dialect.text})"
    title = join("'The '", word(QUALITIES, "n * 7919"), "' '", word(THINGS, "n * 104729"), "', no. '", number)
    name = join(word(THINGS, "n * 31"), "' '", word(KINDS, "n * 13"), "' '", number)
    day = f"(n - n % {LOANS_A_DAY}) / {LOANS_A_DAY}"
    out = f"n > {LOANS - STILL_OUT} AND n % 3 = 0"
    return Seed(
        parts=(
            Filling(
                Publisher,
                PUBLISHERS,
                {"id": "n", "name": name, "town": word(TOWNS, "n * 17"), "founded": "1840 + (n * 97) % 160"},
            ),
            Filling(
                Book,
                BOOKS,
                {
                    "id": "n",
                    "publisher": f"1 + (n * 7919) % {PUBLISHERS}",
                    "title": title,
                    "subject": word(SUBJECTS, "n * 101"),
                    "year": "1950 + (n * 577) % 75",
                    "sheets": "60 + (n * 7127) % 840",
                },
            ),
            Filling(
                Loan,
                LOANS,
                {
                    "id": "n",
                    "book": f"1 + (n * 104729) % {BOOKS}",
                    "branch": word(BRANCHES, "n * 41"),
                    "taken": dialect.day(FIRST_DAY, day),
                    "returned": f"CASE WHEN {out} THEN NULL"
                    f" ELSE {dialect.day(FIRST_DAY, f'{day} + 1 + (n * 7) % 28')} END",
                    "stars": "CASE WHEN n % 4 = 0 THEN NULL ELSE 1 + (n * 11) % 5 END",
                },
            ),
            Listing(
                Tally,
                (
                    Tally(table="publisher", total=PUBLISHERS),
                    Tally(table="book", total=BOOKS),
                    Tally(table="loan", total=LOANS),
                ),
            ),
        ),
        megabytes=400,
    )
