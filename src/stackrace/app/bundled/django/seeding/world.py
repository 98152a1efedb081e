"""The rows of the six framework tests: the numbers of World, and the texts of Fortune.

The published rows of World hold random numbers from 1 to 10,000, and so do these. The twelve texts are our own;
as the tests ask, one is a script that must be escaped and one is not ASCII.
"""

from frameworks.models import ROWS, Fortune, World

from .seed import Filling, Listing, Seed

FORTUNES = (
    "The cache is warm, the queue is short, and it is still Monday.",
    "A benchmark is a question; most answers are about another one.",
    "There are two hard numbers in computing: the first, and the one after the restart.",
    "Nothing is as permanent as a temporary index.",
    "The fastest request is the one that nobody had to make.",
    "Every log file is full of errors that were always there.",
    "Works on my machine, and nowhere near yours.",
    "Measure once and believe; measure twice and doubt; measure three times and begin to know.",
    "A deadlock is two programs being polite.",
    "Any sufficiently old configuration file is load-bearing.",
    "<script>alert('A page that shows this as a box escapes nothing.');</script>",
    "速さよりも、まず正しさ。",
)


def seed(dialect):
    """Return the rows to insert; the pages look the same with every database."""
    fortunes = tuple(Fortune(id=number, message=text) for number, text in enumerate(FORTUNES, start=1))
    numbers = {"id": "n", "random_number": f"1 + (n * 7919 + 13) % {ROWS}"}
    return Seed(parts=(Filling(World, ROWS, numbers), Listing(Fortune, fortunes)), megabytes=5)
