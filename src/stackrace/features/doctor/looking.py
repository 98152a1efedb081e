"""This machine as a doctor sees it, its cores shared out as a race would share them."""

from __future__ import annotations

from ...measure.probe import physical_cores
from ...measure.resources import Resources
from ...race.preparation.cores import split_cores, usable_cores
from .examination import Examination, examine
from .kernel import Kernel
from .look import look

__all__ = ["examine_machine"]


def examine_machine(concurrency: int, watch_s: float, *, apart: bool = False) -> Examination:
    """Examine this machine for races at ``concurrency`` connections; takes ``watch_s`` seconds.

    Where stacks and engines are ``apart``, on different machines, whoever is here has every core of it.
    """
    usable = usable_cores()
    stacks, engine = (usable, ()) if apart else split_cores(physical_cores(usable))
    cores = Resources(stack_cores=stacks, generator_cores=engine)
    return examine(look(Kernel(), cores=cores, concurrency=concurrency, watch_s=watch_s))
