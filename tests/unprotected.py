"""Questions to the apps of tests, which nothing needs to protect."""

from stackrace.app import data_paths as places
from stackrace.app import examine as examining
from stackrace.base.process.view import UNPROTECTED


def data_paths(app):
    return places.data_paths(app, UNPROTECTED)


def import_paths(app):
    return places.import_paths(app, UNPROTECTED)


def examine(app, *requests, **options):
    return examining.examine(app, *requests, view=UNPROTECTED, **options)
