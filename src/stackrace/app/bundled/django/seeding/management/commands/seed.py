"""``manage.py seed NAME…``: fill the tables of the pages that need many rows."""

from django.core.management.base import BaseCommand, CommandError

from seeding import browse, world
from seeding.planting import SeedError, is_there, plant

SEEDS = {"browse": browse.seed, "world": world.seed}


class Command(BaseCommand):
    """Each seed is planted once; a second time it is left as it is."""

    help = "Fill the tables of the pages under /browse/ (browse) and of the six framework tests (world), once."

    def add_arguments(self, parser):
        """Take the names."""
        parser.add_argument("names", nargs="+", choices=sorted(SEEDS), metavar="NAME", help="browse or world")

    def handle(self, *, names, verbosity, **options):
        """Seed one after the other."""
        for name in names:
            try:
                before = is_there(name)
                if not before:
                    plant(name, SEEDS[name])
            except SeedError as error:
                raise CommandError(str(error)) from error
            if verbosity:
                self.stdout.write(f"{name} was seeded before" if before else f"{name} is seeded")
