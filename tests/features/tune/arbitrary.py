"""What a tuning may keep with its race."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.core.store.arbitrary import COUNT, REAL, TEXT, few, mapping, whole

from stackrace.features.tune.model import (
    GoalKind,
    Infeasible,
    Knob,
    Needs,
    Reference,
    Tuning,
    TuningGoal,
    TuningLimits,
    Unfit,
)

NEEDS = whole(Needs, memory_bytes=COUNT, connections=st.none() | COUNT)
PART = whole(
    Tuning,
    stack=TEXT,
    goal=whole(TuningGoal, kind=st.sampled_from(GoalKind), rate_per_s=st.none() | REAL, quantile=TEXT),
    limits=whole(TuningLimits, memory_bytes=st.none() | COUNT, connections=st.none() | COUNT),
    knobs=few(
        whole(
            Knob, hop=COUNT, server=TEXT, name=TEXT, values=few(TEXT), numeric=st.booleans(),
            below=few(TEXT), above=few(TEXT), least=st.none() | COUNT, most=st.none() | COUNT,
        )
    ),
    settings=mapping(few(st.none() | TEXT)),
    references=st.dictionaries(st.sampled_from(Reference), TEXT),
    formula=TEXT,
    formula_source=TEXT,
    infeasible=few(
        whole(Infeasible, stack=TEXT, kind=st.sampled_from(Unfit), needs=st.none() | NEEDS, measured=st.booleans())
    ),
    piloted=mapping(NEEDS),
    proposes=st.booleans(),
    reserve=few(TEXT),
    cut=COUNT,
    whole_s=st.none() | REAL,
)  # fmt: skip
