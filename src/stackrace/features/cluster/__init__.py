"""Races on several machines: the workers of a Dask cluster."""

from ...extensions import Verb

EXTENSIONS = (
    Verb(
        "cluster",
        "Measure",
        "Show the machines of a cluster: who is there, and for what.",
        f"{__name__}.flags:command",
        50,
    ),
)
