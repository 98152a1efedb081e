"""Publishes races in a CouchDB database, and copies published ones."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "publish",
        "Keep",
        "Publish a race in a CouchDB database.",
        f"{__name__}.verb:publish_command",
        50,
        needs_linux=False,
    ),
    Verb(
        "fetch",
        "Keep",
        "Copy published races into your store.",
        f"{__name__}.verb:fetch_command",
        60,
        needs_linux=False,
    ),
)
