"""What this machine allows a load: files, ports, cores."""

from __future__ import annotations

import resource

from ...base.errors import InputError, LimitError
from ...measure.load import Load
from ...measure.probe import network_limits
from ...measure.resources import Resources
from ...race.preparation.cores import usable_cores
from ...race.preparation.preflight import check_limits
from ...report.words.findings import LOAD, refusal, warning
from ...validity.preflight import SPARE_FILES

__all__ = ["allow_files", "engine_cores", "open_connections", "refuse_too_much"]

_OPEN_CONNECTIONS = 1000
"""What an open loop may have at most unless told: enough for 1,000 requests/s at a second each."""

_OURS = 128
"""Files that Python and the engine have open beside the connections."""


def allow_files() -> None:
    """Raise the soft limit of open files to the hard one: it protects programs that use select(2), not us.

    Source: getrlimit(2); systemd's NEWS for 240 on why the soft limit is low.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_connections(over_tcp: bool) -> int:
    """Return how many connections an open loop may have unless told otherwise."""
    limits = network_limits()
    ports = limits.ephemeral_ports if over_tcp else _OPEN_CONNECTIONS
    return max(min(_OPEN_CONNECTIONS, limits.descriptors - SPARE_FILES - _OURS, ports), 1)


def engine_cores(threads: int | None) -> Resources:
    """Give the engine the last cores, one for each of its ``threads``, and the server all others.

    With too few cores they share.
    """
    cores = usable_cores()
    mine = cores[-(threads or 1) :]
    return Resources(stack_cores=cores[: -len(mine)] or cores, generator_cores=mine)


def refuse_too_much(load: Load, cores: Resources, *, over_tcp: bool) -> tuple[str, ...]:
    """Return warnings, one sentence each; raises InputError when a limit of the machine forbids ``load``."""
    try:
        findings = check_limits((load,), cores, ours=False, sockets_each=1, over_tcp=over_tcp)
    except LimitError as error:
        raise InputError(refusal(error.finding, LOAD)) from error
    return tuple(warning(finding, LOAD) for finding in findings)
