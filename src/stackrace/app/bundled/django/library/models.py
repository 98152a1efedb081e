"""Three tables with together 1,102,000 rows once seeded, and what is known of their sizes.

No list is ordered by a text: how texts sort differs from database to database, and so would the pages.
"""

from django.db import models
from django.urls import reverse


class Publisher(models.Model):
    """2,000 of them."""

    name = models.CharField(max_length=60)
    town = models.CharField(max_length=30)
    founded = models.PositiveSmallIntegerField()

    def __str__(self):
        return self.name

    def get_absolute_url(self):
        """Return the page with its books."""
        return reverse("library:publisher", args=(self.pk,))


class Book(models.Model):
    """200,000 of them, one hundred of each publisher."""

    publisher = models.ForeignKey(Publisher, on_delete=models.CASCADE, related_name="books", db_index=False)
    title = models.CharField(max_length=100)
    subject = models.CharField(max_length=20)
    year = models.PositiveSmallIntegerField()
    sheets = models.PositiveSmallIntegerField(help_text="Printed pages")

    class Meta:
        # serves the foreign key as well as a publisher's books, newest first
        indexes = (models.Index(fields=("publisher", "-id"), name="book_of_publisher"),)

    def __str__(self):
        return self.title

    def get_absolute_url(self):
        """Return the page with its loans."""
        return reverse("library:book", args=(self.pk,))


class Loan(models.Model):
    """900,000 of them, over 24 years; ``returned`` is empty for a book that is still out."""

    book = models.ForeignKey(Book, on_delete=models.CASCADE, related_name="loans", db_index=False)
    branch = models.CharField(max_length=20)
    taken = models.DateField()
    returned = models.DateField(null=True)
    stars = models.PositiveSmallIntegerField(null=True, help_text="1 to 5, from readers who gave any")

    class Meta:
        indexes = (models.Index(fields=("book", "-id"), name="loan_of_book"),)

    def __str__(self):
        return f"loan {self.pk}"


class Tally(models.Model):
    """How many rows a table has: counting a million of them for every page would be most of its cost."""

    table = models.CharField(max_length=20, primary_key=True)
    total = models.PositiveIntegerField()

    def __str__(self):
        return f"{self.total} {self.table}"
