"""Races on several machines: the workers of a Dask cluster host stacks and send load. The only importer of Dask.

Dask carries everything between machines: membership, calls and results. Imported only if a cluster is requested.
"""

from ...extensions import MachineProvider, RequestPart, Verb

EXTENSIONS = (
    Verb(
        "cluster",
        "Measure",
        "Show the machines of a cluster: who is there, and for what.",
        f"{__name__}.verb:command",
        50,
    ),
    MachineProvider(f"{__name__}.provider:DaskCluster"),
    RequestPart(
        "cluster",
        f"{__name__}.cluster_options:ClusterRequest",
        f"{__name__}.cluster_options:FLAGS",
        "What every stack gets",
    ),
)
