"""Errors of the ladder."""


class LadderError(Exception):
    """A service, a driver or the prepared row is missing; the message names the way out."""


def missing_driver(wanted_by, error):
    """Return the LadderError for what ``wanted_by`` names, whose driver failed to import with ``error``."""
    return LadderError(
        f"{wanted_by} lacks its driver ({error}). Install the ladder's requirements.txt into its environment; "
        "mysqlclient is compiled there; stackrace install ladder brings what that needs"
    )


def nothing_found(where):
    """Return the LadderError for a lookup in ``where`` that finds no value."""
    return LadderError(
        f"{where} holds no value under the key; run python -m ladder.prepare with the app's environment"
    )
