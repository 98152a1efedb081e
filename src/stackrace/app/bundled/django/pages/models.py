"""One table of ten long strings."""

from django.db import models


class Row(models.Model):
    """A string of 2,500 characters; ``number`` runs from 1 to 10."""

    number = models.PositiveSmallIntegerField(unique=True)
    text = models.TextField()

    class Meta:
        ordering = ("number",)

    def __str__(self):
        return f"row {self.number}"
