"""World and Fortune, named as the published tests name them."""

from django.db import models

ROWS = 10_000
"""Rows of World; its random numbers, too, are from 1 to this."""


class World(models.Model):
    """A row to be read, and to be given another number."""

    id = models.IntegerField(primary_key=True)
    random_number = models.IntegerField(db_column="randomnumber")

    class Meta:
        db_table = "world"

    def __str__(self):
        return f"world {self.pk}"


class Fortune(models.Model):
    """A text to be shown; twelve of them."""

    id = models.IntegerField(primary_key=True)
    message = models.CharField(max_length=2048)

    class Meta:
        db_table = "fortune"

    def __str__(self):
        return self.message
