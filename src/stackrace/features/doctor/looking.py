"""This machine as a doctor sees it, its cores shared out as a race would share them."""

from __future__ import annotations

from ...measure.probe import physical_cores
from ...measure.resources import Resources
from ...race.preparation.cores import split_cores, usable_cores
from .examination import Examination, examine
from .kernel import Kernel
from .look import look

__all__ = ["examine_machine"]


def examine_machine(watch_s: float, concurrency: int, remote_engine: bool = False) -> Examination:
    """Examine this machine for races at ``concurrency`` connections; takes ``watch_s`` seconds.

    With a ``remote_engine`` stacks and engines are on different machines, so whoever is here has every core of it.
    """
    usable = usable_cores()
    stacks, engine = (usable, ()) if remote_engine else split_cores(physical_cores(usable))
    cores = Resources(stack_cores=stacks, generator_cores=engine)
    return examine(look(Kernel(), cores=cores, concurrency=concurrency, watch_s=watch_s))
