"""Options for a cluster: ``--cluster``, ``--cluster-project`` and the keys of the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import click

from ...base.errors import InputError
from ...cli.options import section
from ...race.request.request import AskedPart

_option = section("What every stack gets")

FLAGS = (
    _option(
        "--cluster",
        metavar="SCHEDULER",
        help="Race on the workers of this Dask cluster, as in tcp://10.0.0.1:8786. Default: on this machine.",
    ),
    _option(
        "--cluster-project",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Where the project lies on all hosts of the cluster. Default: in the same folder as here.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRequest(AskedPart):
    """Machines to race on."""

    name: ClassVar[str] = "cluster"
    cluster: str | None = None
    """Address of a Dask scheduler, whose workers race; None: this machine."""
    cluster_project: Path | None = None
    """Folder of the project on all hosts; None: the same as here."""

    @classmethod
    def keys(cls) -> Mapping[str, Any]:
        """Return the keys; see `AskedPart`."""
        # flags alone need no pydantic
        from pydantic import Field

        return {"cluster": str, "cluster_project": Annotated[str, Field(pattern="^/")]}

    @classmethod
    def over(cls, before: Self | None, given: Mapping[str, Any], folder: Path) -> Self | None:
        """Return the merged part; see `AskedPart`. The project's folder must be an absolute path."""
        changes = {name: given[name] for name in ("cluster", "cluster_project") if name in given}
        if not changes:
            return before
        if "cluster_project" in changes:
            changes["cluster_project"] = place = Path(changes["cluster_project"])
            if not place.is_absolute():
                raise InputError(
                    f"--cluster-project {place}: hosts have another folder to start from; give a path that begins "
                    "with /"
                )
        return replace(before or cls(), **changes)

    @property
    def is_elsewhere(self) -> bool:
        """True if there is a cluster."""
        return self.cluster is not None
