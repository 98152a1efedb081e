"""Authors and their books."""

from django.db import models


class Author(models.Model):
    """Somebody who wrote a book."""

    name = models.CharField(max_length=100, unique=True)

    class Meta:
        ordering = ("name",)

    def __str__(self):
        return self.name


class Book(models.Model):
    """One copy on the shelf; the price is in pence."""

    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, on_delete=models.PROTECT, related_name="books")
    year = models.PositiveSmallIntegerField()
    price = models.PositiveIntegerField()

    class Meta:
        ordering = ("title", "pk")

    def __str__(self):
        return f"{self.title} ({self.year})"

    @property
    def pounds(self):
        """The price as it stands on the label."""
        return f"£{self.price // 100}.{self.price % 100:02}"
