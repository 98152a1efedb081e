"""Do the planned stacks and the load engine have cores and memory enough on this machine?"""

from __future__ import annotations

from ..base.numbers import percent
from ..base.verdict import Effect, Finding, Unit
from .declaration import Declaration, Made
from .preparation import Preparation

__all__ = ["MEMORY_SHARE", "memory_limit", "shared_cores", "shared_threads"]

MEMORY_SHARE = 0.8
"""The share of the free memory that all stacks may have together: they grow under load."""


@Declaration(
    id="shared-cores-planned",
    number=9,
    title="shared cores",
    made=(Made.START,),
    effects=(Effect.WARNS,),
    threshold="none shared",
    rule="none shared",
    seen="load engine and {knob.servers} share {shared:cores}",
    remedy={
        "single": "a machine with at least two cores",
        "several": "leave a core to the load engine alone",
    },
    source="Schroeder et al., NSDI 2006",
)
def shared_cores(plan: Preparation) -> Finding | None:
    """Load engine and stacks will compete for cores, which slows fast stacks most."""
    if not plan.cores.shared:
        return None
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    return shared_cores.finding(
        cure="single" if len(stacks | engine) < 2 else "several", shared=tuple(sorted(stacks & engine))
    )


@Declaration(
    id="shared-threads",
    number=9,
    title="shared threads",
    made=(Made.START,),
    effects=(Effect.WARNS,),
    threshold="on different cores",
    rule="on different cores",
    seen="load engine and {knob.servers} run on threads of one core ({threads:cores})",
    remedy={"single": "a machine with at least two cores", "several": "leave a whole core to the engine"},
    source="Documentation/admin-guide/cputopology.rst",
)
def shared_threads(plan: Preparation) -> Finding | None:
    """Load engine and stacks run on threads of the same core (SMT) and slow each other."""
    stacks, engine = set(plan.cores.stack_cores), set(plan.cores.generator_cores)
    split = [core for core in plan.threads if stacks & set(core) and engine & set(core)]
    if plan.cores.shared or not split:
        return None
    return shared_threads.finding(cure="single" if len(plan.threads) < 2 else "several", threads=split[0])


@Declaration(
    id="memory-limit",
    number=14,
    title="memory limit",
    made=(Made.START,),
    effects=(Effect.WARNS, Effect.INVALIDATES),
    unit=Unit.BYTES,
    threshold={
        "none": "{each_bytes:size} for each of {stacks}",
        "some": "{each_bytes:size} for each of {stacks}, "
        f"together at most {percent(MEMORY_SHARE)} of what is free",
    },
    rule=f"all stacks in {percent(MEMORY_SHARE)} of the free memory; one in all of it",
    seen={
        "none": "{value:size} of memory are free, less than a single stack may hold",
        "some": "{value:size} of memory are free, enough for {fitting} of {stacks} at once",
    },
    remedy={
        "none": "lower --memory ([race] memory), or end what else holds memory here",
        "some": "they are raced in batches; lower --memory ([race] memory) to have all of them up at once",
    },
    source="proc_meminfo(5), MemAvailable",
)
def memory_limit(plan: Preparation) -> Finding | None:
    """Too little memory is free for all stacks (they race in batches), or even for one (refused).

    A machine that swaps measures its disk. A stack alone may have all that is free, several together their share.
    """
    each = plan.cores.memory_bytes
    if each is None:
        return None
    none = plan.memory_bytes < each
    fitting = max(MEMORY_SHARE * plan.memory_bytes // each, 1)
    if not none and fitting >= plan.stacks:
        return None
    return memory_limit.finding(
        effect=Effect.INVALIDATES if none else Effect.WARNS,
        value=plan.memory_bytes,
        limit=each if none else each * plan.stacks / MEMORY_SHARE,
        case="none" if none else "some",
        cure="none" if none else "some",
        each_bytes=each,
        stacks=plan.stacks,
        fitting=int(fitting),
    )
