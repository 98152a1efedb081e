"""Which seeds the database holds."""

from django.db import models


class Seeded(models.Model):
    """The mark of a seed: written with its rows, in one transaction."""

    name = models.CharField(max_length=20, primary_key=True)

    def __str__(self):
        return self.name
