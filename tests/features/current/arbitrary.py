"""What a race may keep of the present deployment."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.core.store.arbitrary import COUNT, TEXT, few, whole

from stackrace.features.current.model import CurrentChange, CurrentDeployment, CurrentGap, CurrentQueue
from stackrace.stacks.native_options import Concern, Weight

PART = whole(
    CurrentDeployment,
    stack=TEXT,
    file=TEXT,
    line=COUNT,
    problem=TEXT,
    read=few(TEXT),
    effective=few(TEXT),
    at_once=COUNT,
    queue=st.none() | whole(CurrentQueue, server=TEXT, file=TEXT, line=COUNT, value=COUNT),
    others=few(TEXT),
    changes=few(
        whole(CurrentChange, file=TEXT, line=COUNT, key=TEXT, theirs=TEXT, concern=st.sampled_from(Concern))
    ),
    gaps=few(whole(CurrentGap, file=TEXT, line=COUNT, what=TEXT, why=TEXT, weight=st.sampled_from(Weight))),
)
