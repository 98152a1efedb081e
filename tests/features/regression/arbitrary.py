"""What a check may keep with its race."""

from __future__ import annotations

from tests.core.store.arbitrary import COUNT, REAL, TEXT, few, mapping, whole

from stackrace.features.regression.model import Contender, GateFacts

CONTENDER = whole(Contender, label=TEXT, revision=TEXT, changed=COUNT, python=TEXT, settings=TEXT, stack=TEXT)
PART = whole(GateFacts, base=CONTENDER, head=CONTENDER, allowances=mapping(REAL), packages=few(TEXT))
