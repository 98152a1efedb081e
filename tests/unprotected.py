"""Questions to the apps of tests, which nothing needs to protect."""

from stackrace.app import data_places as places
from stackrace.app import examine as examining
from stackrace.base.process.view import UNPROTECTED


def data_places(app):
    return places.data_places(app, UNPROTECTED)


def import_places(app):
    return places.import_places(app, UNPROTECTED)


def examine(app, *requests, **options):
    return examining.examine(app, *requests, view=UNPROTECTED, **options)
